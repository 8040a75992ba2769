/* SPDX-License-Identifier: GPL-2.0 */
/* What BPF programs cost, from the kernel's own run-time statistics.
 * Programs are found by name in the kernel's list, so that no sensor needs to show its insides. */
#ifndef TACTUS_BENCH_COST_H
#define TACTUS_BENCH_COST_H

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "../core/types.h"

struct cost {
	u64 runs, time_ns;
};

/* The newest one of that name: an older one may still be on its way out. */
static inline int program_fd_by_name(const char *name)
{
	int found = -1;
	u32 id = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		u32 size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		/* The kernel keeps 15 characters of a name. */
		if (bpf_prog_get_info_by_fd(fd, &info, &size) || strncmp(info.name, name, sizeof(info.name) - 1)) {
			close(fd);
			continue;
		}
		if (found >= 0)
			close(found);
		found = fd;
	}
	return found;
}

static inline struct cost cost_so_far(int fd)
{
	struct bpf_prog_info info = { 0 };
	u32 size = sizeof(info);

	bpf_prog_get_info_by_fd(fd, &info, &size);
	return (struct cost){ info.run_cnt, info.run_time_ns };
}

static inline double ns_a_run(struct cost cost)
{
	return cost.runs ? (double)cost.time_ns / (double)cost.runs : 0;
}

#endif
