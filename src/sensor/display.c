// SPDX-License-Identifier: GPL-2.0
/* The display sensor: puts the programs of bpf/display.bpf.c on DRM's tracepoints for periods of displays, and on the
 * two calls by which programs flip them. These are DRM's own, so drivers may come later; DRM as a module may not. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/system.h"
#include "evidence.h"
#include "kinds.h"
#include "sched.h"
#include "display.skel.h"

enum display_hook { HOOK_FLIPS, HOOK_PERIODS };

static bool probe_drm(struct reason *why)
{
	int fd = tracefs_open();
	bool found = fd >= 0 && !faccessat(fd, "events/drm/drm_vblank_event/id", F_OK, 0);

	if (fd >= 0)
		close(fd);
	if (!probe_btf(why) || !probe_tracefs(why))
		return false;
	if (!found)
		reason_set(why, "there is no DRM here, or its module is not loaded");
	return found;
}

static bool probe_flips(struct reason *why)
{
	return probe_drm(why) && probe_kprobes(why);
}

static const struct sensor_hook hooks[] = {
	[HOOK_FLIPS] = { "tracepoint/drm+kprobe", NULL, probe_flips },
	[HOOK_PERIODS] = { "tracepoint/drm", "programs that flip a display themselves are not seen to present",
			   probe_drm },
	{ 0 },
};

struct display_state {
	struct display_bpf *skeleton;
};

static int display_open(void **out, int hook, const void *data, struct reason *why)
{
	const struct evidence_settings *settings = data;
	struct display_state *state = calloc(1, sizeof(*state));
	int error;

	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->skeleton = display_bpf__open();
	if (!state->skeleton)
		return -errno;
	bpf_program__set_autoload(state->skeleton->progs.on_page_flip, hook == HOOK_FLIPS);
	bpf_program__set_autoload(state->skeleton->progs.on_atomic, hook == HOOK_FLIPS);
	error = sched_share(settings ? settings->sched : NULL, state->skeleton->obj);
	return error ? error : display_bpf__load(state->skeleton);
}

static int display_attach(void *data, int hook, struct reason *why)
{
	struct display_state *state = data;
	struct display_bpf *skeleton = state->skeleton;

	(void)why;
	skeleton->links.on_vblank = sensor_attach_tracepoint(skeleton->progs.on_vblank, "drm", "drm_vblank_event");
	if (!skeleton->links.on_vblank)
		return -errno;
	skeleton->links.on_delivered = sensor_attach_tracepoint(skeleton->progs.on_delivered, "drm",
								"drm_vblank_event_delivered");
	if (!skeleton->links.on_delivered)
		return -errno;
	if (hook != HOOK_FLIPS)
		return 0;
	skeleton->links.on_page_flip = bpf_program__attach(skeleton->progs.on_page_flip);
	if (!skeleton->links.on_page_flip)
		return -errno;
	skeleton->links.on_atomic = bpf_program__attach(skeleton->progs.on_atomic);
	return skeleton->links.on_atomic ? 0 : -errno;
}

static void display_close(void *data)
{
	struct display_state *state = data;

	if (!state)
		return;
	display_bpf__destroy(state->skeleton);
	free(state);
}

static u64 display_lost(const void *data)
{
	const struct display_state *state = data;

	return state->skeleton->bss->flippers_refused + state->skeleton->bss->presenters_refused;
}

const struct sensor_kind display_kind = {
	.name = "display",
	.subject = "periods of displays, and who flips them",
	.hooks = hooks,
	.open = display_open,
	.attach = display_attach,
	.close = display_close,
	.gathers_evidence = true,
	.lost = display_lost,
};
