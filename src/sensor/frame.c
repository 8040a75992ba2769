// SPDX-License-Identifier: GPL-2.0
/* The frame sensor: puts the probes of bpf/frame.bpf.c on the functions by which programs present, in every library
 * that a process really maps. And who it is that they present to: the process behind their display's socket. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/frame.h"
#include "../base/elf.h"
#include "../base/loop.h"
#include "../base/maps.h"
#include "../base/process.h"
#include "../base/system.h"
#include "../base/vec.h"
#include "../sink/text.h"
#include "sensor_set.h"
#include "frame_reported.h"
#include "kinds.h"
#include "libraries.h"
#include "peers.h"
#include "sched.h"
#include "uprobes.h"
#include "frame.skel.h"

static bool probe_uprobes(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0)
		return true;
	reason_set(why, "this kernel has no probes in user space (CONFIG_UPROBE_EVENTS)");
	return false;
}

static bool probe_reported(struct reason *why)
{
	return probe_uprobes(why) && libraries_can_be_reported(why);
}

static const struct sensor_hook hooks[] = {
	{ "uprobe", NULL, probe_reported },
	{ "uprobe+proc", "a library that is new to the machine is found up to a second after it was mapped",
	  probe_uprobes },
	{ 0 },
};

enum { FILES_MAX = 4096, PATH_PLAIN = 256, FOUND_MAX = 64, REFUSED_SAID = 16 };

/* A library's file by its number, see way_of. All 0: the number is free. */
struct frame_file {
	u64 device, inode;
};

struct frame_state {
	struct frame_bpf *skeleton;
	struct sensor *sched; /* NULL: only tried */
	struct libraries *libraries;
	struct uprobes *uprobes;
	struct ring_buffer *reported;
	int epoll_fd; /* over the ring and what uprobes waits for */
	struct frame_file *files;
	u32 files_len;
	struct reported_places places;
	u64 unresolved;			      /* functions that were reported and could not be probed */
	struct event_served found[FOUND_MAX]; /* until they are sent */
	u32 found_len;
	u64 unreported; /* for which there was no room or time, and processes that were looked at in part */
	bool said_hidden;
};

enum target_kind { TARGET_PRESENT, TARGET_SUBMIT, TARGET_ASK, TARGET_WAYLAND };

/* `or_else`: the same is had by the next row, if this one is not there. `optional`: no loss. */
struct target {
	const char *files, *symbol;
	enum target_kind kind;
	u32 with; /* present, submit: enum way_rank; else the number of the argument that is of interest */
	bool or_else, optional;
	const char *forwards_to; /* needs this library and does nothing but call it; NULL: it does not */
};

/* libGL exports glXSwapBuffers too: where it needs libGLX it calls that one, and a second probe would only cost; else
 * it is the only one. Where both are seen, core/frame.h makes one frame of them. */
