// SPDX-License-Identifier: GPL-2.0
/* core/hist.h: the edges of the slots, and percentiles against a sorted list of the same values. */
#include <stdlib.h>

#include "../../core/hist.h"
#include "tap.h"

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void test_slots_tile_all_values(void)
{
	int gaps = 0, wide = 0;

	is(hist_slot_low(0), 0, "the first slot starts at 0");
	for (u32 slot = 0; slot < HIST_SLOTS; slot++) {
		u64 low = hist_slot_low(slot), high = hist_slot_high(slot);

		gaps += hist_slot(low) != slot || hist_slot(high) != slot;
		gaps += slot + 1 < HIST_SLOTS && hist_slot(high + 1) != slot + 1;
		wide += (high - low) > low / HIST_SUBS;
	}
	is(gaps, 0, "every slot holds its own edges and the next value is the next slot's");
	is(wide, 0, "no slot is wider than an eighth of its value");
	is(hist_slot(~0ULL), HIST_SLOTS - 1, "the largest value falls into the last slot");
	is(hist_slot_high(HIST_SLOTS - 1), ~0ULL, "the last slot ends at the largest value");
}

static void test_small_values_are_exact(void)
{
	struct hist hist = { 0 };

	for (u64 value = 0; value < 16; value++)
		is(hist_slot_low(hist_slot(value)), value, "value %" PRIu64 " has a slot of its own", value);
	is(hist_percentile(&hist, 990000), 0, "an empty histogram has percentile 0");
	hist_add(&hist, 7);
	is(hist_percentile(&hist, 0), 7, "percentile 0 of one value is the value");
	is(hist_percentile(&hist, 500000), 7, "percentile 50 of one value is the value");
	is(hist_percentile(&hist, 1000000), 7, "percentile 100 of one value is the value");
}

static void test_percentiles_match_a_sorted_list(void)
{
	enum { VALUES = 20000 };
	static const u32 asked[] = { 1, 10000, 500000, 900000, 950000, 990000, 999000, 1000000 };
	static struct hist hist, other, merged;
	u64 *values = malloc(VALUES * sizeof(*values)), state = 88172645463325252ULL;

	for (int i = 0; i < VALUES; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = state >> (state % 50 + 10);
		hist_add(i % 2 ? &hist : &other, values[i]);
	}
	hist_merge(&merged, &hist);
	hist_merge(&merged, &other);
	is(merged.total, VALUES, "merging keeps every value");
	qsort(values, VALUES, sizeof(*values), by_value);
	is(merged.max, values[VALUES - 1], "merging keeps the largest value");
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		u64 rank = ((u64)VALUES * asked[i] + HIST_PER_MILLION - 1) / HIST_PER_MILLION;
		u64 exact = values[rank ? rank - 1 : 0], got = hist_percentile(&merged, asked[i]);

		ok(got >= exact, "p%u/million: %" PRIu64 " is not below %" PRIu64, asked[i], got, exact);
		ok(got - exact <= exact / HIST_SUBS, "p%u/million: %" PRIu64 " is within 12.5 %% above %" PRIu64,
		   asked[i], got, exact);
	}
	free(values);
}

static void test_huge_totals_do_not_overflow(void)
{
	static struct hist hist;

	hist.counts[hist_slot(5)] = 1ULL << 62;
	hist.counts[hist_slot(9)] = 1ULL << 62;
	hist.total = 1ULL << 63;
	hist.max = 9;
	is(hist_percentile(&hist, 499999), 5, "percentile just below half of 2^63 values is the lower value");
	is(hist_percentile(&hist, 500001), 9, "percentile just above half of 2^63 values is the higher value");
}

int main(void)
{
	test_slots_tile_all_values();
	test_small_values_are_exact();
	test_percentiles_match_a_sorted_list();
	test_huge_totals_do_not_overflow();
	return tap_end();
}
