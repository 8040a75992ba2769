// SPDX-License-Identifier: GPL-2.0
/* Rows that are sorted: each is there, in order, and those of equal rank as they came, with memory and without. */
#include "../../src/base/sort.h"

#include <string.h>

#include "../../core/types.h"
#include "tap.h"

enum { ROWS_MOST = 700, SIZE_MOST = 40, LARGEST = 100000 };

struct ranked {
	u32 rank, came;
};

static u32 state = 1;

static u32 drawn(u32 below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

static int by_rank(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return one->rank < other->rank ? -1 : one->rank > other->rank;
}

static int by_rank_turned(const void *a, const void *b, void *data)
{
	return *(int *)data * by_rank(a, b);
}

/* Rows that are not in order, or of equal rank and not as they came, or that lost what belongs to them. */
static u32 wrong_in(const char *rows, size_t len, size_t size, int sign)
{
	u32 wrong = 0;

	for (size_t i = 0; i < len; i++) {
		struct ranked one, before;

		memcpy(&one, rows + i * size, sizeof(one));
		for (size_t at = sizeof(one); at < size; at++)
			wrong += (u8)rows[i * size + at] != (u8)(one.came + at);
		if (!i)
			continue;
		memcpy(&before, rows + (i - 1) * size, sizeof(before));
		wrong += before.rank == one.rank ? before.came >= one.came : sign * by_rank(&before, &one) > 0;
	}
	return wrong;
}

static void make_rows(char *rows, size_t len, size_t size, u32 ranks)
{
	for (size_t i = 0; i < len; i++) {
		struct ranked one = { drawn(ranks), (u32)i };

		memcpy(rows + i * size, &one, sizeof(one));
		for (size_t at = sizeof(one); at < size; at++)
			rows[i * size + at] = (char)(i + at);
	}
}

static void test_all_lengths(void)
{
	static char rows[ROWS_MOST * SIZE_MOST];
	u32 plain = 0, turned = 0, in_place = 0;

	for (size_t len = 0; len < ROWS_MOST; len += 1 + len / 16) {
		for (size_t size = sizeof(struct ranked); size <= SIZE_MOST; size += 16) {
			for (u32 ranks = 1; ranks < 2000; ranks *= 7) {
				make_rows(rows, len, size, ranks);
				sort_rows(rows, len, size, by_rank);
				plain += wrong_in(rows, len, size, 1);
				make_rows(rows, len, size, ranks);
				sort_rows_by(rows, len, size, by_rank_turned, &(int){ -1 });
				turned += wrong_in(rows, len, size, -1);
				make_rows(rows, len, size, ranks);
				sort_rows_in_place(rows, len, size, by_rank_turned, &(int){ 1 });
				in_place += wrong_in(rows, len, size, 1);
			}
		}
	}
	is(plain, 0, "rows are sorted, and those of equal rank stay as they came, whatever their number and size");
	is(turned, 0, "rows are sorted by what the comparison is handed");
	is(in_place, 0, "rows are sorted in the same way where there is no memory");
}

static u32 compared;

static int counted(const void *a, const void *b, void *data)
{
	compared++;
	return by_rank_turned(a, b, data);
}

static void test_many(void)
{
	static struct ranked rows[LARGEST];

	make_rows((char *)rows, LARGEST, sizeof(*rows), LARGEST);
	sort_rows_by(rows, LARGEST, sizeof(*rows), counted, &(int){ 1 });
	is(wrong_in((char *)rows, LARGEST, sizeof(*rows), 1), 0, "100,000 rows are sorted");
	is_between(0, compared, 17 * LARGEST + LARGEST, "100,000 rows take no more comparisons than merging does");
	compared = 0;
	sort_rows_by(rows, LARGEST, sizeof(*rows), counted, &(int){ 1 });
	is_between(0, compared, LARGEST, "rows that are sorted are compared once each");
	make_rows((char *)rows, LARGEST, sizeof(*rows), 8);
	compared = 0;
	sort_rows_in_place(rows, LARGEST, sizeof(*rows), counted, &(int){ 1 });
	is(wrong_in((char *)rows, LARGEST, sizeof(*rows), 1), 0, "100,000 rows of few ranks are sorted without memory");
	is_between(0, compared, 2 * 17 * LARGEST,
		   "rows that are sorted without memory take no more than twice as many comparisons");
}

int main(void)
{
	test_all_lengths();
	test_many();
	return tap_end();
}
