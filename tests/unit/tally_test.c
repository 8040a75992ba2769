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
	is(tally.missed, 1, "one urgent thread waited too long, batch never does");
	is(tally.waits[TIER_LATENCY_CRITICAL].total, 2, "waits go to their tier");
	tally_wait(&tally, TIERS, 5);
	tally_wait(&tally, ~0ULL, 5);
	is(tally.waits[TIER_BATCH].total, 1, "a tier that is none goes nowhere");
	before = tally;
	tally_wait(&tally, TIER_INTERACTIVE, 3000);
	tally.moves = 7;
	tally_subtract(&tally, &before);
	is(tally.waits[TIER_INTERACTIVE].total, 1, "of a span, what came in it");
	is(tally.waits[TIER_LATENCY_CRITICAL].total, 0, "and nothing else");
	is(tally.missed, 0, "no miss either");
	ok(hist_percentile(&tally.waits[TIER_INTERACTIVE], 990000) >= 3000, "its percentile is that of the span");
	tally_merge(&other, &tally);
	tally_merge(&other, &before);
	is(other.moves, 7, "CPUs add up");
	is(other.waits[TIER_LATENCY_CRITICAL].total, 2, "in all tiers");
}

static void test_packet(void)
{
	struct run_status status = { .magic = STATUS_MAGIC, .version = STATUS_VERSION, .actuator = "scx" };

	ok(status_is_sound(&status, sizeof(status)), "a status is one");
	ok(!status_is_sound(&status, sizeof(status) - 1), "a cut one is none");
	ok(!status_is_sound(&status, sizeof(status) + 8), "nor is a longer one");
	ok(!status_is_sound(&status, 0), "nor nothing");
	memset(status.actuator, 'x', sizeof(status.actuator));
	ok(!status_is_sound(&status, sizeof(status)), "a name without an end is refused");
	status = (struct run_status){ .magic = STATUS_MAGIC, .version = STATUS_VERSION + 1 };
	ok(!status_is_sound(&status, sizeof(status)), "another version too");
	status = (struct run_status){ .magic = 1, .version = STATUS_VERSION };
	ok(!status_is_sound(&status, sizeof(status)), "and what is something else");
}

int main(void)
{
	test_tally();
	test_packet();
	return tap_end();
}
