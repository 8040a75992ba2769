// SPDX-License-Identifier: GPL-2.0
/* Puts the probes of bpf/cuda.bpf.c on the functions of every libcuda that is there or turns up, and watches the ioctls
 * of NVIDIA's drivers. A launch is watched at its entry alone by default: its end would cost as much again. */
#include "cuda.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/maps.h"
#include "../base/process.h"
#include "../base/regular.h"
#include "../base/system.h"
#include "../sink/text.h"
#include "cuda_counts.h"
#include "cuda_driver.h"
#include "cuda_fentry.h"
#include "cuda_find.h"
#include "cuda_known.h"
#include "cuda_prepare.h"
#include "cuda_work.h"
#include "cuda_xid.h"
#include "interrupts.h"
#include "libraries.h"
#include "sched.h"
#include "uprobes.h"
#include "cuda.skel.h"

enum cuda_hook { HOOK_MULTI, HOOK_SINGLE };
_Static_assert(HOOK_SINGLE + 1 == CUDA_HOOKS, "any of the hooks will do");
enum { PATH_PLAIN = 256 };

static bool probe_uprobes(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0)
		return true;
	reason_set(why, "this kernel has no probes in user space (CONFIG_UPROBE_EVENTS)");
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_MULTI] = { "uprobe.multi", NULL, probe_uprobes },
	[HOOK_SINGLE] = { "uprobe", "each function has a probe of its own: to put them on takes longer",
			  probe_uprobes },
	{ 0 },
};

struct cuda_state {
	struct cuda_bpf *skeleton;
	struct cuda_settings settings;
	struct sensor *sched;	     /* NULL: only tried */
	const struct filter *filter; /* NULL: only tried */
	u32 pid;		     /* the only process that is watched; 0: there may be others */
	const struct threads *threads;
	const struct cuda_prepared *prepared;
	struct cuda_detour *detour; /* by which the command counts itself; NULL: it does not */
	enum cuda_hook hook;
	struct libraries *libraries;
	struct uprobes *uprobes;
	struct bpf_link *ioctl_link, *ioctl_end_link;
	struct cuda_xids xids;
	struct cuda_work work;
	struct driver_hooks driver;
	int epoll_fd;
	struct cuda_known known;
	u32 names_emitted;
	u32 probes;
	bool watching; /* what is mapped from now on may have been called before it is probed */
	u32 found_mapped;
	struct cuda_detour_counts detour_counts;
};

static u64 cookie_of(const struct cuda_state *state, u32 number, const struct cuda_api *api)
{
	bool is_default = !state->settings.api || !strcmp(state->settings.api, "default");
	/* Profilers ask for a kernel's name at each launch. */
	bool is_asked_often = api->shape == SHAPE_NAME_OF;
	bool always = api->class == CUDA_ALLOCATES || api->class == CUDA_FREES || api->class == CUDA_CONTEXTS ||
		      (api->class == CUDA_MODULES && !is_asked_often);
	u64 cookie = number | (u64)api->shape << CUDA_COOKIE_SHAPE_SHIFT;

	if ((is_default && api->class == CUDA_LAUNCHES) || api->class == CUDA_RANGES || state->settings.counts_only)
		cookie |= CUDA_COOKIE_ENTRY_ONLY;
	if (state->settings.counts_only)
		cookie |= CUDA_COOKIE_COUNT_ONLY;
	return cookie | (always ? CUDA_COOKIE_ALWAYS : 0) | (api->is_async ? CUDA_COOKIE_ASYNC : 0);
}

/* Where to put one of the two programs. */
struct places {
	u64 *offsets, *cookies;
	size_t len;
};

static void add_place(struct places *places, u64 offset, u64 cookie)
{
	places->offsets[places->len] = offset;
	places->cookies[places->len++] = cookie;
}

static int make_places(struct places *places, size_t room)
{
	places->offsets = calloc(room + 1, sizeof(u64));
	places->cookies = calloc(room + 1, sizeof(u64));
	return places->offsets && places->cookies ? 0 : -ENOMEM;
}

static void free_places(struct places *places)
{
	free(places->offsets);
	free(places->cookies);
}

