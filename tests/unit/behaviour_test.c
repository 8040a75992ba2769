// SPDX-License-Identifier: GPL-2.0
/* core/role.h on behaviour that was recorded from real programs, and the clocks of core/period.h by which it judges. */
#include "../../core/role.h"
#include "behaviour_data.h"
#include "tap.h"

enum { RECORDED = sizeof(recorded_behaviours) / sizeof(recorded_behaviours[0]) };

static const char *const role_names[ROLES] = { "unknown", "render",	"input",      "audio",
					       "network", "compositor", "background", "cpu-bound" };

static void test_recorded(void)
{
	for (int i = 0; i < RECORDED; i++) {
		const struct recorded_behaviour *row = &recorded_behaviours[i];

		is(role_of_behaviour(&row->seen).role, row->role, "behaviour of %s, %s is %s (%s)", row->program,
		   row->thread, role_names[row->role], row->why);
	}
}

static void test_sound_periods(void)
{
	for (u64 frames = 64; frames <= 4096; frames *= 2) {
		ok(is_sound_period(frames * NSEC_PER_SEC / 48000), "block of %d frames at 48 kHz is a sound period",
		   (int)frames);
		ok(is_sound_period(frames * NSEC_PER_SEC / 44100), "block of %d frames at 44.1 kHz is a sound period",
		   (int)frames);
	}
	ok(is_sound_timer(10000000), "exact clock of 10 ms is a sound timer");
	ok(!is_sound_timer(10078000), "sleeping 10 ms at a time is no sound timer");
	ok(!is_sound_period(16666667), "60 Hz is no sound period");
	ok(!is_sound_period(8333333), "120 Hz is no sound period");
	ok(!is_sound_period(50000000), "50 ms is no sound period");
	ok(!is_sound_period(0), "0 is no sound period");
	ok(!is_sound_period(~0ULL / 2000), "endless period is no sound period");
}

static void test_other_periods(void)
{
	ok(is_picture_period(16666667), "60 Hz is a screen's period");
	ok(is_picture_period(6944444), "144 Hz is a screen's period");
	ok(!is_picture_period(10666667), "block of sound is no screen's period");
	ok(!is_picture_period(0), "0 is no screen's period");
	ok(is_input_period(1000000), "1 ms is a fast mouse's period");
	ok(is_input_period(125000), "0.125 ms is a fast mouse's period");
	ok(!is_input_period(1083000), "sleeping 1 ms at a time is no mouse's period");
	/* No period is taken for two things. */
	for (u64 period_ns = 100000; period_ns < 100000000; period_ns += 1000)
		if (is_sound_period(period_ns) + is_sound_timer(period_ns) + is_picture_period(period_ns) +
			    is_input_period(period_ns) >
		    1)
			ok(0, "period of %d us is taken for one thing only", (int)(period_ns / 1000));
}

/* Of forty threads that wake each other on one CPU, as hackbench's, some wake at steady gaps: the turns that they get.
 */
static void test_hindered(void)
{
	struct behaviour seen = { .span_ns = 512 * NSEC_PER_MSEC,
				  .cpu_ns = 6 * NSEC_PER_MSEC,
				  .wait_ns = 480 * NSEC_PER_MSEC,
				  .wakeups = 24,
				  .gap_ns = 21333333,
				  .gap_dev_ns = 3000000 };
	struct pattern pattern = { 0 };

	pattern_learn_timely(&pattern, &seen);
	is(pattern.timely, 0,
	   "thread that waits most of the time and wakes at steady gaps is not known to work by a timer");
	is(role_of_behaviour(&seen).role, ROLE_UNKNOWN,
	   "thread that waits most of the time and wakes at steady gaps is for nothing known");
	seen.periods = 24;
	seen.period_ns = 21333333;
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely >= TIMELY_ENOUGH, "thread that waits most of the time works by a timer if one is found");
	is(role_of_behaviour(&seen).role, ROLE_AUDIO,
	   "thread that waits most of the time is for sound if its timer is");
	seen.periods = seen.period_ns = 0;
	seen.wait_ns = 100 * NSEC_PER_MSEC;
	pattern = (struct pattern){ 0 };
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely >= TIMELY_ENOUGH, "thread that waits seldom and wakes at steady gaps works by a timer");
	is(role_of_behaviour(&seen).role, ROLE_AUDIO,
	   "thread that waits seldom and wakes at a sound's gaps is for sound");
}

/* What hackbench's threads looked like that passed for urgent: they slept until the first message came, and each
 * message after that is by another process, at the gaps that those have their turns. */
