// SPDX-License-Identifier: GPL-2.0
/* Looks at the last occurrences: of each kind of occurrence, how many others lie between two of it. Kinds that come at
 * the same distance belong to one loop; the longest loop that several kinds agree on is the step, since the shorter
 * ones are layers inside it, and what comes once in many steps (a figure that is printed) is one kind or two. */
#include "rhythm.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"

enum { LOST_PERIODS = 8, LOST_MORE = 256, CANDIDATES = 1024 };

void rhythm_give(struct rhythm *rhythm, u64 marker)
{
	rhythm->marker = marker;
	rhythm->is_given = true;
}

void rhythm_free(struct rhythm *rhythm)
{
	free(rhythm->occurrences);
	*rhythm = (struct rhythm){ 0 };
}

/* One occurrence in the look: where in the order of time it was. */
struct place {
	u64 key;
	u32 at;
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* A kind of occurrence that comes at equal distances. */
struct candidate {
	u64 key;
	u32 gap;
	u32 last_at;
	u8 rank;
	bool is_of_first;
	u32 tid;
};

static u32 slack(u32 gap)
{
	return gap / 8 > 2 ? gap / 8 : gap > 4 ? 2 : 0;
}

/* The distance at which three in four come; 0: there is none. */
static u32 regular_gap(const struct place *places, u32 len, u32 *gaps)
{
	u32 fits = 0, gap;

	for (u32 i = 1; i < len; i++)
		gaps[i - 1] = places[i].at - places[i - 1].at;
	sort_rows(gaps, len - 1, sizeof(*gaps), by_number);
	gap = gaps[(len - 1) / 2];
	for (u32 i = 0; i < len - 1; i++)
		fits += gaps[i] + slack(gap) >= gap && gaps[i] <= gap + slack(gap);
	return fits * 4 >= (len - 1) * 3 ? gap : 0;
}

static u32 find_candidates(const struct rhythm *rhythm, u64 from, u32 len, struct candidate *found)
{
	struct place *places = calloc(len, sizeof(*places));
	u32 *gaps = calloc(len, sizeof(*gaps)), candidates = 0;

	for (u32 i = 0; places && i < len; i++)
		places[i] = (struct place){ rhythm->occurrences[(from + i) % RHYTHM_KEPT].key, i };
	if (places)
		sort_rows(places, len, sizeof(*places), by_key);
	for (u32 i = 0, end; places && gaps && i < len && candidates < CANDIDATES; i = end) {
		u32 gap;

		for (end = i + 1; end < len && places[end].key == places[i].key;)
			end++;
		if (end - i < RHYTHM_STEPS)
			continue;
		gap = regular_gap(places + i, end - i, gaps);
		if (gap) {
			const struct occurrence *last = &rhythm->occurrences[(from + places[end - 1].at) % RHYTHM_KEPT];

			found[candidates++] = (struct candidate){ .key = last->key,
								  .gap = gap,
								  .last_at = places[end - 1].at,
								  .rank = last->rank,
								  .is_of_first = last->is_of_first,
								  .tid = last->tid };
		}
	}
	free(places);
	free(gaps);
	return candidates;
}

/* How many kinds of occurrences come at this distance, of this rank at least. */
static u32 agreeing(const struct candidate *all, u32 len, u32 gap, u8 rank)
{
	u32 count = 0;

	for (u32 i = 0; i < len; i++)
		count += all[i].rank >= rank && all[i].gap + slack(gap) >= gap && all[i].gap <= gap + slack(gap);
	return count;
}

/* What is no loop of several launches, and what only a few kinds say, is no step. */
static bool may_mark(const struct candidate *all, u32 len, const struct candidate *one)
{
	if (one->rank >= BEAT_GRAPH)
		return true;
	return one->rank == BEAT_LAUNCH && one->gap >= 2 && agreeing(all, len, one->gap, BEAT_CALL) >= RHYTHM_KEYS;
}

/* The longest loop of the highest rank; of its occurrences one of the process's first thread, and the last one of all.
 */
static const struct candidate *choose(const struct candidate *all, u32 len)
{
	const struct candidate *longest = NULL, *best = NULL;

	for (u32 i = 0; i < len; i++)
		if (may_mark(all, len, &all[i]) && (!longest || all[i].rank > longest->rank ||
						    (all[i].rank == longest->rank && all[i].gap > longest->gap)))
			longest = &all[i];
	for (u32 i = 0; longest && i < len; i++) {
		if (all[i].rank != longest->rank || all[i].gap + slack(longest->gap) < longest->gap)
			continue;
		if (!best || all[i].is_of_first > best->is_of_first ||
		    (all[i].is_of_first == best->is_of_first && all[i].last_at > best->last_at))
			best = &all[i];
	}
	return best;
}

/* True if the marker is another now. */
static bool look(struct rhythm *rhythm)
{
	struct candidate *all = calloc(CANDIDATES, sizeof(*all));
	u64 came = rhythm->taken - rhythm->since, kept = came < RHYTHM_KEPT ? came : RHYTHM_KEPT;
	/* What comes first at a program's start comes once. */
	u32 len = (u32)(kept - kept / 4);
	const struct candidate *best = all ? choose(all, find_candidates(rhythm, rhythm->taken - len, len, all)) : NULL;
	/* What outranks the marker may have been one short of enough at the look before. */
	bool is_news = best && (best->gap > rhythm->period + slack(rhythm->period) || best->rank > rhythm->rank ||
				!rhythm->marker);

	if (is_news) {
		rhythm->changes += rhythm->marker != 0;
		rhythm->marker = best->key;
		rhythm->marker_tid = best->tid;
		rhythm->period = best->gap;
		rhythm->rank = best->rank;
		rhythm->marked_at = rhythm->taken;
	}
	free(all);
	return is_news;
}

enum rhythm_said rhythm_take(struct rhythm *rhythm, const struct occurrence *occurrence)
{
	bool is_news = false;
	u64 came;

	if (!rhythm->occurrences)
		rhythm->occurrences = calloc(RHYTHM_KEPT, sizeof(*rhythm->occurrences));
	if (!rhythm->occurrences)
		return RHYTHM_NOTHING;
	rhythm->occurrences[rhythm->taken++ % RHYTHM_KEPT] = *occurrence;
	if (!rhythm->look_at)
		rhythm->look_at = RHYTHM_FIRST;
	/* It came no more: the loop is another. */
	if (!rhythm->is_given && rhythm->marker &&
	    rhythm->taken - rhythm->marked_at > (u64)LOST_PERIODS * rhythm->period + LOST_MORE) {
		rhythm->marker = 0;
		rhythm->period = 0;
		rhythm->rank = 0;
		rhythm->since = rhythm->marked_at;
		rhythm->look_at = rhythm->taken;
	}
	if (!rhythm->is_given && rhythm->taken >= rhythm->look_at) {
		is_news = look(rhythm);
		came = rhythm->taken - rhythm->since;
		rhythm->look_at = came < RHYTHM_KEPT ? rhythm->taken + came
				  : rhythm->marker   ? ~0ULL
						     : rhythm->taken + RHYTHM_KEPT / 2;
	}
	if (is_news || !rhythm->marker || occurrence->key != rhythm->marker)
		return is_news ? RHYTHM_CHANGED : RHYTHM_NOTHING;
	rhythm->marked_at = rhythm->taken;
	rhythm->marker_tid = occurrence->tid;
	return RHYTHM_MARK;
}
