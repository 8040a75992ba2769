/* SPDX-License-Identifier: GPL-2.0 */
/* A comparison as a table or as JSON lines: for 'tactus compare' and 'tactus trial'.
 */
#ifndef TACTUS_VIEW_COMPARE_PRINT_H
#define TACTUS_VIEW_COMPARE_PRINT_H

#include "../base/options.h"
#include "compare_words.h"

/* All rows; `names` stand above the columns of values. */
void compare_print_rows(const struct compare_result *result, const struct options *options,
			const struct compare_names *names);

/* For a page, as records: of each thing that has times how many took how long, and what there was in each block. */
void compare_print_curves(const struct compare_side *side, int which);

#endif
