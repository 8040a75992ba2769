/* SPDX-License-Identifier: GPL-2.0 */
/* What hooks saw of a thread and what is known of its process: the facts from which core/role.h finds its role.
 */
#ifndef TACTUS_CORE_FACTS_H
#define TACTUS_CORE_FACTS_H

#include "types.h"

/* What is known of a thread's whole process. */
enum {
	PROCESS_GAME = 1 << 0,
	PROCESS_WINE = 1 << 1, /* runs a Windows program */
	PROCESS_COMPOSITOR = 1 << 2,
	PROCESS_SOUND_SERVER = 1 << 3,
	PROCESS_SOUND_CLIENT = 1 << 4, /* has a sound card open, or a connection to a sound server */
	PROCESS_HELPER = 1 << 5,       /* of a game: launcher, crash reporter, overlay */
	PROCESS_PRESENTED_TO = 1 << 6, /* others were seen to present to it: a compositor by deed, not by name */
	PROCESS_LOADING = 1 << 7,      /* a game, or what serves it, before the game's first frame */
};

/* role_facts.has */
enum {
	HAS_WINE_PRIORITY = 1 << 0,
	HAS_FIRST_THREAD = 1 << 1, /* it is its process's first thread */
	HAS_KERNEL_THREAD = 1 << 2,
	HAS_LEARNED = 1 << 3,  /* something was predicted of its kind, at least a tier */
	HAS_AWAITED = 1 << 4,  /* urgent threads wait for it, see role_is_awaited */
	HAS_COMPILES = 1 << 5, /* it is called as those are that compile shaders */
};

enum {
	WINE_TIME_CRITICAL = 15, /* THREAD_PRIORITY_TIME_CRITICAL, and 16 to 31 of the realtime class */
	WINE_HIGHEST = 2,
	WINE_BELOW_NORMAL = -1,
};

enum present_api {
	PRESENT_NONE,
	PRESENT_GLX,
	PRESENT_EGL,
	PRESENT_VULKAN,
	PRESENT_WAYLAND,
	PRESENT_X11,
	PRESENT_DRM,
	PRESENT_APIS
};

enum input_kind {
	INPUT_NONE,
	INPUT_MOUSE,
	INPUT_KEYBOARD,
	INPUT_PAD,
	INPUT_TOUCH,
	INPUT_TABLET,
	INPUT_OTHER,
	INPUT_KINDS
};

/* What hooks saw of one thread. A hook adds to its own fields and calls role_decide. */
struct role_facts {
	u32 gpu_submits;
	u32 presents;
	u32 input_reads;  /* wake-ups by, or reads from, an input device */
	u32 audio_writes; /* to a sound card or a sound server's socket */
	u32 net_wakes;	  /* turns in which it sent or received on a network socket, see net_turn */
	u32 frame_wakes;  /* wake-ups for a frame, by threads of its process */
	s16 wine_priority;
	u16 process;	/* PROCESS_* */
	u8 has;		/* HAS_* */
	u8 gpu_driver;	/* enum gpu_driver, of the last submit */
	u8 present_api; /* enum present_api, of the last present */
	u8 input_kind;	/* enum input_kind, of the last device read */
	u8 user_role;
	u8 name_role;
	u8 learned_role;
	u8 learned_confidence;
	u8 learned_tier; /* with HAS_LEARNED */
	u8 faded;	 /* FADED_*: such was not seen for a while, and says nothing any more */
	u8 wine_class;	 /* enum wine_priority_class, of its process */
	u8 unused;
};

enum { FADED_PRESENTS = 1 << 0, FADED_SUBMITS = 1 << 1, FADED_INPUT = 1 << 2, FADED_SOUND = 1 << 3 };

core_fn u32 presents_now(const struct role_facts *facts)
{
	return facts->faded & FADED_PRESENTS ? 0 : facts->presents;
}

core_fn u32 submits_now(const struct role_facts *facts)
{
	return facts->faded & FADED_SUBMITS ? 0 : facts->gpu_submits;
}

core_fn u32 input_reads_now(const struct role_facts *facts)
{
	return facts->faded & FADED_INPUT ? 0 : facts->input_reads;
}

core_fn u32 audio_writes_now(const struct role_facts *facts)
{
	return facts->faded & FADED_SOUND ? 0 : facts->audio_writes;
}

/* Whether a game is loading: it has shown no frame. One that shows none for so long shows them in a way that is not
 * known. */
#define GAME_LOADS_MOST_NS (600ull * NSEC_PER_SEC)

core_fn int game_is_loading(u64 first_frame_ns, u64 found_ns, u64 now_ns)
{
	return !first_frame_ns && now_ns < found_ns + GAME_LOADS_MOST_NS;
}

/* Whether it compiles shaders for a game that has not shown a frame: nobody waits for any one of them yet, and they
 * take all the CPU they get. From the first frame on it is what it does, since a frame may wait for a shader. */
core_fn int facts_compile_ahead(const struct role_facts *facts)
{
	return (facts->has & HAS_COMPILES) && (facts->process & PROCESS_LOADING);
}

enum { WHOLE_SCREEN_FLIPS = 60 }; /* for a second at least: who tests a display or shows a splash flips less */

/* Whether a present is news, although who submits to a GPU is known to render before it presents: the first, which ends
 * loading, and the one that shows who has the whole screen. */
core_fn int present_is_news(u32 presents)
{
	return presents == 1 || presents == WHOLE_SCREEN_FLIPS;
}

/* Whether a thread that has flipped a display so often by itself has the whole screen: it is no compositor, so what it
 * shows is all that there is to see. */
core_fn int has_whole_screen(u32 present_api, u32 presents, u32 process)
{
	return present_api == PRESENT_DRM && presents >= WHOLE_SCREEN_FLIPS &&
	       !(process & (PROCESS_COMPOSITOR | PROCESS_PRESENTED_TO));
}

#endif
