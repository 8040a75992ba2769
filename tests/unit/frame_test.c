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

	is(handover_presented(&handover, 100), 0, "server that was handed nothing presents no client's picture");
	handed_over(&handover, 1000);
	is(handover_presented(&handover, 1500), 500, "server has a picture from its handing over to the next present");
	is(handover_presented(&handover, 1700), 0, "server presents a picture once");
	handed_over(&handover, 2000);
	handed_over(&handover, 2400);
	is(handover_presented(&handover, 2500), 100, "server that was handed two pictures presents the last one");
	is(handover_presented(&handover, 2600), 0, "server never presents the first of two pictures");
	handed_over(&handover, 3000);
	is(handover_presented(&handover, 2990), 0, "present before the handing over does not show the picture");
	is(handover_presented(&handover, 3000), 0,
	   "present at the moment of the handing over does not show the picture");
	is(handover_presented(&handover, 3001), 1, "present after the handing over shows the picture");
	handed_over(&handover, 4000);
	is(handover_presented(&handover, 4001 + HANDOVER_MOST_NS), 0,
	   "present seconds after the handing over shows something else");
	is(handover_presented(&handover, 4002 + HANDOVER_MOST_NS), 0,
	   "presents after a late one show something else too");
}

static void test_report_rate(void)
{
	struct report_rate report_rate = { 0 };
	u32 told = 0;

	for (u64 i = 0; i < 1000; i++)
		told += may_report(&report_rate, 5 * (u64)NSEC_PER_SEC + i);
	is(told, REPORTS_EACH_SECOND, "thread tells so many addresses a second and no more");
	ok(may_report(&report_rate, 7 * (u64)NSEC_PER_SEC), "thread tells again a second later");
}

int main(void)
{
	const u64 glx = way_of(WAY_GLX, 1), gl = way_of(WAY_LIBGL, 2), egl = way_of(WAY_EGL, 3);
	const u64 angle = way_of(WAY_EGL, 9), loader = way_of(WAY_VULKAN, 4), driver = way_of(WAY_VULKAN, 5);
	const u64 commit = way_of(WAY_WAYLAND, 0), put = way_of(WAY_X11, 6);
	u64 greatest = 0;

	is(count((u64[]){ glx }, 1, 100), 100, "frames of GLX alone are counted once");
	is(count((u64[]){ gl, glx }, 2, 100), 100, "frames by libGL that calls libGLX are counted once");
	is(count((u64[]){ gl }, 1, 100), 100, "frames by libGL without a libGLX are counted once");
	is(count((u64[]){ egl, commit }, 2, 100), 100, "frames of EGL that commits on Wayland are counted once");
	is(count((u64[]){ egl, commit, commit }, 3, 100), 100, "second surface of a thread adds no frames");
	is(count((u64[]){ angle, egl, commit }, 3, 100), 100,
	   "frames of an EGL on another, told of before it, are counted once");
	is(count((u64[]){ egl, angle }, 2, 100), 100,
	   "frames of an EGL on another, told of after it, are counted once");
	is(count((u64[]){ loader, driver }, 2, 100), 100,
	   "frames by a Vulkan loader that calls the driver are counted once");
	is(count((u64[]){ gl, glx, driver }, 3, 100), 100, "frames of OpenGL on top of Vulkan are counted once");
	is(count((u64[]){ commit }, 1, 100), 100, "frames of Wayland alone are counted once");
	is(count((u64[]){ put }, 1, 100), 100, "frames of images put on an X window are counted once");
	is(count((u64[]){ glx, put }, 2, 100), 100, "frames of GLX that puts an image are counted once");
	is(present_counts(&greatest, commit) + present_counts(&greatest, commit), 2,
	   "commits of a client before any EGL are frames");
	is(present_counts(&greatest, egl), 1, "first swap by EGL is a frame of its own");
	is(present_counts(&greatest, commit), 0, "commits of a client count no more after its first swap by EGL");
	is(way_api(gl), PRESENT_GLX, "libGL presents by GLX");
	is(way_api(glx), PRESENT_GLX, "libGLX presents by GLX");
	is(way_api(egl), PRESENT_EGL, "libEGL presents by EGL");
	is(way_api(driver), PRESENT_VULKAN, "Vulkan driver presents by Vulkan");
	is(way_api(commit), PRESENT_WAYLAND, "commit presents by Wayland");
	is(way_api(put), PRESENT_X11, "image put on a window presents by X11");
	is(way_api(0), 0, "no way to present has no API");
	test_handover();
	test_report_rate();
	return tap_end();
}
