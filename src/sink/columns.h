/* SPDX-License-Identifier: GPL-2.0 */
/* How wide a text is on a terminal.
 */
#ifndef TACTUS_SINK_COLUMNS_H
#define TACTUS_SINK_COLUMNS_H

#include <stddef.h>

/* Of a text that is plain (core/plain.h). A byte that is no UTF-8 counts as one column. */
size_t text_columns(const char *text);

/* The text in exactly so many columns: cut where it is wider, filled up with blanks where it is narrower. A buffer has
 * room if it takes the text and a blank for each column. */
void text_in_columns(char *into, size_t size, const char *text, size_t columns);

#endif