/* Returns how many probes are there that were not before, or -errno with the reason why none is. */
static int put_probes(struct cuda_state *state, struct uprobes *uprobes, const struct bpf_program *program,
		      const char *file, const struct places *places, enum uprobe_side side, struct reason *why)
{
	/* A trial is not about that process. */
	u32 pid = uprobes == state->uprobes ? state->pid : 0;
	int put = 0, there = 0, error = 0;

	if (!places->len)
		return 0;
	if (state->hook == HOOK_MULTI) {
		error = uprobes_attach_many(uprobes, program, file, pid, places->offsets, places->cookies, places->len,
					    side, why);
		if (error >= 0)
			return error ? (int)places->len : 0;
	}
	/* One that is refused must not take the others with it. */
	for (size_t i = 0; i < places->len; i++) {
		if (state->hook == HOOK_MULTI)
			error = uprobes_attach_many(uprobes, program, file, pid, &places->offsets[i],
						    &places->cookies[i], 1, side, why);
		else
			error = uprobes_attach(uprobes, program, file, places->offsets[i], side, places->cookies[i],
					       why);
		put += error > 0;
		there += error >= 0;
		if (!there && i >= 3)
			break;
	}
	return there ? put : error;
}

static int probe_library(struct cuda_state *state, const char *file, bool is_roots, enum cuda_library kind,
			 struct reason *why)
{
	struct cuda_functions functions = { 0 };
	struct places entries = { 0 }, returns = { 0 };
	int error = cuda_find_functions(&functions, file, kind, why), fd = open(file, O_RDONLY | O_CLOEXEC), put;

	if (!error)
		error = make_places(&entries, functions.len);
	if (!error)
		error = make_places(&returns, functions.len);
	for (size_t i = 0; !error && i < functions.len; i++) {
		const struct cuda_function *function = &functions.all[i];
		u32 number = cuda_is_chosen(function, state->settings.api)
				     ? cuda_number_of(&state->known, function->name, is_roots)
				     : 0;
		u64 cookie = number ? cookie_of(state, number, cuda_api_of(function->name)) : 0, offset;

		if (state->detour && fd >= 0 && kind == LIBRARY_CUDA)
			cuda_detour_add(state->detour, fd, function, cookie);
		if (!number)
			continue;
		offset = fd >= 0 ? cuda_probe_offset(fd, function->offset) : function->offset;
		add_place(&entries, offset, cookie);
		if (!(cookie & CUDA_COOKIE_ENTRY_ONLY))
			add_place(&returns, offset, cookie);
	}
	if (!error && !entries.len) {
		reason_set(why, "none of the functions that it exports was asked for");
		error = -ENOENT;
	}
	/* First where calls end: one that begins now is seen whole. */
	if (!error) {
		put = put_probes(state, state->uprobes, state->skeleton->progs.on_return, file, &returns, AT_RETURN,
				 why);
		error = put < 0 ? put : 0;
		state->probes += put > 0 ? (u32)put : 0;
	}
	if (!error) {
		put = put_probes(state, state->uprobes, state->skeleton->progs.on_call, file, &entries, AT_ENTRY, why);
		error = put < 0 ? put : 0;
		state->probes += put > 0 ? (u32)put : 0;
	}
	/* Where there is no plan, calls are counted by the probes. */
	if (!error && state->detour && fd >= 0 && kind == LIBRARY_CUDA)
		cuda_detour_plan(state->detour, fd);
	if (fd >= 0)
		close(fd);
	free_places(&entries);
	free_places(&returns);
	cuda_functions_free(&functions);
	return error;
}

static void take_file(struct cuda_state *state, const char *file, const char *called, bool mapped, bool is_quiet)
{
	enum cuda_library kind = cuda_library_of(called);
	struct reason why = { "" };
	char path[PATH_PLAIN];
	struct stat seen;
	u32 probes = state->probes;
	bool is_roots;
	int error;

	if (stat(file, &seen) || !S_ISREG(seen.st_mode) || cuda_was_probed(&state->known, &seen))
		return;
	is_roots = !seen.st_uid && !(seen.st_mode & (S_IWGRP | S_IWOTH));
	/* One that was only touched keeps the probes that it has. */
	uprobes_doubt(state->uprobes, seen.st_dev, seen.st_ino);
	error = probe_library(state, file, is_roots, kind, &why);
	uprobes_drop_stale(state->uprobes);
	if (!error) {
		state->found_mapped += kind == LIBRARY_CUDA && state->watching && state->probes > probes;
		return;
	}
	/* What nobody maps may be anything. */
	if (!mapped)
		cuda_forget_file(&state->known, seen.st_dev, seen.st_ino);
	if (!mapped || is_quiet)
		return;
	format_plain(path, sizeof(path), called);
	note("cuda: %s: %s: its calls are not seen", path, why.text);
}

