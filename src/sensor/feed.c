// SPDX-License-Identifier: GPL-2.0
/* The feed sensor: threads that give a GPU work through CUDA. The probes of bpf/feed.bpf.c are in libcuda for a moment
 * of each second, and more rarely while nobody calls it. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "../base/elf.h"
#include "../base/system.h"
#include "kinds.h"
#include "libraries.h"
#include "sched.h"
#include "sensor_set.h"
#include "uprobes.h"
#include "feed.skel.h"

enum {
	LOOK_MS = 50,	      /* for so long the probes are there */
	EVERY_MS = 1000,      /* so often while there is something to see */
	EVERY_MOST_MS = 4000, /* and at the least */
	FILES_MAX = 16,
	OFFSETS_MAX = 16,
	PARTS = 100, /* what a look takes is at most this part of the time: users can have many processes */
};

/* By which threads give it work. What ends in _ptsz is for programs whose threads have streams of their own. */
static const char *const functions[] = {
	"cuLaunchKernel",
	"cuLaunchKernel_ptsz",
	"cuLaunchKernelEx",
	"cuLaunchKernelEx_ptsz",
	"cuGraphLaunch",
	"cuGraphLaunch_ptsz",
	"cuLaunchCooperativeKernel",
	"cuLaunchCooperativeKernel_ptsz",
	"cuMemcpyHtoDAsync_v2",
	"cuMemcpyHtoDAsync_v2_ptsz",
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };
_Static_assert((int)FUNCTIONS <= OFFSETS_MAX, "one offset for each");

/* A libcuda that somebody maps. */
struct feed_file {
	int fd; /* it stays that very file */
	u64 device, inode;
	struct timespec written; /* as it was when its functions were looked up */
	bool is_roots;
	u64 offsets[OFFSETS_MAX];
	u32 offsets_len;
};

struct feed_state {
	struct feed_bpf *skeleton;
	struct libraries *libraries; /* NULL: only tried */
	struct uprobes *uprobes;
	struct feed_file files[FILES_MAX];
	u32 files_len;
	int timer_fd;
	bool is_looking;
	u64 feeds; /* that had been seen when the look began */
	u32 every_ms;
	u64 took_ns;   /* to put probes on, the last time */
	u64 unwatched; /* files for which there was no room, and looks that failed */
};

static bool probe_feed(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_is_at_least(6, 6))
		return true;
	reason_set(why, "this kernel puts on probes only one by one (Linux 6.6 does many at a time)");
	return false;
}

static const struct sensor_hook hooks[] = {
	{ "uprobe.multi", NULL, probe_feed },
	{ 0 },
};

/* 0: not again. */
static void wind_timer(const struct feed_state *state, u32 ms)
{
	struct itimerspec at = { .it_value = { ms / 1000, (long)(ms % 1000) * 1000000 } };

	timerfd_settime(state->timer_fd, 0, &at, NULL);
}

static void forget(struct feed_state *state, u32 place)
{
	close(state->files[place].fd);
	state->files[place] = state->files[--state->files_len];
}

static void forget_file(struct feed_state *state, u64 device, u64 inode)
{
	for (u32 i = state->files_len; i > 0; i--)
		if (state->files[i - 1].device == device && state->files[i - 1].inode == inode)
			forget(state, i - 1);
}

/* Root's has room in any case: a user can have as many files of that name as he likes. */
static void make_room(struct feed_state *state, bool is_roots)
{
	for (u32 i = state->files_len; is_roots && state->files_len == FILES_MAX && i > 0; i--)
		if (!state->files[i - 1].is_roots) {
			forget(state, i - 1);
			state->unwatched++;
		}
}

/* Other code may be where the functions were: a file that was written to is found anew when it is mapped again. */
static bool is_as_it_was(const struct feed_file *file)
{
	struct stat now;

	return !fstat(file->fd, &now) && now.st_mtim.tv_sec == file->written.tv_sec &&
	       now.st_mtim.tv_nsec == file->written.tv_nsec;
}

static void on_library(void *data, const struct library *library)
{
	struct feed_state *state = data;
	struct feed_file file = { .device = library->device, .inode = library->inode, .is_roots = library->is_roots };
	struct reason why;
	struct stat seen;

	uprobes_take_off(state->uprobes, library->device, library->inode, 0);
	forget_file(state, library->device, library->inode);
	make_room(state, library->is_roots);
	file.fd = state->files_len < FILES_MAX ? open(library->open, O_RDONLY | O_CLOEXEC) : -1;
	if (file.fd < 0 || fstat(file.fd, &seen)) {
		state->unwatched++;
		if (file.fd >= 0)
			close(file.fd);
		return;
	}
	file.written = seen.st_mtim;
	for (u32 i = 0; i < FUNCTIONS; i++)
		if (!elf_symbol(library->open, functions[i], &file.offsets[file.offsets_len], &why))
			file.offsets_len++;
	if (!file.offsets_len) {
		close(file.fd);
		return;
	}
	state->files[state->files_len++] = file;
	state->every_ms = EVERY_MS;
	if (!state->is_looking)
		wind_timer(state, LOOK_MS);
}

