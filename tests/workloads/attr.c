// SPDX-License-Identifier: GPL-2.0
/* Prints a thread's policy, nice value and slice in nanoseconds ("attr TID"), or gives it a slice or nice value first
 * ("attr TID slice NS", "attr TID nice N"), as another tool would. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

int main(int argc, char **argv)
{
	struct kernel_attr attr = { .size = sizeof(attr) };
	int tid = argc > 1 ? atoi(argv[1]) : 0;

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0) < 0)
		return perror("sched_getattr"), 1;
	if (argc > 3) {
		attr.size = sizeof(attr);
		if (!strcmp(argv[2], "slice"))
			attr.runtime = strtoull(argv[3], NULL, 10);
		else
			attr.nice = atoi(argv[3]);
		if (syscall(SYS_sched_setattr, tid, &attr, 0) < 0)
			return perror("sched_setattr"), 1;
	}
	printf("%u %d %llu\n", attr.policy, attr.nice, (unsigned long long)attr.runtime);
	return 0;
}
