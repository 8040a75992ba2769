/* SPDX-License-Identifier: GPL-2.0 */
/* The periods that threads wake by: sound comes in blocks of so many frames, pictures at so many a second, and whoever
 * just sleeps for a round number of milliseconds wakes a little later than that. Pure, as everything in core. */
#ifndef TACTUS_CORE_PERIOD_H
#define TACTUS_CORE_PERIOD_H

#include "types.h"

enum {
	SOUND_BLOCK_LEAST = 64,
	SOUND_BLOCK_MOST = 4096,
	SOUND_SLACK = 20, /* per mille, as all of these */
	SOUND_TIMER_SLACK = 5,
	PICTURE_SLACK = 10,
	INPUT_SLACK = 30,
};

core_fn int is_near(u64 value, u64 wanted, u64 slack_per_mille)
{
	u64 slack = wanted * slack_per_mille / 1000;

	/* One comparison: each costs the verifier two ways through all that follow. */
	return value - (wanted - slack) <= 2 * slack;
}

/* Whether sound devices and servers wake their threads so often: blocks of 2^n frames at 44.1 or 48 kHz. */
core_step int is_sound_period(u64 period_ns)
{
	u64 frames;

	for (frames = SOUND_BLOCK_LEAST; frames <= SOUND_BLOCK_MOST; frames *= 2)
		if (is_near(period_ns, frames * NSEC_PER_SEC / 48000, SOUND_SLACK) ||
		    is_near(period_ns, frames * NSEC_PER_SEC / 44100, SOUND_SLACK))
			return 1;
	return 0;
}

/* Sound in blocks of 2.5, 5 or 10 ms. Other programs sleep that long too, but then they wake a little later. */
core_step int is_sound_timer(u64 period_ns)
{
	return is_near(period_ns, 2500 * NSEC_PER_USEC, SOUND_TIMER_SLACK) ||
	       is_near(period_ns, 5 * NSEC_PER_MSEC, SOUND_TIMER_SLACK) ||
	       is_near(period_ns, 10 * NSEC_PER_MSEC, SOUND_TIMER_SLACK);
}

core_fn int is_rate(u64 period_ns, u64 per_second)
{
	return is_near(period_ns, NSEC_PER_SEC / per_second, PICTURE_SLACK);
}

/* Whether screens show pictures so often. Rates that are as good for other things, as 50 and 100, are left out. */
core_step int is_picture_period(u64 period_ns)
{
	return is_rate(period_ns, 30) || is_rate(period_ns, 60) || is_rate(period_ns, 72) || is_rate(period_ns, 75) ||
	       is_rate(period_ns, 90) || is_rate(period_ns, 120) || is_rate(period_ns, 144) ||
	       is_rate(period_ns, 165) || is_rate(period_ns, 240);
}

/* Whether fast mice and pads report so often. A program that sleeps for a millisecond at a time is slower. */
core_step int is_input_period(u64 period_ns)
{
	return is_near(period_ns, NSEC_PER_MSEC, INPUT_SLACK) || is_near(period_ns, NSEC_PER_MSEC / 2, INPUT_SLACK) ||
	       is_near(period_ns, NSEC_PER_MSEC / 4, INPUT_SLACK) || is_near(period_ns, NSEC_PER_MSEC / 8, INPUT_SLACK);
}

#endif