static void on_gone(void *data, u64 device, u64 inode)
{
	struct cuda_state *state = data;

	uprobes_take_off(state->uprobes, device, inode, 0);
	cuda_forget_file(&state->known, device, inode);
}

static void on_library(void *data, const struct library *library)
{
	take_file(data, library->open, library->path, true, library->is_quiet);
}

static void on_candidate(void *data, const char *path)
{
	struct stat seen;
	char open_path[32];
	int fd = regular_open(path, &seen);

	if (fd < 0)
		return;
	snprintf(open_path, sizeof(open_path), "/proc/self/fd/%d", fd);
	take_file(data, open_path, path, false, false);
	close(fd);
}

#define NO_DRIVER "the driver's functions can be watched only one way, or not at all"
#define NO_WORK "what kernel threads do for a process is not seen"
static const struct load_optional optional[] = {
	{ "on_ioctl", "ioctls are not seen" },
	{ "on_ioctl_end", "ioctls are not seen" },
	{ "on_xid", "faults that the driver reports are not seen" },
	{ "on_work_queued", NO_WORK },
	{ "on_work_queued_blind", NO_WORK },
	{ "on_work", NO_WORK },
	{ "on_work_end", NO_WORK },
	{ "on_worker_woken", NO_WORK },
	{ "on_worker_switch", NO_WORK },
	{ "on_driver", NO_DRIVER },
	{ "on_driver_end", NO_DRIVER },
	{ "on_driver_blind", NO_DRIVER },
	{ "on_driver_single", NO_DRIVER },
	{ "on_driver_single_blind", NO_DRIVER },
	{ "on_driver_single_end", NO_DRIVER },
	{ NULL, NULL },
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct cuda_state *state = data;
	struct cuda_bpf *skeleton = opened;
	struct cuda_config config = { .sample = 1 };
	bool with_driver = state->settings.driver != NULL, seen = interrupts_are_seen();

	(void)attempt;
	(void)why;
	if (state->settings.sample)
		config.sample = state->settings.sample;
	cuda_find_majors(&config);
	if (state->settings.no_ioctls)
		config.nvidia_major = config.uvm_major = 0;
	memcpy((void *)&skeleton->rodata->cuda, &config, sizeof(config));
	cuda_work_configure(skeleton, config.nvidia_major, seen);
	/* The same programs, for one probe each. */
	if (state->hook == HOOK_SINGLE) {
		bpf_program__set_expected_attach_type(skeleton->progs.on_call, 0);
		bpf_program__set_expected_attach_type(skeleton->progs.on_return, 0);
	}
	/* Kernels without kprobes may refuse them. */
	bpf_program__set_autoload(skeleton->progs.on_driver, with_driver && seen);
	bpf_program__set_autoload(skeleton->progs.on_driver_blind, with_driver && !seen);
	bpf_program__set_autoload(skeleton->progs.on_driver_end, with_driver);
	bpf_program__set_autoload(skeleton->progs.on_driver_single, with_driver && seen);
	bpf_program__set_autoload(skeleton->progs.on_driver_single_blind, with_driver && !seen);
	bpf_program__set_autoload(skeleton->progs.on_driver_single_end, with_driver);
	bpf_program__set_autoload(skeleton->progs.on_driver_fentry, false);
	bpf_program__set_autoload(skeleton->progs.on_driver_fentry_blind, false);
	bpf_program__set_autoload(skeleton->progs.on_driver_fexit, false);
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(cuda);

static int cuda_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct cuda_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &cuda_loadable, optional, configure, state };
	int error;

	*out = state;
	if (!state)
		return -ENOMEM;
	state->hook = hook;
	state->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (settings) {
		state->settings = *settings->for_cuda;
		state->sched = settings->sched;
		state->filter = &settings->options->filter;
		/* A probe is for one process or for all. */
		state->pid = state->filter->pids_len == 1 ? state->filter->pids[0] : 0;
		state->threads = settings->threads;
		state->prepared = settings->prepared;
		state->detour = state->prepared ? state->prepared->detour : NULL;
	}
	state->skeleton = load_programs(&plan, &error, why);
	return error ? error : uprobes_open(&state->uprobes);
}

struct search {
	u64 address;
	u64 offset;
};

