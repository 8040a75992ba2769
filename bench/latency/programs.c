// SPDX-License-Identifier: GPL-2.0
/* What all loaded BPF programs took, by the kernel's own statistics (kernel.bpf_stats_enabled), for each of so many
 * switches: programs SWITCHES. One line of name=value pairs: a program's is its ns a call, x, its calls a switch. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double switches = argc > 1 ? atof(argv[1]) : 1, scheduler_ns = 0, sensors_ns = 0;
	unsigned id = 0;

	printf("switches=%.0f ", switches);
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = { 0 };
		unsigned len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_prog_get_info_by_fd(fd, &info, &len) && info.run_cnt) {
			*(info.type == BPF_PROG_TYPE_STRUCT_OPS ? &scheduler_ns
								: &sensors_ns) += (double)info.run_time_ns;
			printf("%s=%.0fx%.2f ", info.name, (double)info.run_time_ns / (double)info.run_cnt,
			       (double)info.run_cnt / switches);
		}
		close(fd);
	}
	printf("scheduler_ns=%.1f sensors_ns=%.1f\n", scheduler_ns / switches, sensors_ns / switches);
	return 0;
}
