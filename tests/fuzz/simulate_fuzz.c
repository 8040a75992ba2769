// SPDX-License-Identifier: GPL-2.0
/* Fuzzing simulation: any bytes as a topology, or as events of any kind in any order, whose work is done again under
 * each policy. The first byte says which: bit 0 a topology, bit 1 mends times so that they grow, else the policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../../core/sched_config.h"
#include "../../src/sim/machine.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { IS_TOPOLOGY = 1, GROWING_TIMES = 2, CPUS = 3, TIDS = 16, EVENT_BYTES_MAX = 512, SPAN_MOST_NS = 200000000 };

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static void on_event(void *data, const struct event_header *event)
{
	u64 *last_ns = data;

	require(event->time_ns >= *last_ns, "events come in the order of time");
	require(event->cpu < CPUS, "events are of CPUs that there are");
	*last_ns = event->time_ns;
}

static void fuzz_topology(const unsigned char *data, size_t size)
{
	static struct sim_topology topology;
	struct reason why;
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	if (!sim_topology_parse(&topology, text, &why))
		require(topology.cpus_len >= 1 && topology.cpus_len <= SIM_CPUS_MAX, "there are 1 to 512 CPUs");
	free(text);
}

static void take_all(struct work *work, const unsigned char *data, size_t size, bool grows)
{
	_Alignas(8) unsigned char bytes[EVENT_BYTES_MAX];
	u64 now_ns = 1000;

	while (size >= sizeof(struct event_header)) {
		struct event_header *head = (struct event_header *)bytes;
		u32 len;

		memcpy(bytes, data, sizeof(*head));
		head->kind = (u8)(1 + head->kind % (EVENT_KINDS - 1));
		len = event_info(head->kind)->bytes;
		if (len > size)
			return;
		memcpy(bytes + sizeof(*head), data + sizeof(*head), len - sizeof(*head));
		now_ns = grows ? now_ns + head->time_ns % 1000000 : head->time_ns;
		head->time_ns = now_ns;
		head->tid %= TIDS;
		work_take(work, head);
		data += len;
		size -= len;
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const struct sim_policy *const policies[] = { &policy_eevdf, &policy_hints, &policy_tactus, &policy_fifo,
							     &policy_vtime };
	static struct sim_topology topology;
	struct sim_params params = { .raise = RAISE_INPUT | RAISE_FRAMES, .seed = 1 };
	u64 last_ns = 0;
	struct machine machine = { .handle = on_event, .data = &last_ns };
	struct work work;

	if (!size)
		return 0;
	if (data[0] & IS_TOPOLOGY) {
		fuzz_topology(data + 1, size - 1);
		return 0;
	}
	params.policy = policies[data[0] / 4 % (sizeof(policies) / sizeof(*policies))];
	work_init(&work, "fuzz", NULL, CPUS, 1000, 0);
	take_all(&work, data + 1, size - 1, data[0] & GROWING_TIMES);
	require(!work_end(&work), "work is made");
	/* As simulate_read() has it, only shorter. */
	if (work.last_ns - work.first_ns <= SPAN_MOST_NS) {
		sim_topology_flat(&topology, CPUS);
		machine_run(&machine, &work, &topology, &params);
		machine_free(&machine);
	}
	work_free(&work);
	return 0;
}