static int find_address(void *data, const struct mapping *mapping)
{
	struct search *search = data;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	search->offset = search->address - mapping->start + mapping->offset;
	return 1;
}

/* Libraries come later, or never: whether probes are to be had at all is tried on this very function's file. */
static int try_probe(struct cuda_state *state, struct reason *why)
{
	struct search search = { .address = (u64)(size_t)&try_probe };
	u64 cookie = 0;
	struct places one = { .offsets = &search.offset, .cookies = &cookie, .len = 1 };
	struct uprobes *trial = NULL;
	int error = uprobes_open(&trial);

	if (!error && maps_read((u32)getpid(), find_address, &search) == 1)
		error = put_probes(state, trial, state->skeleton->progs.on_call, "/proc/self/exe", &one, AT_ENTRY, why);
	uprobes_close(trial);
	return error < 0 ? error : 0;
}

static void watch_ioctls(struct cuda_state *state)
{
	if (!state->skeleton->rodata->cuda.nvidia_major)
		return;
	/* First where they end. */
	state->ioctl_end_link = sensor_attach_tracepoint(state->skeleton->progs.on_ioctl_end, "syscalls",
							 "sys_exit_ioctl");
	if (state->ioctl_end_link)
		state->ioctl_link = sensor_attach_tracepoint(state->skeleton->progs.on_ioctl, "syscalls",
							     "sys_enter_ioctl");
	if (!state->ioctl_link && state->sched)
		note("cuda: ioctls are not watched: %s", strerror(errno));
}

static u32 number_for(void *data, const char *name)
{
	struct cuda_state *state = data;

	return cuda_number_of(&state->known, name, true);
}

/* The driver's functions, if they were asked for. That they can't be watched is said, and takes nothing else down. */
static void watch_driver(struct cuda_state *state)
{
	const struct driver_plan plan = { .with = state->skeleton,
					  .sched = state->sched,
					  .by = state->settings.driver_by,
					  .counts_only = state->settings.counts_only,
					  .number_for = number_for,
					  .data = state };
	struct reason why = { "" };

	if (!state->settings.driver)
		return;
	if (driver_watch(&state->driver, state->settings.driver, &plan, &why))
		note("cuda: the driver's functions are not watched: %s", why.text);
	else
		note("cuda: %s", why.text);
}

/* What a program names by NVTX's headers goes to the library that it was given; where it was given none, the older
 * library of NVTX's is looked at. */
static void watch_ranges(struct cuda_state *state)
{
	char path[DETOUR_PATH_BYTES];

	if (!state->settings.ranges)
		return;
	if (state->detour && cuda_detour_path(state->detour, path))
		take_file(state, path, path, true, false);
	else
		libraries_want(state->libraries, "libnvToolsExt.so*", on_library, on_gone, state);
}

static int cuda_attach(void *data, int hook, struct reason *why)
{
	struct cuda_state *state = data;
	struct reason slow = { "" };
	int error = try_probe(state, why);

	(void)hook;
	if (error || !state->sched)
		return error;
	watch_ioctls(state);
	cuda_work_attach(&state->work, state->skeleton, interrupts_are_seen());
	watch_driver(state);
	cuda_xids_attach(&state->xids, state->skeleton);
	/* Without the kernel's word on mappings, /proc is looked at once a second. */
	libraries_open(&state->libraries, &slow);
	if (!state->libraries)
		return -ENOMEM;
	libraries_want(state->libraries, "libcuda.so*", on_library, on_gone, state);
	libraries_want(state->libraries, "libnccl.so*", on_library, on_gone, state);
	watch_ranges(state);
	if (state->settings.library && access(state->settings.library, R_OK)) {
		reason_set(why, "%s: %s", state->settings.library, strerror(errno));
		return -errno;
	}
	if (state->settings.library)
		take_file(state, state->settings.library, state->settings.library, true, false);
	for (u32 i = 0; state->filter && i < state->filter->pids_len; i++)
		libraries_scan_process(state->libraries, state->filter->pids[i]);
	if (!state->filter || !state->filter->pids_len)
		libraries_scan(state->libraries);
	cuda_find_files("libcuda.so.*", on_candidate, state);
	cuda_find_files("libnccl.so*", on_candidate, state);
	state->watching = true;
	sensor_add_fd(state->epoll_fd, libraries_fd(state->libraries));
	sensor_add_fd(state->epoll_fd, uprobes_fd(state->uprobes));
	if (state->detour)
		sensor_add_fd(state->epoll_fd, cuda_detour_fd(state->detour));
	return 0;
}

