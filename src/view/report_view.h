/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of 'tactus report' share: all that is known at the end, its records, and the page around them. */
#ifndef TACTUS_VIEW_REPORT_VIEW_H
#define TACTUS_VIEW_REPORT_VIEW_H

#include "../capture/capture.h"
#include "../model/misses.h"
#include "../model/moves.h"
#include "../model/submits.h"
#include "report_words.h"

struct report_show {
	struct options options;
	struct capture capture;
	struct report *report;
	struct frames frames;
	struct latency latency;
	struct moves moves;
	struct misses misses;
	struct submits submits;
	struct cuda cuda;
	const char *path; /* of the page; NULL: standard output */
	FILE *page;
	bool failed;
};

/* Everything that the page shows, as JSON lines on stdout. Returns 0, or what is not 0 if something is missing for want
 * of memory. */
int report_print_records(struct report_show *show);

/* Writes the page, with the same records as its data. Returns 0, or -1 after a message. */
int report_write_page(struct report_show *show, FILE *out);

/* What every page begins with: by that one that was written before is recognised. */
#define REPORT_PAGE_BEGINNING "<!DOCTYPE html>\n<!-- tactus report"

#endif
