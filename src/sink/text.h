/* SPDX-License-Identifier: GPL-2.0 */
/* Words for machines and people: JSON strings, names that can't harm a terminal, spans of time.
 * Whatever comes from outside passes through here before it is printed; what is said on stderr, through base/say.c,
 * by the same rule. */
#ifndef TACTUS_SINK_TEXT_H
#define TACTUS_SINK_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "../../core/types.h"

/* A quoted JSON string. Bytes that are no UTF-8 become U+FFFD, so the output is always valid; what is not plain
 * (core/plain.h) is escaped. */
void print_json_string(FILE *out, const char *text);

/* The text with what is not plain (core/plain.h) and broken UTF-8 replaced by '?'. Returns what snprintf would. */
size_t format_plain(char *into, size_t size, const char *text);

/* The same, of any length, printed. */
void print_plain(FILE *out, const char *text);

/* "1.25 s", "310 us", "0": three digits that matter and a unit. */
void format_time(char *into, size_t size, u64 span_ns);

/* "1.50 GB", "4.00 KB", "12 B": in powers of 1024, with the units that GPUs' memory is sold in. */
void format_bytes(char *into, size_t size, u64 bytes);

#endif