static void test_queue_is_no_clock(void)
{
	struct behaviour seen = { .span_ns = 600 * NSEC_PER_MSEC,
				  .cpu_ns = 5500 * NSEC_PER_USEC,
				  .wait_ns = 15 * NSEC_PER_MSEC,
				  .wakeups = 130,
				  .gap_ns = 230 * NSEC_PER_USEC,
				  .gap_dev_ns = 30 * NSEC_PER_USEC };
	struct pattern pattern = { 0 };

	pattern_learn_timely(&pattern, &seen);
	is(pattern.timely, 0,
	   "thread that waits for half of the time from one wake-up to the next is not known to work by a timer");
	is(role_of_behaviour(&seen).role, ROLE_UNKNOWN,
	   "thread that waits for half of the time from one wake-up to the next is for nothing known");
	seen.periods = seen.told = 130;
	seen.period_ns = 230 * NSEC_PER_USEC;
	pattern_learn_timely(&pattern, &seen);
	is(pattern.timely, 0,
	   "period of what other processes hand to a thread that waits so long is not held for a timer");
	seen.told = 0;
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely >= TIMELY_ENOUGH, "period of interrupts is a timer's however long the thread waits");
	seen.told = 130;
	seen.wait_ns = 3 * NSEC_PER_MSEC;
	pattern = (struct pattern){ 0 };
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely >= TIMELY_ENOUGH,
	   "period of what another process hands to a thread that hardly waits is one");
}

/* Sends to a sound server at these times, in ms; returns how often it counted. */
static u32 after_sends(u64 step_ms, int times)
{
	struct role_state role = { 0 };
	u64 now_ns = 1000ULL * NSEC_PER_SEC;
	int known = 0;

	for (int i = 0; i < times; i++, now_ns += step_ms * NSEC_PER_MSEC)
		known += sound_was_sent(&role, now_ns);
	ok(known <= 1, "sound that is sent is news once at most");
	return role.facts.audio_writes;
}

static void test_sends(void)
{
	ok(after_sends(40, 40) >= SOUND_WRITES_ENOUGH, "a send every 40 ms for 1.6 s feeds sound");
	ok(after_sends(500, 8) >= SOUND_WRITES_ENOUGH, "send every 500 ms for 4 s feeds sound");
	ok(after_sends(1, 200) < SOUND_WRITES_ENOUGH, "200 requests in a burst feed no sound");
	ok(after_sends(1000, 100) < SOUND_WRITES_ENOUGH, "request a second feeds no sound");
}

static struct role_answer of_process(u32 process, struct behaviour seen)
{
	struct role_facts facts = { .process = (u16)process };
	struct pattern pattern = { 0 };

	for (int i = 0; i < 4; i++) {
		pattern_learn(&pattern, role_of_behaviour(&seen));
		pattern_learn_net(&pattern, &seen);
		pattern_learn_busy(&pattern, &seen);
	}
	return role_decide(&facts, &pattern);
}

static void test_processes(void)
{
	struct behaviour mixes = { .span_ns = 512000000,
				   .cpu_ns = 800000,
				   .wakeups = 24,
				   .gap_ns = 22000000,
				   .gap_dev_ns = 21000000,
				   .prio = 121 };
	struct behaviour plays = { .span_ns = 501000000,
				   .cpu_ns = 1500000,
				   .wakeups = 47,
				   .gap_ns = 10666000,
				   .gap_dev_ns = 10000,
				   .prio = 121 };
	struct behaviour rests = { .span_ns = 1000000000, .cpu_ns = 100000, .wakeups = 1, .prio = 121 };
	struct role_answer answer = of_process(PROCESS_SOUND_SERVER, mixes);

	is(answer.role, ROLE_AUDIO, "a sound server's thread that wakes often for little is for sound");
	is(answer.evidence, EVIDENCE_IO, "since it is a sound server's");
	is(of_process(0, mixes).role, ROLE_UNKNOWN,
	   "thread of no sound server that wakes often for little has no role");
	is(of_process(PROCESS_SOUND_CLIENT, mixes).role, ROLE_UNKNOWN, "a client has many such threads");
	is(of_process(PROCESS_SOUND_SERVER, rests).role, ROLE_BACKGROUND, "a server's thread that rests is not");
	answer = of_process(PROCESS_SOUND_CLIENT, plays);
	is(answer.role, ROLE_AUDIO, "sound client's thread that wakes by a clock of sound is for sound");
	is(answer.evidence, EVIDENCE_IO, "sound client's thread is known by what its process has open");
	ok(answer.confidence >= 90, "sound client's thread that wakes by a clock of sound is surely for sound");
	answer = of_process(0, plays);
	is(answer.role, ROLE_AUDIO, "thread that wakes by a clock of sound elsewhere is for sound");
	is(answer.evidence, EVIDENCE_RUNTIME,
	   "thread that wakes by a clock of sound elsewhere is known by how it runs");
	ok(answer.confidence < 90, "thread that wakes by a clock of sound elsewhere is less surely for sound");
}

static void test_hinted(void)
{
	struct behaviour asks = { .wakeups = 100,
				  .span_ns = NSEC_PER_SEC,
				  .cpu_ns = 10 * NSEC_PER_MSEC,
				  .gap_ns = 10 * NSEC_PER_MSEC + 100 * NSEC_PER_USEC,
				  .prio = PRIO_URGENT_LAST };
	struct behaviour hinted = asks;

	hinted.prio = PRIO_HINTED;
	is(opinion_of_clock(&asks).role, ROLE_AUDIO,
	   "who asks for an urgent nice value and wakes by a clock is for sound");
	is(opinion_of_clock(&hinted).role, ROLE_UNKNOWN,
	   "nice value that hints give does not make a thread one for sound");
}

int main(void)
{
	test_recorded();
	test_hinted();
	test_hindered();
	test_queue_is_no_clock();
	test_sound_periods();
	test_other_periods();
	test_sends();
	test_processes();
	return tap_end();
}
