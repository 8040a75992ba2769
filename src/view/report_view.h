/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of 'tactus report' share: all that is known at the end, its records, and the page around them. */
#ifndef TACTUS_VIEW_REPORT_VIEW_H
#define TACTUS_VIEW_REPORT_VIEW_H

#include "../capture/capture.h"
#include "../model/misses.h"
#include "../model/moves.h"
#include "../model/steps.h"
#include "../model/submits.h"
#include "../model/to_frame.h"
#include "report_words.h"

struct report_live;

/* From input to frames: each, up to so many, of which the longest are kept. */
enum { CLICKS_KEPT = 2000 };
struct report_clicks {
	struct to_frames *all; /* NULL: no device was heard of */
	struct to_frame *each;
	u32 len;
	u64 left_out;
	bool failed;
};

void report_take_click(struct report_clicks *clicks, const struct threads *threads, const struct event_header *event,
		       bool is_before);
/* Nothing more comes. */
void report_end_clicks(struct report_clicks *clicks, const struct threads *threads);
void report_restart_clicks(struct report_clicks *clicks);
void report_free_clicks(struct report_clicks *clicks);
/* As records; nothing where there was none. */
void report_print_clicks(const struct report_clicks *clicks, const struct options *options,
			 const struct threads *threads);
void report_print_steps(const struct steps *steps, const struct options *options, const struct threads *threads,
			const struct cuda *cuda);

struct report_show {
	struct options options;
	struct report_live *live; /* the page is served; NULL: it is written at the end */
	struct capture capture;
	struct report *report;
	struct frames frames;
	struct latency latency;
	struct moves moves;
	struct misses misses;
	struct submits submits;
	struct cuda cuda;
	struct steps steps;
	struct report_clicks clicks;
	const char *path; /* of the page; NULL: standard output */
	FILE *page;
	bool failed;
};

/* Everything that the page shows, as JSON lines on stdout. Returns 0, or what is not 0 if something is missing for want
 * of memory. */
int report_print_records(struct report_show *show);

/* What the verdict is about. */
struct verdict_of report_verdict_of(const struct report_show *show);

/* What is counted so far is all that there is. Returns 0, or 1 after a message. */
int report_finish_models(struct report_show *show);

/* What stands before and behind the records in the page, for one that is written and for one that is served, which asks
 * for more itself. False: the page in the program is broken. */
struct report_page_parts {
	const char *before, *after;
	size_t before_len, after_len;
};
bool report_page_written(struct report_page_parts *parts);
bool report_page_served(struct report_page_parts *parts);

/* Writes the page, with what `print` prints to stdout as its data. Returns what that returned, or -1 after a message.
 */
int report_write_page(FILE *out, int (*print)(void *data), void *data);

/* What every page begins with: by that one that was written before is recognised. */
#define REPORT_PAGE_BEGINNING "<!DOCTYPE html>\n<!-- tactus report"

#endif
