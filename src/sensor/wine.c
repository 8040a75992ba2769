// SPDX-License-Identifier: GPL-2.0
/* The wine sensor: finds every ntdll.so that a process maps and puts the probes of bpf/wine.bpf.c on its functions.
 * No path is assumed. What the kernel half can't reach by itself is done here at its word. */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../core/wine.h"
#include "../base/elf.h"
#include "../base/maps.h"
#include "../sink/text.h"
#include "sensor_set.h"
#include "kernel_types.h"
#include "kinds.h"
#include "libraries.h"
#include "sched.h"
#include "uprobes.h"
#include "wine.skel.h"

enum wine_hook { HOOK_WALKS, HOOK_TELLS };

static bool probe_iterator(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_has_function("bpf_iter_task_new"))
		return true;
	reason_set(why, "this kernel has no iterator over threads for it (it takes Linux 6.7 or later)");
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_WALKS] = { "uprobe+iterator", NULL, probe_iterator },
	[HOOK_TELLS] = { "uprobe", "a priority that one thread gives another is known milliseconds later", probe_btf },
	{ 0 },
};

struct wine_state {
	struct wine_bpf *skeleton;
	enum wine_hook hook;
	struct sensor *sched; /* NULL: only tried */
	struct libraries *libraries;
	struct uprobes *uprobes;
	struct ring_buffer *reported;
	int epoll_fd; /* over the ring and what uprobes waits for */
};

static int handle_message(void *data, void *message, size_t size)
{
	const struct wine_message *reported = message;
	struct wine_state *state = data;

	if (size < sizeof(*reported) || !state->sched)
		return 0;
	if (reported->what == WINE_REPORTS_PROCESS)
		sched_assign(state->sched, reported->pid, 0, ORDER_PROCESS, PROCESS_WINE);
	else
		sched_assign(state->sched, reported->pid, reported->tid, ORDER_WINE, reported->priority);
	return 0;
}

#define MAY_GO_UNSEEN "priorities that one thread gives another may go unseen"
static const struct load_optional optional[] = {
	{ "on_create", MAY_GO_UNSEEN },
	{ "on_duplicate", MAY_GO_UNSEEN },
	{ "on_open", MAY_GO_UNSEEN },
	{ "on_handle", MAY_GO_UNSEEN },
	{ "on_fork", MAY_GO_UNSEEN },
	{ "on_information_set", "a request whose memory is away for a moment goes unseen" },
	{ "on_start", "Windows programs are known only by their libraries" },
	{ NULL, NULL },
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wine_state *state = data;
	struct wine_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	skeleton->rodata->walks = state->hook == HOOK_WALKS;
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(wine);

static int wine_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct wine_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &wine_loadable, optional, configure, state };
	int error;

	*out = state;
	if (!state)
		return -ENOMEM;
	state->hook = hook;
	state->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	state->sched = settings ? settings->sched : NULL;
	state->libraries = settings ? settings->libraries : NULL;
	state->skeleton = load_programs(&plan, &error, why);
	if (error)
		return error;
	state->reported = ring_buffer__new(bpf_map__fd(state->skeleton->maps.reported), handle_message, state, NULL);
	if (!state->reported)
		return -errno;
	error = uprobes_open(&state->uprobes);
	sensor_add_fd(state->epoll_fd, ring_buffer__epoll_fd(state->reported));
	if (!error)
		sensor_add_fd(state->epoll_fd, uprobes_fd(state->uprobes));
	return error;
}

/* Handles of threads come from these calls; a Wine that lacks one of them still shows what threads ask for themselves.
 */
static void attach_more(const struct wine_state *state, const struct library *library, const char *path)
{
	const struct {
		const char *function;
		const struct bpf_program *enters;
		bool gives_handle;
	} more[] = {
		{ "NtCreateThreadEx", state->skeleton->progs.on_create, true },
		{ "NtDuplicateObject", state->skeleton->progs.on_duplicate, true },
		{ "NtOpenThread", state->skeleton->progs.on_open, true },
		{ "__wine_main", state->skeleton->progs.on_start, false },
	};
	struct reason why = { "" };

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		int error = 0;

		/* The return first, so that no call is left open by a return that was not seen. */
		if (more[i].gives_handle)
			error = uprobes_attach_symbol(state->uprobes, state->skeleton->progs.on_handle, library->open,
						      more[i].function, AT_RETURN, 0, &why);
		if (error >= 0)
			error = uprobes_attach_symbol(state->uprobes, more[i].enters, library->open, more[i].function,
						      AT_ENTRY, 0, &why);
		if (error < 0 && more[i].gives_handle)
			note("wine: %s: %s: priorities that one thread gives another may go unseen", path, why.text);
	}
}

struct search {
	const struct library *library;
	u32 pid;
};

