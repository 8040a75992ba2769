// SPDX-License-Identifier: GPL-2.0
/* Evidence in words.
 * Numbers come from recordings too, so each is checked before it is an index. */
#include "role_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "../../core/role.h"
#include "../model/gpu.h"

static const char *const present_names[PRESENT_APIS] = {
	[PRESENT_NONE] = "?",	       [PRESENT_GLX] = "GLX", [PRESENT_EGL] = "EGL", [PRESENT_VULKAN] = "Vulkan",
	[PRESENT_WAYLAND] = "Wayland", [PRESENT_X11] = "X11", [PRESENT_DRM] = "DRM",
};

static const char *const input_names[INPUT_KINDS] = {
	[INPUT_NONE] = "an input device",  [INPUT_MOUSE] = "a mouse",	     [INPUT_KEYBOARD] = "a keyboard",
	[INPUT_PAD] = "a game pad",	   [INPUT_TOUCH] = "a touch screen", [INPUT_TABLET] = "a tablet",
	[INPUT_OTHER] = "an input device",
};

void prio_words(char *into, u32 prio)
{
	if (prio == 0)
		snprintf(into, ROLE_WORDS_SIZE, "deadline");
	else if (prio <= PRIO_REALTIME_LAST)
		snprintf(into, ROLE_WORDS_SIZE, "realtime %u", PRIO_REALTIME_LAST - prio);
	else
		snprintf(into, ROLE_WORDS_SIZE, "nice %d", (int)prio - PRIO_REALTIME_LAST - 21);
}

