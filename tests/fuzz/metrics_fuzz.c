// SPDX-License-Identifier: GPL-2.0
/* Fuzzing figures: any text as /proc/PID/cgroup and /proc/PID/environ, which are what a process's user chose, and any
 * sums of threads with such names. Names come out plain; figures come out as lines of OpenMetrics, and as JSON. The
 * first byte says which. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/json_read.h"
#include "../../src/sink/otlp.h"
#include "../../src/view/metrics_print.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { GROUPS = 4, NAME_BYTES = 64, PIDS = 256 };

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static bool is_plain(const char *text, size_t size)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@/";

	return memchr(text, '\0', size) && strspn(text, signs) == strlen(text);
}

static void name_of(struct metrics *metrics, const struct sums_row *row, const char *text, size_t len, u64 now_ns)
{
	struct group_name group;
	struct rank_name rank;

	if (metrics_wants_group(metrics, row->head.cgroup))
		metrics_name_group(metrics, row->head.cgroup, group_name_parse(&group, text, len) ? &group : NULL,
				   now_ns);
	if (metrics_wants_rank(metrics, &row->head))
		metrics_name_rank(metrics, row->head.pid, &row->head.comm,
				  rank_name_parse(&rank, text, len) ? &rank : NULL, row->head.pid % 3, now_ns);
}

static void check_lines(const char *text, size_t len)
{
	const char *at = text, *end = text + len, *line_end;

	for (; at < end; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		require(line_end != NULL, "every line ends");
		require(at[0] == '#' || !strncmp(at, "tactus_", 7), "a line is a sample or about one");
		for (const char *one = at; one < line_end; one++)
			require(*one >= ' ' && *one <= '~', "a line is text");
	}
}

static void print(const struct metrics_reading *reading, enum metric_form form)
{
	struct openmetrics out = { .form = form };
	struct json_at json;
	char *text = NULL;
	size_t len = 0;

	out.out = open_memstream(&text, &len);
	if (form == FORM_OTLP)
		otlp_begin(&out, "host", "0", 1, reading->wall_ns);
	metrics_print(&out, reading);
	if (form == FORM_OTLP)
		otlp_end(&out);
	fclose(out.out);
	if (form == FORM_OTLP) {
		json = (struct json_at){ text, text + len, false };
		json_skip(&json);
		require(!json.failed, "what is sent is JSON");
	} else {
		check_lines(text, len);
	}
	free(text);
}

/* Names of processes that launch kernels are theirs to choose. */
static void launch_by(struct metrics_events *events, const struct sums_row *row)
{
	struct metrics_cuda *of = &events->of[row->head.pid % METRICS_CUDA_NAMES];

	*of = (struct metrics_cuda){ .comm = row->head.comm, .launches = row->head.runs, .sync_ns = row->head.cpu_ns };
	events->with_cuda = true;
	events->of_len = METRICS_CUDA_NAMES;
}

static void fuzz_rows(const unsigned char *data, size_t size)
{
	static struct metrics metrics;
	static struct metrics_events events;
	struct metrics_run run = { 0 };
	struct metrics_reading reading = {
		.metrics = &metrics, .events = &events, .run = &run, .kernel = "7.2", .wall_ns = 1
	};
	struct sums_row row;
	u64 now_ns = 1;

	require(!metrics_init(&metrics, GROUPS), "there is memory");
	for (; size >= sizeof(row) + NAME_BYTES; data += sizeof(row) + NAME_BYTES, size -= sizeof(row) + NAME_BYTES) {
		memcpy(&row, data, sizeof(row));
		row.head.pid %= PIDS;
		name_of(&metrics, &row, (const char *)data + sizeof(row), NAME_BYTES, now_ns);
		metrics_add(&metrics, &row, now_ns);
		launch_by(&events, &row);
		now_ns += row.head.cpu_ns % METRICS_IDLE_NS;
		if (row.head.runs % 4 == 0)
			metrics_settle(&metrics);
	}
	metrics_settle(&metrics);
	require(metrics.groups_len <= GROUPS && metrics.ranks_len <= METRICS_RANKS_MOST, "there are few series");
	reading.now_ns = now_ns;
	for (u32 form = FORM_OPENMETRICS; form <= FORM_OTLP; form++)
		print(&reading, (enum metric_form)form);
	metrics_free(&metrics);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct group_name group;
	struct rank_name rank;
	char *text = size ? malloc(size) : NULL;

	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (data[0] % 3 == 0 && group_name_parse(&group, text, size - 1))
		require(group.kind < GROUP_KINDS && is_plain(group.text, sizeof(group.text)),
			"a group's name is plain");
	if (data[0] % 3 == 1 && rank_name_parse(&rank, text, size - 1))
		require(is_plain(rank.job, sizeof(rank.job)) && rank.job[0] && is_plain(rank.rank, sizeof(rank.rank)) &&
				rank.rank[0],
			"a rank's name is plain");
	if (data[0] % 3 == 2)
		fuzz_rows(data + 1, size - 1);
	free(text);
	return 0;
}
