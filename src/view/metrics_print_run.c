// SPDX-License-Identifier: GPL-2.0
/* Hints, the scheduler, what acting does to others, and what was learned: as the 'tactus run' of this machine says it.
 */
#include <string.h>

#include "metrics_print.h"

#define COUNTER(text, says)                                                              \
	{                                                                                \
		.name = "tactus_" text, .unit = "", .help = says, .type = METRIC_COUNTER \
	}
#define GAUGE(text, says)                                                              \
	{                                                                              \
		.name = "tactus_" text, .unit = "", .help = says, .type = METRIC_GAUGE \
	}
#define LABELS(...) (&(struct metric_labels){ .all = { __VA_ARGS__ } })

static void print_hints(struct openmetrics *out, const struct run_status *last)
{
	static const struct metric_family now = GAUGE("hints_in_force", "Threads that have a hint now.");
	static const struct metric_family all =
		COUNTER("hints", "Hints given and taken back, and threads left alone or refused.");

	openmetrics_count(out, &now, NULL, last->hints_urgent);
	openmetrics_count(out, &all, LABELS({ "what", "given" }), last->hints_given);
	openmetrics_count(out, &all, LABELS({ "what", "taken_back" }), last->hints_taken_back);
	openmetrics_count(out, &all, LABELS({ "what", "left_alone" }), last->hints_left_alone);
	openmetrics_count(out, &all, LABELS({ "what", "refused" }), last->hints_refused);
}

static void print_scheduler(struct openmetrics *out, const struct metrics_run *run)
{
	static const struct metric_family decisions = COUNTER("scheduler_decisions",
							      "What the sched_ext scheduler did.");
	static const struct metric_family events = COUNTER(
		"scheduler_kernel_events", "What the kernel counts of a sched_ext scheduler; bypass_duration in ns.");
	static const struct metric_family restarts = COUNTER("scheduler_restarts", "Times that it was started again.");
	static const struct metric_family untimed =
		GAUGE("scheduler_untimed_cpus", "CPUs for whose timer there was no room: turns end with the tick.");
	static const char *const names[SCX_COUNTERS] = { "at_once", "queued",	   "preempted",	   "moved",
							 "stolen",  "burnt",	   "inherited",	   "missed",
							 "parked",  "over_budget", "lock_holders", "speeds" };

	for (u32 i = 0; i < SCX_COUNTERS; i++)
		openmetrics_count(out, &decisions, LABELS({ "decision", names[i] }), run->decisions[i]);
	for (u32 i = 0; run->last.counts_events && i < SCX_EVENTS; i++)
		openmetrics_count(out, &events, LABELS({ "event", scx_event_names[i] }), run->kernel_events[i]);
	openmetrics_count(out, &restarts, NULL, run->last.restarts);
	openmetrics_count(out, &untimed, NULL, run->last.untimed_cpus);
}

static void print_effect(struct openmetrics *out, const struct run_status *last)
{
	static const struct metric_family trials =
		COUNTER("effect_trials", "Times that acting was held back to compare what a process waits.");
	static const struct metric_family worse = COUNTER("effect_worse",
							  "Processes that waited longer while tactus acted.");
	static const struct metric_family held = GAUGE("effect_held_back",
						       "Processes that are held back or eased now.");

	openmetrics_count(out, &trials, NULL, last->effect_trials);
	openmetrics_count(out, &worse, NULL, last->effect_worse);
	openmetrics_count(out, &held, NULL, last->effect_held_back);
}

static void print_learned(struct openmetrics *out, const struct run_status *last)
{
	static const struct metric_family profiles = GAUGE("learned_profiles", "Kinds of threads that are known.");
	static const struct metric_family predictions =
		COUNTER("learned_predictions", "Threads of known kinds, by whether they turned out as predicted.");

	openmetrics_count(out, &profiles, NULL, last->learned_profiles);
	openmetrics_count(out, &predictions, LABELS({ "result", "right" }), last->learned_hits);
	openmetrics_count(out, &predictions, LABELS({ "result", "wrong" }), last->learned_misses);
}

void metrics_print_run(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family up = GAUGE("run_up", "Whether a 'tactus run' is at work on this machine.");
	static const struct metric_family acting =
		GAUGE("run_acting", "How it acts: 1 for the way in force (scx, hints, dry run, none).");
	static const struct metric_family misses =
		COUNTER("run_deadline_misses", "Urgent threads that waited longer than they may, as the run counts.");
	const struct metrics_run *run = reading->run;
	bool is_up = metrics_run_is_up(run, reading->now_ns);

	openmetrics_count(out, &up, NULL, is_up || reading->is_run_own);
	if (!is_up)
		return;
	openmetrics_count(out, &acting, LABELS({ "by", run->last.actuator }), 1);
	openmetrics_count(out, &misses, NULL, run->deadline_misses);
	print_hints(out, &run->last);
	print_effect(out, &run->last);
	print_learned(out, &run->last);
	if (!strcmp(run->last.actuator, "scx"))
		print_scheduler(out, run);
}