void process_words(char *into, u32 process)
{
	static const char *const names[] = { "game",	     "Windows program", "compositor",
					     "sound server", "sound client",	"game's helper" };
	size_t used = 0;

	into[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (process >> i & 1)
			used += (size_t)snprintf(into + used, ROLE_WORDS_SIZE - used, "%s%s", used ? ", " : "",
						 names[i]);
}

static double per_second(u64 count, u64 span_ns)
{
	return span_ns ? (double)count * NSEC_PER_SEC / (double)span_ns : 0;
}

static void period_words(char *into, size_t size, const struct event_role *event)
{
	snprintf(into, size, "wakes every %.1f ms", (double)event->wake_gap_ns / NSEC_PER_MSEC);
}

static void gpu_words(char *into, const struct event_role *event)
{
	const char *by = event->present_api < PRESENT_APIS ? present_names[event->present_api] : "?";

	if (event->role == ROLE_COMPOSITOR)
		snprintf(into, ROLE_WORDS_SIZE, "%s",
			 event->process & PROCESS_PRESENTED_TO ? "other processes present to it"
							       : "its program is known for a compositor");
	else if (event->presents == 1)
		snprintf(into, ROLE_WORDS_SIZE, "presents, by %s", by);
	else if (event->presents)
		snprintf(into, ROLE_WORDS_SIZE, "presents %.0f times a second by %s, %" PRIu32 " in all",
			 per_second(event->presents, event->age_ns), by, event->presents);
	else
		snprintf(into, ROLE_WORDS_SIZE, "%s %s %" PRIu32 " time%s", gpu_deed(event->gpu_driver),
			 gpu_driver_name(event->gpu_driver), event->gpu_submits, event->gpu_submits == 1 ? "" : "s");
}

const char *wine_class_name(u32 class)
{
	static const char *const names[WINE_PRIORITY_CLASSES] = {
		[WINE_IDLE_CLASS] = "IDLE",
		[WINE_NORMAL_CLASS] = "NORMAL",
		[WINE_HIGH_CLASS] = "HIGH",
		[WINE_REALTIME_CLASS] = "REALTIME",
		[WINE_BELOW_NORMAL_CLASS] = "BELOW_NORMAL",
		[WINE_ABOVE_NORMAL_CLASS] = "ABOVE_NORMAL",
	};

	return class < WINE_PRIORITY_CLASSES ? names[class] : NULL;
}

static void wine_words(char *into, const struct event_role *event)
{
	char prio[ROLE_WORDS_SIZE], more[ROLE_WORDS_SIZE] = "", asked[32] = "";
	const char *class = wine_class_name(event->wine_class);

	prio_words(prio, event->prio);
	if (event->presents || event->gpu_submits)
		gpu_words(more, event);
	if ((event->has & HAS_WINE_PRIORITY) || !class)
		snprintf(asked, sizeof(asked), " %d", event->wine_priority);
	snprintf(into, ROLE_WORDS_SIZE, "Windows priority%s%s%s, Linux %.20s%s%.70s", asked, class ? " class " : "",
		 class ? class : "", prio, more[0] ? "; " : "", more);
}

static void io_words(char *into, const struct event_role *event)
{
	char period[32];

	if (event->role == ROLE_INPUT) {
		snprintf(into, ROLE_WORDS_SIZE, "reads %s, %" PRIu32 " times",
			 event->input_kind < INPUT_KINDS ? input_names[event->input_kind] : input_names[INPUT_OTHER],
			 event->input_reads);
	} else if (event->role == ROLE_NETWORK && !event->wakeups) {
		snprintf(into, ROLE_WORDS_SIZE, "sends or receives without a pause");
	} else if (event->role == ROLE_NETWORK && event->net_wakes >= event->wakeups) {
		/* More than once in a long turn. */
		snprintf(into, ROLE_WORDS_SIZE, "sends or receives whenever it wakes, %" PRIu64 " times",
			 event->wakeups);
	} else if (event->role == ROLE_NETWORK) {
		snprintf(into, ROLE_WORDS_SIZE, "sends or receives in %" PRIu32 " of %" PRIu64 " wake-ups",
			 event->net_wakes, event->wakeups);
	} else if (event->audio_writes) {
		snprintf(into, ROLE_WORDS_SIZE, "fed sound %" PRIu32 " times", event->audio_writes);
	} else {
		period_words(period, sizeof(period), event);
		snprintf(into, ROLE_WORDS_SIZE, "%s, %s",
			 event->process & PROCESS_SOUND_SERVER ? "in a sound server" : "in a program that plays sound",
			 period);
	}
}

static void runtime_words(char *into, const struct event_role *event)
{
	u64 percent = percent_of(event->cpu_ns, event->age_ns);
	/* A wake-up may reach a thread that was not asleep yet: then only the waker is counted. */
	u64 for_frames = event->frame_wakes < event->wakeups ? event->frame_wakes : event->wakeups;
	char period[32];

	period_words(period, sizeof(period), event);
	if (event->has & HAS_KERNEL_THREAD)
		snprintf(into, ROLE_WORDS_SIZE, "a thread of the kernel's");
	else if (event->role == ROLE_CPU_BOUND)
		snprintf(into, ROLE_WORDS_SIZE, "takes all the CPU it gets, %" PRIu64 " %%",
			 percent > 100 ? 100 : percent);
	else if (event->role == ROLE_BACKGROUND)
		snprintf(into, ROLE_WORDS_SIZE, "wakes %.1f times a second for little",
			 per_second(event->wakeups, event->age_ns));
	else if (event->prio && event->prio <= PRIO_REALTIME_LAST)
		snprintf(into, ROLE_WORDS_SIZE, "realtime %u, %s", PRIO_REALTIME_LAST - event->prio, period);
	else if (event->role == ROLE_RENDER && event->frame_wakes)
		snprintf(into, ROLE_WORDS_SIZE, "woken %" PRIu64 " of %" PRIu64 " times by a thread that makes frames",
			 for_frames, event->wakeups);
	else
		snprintf(into, ROLE_WORDS_SIZE, "%s for %s", period,
			 event->role == ROLE_RENDER ? "long work" : "short work");
}

/* What a thread is for may not be known, and yet who is for it. */
static bool is_awaited_only(const struct event_role *event)
{
	return (event->has & HAS_AWAITED) && event->tier == TIER_LATENCY_CRITICAL &&
	       (event->confidence < ROLE_TRUSTED || tier_of_role(event->role) != TIER_LATENCY_CRITICAL);
}

void role_words(char *into, const struct event_role *event)
{
	if (is_awaited_only(event)) {
		snprintf(into, ROLE_WORDS_SIZE, "urgent threads wait for it");
		return;
	}
	switch (event->evidence) {
	case EVIDENCE_USER:
		snprintf(into, ROLE_WORDS_SIZE, "the user says so");
		break;
	case EVIDENCE_WINE:
		wine_words(into, event);
		break;
	case EVIDENCE_GPU:
		gpu_words(into, event);
		break;
	case EVIDENCE_IO:
		io_words(into, event);
		break;
	case EVIDENCE_RUNTIME:
		runtime_words(into, event);
		break;
	case EVIDENCE_LEARNED:
		snprintf(into, ROLE_WORDS_SIZE, event->role ? "learned before" : "its tier was learned before");
		break;
	case EVIDENCE_NAME:
		snprintf(into, ROLE_WORDS_SIZE, "its name");
		break;
	default:
		snprintf(into, ROLE_WORDS_SIZE, "nothing yet");
	}
}
