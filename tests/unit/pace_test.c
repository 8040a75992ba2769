// SPDX-License-Identifier: GPL-2.0
/* core/pace.h: streams at a display's pace and at their own, with frames that are late by known amounts. */
#include "../../core/pace.h"
#include "tap.h"

enum { PERIOD_NS = 16666666 };

/* So many frames at this pace. Returns how many of them were called late. */
static u32 steady(struct pace *pace, u64 *now_ns, u64 period_ns, u32 frames)
{
	u32 late = 0;

	for (u32 i = 0; i < frames; i++) {
		/* A little off, as all clocks are. */
		*now_ns += period_ns + (i % 3) * period_ns / 100;
		late += pace_frame(pace, *now_ns).late_ns != 0;
	}
	return late;
}

static void test_display(void)
{
	struct pace pace = { 0 };
	struct pace_verdict verdict;
	u64 now_ns = NSEC_PER_SEC;

	is(pace_frame(&pace, now_ns).interval_ns, 0, "the first frame has no interval");
	is(steady(&pace, &now_ns, PERIOD_NS, 200), 0, "at a steady 60 Hz no frame is late");
	now_ns += PERIOD_NS + 9000000;
	verdict = pace_frame(&pace, now_ns);
	is(verdict.target_ns, 100ull * NSEC_PER_SEC / 6000, "frames at 60 Hz have 60 Hz as their pace");
	ok(verdict.late_ns > 8990000, "frame 9 ms late is late by nearly 9 ms at least");
	ok(verdict.late_ns < 9010000, "frame 9 ms late is late by hardly more than 9 ms");
	is(verdict.dropped, 1, "display showed the last frame twice before one 9 ms late");
	ok(!verdict.is_stutter, "frame 9 ms late is no stutter");
	now_ns += PERIOD_NS - 9000000;
	is(pace_frame(&pace, now_ns).late_ns, 0, "frame that makes up for a late one is on time");
	now_ns += PERIOD_NS * 5ull / 2;
	verdict = pace_frame(&pace, now_ns);
	ok(verdict.is_stutter, "frame after two and a half periods is a stutter");
	is(verdict.dropped, 2, "frame after two and a half periods is two drops");
	now_ns += PERIOD_NS + PERIOD_NS / 5;
	is(pace_frame(&pace, now_ns).late_ns, 0, "a fifth of a period is within its slack");
	now_ns += 61ull * NSEC_PER_SEC;
	verdict = pace_frame(&pace, now_ns);
	ok(verdict.is_pause, "minute without frames is a pause");
	is(verdict.late_ns, 0, "frame after a pause is not late");
	is(verdict.interval_ns, 0, "frame after a pause has no interval");
	is(steady(&pace, &now_ns, PERIOD_NS, 20), 0, "pace is known after a pause");
}

static void test_uncapped(void)
{
	struct pace pace = { 0 };
	struct pace_verdict verdict;
	u64 now_ns = NSEC_PER_SEC;

	is(steady(&pace, &now_ns, 1234567, 100), 0, "a stream of its own pace has no late frames");
	now_ns += 1234567 * 19 / 10;
	is(pace_frame(&pace, now_ns).late_ns, 0, "nearly twice the median is not late");
	now_ns += 1234567 * 3;
	verdict = pace_frame(&pace, now_ns);
	ok(verdict.late_ns, "frame that takes three times as long is late");
	ok(verdict.is_stutter, "frame that takes three times as long is a stutter");
	is(verdict.dropped, 0, "frame without a display's pace drops nothing");
	verdict = pace_frame(&pace, now_ns - 5000);
	is(verdict.interval_ns, 0, "a clock that went backwards gives no interval");
	now_ns += 1234567;
	is(pace_frame(&pace, now_ns).interval_ns, 1234567, "interval after a clock that went backwards is right");
}

static void test_rates(void)
{
	is(pace_display_ns(6944444), 100ull * NSEC_PER_SEC / 14400, "144 Hz is a display's period");
	is(pace_display_ns(6060606), 100ull * NSEC_PER_SEC / 16500, "165 Hz is a display's period");
	is(pace_display_ns(4166666), 100ull * NSEC_PER_SEC / 24000, "240 Hz is a display's period");
	is(pace_display_ns(11111111), 100ull * NSEC_PER_SEC / 9000, "90 Hz is a display's period");
	is(pace_display_ns(8333333), 100ull * NSEC_PER_SEC / 12000, "120 Hz is a display's period");
	is(pace_display_ns(16683350), 100ull * NSEC_PER_SEC / 6000, "59.94 Hz is taken for 60 Hz");
	is(pace_display_ns(15000000), 0, "15 ms is no display's period");
	is(pace_display_ns(0), 0, "0 is no display's period");
}

int main(void)
{
	test_display();
	test_uncapped();
	test_rates();
	return tap_end();
}
