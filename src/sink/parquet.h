/* SPDX-License-Identifier: GPL-2.0 */
/* Events as one table in Parquet, for who asks with SQL: the columns of csv.h, with their types. Rows are written in
 * groups of bounded size; what is kept besides is where each column of each group lies. */
#ifndef TACTUS_SINK_PARQUET_H
#define TACTUS_SINK_PARQUET_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"

/* How each file of ours begins: as all do, and then a word that nothing points to. */
#define PARQUET_MAGIC "PAR1"
#define PARQUET_BEGINNING PARQUET_MAGIC " tactus "

enum { PARQUET_GROUP_ROWS = 1 << 17 };

struct parquet;

/* Returns 0 or -errno, and is not called again after an error. */
typedef int (*parquet_write)(void *data, const void *bytes, size_t len);

/* Rows of these kinds, as bits, with their columns. NULL for want of memory. */
struct parquet *parquet_open(parquet_write write, void *data, u64 kinds);

/* `comm`: of the event's thread; NULL: it is of none, or none is known. */
void parquet_event(struct parquet *parquet, const struct event_header *event, const struct comm *comm);

/* 0, or -errno: what was not written, or for want of memory. */
int parquet_error(const struct parquet *parquet);

/* Writes what is left, and the end, if it `is_whole`; returns as parquet_error. */
int parquet_close(struct parquet *parquet, bool is_whole);

#endif
