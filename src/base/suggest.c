// SPDX-License-Identifier: GPL-2.0
#include "suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t word_distance(const char *one, size_t one_len, const char *other, size_t other_len)
{
	size_t rows[3][LONGEST + 1];

	if (one_len > LONGEST || other_len > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= other_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= one_len; i++) {
		size_t *row = rows[i % 3], *before = rows[(i - 1) % 3], *twice_before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= other_len; j++) {
			row[j] = least(least(row[j - 1], before[j]) + 1, before[j - 1] + (one[i - 1] != other[j - 1]));
			if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
				row[j] = least(row[j], twice_before[j - 2] + 1);
		}
	}
	return rows[one_len % 3][other_len];
}

void suggest(struct suggestion *suggestion, const char *name)
{
	size_t distance = word_distance(suggestion->word, suggestion->len, name, strlen(name));
	/* A third of the letters may be wrong; a beginning is enough. */
	size_t most = suggestion->len < 3 ? 1 : suggestion->len / 3 + 1;

	if (suggestion->len >= 2 && !strncmp(name, suggestion->word, suggestion->len))
		distance = 1;
	if (distance > most || distance >= suggestion->len || (suggestion->nearest && distance >= suggestion->distance))
		return;
	suggestion->nearest = name;
	suggestion->distance = distance;
}
