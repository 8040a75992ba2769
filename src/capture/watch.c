// SPDX-License-Identifier: GPL-2.0
/* What every live command does around its own work: signals, the command after `--`, time.
 * The command's exit status becomes the program's. */
#include "watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../base/child_group.h"
#include "../base/say.h"

enum { PATIENCE_MS = 5000, STEP_MS = 10 };

int watch_prepare(struct watch *watch, const struct options *options)
{
	struct reason why = { "" };
	struct run_as as;
	int error;

	*watch = (struct watch){ .options = options };
	loop_take_signals();
	if (options->command) {
		if (run_as_find(&as, options->user, &why))
			return fail(options->command[0], "could not start: %s", why.text);
		privileges_need(as.changes ? NEED_TO_SIGNAL : 0);
		error = child_prepare(&watch->child, options->command, &as);
		if (error)
			return fail(options->command[0], "could not start: %s", strerror(-error));
	}
	return 0;
}

int watch_start(struct watch *watch)
{
	int status = watch->child.pid ? child_start(&watch->child, watch->options->command) : 0;

	privileges_need(NEED_SENSORS);
	privileges_give_up();
	if (!watch->child.pid && !status && !watch->options->duration_ns)
		note("watching; Ctrl-C ends it");
	return status;
}

enum loop_end watch_wait(struct watch *watch, u64 tick_ns, int fd, bool (*tick)(void *), void *data)
{
	struct loop loop = {
		.duration_ns = watch->options->duration_ns,
		.tick_ns = tick_ns,
		.child = watch->child.pid ? &watch->child : NULL,
		.tick = tick,
		.fd = fd,
		.prompt = watch->prompt,
		.urgent_fd = watch->urgent_fd,
		.urgent = watch->urgent,
		.data = data,
	};

	return loop_run(&loop);
}

/* The time was up before the command was: it and what it started are asked to end, then made to. */
static void end_command(struct child *child, const char *name)
{
	struct timespec step = { .tv_nsec = STEP_MS * NSEC_PER_MSEC };

	note("the time is up: %s and what it started get SIGTERM", name);
	child_group_signal(child, SIGTERM);
	for (int waited_ms = 0; !child->ended || child_group_signal(child, 0); waited_ms += STEP_MS) {
		if (waited_ms == PATIENCE_MS) {
			note("%s did not end within %d s: SIGKILL", name, PATIENCE_MS / 1000);
			child_group_signal(child, SIGKILL);
			/* What it started is not ours to wait for. */
			while (!child->ended) {
				nanosleep(&step, NULL);
				child_reap(child);
			}
			return;
		}
		nanosleep(&step, NULL);
		child_reap(child);
	}
}

int watch_end(struct watch *watch)
{
	struct child *child = &watch->child;

	if (!child->pid)
		return 0;
	if (!child->ended)
		end_command(child, watch->options->command[0]);
	return child->status;
}

int watch_abandon(struct watch *watch, int status)
{
	child_abandon(&watch->child);
	return status;
}
