/* SPDX-License-Identifier: GPL-2.0 */
/* 'tactus report --serve': the page of what happens now. Who watches makes records when somebody looks, in a child, so
 * that nothing stands still meanwhile; a process without rights hands them to browsers (base/serve.h). */
#ifndef TACTUS_VIEW_REPORT_LIVE_H
#define TACTUS_VIEW_REPORT_LIVE_H

#include "../base/http.h"
#include "report_view.h"

struct report_live;

/* Listens, and finds a 'tactus run' if there is one. Returns 0, or 1 after a message. */
int report_live_open(struct report_live **live, struct report_show *show, const struct http_address *address,
		     bool wants_token);
void report_live_close(struct report_live *live);

/* Whether this process may watch; else it only follows what a 'tactus run' tells. */
bool report_live_watches(const struct report_live *live);

/* Puts what serving needs into the request of a capture. */
void report_live_join(struct report_live *live, struct capture_request *request);

/* Without a capture: until a signal or the end of the time. Returns the status to end with. */
int report_live_follow(struct report_live *live);

/* Whether threads were forgotten since the last time that this was asked. */
bool report_live_begins_anew(struct report_live *live, const struct threads *threads);

/* What a 'tactus run' told in the last minutes, as records on stdout. */
void report_live_print_run(const struct report_live *live);

#endif