static void stop_looking(struct feed_state *state)
{
	for (u32 i = 0; i < state->files_len; i++)
		uprobes_take_off(state->uprobes, state->files[i].device, state->files[i].inode, 0);
	state->is_looking = false;
}

static void on_gone(void *data, u64 device, u64 inode)
{
	struct feed_state *state = data;

	uprobes_take_off(state->uprobes, device, inode, 0);
	forget_file(state, device, inode);
}

/* Probes are put on only where the functions still are, and a write that falls in between is seen afterwards. */
static void put_on(struct feed_state *state, const struct feed_file *file)
{
	static const u64 no_cookies[OFFSETS_MAX];
	struct reason why = { "" };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	if (is_as_it_was(file) && uprobes_attach_many(state->uprobes, state->skeleton->progs.on_feed, path, 0,
						      file->offsets, no_cookies, file->offsets_len, AT_ENTRY, &why) < 0)
		state->unwatched++;
	if (is_as_it_was(file))
		return;
	uprobes_take_off(state->uprobes, file->device, file->inode, 0);
	forget_file(state, file->device, file->inode);
}

/* Not the time that passes: on a busy machine most of that is others'. */
static u64 own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (u64)used.tv_sec * NSEC_PER_SEC + (u64)used.tv_nsec;
}

static void start_looking(struct feed_state *state)
{
	u64 began_ns = own_cpu_ns();

	for (u32 i = state->files_len; i > 0; i--) {
		struct feed_file file = state->files[i - 1]; /* which may be forgotten */

		put_on(state, &file);
	}
	state->is_looking = true;
	state->feeds = state->skeleton->bss->feeds;
	state->took_ns = own_cpu_ns() - began_ns;
}

static u32 next_look_ms(struct feed_state *state)
{
	u64 least_ms = state->took_ns * PARTS / NSEC_PER_MSEC;

	if (state->skeleton->bss->feeds != state->feeds)
		state->every_ms = EVERY_MS;
	else if (state->every_ms < EVERY_MOST_MS)
		state->every_ms *= 2;
	return least_ms < state->every_ms ? state->every_ms - LOOK_MS : (u32)least_ms;
}

static void feed_work(void *data)
{
	struct feed_state *state = data;
	u64 expirations;

	uprobes_work(state->uprobes);
	if (read(state->timer_fd, &expirations, sizeof(expirations)) < 0)
		return;
	if (!state->is_looking && state->files_len) {
		start_looking(state);
		wind_timer(state, LOOK_MS);
		return;
	}
	stop_looking(state);
	wind_timer(state, state->files_len ? next_look_ms(state) : 0);
}

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct sensor_settings *settings = data;
	struct feed_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	return sched_share(settings ? settings->sched : NULL, skeleton->obj);
}

LOADABLE(feed);

static int feed_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct feed_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &feed_loadable, NULL, configure, (void *)settings };
	int error;

	(void)hook;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (state->timer_fd < 0)
		return -errno;
	state->libraries = settings ? settings->libraries : NULL;
	state->skeleton = load_programs(&plan, &error, why);
	return error ? error : uprobes_open(&state->uprobes);
}

static int feed_attach(void *data, int hook, struct reason *why)
{
	struct feed_state *state = data;

	(void)hook;
	(void)why;
	return state->libraries ? libraries_want(state->libraries, "libcuda.so*", on_library, on_gone, state) : 0;
}

static void feed_close(void *data)
{
	struct feed_state *state = data;

	if (!state)
		return;
	uprobes_close(state->uprobes);
	for (u32 i = 0; i < state->files_len; i++)
		close(state->files[i].fd);
	feed_bpf__destroy(state->skeleton);
	if (state->timer_fd >= 0)
		close(state->timer_fd);
	free(state);
}

static int feed_fd(const void *data)
{
	return ((const struct feed_state *)data)->timer_fd;
}

static u64 feed_lost(const void *data)
{
	return ((const struct feed_state *)data)->unwatched;
}

static void feed_hits(const void *data, u64 hits[HITS])
{
	hits[HIT_CUDA_FEEDS] += ((const struct feed_state *)data)->skeleton->bss->feeds;
}

const struct sensor_kind feed_kind = {
	.name = "feed",
	.subject = "threads that give a GPU work by CUDA",
	.hooks = hooks,
	.open = feed_open,
	.attach = feed_attach,
	.close = feed_close,
	.groups = EVENTS_ROLES,
	.fd = feed_fd,
	.work = feed_work,
	.lost = feed_lost,
	.hits = feed_hits,
};
