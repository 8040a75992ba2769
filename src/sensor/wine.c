// SPDX-License-Identifier: GPL-2.0
/* The wine sensor: finds every ntdll.so that a process maps and puts the probes of bpf/wine.bpf.c on its functions.
 * No path is assumed. What the kernel half can't reach by itself is done here at its word. */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../core/wine.h"
#include "../base/elf.h"
#include "../base/maps.h"
#include "../model/wine_code.h"
#include "../sink/text.h"
#include "sensor_set.h"
#include "kernel_types.h"
#include "kinds.h"
#include "libraries.h"
#include "sched.h"
#include "uprobes.h"
#include "wine.skel.h"

enum wine_hook { HOOK_WALKS, HOOK_TELLS };
enum { NTDLL_PATH_MAX = 256 };

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
	/* By the number that is the cookie of its probes; 0 is for those that found no room. */
	struct ntdll {
		u64 device, inode;
		char path[NTDLL_PATH_MAX];
	} ntdlls[WINE_LIBRARIES_MAX];
	u32 ntdlls_len;
};

static int handle_message(void *data, void *message, size_t size)
{
	const struct wine_message *reported = message;
	struct wine_state *state = data;

	if (size < sizeof(*reported) || !state->sched)
		return 0;
	if (reported->what == WINE_REPORTS_PROCESS)
		sched_assign(state->sched, reported->pid, 0, ORDER_PROCESS, PROCESS_WINE);
	else if (reported->what == WINE_REPORTS_CLASS)
		sched_assign(state->sched, reported->pid, 0, ORDER_WINE_CLASS, reported->priority);
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
	{ "on_set_process", "the priority class of a Windows program goes unseen" },
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
static void attach_more(const struct wine_state *state, const struct library *library, const char *path, u64 number)
{
	const struct {
		const char *function;
		const struct bpf_program *enters;
		bool gives_handle;
	} more[] = {
		{ "NtCreateThreadEx", state->skeleton->progs.on_create, true },
		{ "NtDuplicateObject", state->skeleton->progs.on_duplicate, true },
		{ "NtOpenThread", state->skeleton->progs.on_open, true },
		{ "NtSetInformationProcess", state->skeleton->progs.on_set_process, false },
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
						      AT_ENTRY, number, &why);
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
static int attach_requests(const struct wine_state *state, const struct library *library, u64 offset, u64 number,
			   struct reason *why)
{
	int error = 0;

	if (bpf_program__autoload(state->skeleton->progs.on_information_set))
		error = uprobes_attach(state->uprobes, state->skeleton->progs.on_information_set, library->open, offset,
				       AT_RETURN, 0, why);
	if (error < 0)
		return error;
	return uprobes_attach(state->uprobes, state->skeleton->progs.on_set_information, library->open, offset,
			      AT_ENTRY, number, why);
}

/* What the functions of a library look like at their beginning says how they are called. */
static u64 convention_by_code(const struct library *library, u64 offset)
{
	u8 code[WINE_CODE_BYTES];
	int fd = open(library->open, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, code, sizeof(code), (off_t)offset);

	if (fd >= 0)
		close(fd);
	return got > 0 ? wine_convention_of_code(code, (u32)got) : WINE_FITS_NEITHER;
}

/* The same file keeps its number when it comes again. */
static u32 number_of(struct wine_state *state, const struct library *library)
{
	u32 number = 1;

	while (number < state->ntdlls_len &&
	       (state->ntdlls[number].device != library->device || state->ntdlls[number].inode != library->inode))
		number++;
	if (number >= WINE_LIBRARIES_MAX)
		return 0;
	if (number >= state->ntdlls_len) {
		state->ntdlls_len = number + 1;
		state->ntdlls[number].device = library->device;
		state->ntdlls[number].inode = library->inode;
		format_plain(state->ntdlls[number].path, NTDLL_PATH_MAX, library->path);
	}
	return number;
}

/* Before its probes are there. What a file of that number did before counts on. */
static u32 remember_library(struct wine_state *state, const struct library *library, u64 offset)
{
	const struct bpf_map *map = state->skeleton->maps.libraries;
	u32 number = number_of(state, library);
	struct wine_library about = { 0 };

	if (number && !bpf_map__lookup_elem(map, &number, sizeof(number), &about, sizeof(about), 0)) {
		about.by_code = convention_by_code(library, offset);
		bpf_map__update_elem(map, &number, sizeof(number), &about, sizeof(about), BPF_ANY);
	}
	return number;
}

static void found_ntdll(void *data, const struct library *library)
{
	struct wine_state *state = data;
	struct reason why = { "" };
	char path[PATH_MAX];
	u64 offset = 0, number = 0;
	int error = elf_symbol(library->open, "NtSetInformationThread", &offset, &why);

	format_plain(path, sizeof(path), library->path);
	if (!error)
		number = remember_library(state, library, offset);
	if (error == -ENOTSUP)
		note("wine: %s is of a 32-bit Wine: priorities that its Windows programs ask for are not seen", path);
	else if (!error)
		error = attach_requests(state, library, offset, number, &why);
	if (error >= 0) {
		attach_more(state, library, path, number);
		if (sensor_is_verbose())
			note("wine: %s: watched from now on", path);
	} else if (error != -ENOTSUP) {
		note("wine: %s: %s: priorities that Windows programs ask for are not seen there", path, why.text);
	}
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

static struct wine_library library_of(const struct wine_state *state, u32 number)
{
	struct wine_library about = { 0 };

	bpf_map__lookup_elem(state->skeleton->maps.libraries, &number, sizeof(number), &about, sizeof(about), 0);
	return about;
}

static void wine_hits(const void *data, u64 hits[HITS])
{
	const struct wine_state *state = data;

	for (u32 number = 0; number < WINE_LIBRARIES_MAX && (!number || number < state->ntdlls_len); number++) {
		struct wine_library about = library_of(state, number);

		hits[HIT_WINE_MICROSOFT] += about.calls[WINE_MICROSOFT];
		hits[HIT_WINE_SYSTEM_V] += about.calls[WINE_SYSTEM_V];
		hits[HIT_WINE_UNFIT] += about.calls[WINE_FITS_NEITHER];
	}
}

static void report_unfit(const struct wine_state *state)
{
	for (u32 number = 0; number < WINE_LIBRARIES_MAX && (!number || number < state->ntdlls_len); number++) {
		struct wine_library about = library_of(state, number);
		u64 of = about.calls[WINE_FITS_NEITHER] + about.calls[WINE_MICROSOFT] + about.calls[WINE_SYSTEM_V];

		if (about.calls[WINE_FITS_NEITHER])
			note("wine: %s: %llu of %llu calls fit no known calling convention: what they asked for is "
			     "not known",
			     number ? state->ntdlls[number].path : "further ntdll.so",
			     (unsigned long long)about.calls[WINE_FITS_NEITHER], (unsigned long long)of);
	}
}

static void report_unresolved(const struct wine_bpf__bss *counts)
{
	if (counts->classes_unresolved)
		note("wine: %llu priority classes were set by one process for another, and are not known",
		     (unsigned long long)counts->classes_unresolved);
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
		report_unfit(state);
	if (state->skeleton && state->skeleton->bss)
		report_unresolved(state->skeleton->bss);
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
	.hits = wine_hits,
};
