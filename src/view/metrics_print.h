/* SPDX-License-Identifier: GPL-2.0 */
/* All figures as families of OpenMetrics: their names, units and labels stand here and nowhere else. */
#ifndef TACTUS_VIEW_METRICS_PRINT_H
#define TACTUS_VIEW_METRICS_PRINT_H

#include "../model/metrics_events.h"
#include "../sensor/sched.h"
#include "../sensor/sensor.h"
#include "../sink/openmetrics.h"
#include "metrics_run.h"

/* Everything that a reading has. */
struct metrics_reading {
	const struct metrics *metrics;
	const struct metrics_events *events;
	const struct metrics_run *run;
	bool is_run_own; /* it is this very process, which may have said nothing yet */
	const char *kernel;
	u64 now_ns, wall_ns; /* the same moment, by both clocks */
	struct cpu_account cpus;
	bool has_cpus;
	struct sched_tally tally;
	bool has_tally;
	/* What is missing. */
	struct sched_losses losses;
	u64 sums_refused;
	struct {
		const char *sensor;
		u64 facts;
	} lost_facts[SENSORS_MAX + 1];
	u32 lost_facts_len;
	/* What it costs itself. */
	u64 own_cpu_ns, own_bytes, readings, reading_ns, pushed, push_failed;
};

void metrics_print(struct openmetrics *out, const struct metrics_reading *reading);

/* For it alone: what a 'tactus run' says. */
void metrics_print_run(struct openmetrics *out, const struct metrics_reading *reading);

#endif
