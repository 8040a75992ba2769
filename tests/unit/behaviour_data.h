/* SPDX-License-Identifier: GPL-2.0 */
/* How threads of real programs ran over a stretch that is judged at once: 100 wake-ups or half a second, the middle one
 * of some seconds, recorded on Linux 6.18 with 2 busy CPUs. Names and hooks play no part. */
#ifndef TACTUS_TESTS_BEHAVIOUR_DATA_H
#define TACTUS_TESTS_BEHAVIOUR_DATA_H

#include "../../core/role.h"

/* Times in ns; `woken` is a number, `priority` as in core/event.h. */
#define RAN(span, cpu, wait, woken, gap, gap_dev, priority)                                                 \
	{                                                                                                   \
		.span_ns = (span), .cpu_ns = (cpu), .wait_ns = (wait), .wakeups = (woken), .gap_ns = (gap), \
		.gap_dev_ns = (gap_dev), .prio = (priority)                                                 \
	}

static const struct recorded_behaviour {
	const char *program;
	const char *thread;
	u32 role; /* that behaviour alone must give, or leave open */
	const char *why;
	struct behaviour seen;
} recorded_behaviours[] = {
	/* clang-format off */
	/* RAN(span, cpu, wait, wake-ups, gap, deviation of the gap, priority) */
	{ "jackd -R -p 256", "driver", ROLE_AUDIO, "realtime, a block of 256 frames at 48 kHz",
	  RAN(501332643, 2418020, 1446429, 94, 5333384, 5294, 40) },
	{ "jack_simple_client", "process callback", ROLE_AUDIO, "realtime, woken by jackd for each block",
	  RAN(501345844, 1045776, 969426, 94, 5333687, 15763, 45) },
	{ "mpv --ao=jack", "jack callback", ROLE_AUDIO, "realtime, the same",
	  RAN(501345493, 1220329, 391189, 94, 5333648, 15791, 45) },
	{ "mpv --ao=jack", "main", ROLE_UNKNOWN, "wakes for many things",
	  RAN(511983296, 2529530, 129513071, 41, 12178989, 7690627, 121) },
	{ "mpv --ao=jack", "demux", ROLE_UNKNOWN, "reads a file now and then",
	  RAN(511948094, 1253273, 745472, 32, 13509464, 11418134, 121) },
	{ "jack_simple_client", "main", ROLE_BACKGROUND, "sleeps for a second at a time",
	  RAN(1000078676, 7762, 7651, 1, 1002587027, 358335, 121) },
	{ "pipewire", "data-loop, realtime", ROLE_AUDIO, "woken by its timer and by its clients in turn, realtime",
	  RAN(501334136, 1870080, 640114, 94, 5681969, 5581958, 12) },
	{ "pw-play", "data-loop, realtime", ROLE_AUDIO, "realtime, a block of 512 frames at 48 kHz",
	  RAN(501329589, 1509791, 1005621, 47, 10665802, 21776, 12) },
	{ "pw-play", "main", ROLE_AUDIO, "fills each block",
	  RAN(501297762, 668963, 1042576, 47, 10665335, 34611, 121) },
	{ "mpv --ao=pipewire", "data-loop", ROLE_AUDIO, "fills each block, no realtime priority",
	  RAN(501349629, 1788635, 7910963, 47, 10665831, 20698, 121) },
	{ "mpv --ao=null", "ao", ROLE_UNKNOWN, "no clock: it is woken by others too",
	  RAN(545340802, 536562, 704129, 19, 30241290, 25562380, 121) },
	{ "pw-play", "data-loop, not realtime", ROLE_AUDIO, "a block of 2048 frames at 48 kHz",
	  RAN(512031217, 480072, 359567, 12, 42669046, 63187, 121) },
	{ "pipewire", "data-loop, not realtime", ROLE_UNKNOWN, "two wake-ups a block: no clock; known as a server's",
	  RAN(511990792, 790371, 1051403, 24, 22740849, 22547136, 121) },
	{ "mpv --ao=pulse", "pulse's loop", ROLE_UNKNOWN, "no clock; known by what it sends",
	  RAN(512054703, 1111462, 985284, 39, 16313376, 20225777, 121) },
	{ "chocolate-doom", "SDL's sound thread", ROLE_AUDIO, "1024 frames at 44.1 kHz, nice -20",
	  RAN(520310746, 11593919, 1272794, 22, 23658146, 121116, 101) },
	{ "chocolate-doom", "main", ROLE_UNKNOWN, "sleeps 1 ms at a time till the next picture",
	  RAN(109701838, 3219278, 10293265, 100, 1157540, 308290, 121) },
	{ "weston, headless", "main", ROLE_UNKNOWN, "no clock: clients wake it too",
	  RAN(507056066, 12972908, 7525145, 46, 11162771, 4242569, 121) },
	{ "weston-simple-shm", "main", ROLE_UNKNOWN, "a clock, but neither of sound nor of a screen",
	  RAN(506236689, 2460537, 3251955, 20, 25303780, 338486, 121) },
	{ "Xvfb", "main", ROLE_UNKNOWN, "woken by clients",
	  RAN(512497615, 3293183, 1038949, 36, 14896239, 10297028, 121) },
	{ "a loop at 60 Hz", "5 ms of work", ROLE_RENDER, "pictures",
	  RAN(501763037, 75826580, 88812388, 30, 16669475, 14761, 121) },
	{ "a loop at 60 Hz", "0.5 ms of work", ROLE_RENDER, "pictures that are soon made",
	  RAN(514900648, 14183239, 24607955, 31, 16667924, 10689, 121) },
	{ "a loop at 144 Hz", "1 ms of work", ROLE_RENDER, "pictures",
	  RAN(500281568, 60644385, 58292543, 72, 6946315, 9912, 121) },
	{ "a loop", "sleeps 1 ms", ROLE_UNKNOWN, "not a mouse: 8 % slower",
	  RAN(113236340, 715761, 6334707, 100, 1082520, 16530, 121) },
	{ "a loop", "sleeps 5 ms", ROLE_UNKNOWN, "not sound: 2 % slower",
	  RAN(500691381, 689386, 49940170, 89, 5114643, 203946, 121) },
	{ "a loop", "sleeps 10 ms", ROLE_UNKNOWN, "not sound: 0.8 % slower",
	  RAN(504822996, 527816, 1648969, 50, 10078133, 12722, 121) },
	{ "a loop", "sleeps 20 ms", ROLE_UNKNOWN, "no clock of sound",
	  RAN(503007750, 604018, 1020573, 25, 20142594, 71683, 121) },
	{ "a loop", "sleeps 25 ms", ROLE_UNKNOWN, "no clock of sound",
	  RAN(501506101, 276071, 165406, 20, 25131834, 312817, 121) },
	{ "a loop", "sleeps 50 ms", ROLE_BACKGROUND, "looks now and then",
	  RAN(501512570, 244554, 716273, 10, 50150769, 81945, 121) },
	{ "a loop", "sleeps 100 ms", ROLE_BACKGROUND, "looks now and then",
	  RAN(500503662, 119367, 93990, 5, 100101085, 19085, 121) },
	{ "a loop", "sleeps 1 s", ROLE_BACKGROUND, "looks now and then",
	  RAN(1000100229, 29404, 8162, 1, 1000116309, 2297, 121) },
	{ "stress-ng --timer", "timer", ROLE_UNKNOWN, "500 times a second, no clock of sound",
	  RAN(204627218, 739464, 3004077, 100, 2034684, 37564, 121) },
	{ "stress-ng --cpu", "cpu", ROLE_CPU_BOUND, "never sleeps",
	  RAN(500642499, 207385658, 293256841, 0, 0, 0, 121) },
	{ "stress-ng --sem", "sem", ROLE_UNKNOWN, "woken by the others of its kind",
	  RAN(179526411, 1030031, 173121795, 100, 1644252, 1813004, 121) },
	{ "nginx under load", "worker", ROLE_UNKNOWN, "woken by clients",
	  RAN(21632448, 4574794, 8114966, 100, 225532, 176983, 121) },
	{ "wrk", "worker", ROLE_UNKNOWN, "woken by the server",
	  RAN(22312127, 3666019, 7199205, 100, 246391, 256773, 121) },
	{ "cyclictest -p80 -i1000", "timer thread", ROLE_AUDIO, "realtime and light: taken for sound",
	  RAN(99997735, 462072, 577331, 100, 1000147, 2155, 20) },
	{ "the kernel", "rcu_preempt", ROLE_UNKNOWN, "no clock",
	  RAN(500310496, 85577, 95059803, 16, 55088356, 93096273, 121) },
	/* clang-format on */
};

#endif
