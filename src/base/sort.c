// SPDX-License-Identifier: GPL-2.0
/* By merging: with a copy of one half, or, where there is no memory, by turning parts of both halves in their place.
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

struct sorting {
	char *rows;
	char *room; /* for half of them; NULL: there is no memory */
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *data;
};

static char *row(const struct sorting *sorting, size_t at)
{
	return sorting->rows + at * sorting->size;
}

/* Most are numbers and pointers. */
static void put(const struct sorting *sorting, char *into, const char *from)
{
	if (sorting->size == sizeof(long))
		memcpy(into, from, sizeof(long));
	else
		memcpy(into, from, sorting->size);
}

static void merge(const struct sorting *sorting, size_t from, size_t middle, size_t to)
{
	const char *left = sorting->room, *end = sorting->room + (middle - from) * sorting->size;
	const char *right = row(sorting, middle), *right_end = row(sorting, to);
	char *into = row(sorting, from);

	memcpy(sorting->room, into, (middle - from) * sorting->size);
	for (; left < end && right < right_end; into += sorting->size) {
		const char **first = sorting->compare(right, left, sorting->data) < 0 ? &right : &left;

		put(sorting, into, *first);
		*first += sorting->size;
	}
	memcpy(into, left, (size_t)(end - left));
}

static void swap(const struct sorting *sorting, size_t one, size_t other)
{
	char *a = row(sorting, one), *b = row(sorting, other);

	for (size_t i = 0; i < sorting->size; i++) {
		char byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

static void reverse(const struct sorting *sorting, size_t from, size_t to)
{
	for (; from + 1 < to; from++, to--)
		swap(sorting, from, to - 1);
}

/* How many rows of a sorted part go before this one; with `equal_too`, or are as it is. */
static size_t place_of(const struct sorting *sorting, size_t from, size_t to, size_t one, int equal_too)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (sorting->compare(row(sorting, middle), row(sorting, one), sorting->data) < equal_too)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void merge_in_place(const struct sorting *sorting, size_t from, size_t middle, size_t to)
{
	size_t left = middle - from, right = to - middle, cut, other_cut;

	if (!left || !right)
		return;
	if (left + right == 2) {
		if (sorting->compare(row(sorting, middle), row(sorting, from), sorting->data) < 0)
			swap(sorting, from, middle);
		return;
	}
	if (left > right) {
		cut = from + left / 2;
		other_cut = place_of(sorting, middle, to, cut, 0);
	} else {
		other_cut = middle + right / 2;
		cut = place_of(sorting, from, middle, other_cut, 1);
	}
	/* What lies between the cuts changes sides. */
	reverse(sorting, cut, middle);
	reverse(sorting, middle, other_cut);
	reverse(sorting, cut, other_cut);
	middle = cut + (other_cut - middle);
	merge_in_place(sorting, from, cut, middle);
	merge_in_place(sorting, middle, other_cut, to);
}

static void sort_part(const struct sorting *sorting, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;

	if (to - from < 2)
		return;
	sort_part(sorting, from, middle);
	sort_part(sorting, middle, to);
	if (sorting->compare(row(sorting, middle), row(sorting, middle - 1), sorting->data) >= 0)
		return;
	if (sorting->room)
		merge(sorting, from, middle, to);
	else
		merge_in_place(sorting, from, middle, to);
}

void sort_rows_by(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *, void *), void *data)
{
	struct sorting sorting = { .rows = rows, .size = size, .compare = compare, .data = data };

	if (len < 2)
		return;
	sorting.room = malloc(len / 2 * size);
	sort_part(&sorting, 0, len);
	free(sorting.room);
}

void sort_rows_in_place(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *, void *),
			void *data)
{
	sort_part(&(struct sorting){ .rows = rows, .size = size, .compare = compare, .data = data }, 0, len);
}

struct plain {
	int (*compare)(const void *, const void *);
};

static int compare_plain(const void *a, const void *b, void *data)
{
	return ((const struct plain *)data)->compare(a, b);
}

void sort_rows(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *))
{
	sort_rows_by(rows, len, size, compare_plain, &(struct plain){ compare });
}
