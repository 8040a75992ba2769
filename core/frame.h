/* SPDX-License-Identifier: GPL-2.0 */
/* Which calls are one frame, and when a server has presented it in its turn. A present often calls the next one below
 * it: libGL's glXSwapBuffers libGLX's, a Vulkan loader's function the driver's, EGL a wl_surface commit. Pure. */
#ifndef TACTUS_CORE_FRAME_H
#define TACTUS_CORE_FRAME_H

#include "role.h"

/* A way to present: the API, and a number of the library's file. Ways are ordered: what is called from inside another
 * one is greater, aside from what hands a finished picture over: a Wayland commit, or an image put on an X window. */
enum way_rank {
	WAY_NONE,
	WAY_DRM,
	WAY_X11,
	WAY_WAYLAND,
	WAY_LIBGL,
	WAY_GLX,
	WAY_EGL,
	WAY_VULKAN,
	/* And to hand commands over, counted apart. A driver may do the first by the second. */
	WAY_FLUSH,
	WAY_SUBMIT,
	WAY_SUBMIT2
};

core_fn u64 way_of(enum way_rank rank, u32 file)
{
	return (u64)rank << 32 | file;
}

core_fn int way_submits(u64 way)
{
	return way >> 32 >= WAY_FLUSH;
}

core_fn u32 way_gpu_driver(u64 way)
{
	return way >> 32 == WAY_FLUSH ? GPU_OPENGL : GPU_VULKAN;
}

core_fn u32 way_api(u64 way)
{
	switch (way >> 32) {
	case WAY_DRM:
		return PRESENT_DRM;
	case WAY_X11:
		return PRESENT_X11;
	case WAY_WAYLAND:
		return PRESENT_WAYLAND;
	case WAY_LIBGL:
	case WAY_GLX:
		return PRESENT_GLX;
	case WAY_EGL:
		return PRESENT_EGL;
	case WAY_VULKAN:
		return PRESENT_VULKAN;
	default:
		return PRESENT_NONE;
	}
}

/* Whether a present is one more frame. A thread's frames are counted by the greatest way that it has used: a lesser one
 * is outside that, or a handing over inside it. When a greater one first appears, the frame has been counted just
 * before, by the call that it is inside; what was handed over before was not of that frame. */
core_fn int present_counts(u64 *greatest, u64 way)
{
	u64 before = *greatest;

	if (way < before)
		return 0;
	*greatest = way;
	return way == before || before < way_of(WAY_LIBGL, 0);
}

/* Whether a flip of the display is one more frame: not for a thread that has come here from another way to present. */
core_fn int flip_counts(u32 present_api)
{
	return present_api == PRESENT_NONE || present_api == PRESENT_DRM;
}

/* A server that presents nothing for so long after it was handed a picture does not show it: its window is hidden. */
#define HANDOVER_MOST_NS (2ull * NSEC_PER_SEC)

/* The last picture that a thread has handed to its server, until the server presents. */
struct handover {
	u64 at_ns; /* 0: there is none */
};

/* One before it that was not presented yet is forgotten: it was replaced, or waits in a queue. */
core_fn void handed_over(struct handover *handover, u64 now_ns)
{
	handover->at_ns = now_ns;
}

/* The server presents. How long it had the picture; 0: it had no new one. */
core_fn u64 handover_presented(struct handover *handover, u64 now_ns)
{
	u64 at_ns = handover->at_ns;

	if (!at_ns || now_ns <= at_ns)
		return 0;
	handover->at_ns = 0;
	return now_ns - at_ns <= HANDOVER_MOST_NS ? now_ns - at_ns : 0;
}

/* What one thread may report: so many addresses a second. A program that asks for its functions does so a few times. */
enum { REPORTS_EACH_SECOND = 16 };

struct report_rate {
	u64 since_ns;
	u64 count;
};

core_fn int may_report(struct report_rate *report_rate, u64 now_ns)
{
	if (now_ns - report_rate->since_ns >= NSEC_PER_SEC) {
		report_rate->since_ns = now_ns;
		report_rate->count = 0;
	}
	return report_rate->count++ < REPORTS_EACH_SECOND;
}

/* What the frame sensor's kernel half reports to its program. */
enum frame_reported {
	FRAME_REPORTS_ADDRESS = 1, /* where a process's function for presenting is */
	FRAME_REPORTS_PRESENTS,	   /* a thread presents for the first time */
};

struct frame_message {
	u64 time_ns;
	u64 address;
	u32 pid;
	u32 tid;
	u32 what; /* enum frame_reported */
	u32 rank; /* enum way_rank */
};

/* How a probed library passes arguments, in the cookies of the probes that read some. */
enum { FRAME_ARGUMENT_MASK = 0xff, FRAME_32_BIT = 1 << 8 };

#endif
