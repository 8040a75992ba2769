/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of 'tactus run' share: the run itself, and its line a second.
 */
#ifndef TACTUS_VIEW_RUN_H
#define TACTUS_VIEW_RUN_H

#include <sys/types.h>

#include "../base/lines.h"
#include "../sched/hints.h"
#include "../sched/scx.h"
#include "../sched/scx_events.h"
#include "../sensor/sched.h"
#include "../stream/feed.h"
#include "source.h"

struct run {
	const struct options *options;
	struct source source;
	struct sensor *sched;
	struct scx *scx;		 /* in charge, or NULL */
	struct hints *hints;		 /* given, or NULL */
	struct hints_counts hints_given; /* in all, when they were taken back */
	bool gave_hints;
	struct feed *feed;	 /* for 'tactus stats', or NULL */
	struct lines *lines_out; /* to stdout: nothing here waits for who reads it */
	pid_t keeper;		 /* undoes what this process has changed if it is killed; 0: there is none */
	u32 keepers;
	u64 by_role[ROLES];
	u64 by_tier[TIERS];
	struct cpu_account before;
	struct sched_tally tally_before;
	u64 counters_before[SCX_COUNTERS];
	u64 events_before[SCX_EVENTS];
	u64 line_at_ns;
	u64 lines; /* printed */
	bool dry_run;
	u32 errors;	 /* that ended the scheduler */
	u32 restarts;	 /* for any reason */
	u32 tries;	 /* of the next start; 0: none is due */
	u32 had_partial; /* threads with the policy before we gave it to any */
	bool began;	 /* everything is in place */
	int status;
};

/* What lines count from, once everything is in place. */
bool run_begin_lines(struct run *run);

/* What happened since the last line. False if the accounts can't be read any more, or nobody reads the lines. */
bool run_take_line(struct run *run);

#endif
