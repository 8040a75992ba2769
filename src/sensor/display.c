// SPDX-License-Identifier: GPL-2.0
/* The display sensor: puts the programs of bpf/display.bpf.c on DRM's tracepoints for periods of displays, and on the
 * two calls by which programs flip them. These are DRM's own, so drivers may come later; and so may DRM, as a module.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/system.h"
#include "sensor_set.h"
#include "gpu_find.h"
#include "kinds.h"
#include "sched.h"
#include "display.skel.h"

enum display_hook { HOOK_FLIPS, HOOK_PERIODS };

static bool drm_is_here(void)
{
	int fd = tracefs_open();
	bool found = fd >= 0 && !faccessat(fd, "events/drm/drm_vblank_event/id", F_OK, 0);

	if (fd >= 0)
		close(fd);
	return found;
}

static bool probe_periods(struct reason *why)
{
	return probe_btf(why) && probe_tracefs(why);
}

static bool probe_flips(struct reason *why)
{
	return probe_periods(why) && probe_kprobes(why);
}

static const struct sensor_hook hooks[] = {
	[HOOK_FLIPS] = { "tracepoint/drm+kprobe", NULL, probe_flips },
	[HOOK_PERIODS] = { "tracepoint/drm", "programs that flip a display themselves are not seen to present",
			   probe_periods },
	{ 0 },
};

struct display_state {
	const struct sensor *sched; /* NULL: only tried */
	enum display_hook hook;
	struct display_bpf *skeleton; /* NULL: DRM is not here yet, or can't be hooked */
	int devices_fd;
	bool given_up;
};

static int display_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct display_state *state = calloc(1, sizeof(*state));

	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = settings ? settings->sched : NULL;
	state->hook = hook;
	state->devices_fd = gpu_watch_devices();
	return 0;
}

static const struct load_optional optional[] = {
	{ "on_page_flip", "programs that flip a display by the old call are not seen to present" },
	{ "on_atomic", "programs that flip a display by an atomic commit are not seen to present" },
	{ NULL, NULL },
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct display_state *state = data;
	const struct display_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	bpf_program__set_autoload(skeleton->progs.on_page_flip, state->hook == HOOK_FLIPS);
	bpf_program__set_autoload(skeleton->progs.on_atomic, state->hook == HOOK_FLIPS);
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(display);

/* Whether at least one of the calls is hooked, or none was to be. */
static int attach_flips(struct display_state *state)
{
	struct display_bpf *skeleton = state->skeleton;
	int error = 0;

	if (state->hook != HOOK_FLIPS)
		return 0;
	if (bpf_program__autoload(skeleton->progs.on_page_flip)) {
		skeleton->links.on_page_flip = bpf_program__attach(skeleton->progs.on_page_flip);
		error = skeleton->links.on_page_flip ? 0 : -errno;
	}
	if (bpf_program__autoload(skeleton->progs.on_atomic)) {
		skeleton->links.on_atomic = bpf_program__attach(skeleton->progs.on_atomic);
		error = skeleton->links.on_atomic ? error : -errno;
	}
	if (!skeleton->links.on_page_flip && !skeleton->links.on_atomic)
		return error ? error : -ENOENT;
	if (error)
		load_note_absent(skeleton->links.on_atomic ? "on_page_flip" : "on_atomic", optional, error);
	return 0;
}

static int attach(struct display_state *state)
{
	struct display_bpf *skeleton = state->skeleton;

	skeleton->links.on_vblank = sensor_attach_tracepoint(skeleton->progs.on_vblank, "drm", "drm_vblank_event");
	if (!skeleton->links.on_vblank)
		return -errno;
	skeleton->links.on_delivered = sensor_attach_tracepoint(skeleton->progs.on_delivered, "drm",
								"drm_vblank_event_delivered");
	return skeleton->links.on_delivered ? attach_flips(state) : -errno;
}

/* What lies in DRM's module can be loaded and hooked only once that is there. */
static int hook_drm(struct display_state *state, struct reason *why)
{
	const struct load_plan plan = { &display_loadable, optional, configure, state };
	int error;

	state->skeleton = load_programs(&plan, &error, why);
	if (!error)
		error = attach(state);
	if (error) {
		display_bpf__destroy(state->skeleton);
		state->skeleton = NULL;
	}
	return error;
}

static int display_attach(void *data, int hook, struct reason *why)
{
	(void)hook;
	return drm_is_here() ? hook_drm(data, why) : 0;
}

static int display_fd(const void *data)
{
	return ((const struct display_state *)data)->devices_fd;
}

static void display_work(void *data)
{
	struct display_state *state = data;
	struct reason why = { "" };
	int error;

	if (!gpu_device_came(state->devices_fd) || state->skeleton || state->given_up || !drm_is_here())
		return;
	error = hook_drm(state, &why);
	if (!error)
		return;
	if (!why.text[0])
		sensor_explain(&why, error);
	note("display: DRM, which was loaded now, can't be watched: %s", why.text);
	state->given_up = true;
}

static void display_close(void *data)
{
	struct display_state *state = data;

	if (!state)
		return;
	display_bpf__destroy(state->skeleton);
	if (state->devices_fd >= 0)
		close(state->devices_fd);
	free(state);
}

static const char *display_hook_name(const void *data)
{
	const struct display_state *state = data;

	return state->skeleton ? hooks[state->hook].name : SENSOR_WAITS;
}

static u64 display_lost(const void *data)
{
	const struct display_state *state = data;

	return state->skeleton ? state->skeleton->bss->flippers_refused + state->skeleton->bss->presenters_refused : 0;
}

const struct sensor_kind display_kind = {
	.name = "display",
	.subject = "periods of displays, and who flips them",
	.hooks = hooks,
	.open = display_open,
	.attach = display_attach,
	.close = display_close,
	.hook_name = display_hook_name,
	.fd = display_fd,
	.work = display_work,
	.groups = EVENTS_ROLES | EVENTS_FRAMES,
	.lost = display_lost,
};
