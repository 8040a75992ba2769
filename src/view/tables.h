/* SPDX-License-Identifier: GPL-2.0 */
/* What single views print and a page about all of it has too: one function each, so that the numbers are the same.
 * They print to stdout, in the form that the options ask for. */
#ifndef TACTUS_VIEW_TABLES_H
#define TACTUS_VIEW_TABLES_H

#include "../base/options.h"
#include "../model/frames.h"
#include "../model/latency.h"
#include "../model/misses.h"
#include "../model/moves.h"
#include "../model/submits.h"

/* Each returns 0, or what is not 0 if rows are missing for want of memory. */
int frames_print_processes(const struct frames *frames, const struct options *options);
int latency_print_summaries(const struct latency *latency, const struct options *options);
int moves_print_causes(const struct moves *moves, const struct options *options);
int moves_print_threads(const struct threads *threads, const struct options *options);
int misses_print_threads(const struct misses *misses, const struct threads *threads, const struct options *options);

void submits_print_tables(const struct submits *submits, const struct options *options);

/* Of these what GPUs have done alone: rings and fences. */
void submits_print_done(const struct submits *submits, const struct options *options);

#endif
