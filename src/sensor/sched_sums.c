// SPDX-License-Identifier: GPL-2.0
/* Reads bpf/sums.h's sums: of those that are there by an iterator, of those that ended from a ring.
 */
#include "sched_sums.h"

#include <bpf/libbpf.h>
#include <stdlib.h>

#include "sched_rows.h"

struct sched_sums {
	const struct sched_cpu *cpus;
	u32 cpus_len;
	struct bpf_program *program;
	volatile struct sums_state *state;
	struct ring_buffer *ended;
	int (*take)(void *data, const void *row);
	void *data;
};

static int on_ended(void *context, void *row, size_t size)
{
	struct sched_sums *sums = context;

	return sums->take && size >= sizeof(struct sums_row) ? sums->take(sums->data, row) : 0;
}

struct sched_sums *sched_sums_open(struct sensor *sched)
{
	struct sched_sums *sums = calloc(1, sizeof(*sums));
	struct bpf_object *object = sched_object(sched);
	struct bpf_map *state = bpf_object__find_map_by_name(object, ".data.sums");
	size_t size;

	if (!sums)
		return NULL;
	sums->cpus = sched_cpus(sched, &sums->cpus_len);
	sums->program = bpf_object__find_program_by_name(object, "take_sums");
	sums->state = state ? bpf_map__initial_value(state, &size) : NULL;
	if (sums->state && sums->program && bpf_program__autoload(sums->program))
		sums->ended = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "sums_ended"), on_ended, sums,
					       NULL);
	if (!sums->ended) {
		free(sums);
		return NULL;
	}
	return sums;
}

void sched_sums_close(struct sched_sums *sums)
{
	if (sums)
		ring_buffer__free(sums->ended);
	free(sums);
}

void sched_sums_only(struct sched_sums *sums, bool only)
{
	sums->state->only = only;
}

static size_t sums_row_bytes(const void *row, size_t held)
{
	(void)row;
	(void)held;
	return sizeof(struct sums_row);
}

void sched_sums_keep_ended(struct sched_sums *sums)
{
	sums->state->ended = 1;
}

int sched_sums_take_ended(struct sched_sums *sums, int (*take)(void *data, const void *row), void *data)
{
	int got;

	sums->take = take;
	sums->data = data;
	got = ring_buffer__consume(sums->ended);
	return got < 0 ? got : 0;
}

int sched_sums_take(struct sched_sums *sums, int (*take)(void *data, const void *row), void *data)
{
	struct row_reader rows = { sums_row_bytes, take, data };
	int error = sched_sums_take_ended(sums, take, data);

	return error ? error : run_iterator(sums->program, 0, &rows);
}

struct sched_cpu_sum sched_sums_cpu(const struct sched_sums *sums, u32 cpu, u64 now_ns)
{
	const volatile struct sched_cpu *one = &sums->cpus[cpu];
	u64 turned_ns = one->turned_ns, since_ns = turned_ns && !one->goes ? span_between(turned_ns, now_ns) : 0;

	return (struct sched_cpu_sum){ .busy_ns = one->busy_ns + (one->is_idle ? 0 : since_ns),
				       .switches = one->switches,
				       .tid = (u32)one->running_tid };
}

u64 sched_sums_refused(const struct sched_sums *sums)
{
	return sums->state->refused;
}