static int is_that_file(void *data, const struct mapping *mapping)
{
	const struct search *search = data;

	return mapping->inode == search->library->inode && !strcmp(path_base(mapping->path), search->library->name);
}

/* A process that maps Wine's ntdll.so runs a Windows program. Those that come later are seen when they start. */
static void mark_processes(struct wine_state *state, const struct library *library)
{
	struct search search = { .library = library };
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		search.pid = (u32)strtoul(entry->d_name, NULL, 10);
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    libraries_read_maps(state->libraries, search.pid, is_that_file, &search) > 0)
			sched_assign(state->sched, search.pid, 0, ORDER_PROCESS, PROCESS_WINE);
	}
	if (proc)
		closedir(proc);
}

/* The return first, so that a request that could not be read is asked for again. */
static int attach_requests(const struct wine_state *state, const struct library *library, u64 offset,
			   struct reason *why)
{
	int error = 0;

	if (bpf_program__autoload(state->skeleton->progs.on_information_set))
		error = uprobes_attach(state->uprobes, state->skeleton->progs.on_information_set, library->open, offset,
				       AT_RETURN, 0, why);
	if (error < 0)
		return error;
	return uprobes_attach(state->uprobes, state->skeleton->progs.on_set_information, library->open, offset,
			      AT_ENTRY, 0, why);
}

static void found_ntdll(void *data, const struct library *library)
{
	struct wine_state *state = data;
	struct reason why = { "" };
	char path[PATH_MAX];
	u64 offset = 0;
	int error = elf_symbol(library->open, "NtSetInformationThread", &offset, &why);

	format_plain(path, sizeof(path), library->path);
	if (error == -ENOTSUP)
		note("wine: %s is of a 32-bit Wine: priorities that its Windows programs ask for are not seen", path);
	else if (!error)
		error = attach_requests(state, library, offset, &why);
	if (error >= 0)
		attach_more(state, library, path);
	else if (error != -ENOTSUP)
		note("wine: %s: %s: priorities that Windows programs ask for are not seen there", path, why.text);
	mark_processes(state, library);
}

static void lost_ntdll(void *data, u64 device, u64 inode)
{
	const struct wine_state *state = data;

	uprobes_take_off(state->uprobes, device, inode, 0);
}

static int wine_attach(void *data, int hook, struct reason *why)
{
	struct wine_state *state = data;
	struct wine_bpf *skeleton = state->skeleton;

	(void)hook;
	if (bpf_program__autoload(skeleton->progs.on_fork)) {
		skeleton->links.on_fork = bpf_program__attach(skeleton->progs.on_fork);
		if (!skeleton->links.on_fork)
			load_note_absent("on_fork", optional, -errno);
	}
	if (!state->sched)
		return 0;
	if (!state->libraries) {
		reason_set(why, "the mappings of processes can't be seen");
		return -ENOTSUP;
	}
	return libraries_want(state->libraries, "ntdll.so", found_ntdll, lost_ntdll, state);
}

static int wine_fd(const void *data)
{
	const struct wine_state *state = data;

	return state->epoll_fd;
}

static void wine_work(void *data)
{
	const struct wine_state *state = data;

	ring_buffer__consume(state->reported);
	uprobes_work(state->uprobes);
}

static u64 wine_lost(const void *data)
{
	const struct wine_state *state = data;
	const struct wine_bpf__bss *counts = state->skeleton->bss;

	return counts->reported_lost + counts->handles_refused + counts->calls_refused;
}

static void tell_unresolved(const struct wine_bpf__bss *counts)
{
	if (counts->unresolved)
		note("wine: %llu priorities were set through handles whose thread is not known, such as handles from "
		     "before tactus started or from another process",
		     (unsigned long long)counts->unresolved);
	if (counts->unread)
		note("wine: %llu requests of Windows programs could not be read", (unsigned long long)counts->unread);
	if (counts->invalid)
		note("wine: %llu requests of Windows programs were invalid", (unsigned long long)counts->invalid);
}

static void wine_close(void *data)
{
	struct wine_state *state = data;

	if (!state)
		return;
	uprobes_close(state->uprobes);
	if (state->skeleton && state->skeleton->bss)
		tell_unresolved(state->skeleton->bss);
	ring_buffer__free(state->reported);
	wine_bpf__destroy(state->skeleton);
	if (state->epoll_fd >= 0)
		close(state->epoll_fd);
	free(state);
}

const struct sensor_kind wine_kind = {
	.name = "wine",
	.subject = "priorities that Windows programs ask for",
	.hooks = hooks,
	.open = wine_open,
	.attach = wine_attach,
	.close = wine_close,
	.groups = EVENTS_ROLES,
	.fd = wine_fd,
	.work = wine_work,
	.lost = wine_lost,
};
