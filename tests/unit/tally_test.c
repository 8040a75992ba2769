// SPDX-License-Identifier: GPL-2.0
/* core/tally.h and the status packet: waits by tier, spans of them, and what comes over the socket that is no status.
 */
#include <string.h>

#include "../../core/tally.h"
#include "../../src/view/status.h"
#include "tap.h"

static void test_tally(void)
{
	static struct sched_tally tally, before, other;

	tally_wait(&tally, TIER_LATENCY_CRITICAL, 100);
	tally_wait(&tally, TIER_LATENCY_CRITICAL, TIER_MISS_NS + 1);
	tally_wait(&tally, TIER_BATCH, NSEC_PER_SEC);
	is(tally.deadline_misses, 1, "tally counts the urgent thread that waited too long and no batch thread");
	is(tally.waits[TIER_LATENCY_CRITICAL].total, 2, "waits go to their own tier");
	tally_wait(&tally, TIERS, 5);
	tally_wait(&tally, ~0ULL, 5);
	is(tally.waits[TIER_BATCH].total, 1, "a tier that is none goes nowhere");
	before = tally;
	tally_wait(&tally, TIER_INTERACTIVE, 3000);
	tally.moves = 7;
	tally_subtract(&tally, &before);
	is(tally.waits[TIER_INTERACTIVE].total, 1, "tally of a span has what came in it");
	is(tally.waits[TIER_LATENCY_CRITICAL].total, 0, "tally of a span has nothing from before it");
	is(tally.deadline_misses, 0, "tally of a span has no miss from before it");
	ok(hist_percentile(&tally.waits[TIER_INTERACTIVE], 990000) >= 3000,
	   "tally of a span has the percentile of the span");
	tally_merge(&other, &tally);
	tally_merge(&other, &before);
	is(other.moves, 7, "tallies of CPUs add up");
	is(other.waits[TIER_LATENCY_CRITICAL].total, 2, "tallies of CPUs add up in all tiers");
}

static void test_packet(void)
{
	struct run_status status = { .magic = STATUS_MAGIC, .version = STATUS_VERSION, .actuator = "scx" };

	ok(status_is_sound(&status, sizeof(status)), "status that was made is sound");
	ok(!status_is_sound(&status, sizeof(status) - 1), "status that is cut is refused");
	ok(!status_is_sound(&status, sizeof(status) + 8), "status that is too long is refused");
	ok(!status_is_sound(&status, 0), "empty status is refused");
	memset(status.actuator, 'x', sizeof(status.actuator));
	ok(!status_is_sound(&status, sizeof(status)), "a name without an end is refused");
	status = (struct run_status){ .magic = STATUS_MAGIC, .version = STATUS_VERSION + 1 };
	ok(!status_is_sound(&status, sizeof(status)), "status of another version is refused");
	status = (struct run_status){ .magic = 1, .version = STATUS_VERSION };
	ok(!status_is_sound(&status, sizeof(status)), "status of something else is refused");
}

int main(void)
{
	test_tally();
	test_packet();
	return tap_end();
}