static const struct target targets[] = {
	{ "libGLX.so*", "glXSwapBuffers", TARGET_PRESENT, WAY_GLX, false, false, NULL },
	{ "libGL.so*", "glXSwapBuffers", TARGET_PRESENT, WAY_LIBGL, false, true, "libGLX.so*" },
	{ "libGL.so*", "glFlush", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libGL.so*", "glFinish", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libOpenGL.so*", "glFlush", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libOpenGL.so*", "glFinish", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libGLESv2.so*", "glFlush", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libGLESv2.so*", "glFinish", TARGET_SUBMIT, WAY_FLUSH, false, true, NULL },
	{ "libEGL.so*", "eglSwapBuffers", TARGET_PRESENT, WAY_EGL, false, false, NULL },
	{ "libEGL.so*", "eglSwapBuffersWithDamageKHR", TARGET_PRESENT, WAY_EGL, false, true, NULL },
	{ "libEGL.so*", "eglSwapBuffersWithDamageEXT", TARGET_PRESENT, WAY_EGL, false, true, NULL },
	{ "libEGL.so*", "eglGetProcAddress", TARGET_ASK, 1, false, true, NULL },
	{ "libvulkan.so*", "vkQueuePresentKHR", TARGET_PRESENT, WAY_VULKAN, false, false, NULL },
	{ "libvulkan.so*", "vkQueueSubmit", TARGET_SUBMIT, WAY_SUBMIT, false, false, NULL },
	{ "libvulkan.so*", "vkQueueSubmit2", TARGET_SUBMIT, WAY_SUBMIT2, false, true, NULL },
	{ "libvulkan.so*", "vkGetDeviceProcAddr", TARGET_ASK, 2, false, false, NULL },
	{ "libvulkan.so*", "vkGetInstanceProcAddr", TARGET_ASK, 2, false, false, NULL },
	/* Pictures that are drawn without a GPU. Smaller things are put without shared memory. */
	{ "libXext.so*", "XShmPutImage", TARGET_PRESENT, WAY_X11, false, true, NULL },
	{ "libxcb-shm.so*", "xcb_shm_put_image", TARGET_PRESENT, WAY_X11, false, true, NULL },
	{ "libwayland-client.so*", "wl_proxy_marshal_array_flags", TARGET_WAYLAND, 6, true, false, NULL },
	/* Before libwayland 1.20. */
	{ "libwayland-client.so*", "wl_proxy_marshal_array_constructor_versioned", TARGET_WAYLAND, 3, false, false,
	  NULL },
};
enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* The file's number; the same for the same file. */
static u32 file_number(struct frame_state *state, u64 device, u64 inode)
{
	u32 empty = 0;

	for (u32 i = 0; i < state->files_len; i++) {
		if (state->files[i].device == device && state->files[i].inode == inode)
			return i + 1;
		if (!state->files[i].inode && !state->files[i].device)
			empty = i + 1;
	}
	if (empty) {
		state->files[empty - 1] = (struct frame_file){ device, inode };
		return empty;
	}
	if (state->files_len >= FILES_MAX || !vec_one_more(state->files, state->files_len))
		return 0;
	state->files[state->files_len] = (struct frame_file){ device, inode };
	return ++state->files_len;
}

static void free_number(struct frame_state *state, u64 device, u64 inode)
{
	for (u32 i = 0; i < state->files_len; i++)
		if (state->files[i].device == device && state->files[i].inode == inode)
			state->files[i] = (struct frame_file){ 0 };
}

static int take_first(void *data, const struct elf_symbol *symbol)
{
	*(struct elf_symbol *)data = *symbol;
	return 1;
}

/* Returns 0 or 1 when the probe is there, or -errno with a reason. */
static int probe_target(struct frame_state *state, const struct target *target, const struct library *library,
			struct reason *why)
{
	u32 number = file_number(state, library->device, library->inode);
	struct elf_symbol symbol = { 0 };
	int error = elf_symbols(library->open, target->symbol, take_first, &symbol, why);
	u64 cookie = target->with | (symbol.bits == 32 ? FRAME_32_BIT : 0);

	if (error < 0)
		return error;
	switch (target->kind) {
	case TARGET_PRESENT:
		return uprobes_attach(state->uprobes, state->skeleton->progs.on_present, library->open, symbol.offset,
				      AT_ENTRY, way_of(target->with, number), why);
	case TARGET_SUBMIT:
		if (!bpf_program__autoload(state->skeleton->progs.on_submit))
			return 0;
		return uprobes_attach(state->uprobes, state->skeleton->progs.on_submit, library->open, symbol.offset,
				      AT_ENTRY, way_of(target->with, number), why);
	case TARGET_WAYLAND:
		if (symbol.bits == 64)
			return uprobes_attach(state->uprobes, state->skeleton->progs.on_wayland, library->open,
					      symbol.offset, AT_ENTRY, target->with, why);
		reason_set(why, "it is a 32-bit library");
		return -ENOTSUP;
	case TARGET_ASK:
		/* First where it ends: a call that begins now is seen whole. */
		error = uprobes_attach(state->uprobes, state->skeleton->progs.on_answer, library->open, symbol.offset,
				       AT_RETURN, cookie, why);
		return error < 0 ? error
				 : uprobes_attach(state->uprobes, state->skeleton->progs.on_ask, library->open,
						  symbol.offset, AT_ENTRY, cookie, why);
	}
	return -EINVAL;
}

/* Called once for a library: all rows of the table that are for it. */
static void on_library(void *data, const struct library *library)
{
	struct frame_state *state = data;
	char path[PATH_PLAIN];
	u32 probed = 0;

	format_plain(path, sizeof(path), library->path);
	uprobes_doubt(state->uprobes, library->device, library->inode);
	for (u32 i = 0; i < TARGETS; i++) {
		const struct target *target = &targets[i];
		struct reason why = { "" };
		int error;

		/* A pattern is a name with anything behind it, and no two fit one name. */
		if (strncmp(target->files, library->name, strlen(target->files) - 1) != 0)
			continue;
		if (target->forwards_to && elf_needs(library->open, target->forwards_to))
			continue;
		error = probe_target(state, target, library, &why);
		probed += error >= 0;
		if (error >= 0 && target->or_else)
			i++;
		if (error >= 0 || target->optional || target->or_else || library->is_quiet)
			continue;
		note("frame: %s: %s: frames by %s are not seen there", path, why.text, target->symbol);
	}
	uprobes_drop_stale(state->uprobes);
	if (!probed)
		free_number(state, library->device, library->inode);
	if (probed && sensor_is_verbose())
		note("frame: %s: probes are in place", path);
}

/* Nobody maps it any more. */
static void on_gone(void *data, u64 device, u64 inode)
{
	struct frame_state *state = data;

	if (uprobes_take_off(state->uprobes, device, inode, 0) && sensor_is_verbose())
		note("frame: a library that nobody maps any more has no probes now");
	free_number(state, device, inode);
}

static void on_ended(void *data, const struct reported_place *place)
{
	struct frame_state *state = data;

	uprobes_take_off(state->uprobes, place->device, place->inode, place->pid);
}

/* A program was given the address of a function that presents: in a driver or a layer, whatever its name. */
static void on_address(struct frame_state *state, const struct frame_message *message)
{
	struct reported_function function;
	struct reason why = { "" };
	u64 way;
	int got = reported_find(&state->places, message->pid, message->address, &function, &why);

	if (got) {
		state->unresolved += got == -ESRCH;
		if (got != -ESRCH && sensor_is_verbose() && state->places.refused <= REFUSED_SAID)
			note("frame: process %u asked where to present and got an address that is refused: %s",
			     message->pid, why.text);
		return;
	}
	way = way_of(message->rank, file_number(state, function.device, function.inode));
	got = uprobes_attach_in(state->uprobes,
				way_submits(way) ? state->skeleton->progs.on_submit : state->skeleton->progs.on_present,
				message->pid, function.open, function.offset, AT_ENTRY, way, &why);
	if (got > 0) {
		reported_keep(&state->places, &function);
		if (sensor_is_verbose())
			note("frame: process %u asked where to present: a probe is in place", message->pid);
		return;
	}
	state->unresolved += got < 0;
	reported_forget(&state->places, &function);
}

struct look {
	struct frame_state *state;
	u32 pid;
	bool has_wayland;
	u32 server_pid;	  /* of its Wayland display; 0: that is not known */
	char display[64]; /* what its environment calls its Wayland display: an own name, such as gamescope-0, or empty
			   */
};

static void read_display(struct look *look)
{
	static const char variable[] = "WAYLAND_DISPLAY=";
	struct process_texts *texts = calloc(1, sizeof(*texts));

	if (texts && !process_read(texts, look->pid))
		for (size_t at = 0; at < texts->environ_len; at += strlen(&texts->environ[at]) + 1)
			if (!strncmp(&texts->environ[at], variable, sizeof(variable) - 1))
				snprintf(look->display, sizeof(look->display), "/%s",
					 &texts->environ[at] + sizeof(variable) - 1);
	free(texts);
}

static bool is_wayland(const struct look *look, const char *path)
{
	const char *name = strrchr(path, '/');

	return strstr(path, "wayland-") || (name && look->display[0] && !strcmp(name, strrchr(look->display, '/')));
}

/* Who has two servers may hand its pictures to either. */
static void note_server(struct look *look, u32 server_pid)
{
	bool is_other = look->has_wayland && look->server_pid != server_pid;

	look->has_wayland = true;
	look->server_pid = is_other ? 0 : server_pid;
}

static const char *why_hidden(int pid)
{
	if (pid == 1)
		return "process 1 opened its socket";
	return pid < 0 ? "who opened its socket has ended" : "it is in another pid namespace";
}

/* Who serves a display is presented to. */
static void on_peer(void *data, const struct peer *peer)
{
	struct look *look = data;
	char path[PATH_PLAIN];
	bool on_wayland = is_wayland(look, peer->path), is_known;
	int pid;

	if (!on_wayland && !strstr(peer->path, ".X11-unix/"))
		return;
	pid = peer_process(peer);
	/* Else a service manager that opened the socket, or somebody beyond this pid namespace, or gone. */
	is_known = pid > 1 && (u32)pid != look->pid;
	if (on_wayland)
		note_server(look, is_known ? (u32)pid : 0);
	if (is_known) {
		sched_assign(look->state->sched, (u32)pid, 0, ORDER_PROCESS, PROCESS_COMPOSITOR | PROCESS_PRESENTED_TO);
		return;
	}
	if (look->state->said_hidden)
		return;
	look->state->said_hidden = true;
	format_plain(path, sizeof(path), peer->path);
	note("frame: the server of the display %s is not known (%s): it counts as a compositor only by its name", path,
	     why_hidden(pid));
}

static void on_presents(struct frame_state *state, u32 pid)
{
	struct look look = { .state = state, .pid = pid };
	u64 began_ns = clock_now_ns();
	bool is_cut = false;
	struct reason why;
	int error;
	u32 uid;

	error = reported_may_work(&state->places, pid, &uid, began_ns);
	if (error) {
		state->unreported += error == -EDQUOT;
		return;
	}
	read_display(&look);
	peers_of(pid, on_peer, &look, &is_cut, &why);
	reported_worked(&state->places, uid, began_ns);
	state->unreported += is_cut;
	if (look.has_wayland && state->found_len < FOUND_MAX)
		state->found[state->found_len++] = (struct event_served){ .pid = look.pid,
									  .server_pid = look.server_pid };
	else
		state->unreported += look.has_wayland;
}

static int handle_message(void *data, void *bytes, size_t size)
{
	const struct frame_message *message = bytes;
	struct frame_state *state = data;

	if (size < sizeof(*message) || !state->sched)
		return 0;
	if (message->what == FRAME_REPORTS_ADDRESS)
		on_address(state, message);
	else
		on_presents(state, message->pid);
	return 0;
}

static const struct load_optional optional[] = {
	{ "on_ask", "frames of functions that a program asks its library for are not seen" },
	{ "on_answer", "frames of functions that a program asks its library for are not seen" },
	{ "on_submit", "submits by Vulkan and OpenGL are seen only at the driver" },
	{ "on_wayland", "frames that are drawn without a GPU's library for Wayland are not seen" },
	{ NULL, NULL },
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct frame_state *state = data;
	struct frame_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	/* Links of many probes, even of one, are let go of many at a time. Kernels before 6.10 have none for a process.
	 */
	if (!kernel_is_at_least(6, 10)) {
		bpf_program__set_expected_attach_type(skeleton->progs.on_present, 0);
		bpf_program__set_expected_attach_type(skeleton->progs.on_submit, 0);
		bpf_program__set_expected_attach_type(skeleton->progs.on_ask, 0);
		bpf_program__set_expected_attach_type(skeleton->progs.on_answer, 0);
		bpf_program__set_expected_attach_type(skeleton->progs.on_wayland, 0);
	}
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(frame);

static int frame_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct frame_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &frame_loadable, optional, configure, state };
	int error;

	(void)hook;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	state->sched = settings ? settings->sched : NULL;
	state->libraries = settings ? settings->libraries : NULL;
	state->skeleton = load_programs(&plan, &error, why);
	if (error)
		return error;
	state->reported = ring_buffer__new(bpf_map__fd(state->skeleton->maps.reported), handle_message, state, NULL);
	if (!state->reported)
		return -errno;
	reported_open(&state->places);
	error = uprobes_open(&state->uprobes);
	if (error)
		return error;
	sensor_add_fd(state->epoll_fd, ring_buffer__epoll_fd(state->reported));
	sensor_add_fd(state->epoll_fd, uprobes_fd(state->uprobes));
	return 0;
}

