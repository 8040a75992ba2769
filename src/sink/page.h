/* SPDX-License-Identifier: GPL-2.0 */
/* JSON inside an HTML page. In JSON the characters that end or begin anything in HTML stand only inside strings, where
 * they may be written as escapes: so whatever goes into the page's data goes through this, byte by byte, and none of
 * it can be anything but data. */
#ifndef TACTUS_SINK_PAGE_H
#define TACTUS_SINK_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* What has come of a character that is not whole yet. */
struct page_escape {
	unsigned char held[2];
	size_t held_len;
};

enum { PAGE_ESCAPE_MOST = 6 }; /* bytes for each byte */

/* Writes the bytes so that none of '<', '>', '&', U+2028 and U+2029 is left. `into` has room for PAGE_ESCAPE_MOST times
 * `len` + sizeof(held). Returns how many bytes it wrote. */
size_t page_escape(struct page_escape *state, char *into, const char *bytes, size_t len);

/* A stream that escapes what is written to it and hands it to `out`, which stays open. NULL for want of memory. */
FILE *page_data_open(FILE *out);

#endif
