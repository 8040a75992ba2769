// SPDX-License-Identifier: GPL-2.0
/* A line of an index is an object of JSON with "record":"segment" and "file".
 */
#include "segment_index.h"

#include <string.h>

#include "../base/json_read.h"
#include "../base/sort.h"

enum { KEY_SIZE = 32 };

static const char *back_over_digits(const char *from, const char *end)
{
	while (end > from && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return end;
}

/* So many digits before `end`, and this sign before them. NULL: something else is there. */
static const char *back_over(const char *from, const char *end, size_t digits, char sign)
{
	const char *first = back_over_digits(from, end);

	return first > from && first[-1] == sign && (size_t)(end - first) == digits ? first - 1 : NULL;
}

bool segment_host(char host[SEGMENT_HOST_SIZE], const char *base, size_t len)
{
	const char *at = back_over_digits(base, base + len);

	/* The number has four digits, or more. */
	if (base + len - at < 4 || at - base < 2 || at[-1] != '-' || at[-2] != 'Z')
		return false;
	at = back_over(base, at - 2, 6, 'T');
	at = at ? back_over(base, at, 8, '-') : NULL;
	if (!at || at == base || at - base >= SEGMENT_HOST_SIZE)
		return false;
	memcpy(host, base, (size_t)(at - base));
	host[at - base] = '\0';
	return true;
}

bool segment_host_is_sound(const char *host)
{
	for (const char *at = host; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("/=%\\", *at))
			return false;
	return host[0] && host[0] != '.';
}

bool segment_is_of(const char *name, const char *host)
{
	size_t len = strlen(name), end_len = strlen(SEGMENT_END);
	char its[SEGMENT_HOST_SIZE];

	/* The whole of it: "node" has nothing of "node-1". */
	return len > end_len && !strcmp(name + len - end_len, SEGMENT_END) && segment_host(its, name, len - end_len) &&
	       !strcmp(its, host);
}

int segments_by_name(const void *a, const void *b)
{
	return strcmp(((const struct segment *)a)->name, ((const struct segment *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return strcmp(x->name, y->name);
}

void segments_put_in_order(struct segment *all, size_t len)
{
	u64 last = 0;

	if (!len)
		return;
	sort_rows(all, len, sizeof(*all), segments_by_name);
	for (size_t i = 0; i < len; i++)
		if (!all[i].place)
			all[i].place = last;
		else if (all[i].place > last && all[i].place != SEGMENT_NEWEST)
			last = all[i].place;
	sort_rows(all, len, sizeof(*all), by_place);
}

bool segment_line_file(const char *line, char file[SEGMENT_NAME_SIZE])
{
	struct json_at json = { .at = line, .end = line + strlen(line) };
	bool is_first = true, is_segment = false, has_file = false;
	char key[KEY_SIZE], word[KEY_SIZE];

	if (!json_enter(&json, JSON_OBJECT))
		return false;
	while (json_key(&json, &is_first, key, sizeof(key))) {
		if (!strcmp(key, "record"))
			is_segment = json_text(&json, word, sizeof(word)) && !strcmp(word, "segment");
		else if (!strcmp(key, "file"))
			has_file = json_text(&json, file, SEGMENT_NAME_SIZE);
		else
			json_skip(&json);
	}
	return !json.failed && is_segment && has_file && file[0] && !strchr(file, '/');
}