struct search {
	u64 address, offset;
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
static int try_probe(struct frame_state *state, struct reason *why)
{
	struct search search = { .address = (u64)(size_t)&try_probe };

	if (maps_read((u32)getpid(), find_address, &search) != 1)
		return 0;
	return uprobes_try(state->skeleton->progs.on_present, "/proc/self/exe", search.offset, why);
}

static int frame_attach(void *data, int hook, struct reason *why)
{
	struct frame_state *state = data;
	int error = try_probe(state, why);

	(void)hook;
	/* Last, since what is wanted stays wanted. */
	for (u32 i = 0; !error && state->libraries && i < TARGETS; i++)
		if (!i || strcmp(targets[i].files, targets[i - 1].files) != 0)
			libraries_want(state->libraries, targets[i].files, on_library, on_gone, state);
	return error;
}

static void frame_close(void *data)
{
	struct frame_state *state = data;

	if (!state)
		return;
	if (state->places.refused)
		note("frame: %" PRIu64
		     " addresses that programs reported were refused: no function of the graphics stack "
		     "begins there",
		     (uint64_t)state->places.refused);
	reported_close(&state->places);
	ring_buffer__free(state->reported);
	uprobes_close(state->uprobes);
	frame_bpf__destroy(state->skeleton);
	if (state->epoll_fd >= 0)
		close(state->epoll_fd);
	free(state->files);
	free(state);
}

static int frame_fd(const void *data)
{
	return ((const struct frame_state *)data)->epoll_fd;
}

static void frame_work(void *data)
{
	struct frame_state *state = data;

	/* First, so that nothing is put on a file that has just changed. */
	uprobes_work(state->uprobes);
	reported_review(&state->places, on_ended, state);
	ring_buffer__consume(state->reported);
}

static void frame_emit(void *data, u64 now_ns, event_handler handle, void *handle_data)
{
	struct frame_state *state = data;

	for (u32 i = 0; i < state->found_len; i++) {
		state->found[i].head = (struct event_header){ .time_ns = now_ns, .kind = EVENT_SERVED };
		handle(handle_data, &state->found[i].head);
	}
	state->found_len = 0;
}

static u64 frame_lost(const void *data)
{
	const struct frame_state *state = data;

	return state->skeleton->bss->reported_lost + state->skeleton->bss->presenters_refused + state->unresolved +
	       state->unreported;
}

static void frame_hits(const void *data, u64 hits[HITS])
{
	const struct frame_state *state = data;

	hits[HIT_PRESENTS] += state->skeleton->bss->presents_seen;
	hits[HIT_LIBRARY_SUBMITS] += state->skeleton->bss->submits_seen;
}

static u64 frame_refused(const void *data)
{
	return ((const struct frame_state *)data)->places.refused;
}

const struct sensor_kind frame_kind = {
	.name = "frame",
	.subject = "frames presented, and to whom",
	.hooks = hooks,
	.open = frame_open,
	.attach = frame_attach,
	.close = frame_close,
	.groups = EVENTS_ROLES | EVENTS_FRAMES | EVENTS_GPU,
	.fd = frame_fd,
	.work = frame_work,
	.emit = frame_emit,
	.lost = frame_lost,
	.refused = frame_refused,
	.hits = frame_hits,
};
