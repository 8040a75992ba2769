// SPDX-License-Identifier: GPL-2.0
#include "cuda_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "../base/loop.h"

struct by_function {
	struct cuda_counts *all;
	u32 len;
};

static void add_counts(void *data, u32 function, const struct cuda_counts *counts)
{
	const struct by_function *by_function = data;

	if (function >= by_function->len)
		return;
	by_function->all[function].entered += counts->entered;
	by_function->all[function].returned += counts->returned;
	by_function->all[function].failed += counts->failed;
}

int cuda_emit_counts(int counts_fd, u32 functions, struct cuda_detour *detour, struct cuda_detour_counts *sums,
		     event_handler handle, void *data)
{
	int cpus_len = libbpf_num_possible_cpus();
	struct cuda_counts *each = cpus_len > 0 ? calloc((size_t)cpus_len, sizeof(*each)) : NULL;
	struct by_function by_detour = { calloc(functions + 1, sizeof(*each)), functions };

	if (!each || !by_detour.all) {
		free(each);
		free(by_detour.all);
		return -ENOMEM;
	}
	if (detour)
		*sums = cuda_detour_read(detour, add_counts, &by_detour);
	for (u32 i = 1; i < functions; i++) {
		struct event_cuda_count event = { .head = { .time_ns = clock_now_ns(), .kind = EVENT_CUDA_COUNT },
						  .function = i,
						  .entered = by_detour.all[i].entered,
						  .returned = by_detour.all[i].returned,
						  .failed = by_detour.all[i].failed };

		if (bpf_map_lookup_elem(counts_fd, &i, each))
			continue;
		for (int cpu = 0; cpu < cpus_len; cpu++) {
			event.entered += each[cpu].entered;
			event.returned += each[cpu].returned;
			event.failed += each[cpu].failed;
		}
		if (event.entered || event.returned)
			handle(data, &event.head);
	}
	free(each);
	free(by_detour.all);
	return 0;
}