static void cuda_close(void *data)
{
	struct cuda_state *state = data;

	if (!state)
		return;
	bpf_link__destroy(state->ioctl_link);
	bpf_link__destroy(state->ioctl_end_link);
	cuda_work_detach(&state->work);
	driver_hooks_free(&state->driver);
	cuda_xids_detach(&state->xids);
	uprobes_close(state->uprobes);
	libraries_close(state->libraries);
	cuda_bpf__destroy(state->skeleton);
	if (state->epoll_fd >= 0)
		close(state->epoll_fd);
	cuda_known_free(&state->known);
	free(state);
}

static int cuda_fd(const void *data)
{
	return ((const struct cuda_state *)data)->epoll_fd;
}

static void cuda_work(void *data)
{
	struct cuda_state *state = data;
	u32 taken;

	if (state->detour)
		cuda_detour_serve(state->detour, state->sched);
	taken = uprobes_work(state->uprobes);
	if (taken)
		note("cuda: a libcuda was written to while it was watched: its probes were taken off");
	libraries_work(state->libraries);
	cuda_xids_attach(&state->xids, state->skeleton);
}

/* Functions are known by name before the first call of one is read. */
static void cuda_emit(void *data, u64 now_ns, event_handler handle, void *handle_data)
{
	struct cuda_state *state = data;

	for (u32 i = state->names_emitted ? state->names_emitted : 1; i < state->known.names_len; i++) {
		struct event_cuda_name event = { .head = { .time_ns = now_ns, .kind = EVENT_CUDA_NAME },
						 .handle = i,
						 .what = CUDA_NAMED_FUNCTION };

		memcpy(event.name.text, state->known.names[i], strnlen(state->known.names[i], LONG_NAME_LEN - 1));
		handle(handle_data, &event.head);
	}
	state->names_emitted = state->known.names_len;
}

static int cuda_snapshot(void *data, event_handler handle, void *handle_data)
{
	struct cuda_state *state = data;

	return cuda_emit_counts(bpf_map__fd(state->skeleton->maps.counts), state->known.names_len, state->detour,
				&state->detour_counts, handle, handle_data);
}

static void read_reports(void *data, bool last)
{
	cuda_detour_collect(((struct cuda_state *)data)->detour, last);
}

static const struct event_header *first_report(void *data, u64 until_ns)
{
	struct cuda_state *state = data;

	return cuda_detour_first(state->detour, until_ns, state->threads);
}

static void drop_report(void *data)
{
	cuda_detour_drop(((struct cuda_state *)data)->detour);
}

static bool cuda_source(void *data, struct stream_source *source)
{
	const struct cuda_state *state = data;

	*source = (struct stream_source){ read_reports, first_report, drop_report, data };
	return state->detour != NULL;
}

static u64 cuda_lost(const void *data)
{
	const struct cuda_state *state = data;
	const struct cuda_bpf__bss *counts = state->skeleton->bss;
	const struct cuda_detour_counts *detour = &state->detour_counts;

	return counts->callers_refused + counts->too_deep + counts->unread + counts->works_refused +
	       fentry_recursion_misses(state->driver.fentry) + detour->broken + detour->lost + detour->refused;
}

struct cuda_state_of cuda_state(const struct sensor *sensor)
{
	const struct cuda_state *state = sensor->data;

	return (struct cuda_state_of){ .libraries = state->known.files_len,
				       .found_mapped = state->found_mapped,
				       .functions = state->known.names_len ? state->known.names_len - 1 : 0,
				       .probes = state->probes,
				       .ioctls = state->ioctl_link != NULL,
				       .detour = state->detour_counts,
				       .trap = state->prepared ? state->prepared->trap.text : "" };
}

const struct sensor_kind cuda_kind = {
	.name = "cuda",
	.subject = "CUDA calls, ioctls and the driver",
	.hooks = hooks,
	.open = cuda_open,
	.attach = cuda_attach,
	.close = cuda_close,
	.groups = EVENTS_CUDA,
	.prepare = cuda_prepare,
	.after_fork = cuda_after_fork,
	.unprepare = cuda_unprepare,
	.fd = cuda_fd,
	.work = cuda_work,
	.works_first = true,
	.emit = cuda_emit,
	.snapshot = cuda_snapshot,
	.source = cuda_source,
	.lost = cuda_lost,
};
