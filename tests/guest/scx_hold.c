// SPDX-License-Identifier: GPL-2.0
/* Tactus' scheduler without the rest of tactus, for faults: "scx_hold cycle N" attaches and detaches it N times and
 * prints how long that took; "scx_hold as NAME" puts it in charge under another name, as a stranger's scheduler, until
 * a signal. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../core/sched_config.h"
#include "../../core/scx_config.h"
#include "../../core/scx_exit.h"
#include "scx.skel.h"

enum { LEAVE_WAIT_MS = 10000 };

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "scx_hold: %s: %s\n", what, strerror(error));
	return 1;
}

/* The kernel's word on who is in charge, which lags behind a detached link. */
static int is_disabled(void)
{
	FILE *file = fopen("/sys/kernel/sched_ext/state", "r");
	char line[32] = "";

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	return !strcmp(line, "disabled\n");
}

static int wait_until_out(const struct scx_bpf *skeleton)
{
	struct timespec step = { .tv_nsec = 1000000 };

	for (int i = 0; i < LEAVE_WAIT_MS; i++) {
		if (skeleton->bss->exit_info.kind && is_disabled())
			return 0;
		nanosleep(&step, NULL);
	}
	return -1;
}

static int cycle(struct scx_bpf *skeleton, int count)
{
	long long begin_ms = now_ms(), worst_ms = 0, cycle_ms;

	for (int i = 0; i < count; i++) {
		struct bpf_link *link;

		cycle_ms = now_ms();
		skeleton->bss->exit_info.kind = 0;
		link = bpf_map__attach_struct_ops(skeleton->maps.tactus_ops);
		if (!link)
			return fail("attach", errno);
		if (skeleton->bss->exit_info.kind)
			return fail(skeleton->bss->exit_info.message, 0);
		/* Some cycles work for a while, most end before anything can settle. */
		usleep(i % 10 ? 0 : 20000);
		bpf_link__destroy(link);
		if (wait_until_out(skeleton))
			return fail("it does not leave", ETIMEDOUT);
		if (skeleton->bss->exit_info.kind >= 1024)
			return fail(skeleton->bss->exit_info.message, 0);
		cycle_ms = now_ms() - cycle_ms;
		worst_ms = cycle_ms > worst_ms ? cycle_ms : worst_ms;
	}
	printf("%d cycles in %lld ms, the slowest %lld ms\n", count, now_ms() - begin_ms, worst_ms);
	return 0;
}

/* The skeleton shows numbers and functions of the operations table, but not its name. */
static void rename_ops(struct scx_bpf *skeleton, const char *name)
{
	size_t size;
	char *table = bpf_map__initial_value(skeleton->maps.tactus_ops, &size), *own;

	own = table ? memmem(table, size, "tactus", sizeof("tactus")) : NULL;
	if (own)
		strcpy(own, name);
}

static int hold(struct scx_bpf *skeleton)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(skeleton->maps.tactus_ops);
	sigset_t ends;
	int signal;

	if (!link)
		return fail("attach", errno);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	puts("in charge");
	fflush(stdout);
	sigwait(&ends, &signal);
	bpf_link__destroy(link);
	return wait_until_out(skeleton) ? fail("it does not leave", ETIMEDOUT) : 0;
}

int main(int argc, char **argv)
{
	struct scx_bpf *skeleton;
	int status;

	if (argc != 3)
		return 2;
	skeleton = scx_bpf__open();
	if (!skeleton)
		return fail("open", errno);
	if (!strcmp(argv[1], "as"))
		rename_ops(skeleton, argv[2]);
	/* Not every kernel has that operation. */
	bpf_program__set_autoload(skeleton->progs.tactus_cgroup_set_bandwidth, false);
	skeleton->struct_ops.tactus_ops->cgroup_set_bandwidth = NULL;
	skeleton->rodata->settings.cpus_len = (unsigned)libbpf_num_possible_cpus();
	if (scx_bpf__load(skeleton))
		return fail("load", errno);
	status = strcmp(argv[1], "cycle") ? hold(skeleton) : cycle(skeleton, atoi(argv[2]));
	scx_bpf__destroy(skeleton);
	return status;
}
