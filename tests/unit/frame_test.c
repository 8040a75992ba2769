// SPDX-License-Identifier: GPL-2.0
/* core/frame.h: which calls are one frame, for the ways in which programs really nest them. */
#include "../../core/frame.h"
#include "tap.h"

static u32 count(const u64 *ways, u32 len, u32 frames)
{
	u64 greatest = 0;
	u32 counted = 0;

	for (u32 frame = 0; frame < frames; frame++)
		for (u32 i = 0; i < len; i++)
			counted += (u32)present_counts(&greatest, ways[i]);
	return counted;
}

static void test_handover(void)
{
	struct handover handover = { 0 };

	is(handover_presented(&handover, 100), 0, "a server that was handed nothing presents");
	handed_over(&handover, 1000);
	is(handover_presented(&handover, 1500), 500, "it had a picture from the handing over to its next present");
	is(handover_presented(&handover, 1700), 0, "and presents it once");
	handed_over(&handover, 2000);
	handed_over(&handover, 2400);
	is(handover_presented(&handover, 2500), 100, "of two pictures the last one is meant");
	is(handover_presented(&handover, 2600), 0, "and the first one not at all");
	handed_over(&handover, 3000);
	is(handover_presented(&handover, 2990), 0, "a present before the handing over does not show it");
	is(handover_presented(&handover, 3000), 0, "nor one at the same moment");
	is(handover_presented(&handover, 3001), 1, "the next one does");
	handed_over(&handover, 4000);
	is(handover_presented(&handover, 4001 + HANDOVER_MOST_NS), 0,
	   "one that comes after seconds shows something else");
	is(handover_presented(&handover, 4002 + HANDOVER_MOST_NS), 0, "and so do those after it");
}

int main(void)
{
	const u64 glx = way_of(WAY_GLX, 1), gl = way_of(WAY_LIBGL, 2), egl = way_of(WAY_EGL, 3);
	const u64 angle = way_of(WAY_EGL, 9), loader = way_of(WAY_VULKAN, 4), driver = way_of(WAY_VULKAN, 5);
	const u64 commit = way_of(WAY_WAYLAND, 0), put = way_of(WAY_X11, 6);
	u64 greatest = 0;

	is(count((u64[]){ glx }, 1, 100), 100, "GLX alone");
	is(count((u64[]){ gl, glx }, 2, 100), 100, "libGL's function calls libGLX's");
	is(count((u64[]){ gl }, 1, 100), 100, "libGL without a libGLX");
	is(count((u64[]){ egl, commit }, 2, 100), 100, "EGL on Wayland commits");
	is(count((u64[]){ egl, commit, commit }, 3, 100), 100, "and a second surface of the same thread");
	is(count((u64[]){ angle, egl, commit }, 3, 100), 100, "one EGL on top of another, told of before it");
	is(count((u64[]){ egl, angle }, 2, 100), 100, "and told of after it");
	is(count((u64[]){ loader, driver }, 2, 100), 100, "the Vulkan loader's function calls the driver's");
	is(count((u64[]){ gl, glx, driver }, 3, 100), 100, "OpenGL on top of Vulkan");
	is(count((u64[]){ commit }, 1, 100), 100, "Wayland alone");
	is(count((u64[]){ put }, 1, 100), 100, "images put on an X window");
	is(count((u64[]){ glx, put }, 2, 100), 100, "GLX that puts an image");
	is(present_counts(&greatest, commit) + present_counts(&greatest, commit), 2, "a client's first commits");
	is(present_counts(&greatest, egl), 1, "are other frames than the first by EGL");
	is(present_counts(&greatest, commit), 0, "whose commits count no more");
	is(way_api(gl) == PRESENT_GLX && way_api(glx) == PRESENT_GLX && way_api(egl) == PRESENT_EGL &&
		   way_api(driver) == PRESENT_VULKAN && way_api(commit) == PRESENT_WAYLAND &&
		   way_api(put) == PRESENT_X11 && !way_api(0),
	   1, "each way's API");
	test_handover();
	return tap_end();
}
