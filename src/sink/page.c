// SPDX-License-Identifier: GPL-2.0
/* The one way for data into a page. U+2028 and U+2029 are E2 80 A8 and E2 80 A9 in UTF-8; older JavaScript takes them
 * for ends of lines. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

enum { LEAD = 0xe2, SECOND = 0x80, LINE_END = 0xa8, PARAGRAPH_END = 0xa9 };

static const char *escape_of(unsigned char byte)
{
	return byte == '<' ? "\\u003c" : byte == '>' ? "\\u003e" : byte == '&' ? "\\u0026" : NULL;
}

static size_t put(char *into, const void *bytes, size_t len)
{
	memcpy(into, bytes, len);
	return len;
}

static size_t let_go(struct page_escape *state, char *into)
{
	size_t len = put(into, state->held, state->held_len);

	state->held_len = 0;
	return len;
}

size_t page_escape(struct page_escape *state, char *into, const char *bytes, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		const char *escape = escape_of(byte);

		if (state->held_len == 2 && (byte == LINE_END || byte == PARAGRAPH_END)) {
			state->held_len = 0;
			used += put(into + used, byte == LINE_END ? "\\u2028" : "\\u2029", PAGE_ESCAPE_MOST);
			continue;
		}
		if (state->held_len == 1 && byte == SECOND) {
			state->held[state->held_len++] = byte;
			continue;
		}
		used += let_go(state, into + used);
		if (byte == LEAD)
			state->held[state->held_len++] = byte;
		else if (escape)
			used += put(into + used, escape, PAGE_ESCAPE_MOST);
		else
			into[used++] = (char)byte;
	}
	return used;
}

struct page_data {
	FILE *out;
	struct page_escape state;
};

enum { PIECE = 4096 };

static ssize_t write_escaped(void *cookie, const char *bytes, size_t len)
{
	struct page_data *data = cookie;
	char escaped[(PIECE + sizeof(data->state.held)) * PAGE_ESCAPE_MOST];
	size_t taken = 0;

	while (taken < len) {
		size_t piece = len - taken < PIECE ? len - taken : PIECE;
		size_t made = page_escape(&data->state, escaped, bytes + taken, piece);

		if (fwrite(escaped, 1, made, data->out) != made)
			return 0;
		taken += piece;
	}
	return (ssize_t)len;
}

static int close_data(void *cookie)
{
	struct page_data *data = cookie;
	char rest[sizeof(data->state.held)];
	size_t len = let_go(&data->state, rest);
	int status = fwrite(rest, 1, len, data->out) == len ? 0 : EOF;

	free(data);
	return status;
}

FILE *page_data_open(FILE *out)
{
	struct page_data *data = calloc(1, sizeof(*data));
	cookie_io_functions_t functions = { .write = write_escaped, .close = close_data };
	FILE *file = data ? fopencookie(data, "w", functions) : NULL;

	if (!file) {
		free(data);
		return NULL;
	}
	data->out = out;
	return file;
}
