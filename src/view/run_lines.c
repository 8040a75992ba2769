// SPDX-License-Identifier: GPL-2.0
/* The line a second of 'tactus run': what the kernel half, the scheduler and the hints have counted since the last one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/loop.h"
#include "../sensor/learned.h"
#include "run.h"
#include "status.h"

enum { LINES_PER_HEAD = 20 };

/* A tid is another thread's one day: then that one's first news says nothing of what was before. */
static void count_evidence(struct run *run, const struct event_role *event)
{
	u32 tid = event->head.tid;
	u8 *last = run->evidence_of && tid < TIDS_MAX ? &run->evidence_of[tid] : NULL;

	if (!last || event->evidence >= EVIDENCES)
		return;
	if (*last && run->by_evidence[*last])
		run->by_evidence[*last]--;
	*last = event->head.flags & EVENT_FLAG_CLOSING ? EVIDENCE_NONE : event->evidence;
	if (*last)
		run->by_evidence[*last]++;
}

void run_count_role(struct run *run, const struct event_role *event)
{
	if (run->by_role[event->was_role])
		run->by_role[event->was_role]--;
	if (run->by_tier[event->was_tier])
		run->by_tier[event->was_tier]--;
	count_evidence(run, event);
	if (event->head.flags & EVENT_FLAG_CLOSING)
		return;
	run->by_role[event->role]++;
	run->by_tier[event->tier]++;
}

const char *run_actuator_name(const struct run *run)
{
	return run->control.is_paused ? "paused"
	       : run->scx	      ? "scx"
	       : run->hints	      ? (run->chosen.dry_run ? "dry run" : "hints")
				      : "none";
}

static void read_kernel_events(struct run *run, struct run_status *status)
{
	u64 events[SCX_EVENTS];

	status->counts_events = run->scx && scx_events_read(events);
	if (!status->counts_events)
		return;
	for (int i = 0; i < SCX_EVENTS; i++)
		status->kernel_events[i] = span_between(run->events_before[i], events[i]);
	memcpy(run->events_before, events, sizeof(events));
}

/* The parts of a status that the kernel half has counted since the last one. */
static int read_growth(struct run *run, struct run_status *status)
{
	struct sched_tally tally, now_tally;
	u64 counters[SCX_COUNTERS] = { 0 };
	struct cpu_account now;
	int error = sched_read_tally(run->sched, &now_tally);

	if (error)
		return error;
	sched_read_cpus(run->sched, clock_now_ns(), &now);
	status->switches = now.switches - run->before.switches;
	/* Read beside the hook that writes: one may be behind by what the next line makes up for. */
	status->busy_ns = span_between(run->before.busy_ns, now.busy_ns);
	status->idle_ns = span_between(run->before.idle_ns, now.idle_ns);
	status->lost = now.lost - run->before.lost;
	run->before = now;
	tally = now_tally;
	tally_subtract(&tally, &run->tally_before);
	run->tally_before = now_tally;
	status->deadline_misses = tally.deadline_misses;
	status->moves = tally.moves;
	for (u32 tier = 0; tier < TIERS; tier++) {
		status->wait_p99_ns[tier] = hist_percentile(&tally.waits[tier], 990000);
		status->waits[tier] = tally.waits[tier].total;
	}
	if (run->scx)
		scx_read_counters(run->scx, counters);
	for (int i = 0; i < SCX_COUNTERS; i++)
		status->decisions[i] = counters[i] - run->counters_before[i];
	memcpy(run->counters_before, counters, sizeof(counters));
	read_kernel_events(run, status);
	return 0;
}

static void fill_hints(struct run_status *status, const struct hints_counts *hints)
{
	status->hints_urgent = hints->urgent;
	status->hints_given = hints->given;
	status->hints_taken_back = hints->taken_back;
	status->hints_left_alone = hints->left_alone;
	status->hints_refused = hints->refused;
}

static void fill_learned(struct run_status *status, const struct sensor *sensor)
{
	struct learned_counts learned = learned_counts(sensor);

	status->learned_profiles = learned.profiles;
	status->learned_confident = learned.confident;
	status->learned_hits = learned.hits;
	status->learned_misses = learned.misses;
}

/* False if nobody reads any more. */
static bool print_status(struct run *run, const struct run_status *status)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);
	bool is_read = true;

	if (!out)
		return true;
	if (run->options->json)
		status_print_json(out, status);
	else if (run->lines++ % LINES_PER_HEAD == 0)
		status_print_head(out);
	if (!run->options->json)
		status_print_line(out, status);
	if (!fclose(out))
		is_read = lines_put(run->lines_out, text, len);
	free(text);
	return is_read;
}

bool run_take_line(struct run *run)
{
	struct run_status status = { .magic = STATUS_MAGIC, .version = STATUS_VERSION, .restarts = run->restarts };
	struct hints_counts hints = run->hints ? hints_counts(run->hints) : (struct hints_counts){ 0 };
	u64 now_ns = clock_now_ns();
	struct timespec wall;
	int error = read_growth(run, &status);

	if (error) {
		run->status = fail("run", "could not read the accounts: %s", strerror(-error));
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	status.wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
	status.span_ns = now_ns - run->line_at_ns;
	status.untimed_cpus = run->scx ? scx_untimed_cpus(run->scx) : 0;
	snprintf(status.actuator, sizeof(status.actuator), "%s", run_actuator_name(run));
	memcpy(status.by_role, run->by_role, sizeof(status.by_role));
	memcpy(status.by_evidence, run->by_evidence, sizeof(status.by_evidence));
	status.effect_for_game = run->effect.effects ? effects_for_game(run->effect.effects) : 0;
	status.game_pid = run->game_pid;
	memcpy(status.by_tier, run->by_tier, sizeof(status.by_tier));
	fill_hints(&status, &hints);
	status.addresses_refused = run->capture.refusals.addresses;
	status.files_refused = run->capture.refusals.files;
	if (run->capture.sensors)
		sensor_set_hits(run->capture.sensors, status.hits);
	if (run->capture.sensors)
		fill_learned(&status, sensor_set_find(run->capture.sensors, "learned"));
	status.effect_trials = run->effect.effects ? effects_trials(run->effect.effects) : 0;
	status.effect_worse = run->effect.worse;
	status.effect_held_back = (run->hints ? hints_held_back(run->hints) : 0) +
				  holds_count(&run->effect.eased, now_ns);
	status.last = run->effect.last;
	run->line_at_ns = now_ns;
	run->last = status;
	if (run->feed)
		feed_send(run->feed, &status, sizeof(status));
	if (run->metrics)
		metrics_live_status(run->metrics, &status);
	return print_status(run, &status);
}

bool run_begin_lines(struct run *run)
{
	struct reason why = { "" };
	int error = sched_read_tally(run->sched, &run->tally_before);

	sched_read_cpus(run->sched, clock_now_ns(), &run->before);
	if (error) {
		fail("run", "could not read the accounts: %s", strerror(-error));
		return false;
	}
	run->line_at_ns = clock_now_ns();
	if (feed_open(&run->feed, &why))
		note("'tactus stats' will not see this run: %s", why.text);
	run_control_begin(run);
	return true;
}
