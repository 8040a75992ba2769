// SPDX-License-Identifier: GPL-2.0
/* tactus run: the main job. Finds out what threads are for, acts on it by sched_ext or by hints, prints a line a
 * second, and leaves everything as it was at the end, saying why it ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/notify.h"
#include "../base/topology.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../base/system.h"
#include "../model/roles.h"
#include "../sched/attr.h"
#include "../sched/keeper.h"
#include "../sched/sched_ext_policy.h"
#include "../sched/undo.h"
#include "../sensor/learned.h"
#include "../capture/role_options.h"
#include "run.h"
#include "view.h"

enum {
	ERRORS_MAX = 5,	  /* of the scheduler, in a run; then it is given up */
	START_TRIES = 20, /* ten a second: while CPUs come and go the kernel refuses */
	KEEPERS_MAX = 5,
	OUTPUT_PATIENCE_NS = NSEC_PER_SEC / 2, /* for a reader at the end, when everything is taken back */
};

/* Asked before any thread is looked at: what was taken back meanwhile is not somebody else's choice. */
static void went_on(struct run *run)
{
	if (!keeper_heartbeat() || !run->hints)
		return;
	note("the run goes on after a standstill: hints are given again");
	hints_relieved(run->hints);
}

void run_hint(struct run *run, const struct event_role *event)
{
	struct hint_wish wish = { .tier = event->tier,
				  .burst_ns = event->wakeups ? event->cpu_ns / event->wakeups : event->cpu_ns,
				  .known_ns = span_between(event->age_ns, event->head.time_ns),
				  .by_user = event->evidence == EVIDENCE_USER,
				  .is_awaited = (event->has & HAS_AWAITED) != 0 };

	went_on(run);
	if (run->hints && !(event->has & HAS_KERNEL_THREAD))
		hints_on_role(run->hints, event->head.tid, &wish);
}

bool run_role_is_sound(const struct event_header *header)
{
	const struct event_role *event = (const struct event_role *)header;

	return header->kind == EVENT_ROLE && event->role < ROLES && event->was_role < ROLES && event->tier < TIERS &&
	       event->was_tier < TIERS;
}

static void on_tier(void *data, u32 tid, u32 tier, u64 run_ns, u64 time_ns)
{
	struct hint_wish wish = { .tier = tier, .burst_ns = run_ns, .known_ns = time_ns };
	struct run *run = data;

	went_on(run);
	if (run->hints)
		hints_on_role(run->hints, tid, &wish);
}

/* Keeps count of threads by role, and passes on how urgent each is. */
static void on_event(void *data, const struct event_header *header, const struct wait *ended)
{
	const struct event_role *event = (const struct event_role *)header;
	struct run *run = data;

	if (run->trial)
		run_trial_event(run, header, ended);
	if (run->metrics)
		metrics_live_event(run->metrics, header);
	if (!run_role_is_sound(header))
		return;
	run_count_role(data, event);
	run_game_role(data, event);
	if (!(header->flags & EVENT_FLAG_CLOSING))
		run_hint(data, event);
}

static void say_exit_info(const struct scx_exit_record *last, const char *then)
{
	const struct say_about about = { .topic = "scheduler", .is_warning = last->kind >= SCX_KIND_ERROR };
	const char *reason = last->reason[0] ? last->reason : "ended";

	if (!last->kind)
		note("the scheduler was taken out; the kernel gave no reason");
	else
		note_about(&about, "the scheduler ended: %s%s%s; %s", reason, last->message[0] ? ": " : "",
			   last->message, then);
	if (last->kind >= SCX_KIND_ERROR && last->dump[0])
		say_lines(last->dump);
}

/* True if it is in charge. */
static bool start_scx(struct run *run, struct reason *why)
{
	struct scx_settings settings = { .sched = run->sched,
					 .topology = run->capture.info.topology,
					 .cpus_len = run->capture.info.cpus_len,
					 .slice_ns = run->chosen.slice_us * NSEC_PER_USEC,
					 .light_ns = run->chosen.light_us * NSEC_PER_USEC,
					 .credit = (u32)run->chosen.credit,
					 .discount = (u32)run->chosen.discount,
					 .power = run->chosen.power,
					 .is_partial = run->chosen.partial };

	memset(run->counters_before, 0, sizeof(run->counters_before));
	memset(run->events_before, 0, sizeof(run->events_before));
	return !scx_start(&run->scx, &settings, why);
}

/* The command joins a scheduler that takes only a part of the threads. */
static bool give_command(struct run *run)
{
	struct reason why = { "" };
	int error;

	run->had_partial = sched_ext_policy_count();
	/* Where others have the policy too, nobody can tell later which are ours. */
	if (!run->had_partial && sched_ext_policy_begin(&why)) {
		fail("run", "cannot give the command to the scheduler: %s", why.text);
		return false;
	}
	error = sched_ext_policy_give(run->capture.command_pid);
	if (error)
		fail("run", "cannot give the command to the scheduler: %s", strerror(-error));
	return !error;
}

/* True if it is in charge, or if something else may be tried. */
static bool try_scx(struct run *run)
{
	struct reason why = { "" };

	if (!sched_ext_state().available)
		reason_set(&why, "this kernel has no sched_ext");
	else if (run->chosen.dry_run)
		reason_set(&why, "a dry run changes nothing");
	else if (start_scx(run, &why)) {
		note("scheduling by sched_ext%s", run->chosen.partial ? ", the command's threads only" : "");
		load_print("scheduler", scx_losses(run->scx));
		return !run->chosen.partial || !run->capture.command_pid || give_command(run);
	}
	if (run->chosen.wanted == ACTUATOR_SCX || run->chosen.partial) {
		fail("run", "cannot schedule by sched_ext: %s", why.text);
		return false;
	}
	note("no sched_ext scheduler: %s", why.text);
	return true;
}

/* Whoever put another scheduler in charge has decided how threads run. */
static bool another_is_in_charge(void)
{
	struct sched_ext_state state = sched_ext_state();

	if (state.loaded[0])
		note("another sched_ext scheduler is in charge: %s: observing only", state.loaded);
	return state.loaded[0];
}

/* What was to be loaded is loaded. */
static void ease(struct run *run)
{
	if (run->pressed)
		thread_attr_ease();
	run->pressed = false;
}

static bool try_hints(struct run *run)
{
	struct reason why = { "" };

	if (run->chosen.wanted == ACTUATOR_AUTO && another_is_in_charge())
		return true;
	ease(run);
	if (!hints_open(&run->hints, run->chosen.dry_run, &why)) {
		note("hints to the kernel's scheduler: %s", hints_means_words(run->hints));
		if (run->chosen.slice_us)
			note("--slice-us is for sched_ext only");
		if (run->chosen.credit || run->chosen.discount || run->chosen.light_us)
			note("--credit, --discount and --light-us are for sched_ext only");
		if (run->chosen.raise_given)
			note("--raise is for sched_ext only");
		if (run->chosen.power_given)
			note("--power is for sched_ext only");
		return true;
	}
	if (run->chosen.wanted == ACTUATOR_HINTS) {
		fail("run", "cannot give hints: %s", why.text);
		return false;
	}
	note("no hints: %s: observing only", why.text);
	return true;
}

int run_hint_again(void *data, const void *event)
{
	if (run_role_is_sound(event))
		run_hint(data, event);
	return 0;
}

bool run_may_leave_scx(const struct run *run)
{
	return run->chosen.wanted == ACTUATOR_AUTO && !run->chosen.partial;
}

/* The scheduler is out for good. What is known of the threads goes to the hints, if nobody insisted on sched_ext. */
static bool give_up_scx(struct run *run)
{
	if (!run_may_leave_scx(run) || !try_hints(run)) {
		run->status = EXIT_FAILURE;
		return false;
	}
	sched_read_roles(run->sched, 0, run_hint_again, run);
	return true;
}

bool run_leave_scx(struct run *run)
{
	struct scx_exit_record last;

	scx_stop(run->scx, &last);
	run->scx = NULL;
	return give_up_scx(run);
}

static bool start_again(struct run *run)
{
	struct reason why = { "" };

	/* CPUs that came may share what those that went shared. */
	topology_read(run->capture.info.topology, run->capture.info.cpus_len);
	if (start_scx(run, &why)) {
		run->tries = 0;
		run->restarts++;
		note("scheduling by sched_ext again");
		return true;
	}
	if (++run->tries <= START_TRIES)
		return true;
	run->tries = 0;
	note("the scheduler cannot be started again: %s", why.text);
	return give_up_scx(run);
}

/* The kernel put the scheduler out: because CPUs came or went, because something went wrong, or because somebody wanted
 * it. Only the last is the end. */
static bool scx_was_put_out(struct run *run)
{
	struct scx_exit_record last;
	bool by_error;

	scx_stop(run->scx, &last);
	run->scx = NULL;
	by_error = last.kind >= SCX_KIND_ERROR;
	run->errors += by_error;
	if ((last.code & (s64)SCX_CODE_RESTART) || (by_error && run->errors < ERRORS_MAX)) {
		say_exit_info(&last, "it is started again");
		run->tries = 1;
		return start_again(run);
	}
	say_exit_info(&last, "the kernel's own scheduler is in charge");
	if (by_error) {
		note("that was error number %u: the scheduler is given up", run->errors);
		return give_up_scx(run);
	}
	run->status = EXIT_FAILURE;
	return false;
}

/* Somebody may have killed it. A new one holds what this process holds now, until it has closed it. */
static void keep_keeper(struct run *run)
{
	if (!run->keeper || keeper_waits(run->keeper))
		return;
	run->keeper = 0;
	if (run->keepers++ < KEEPERS_MAX)
		run->keeper = keeper_start(undo_after_death, undo_while_it_stands);
	note("the process that takes hints back after a kill has ended%s",
	     run->keeper > 0 ? ": another one was started" : "");
	if (run->keeper < 0)
		run->keeper = 0;
}

static bool on_tick(void *data)
{
	struct run *run = data;

	went_on(run);
	notify_alive(clock_now_ns());
	if (run->hints)
		hints_look(run->hints);
	if (!run_effect_tick(run))
		return false;
	if (!run->trial)
		run_game_tick(run);
	if (run->lines_out)
		lines_flush(run->lines_out);
	if (run->scx && scx_is_out(run->scx) && !scx_was_put_out(run))
		return false;
	if (run->tries && !run->control.is_paused && !start_again(run))
		return false;
	run_control_tick(run);
	if (run->trial && !run_trial_tick(run))
		return false;
	if (run->metrics && !metrics_live_tick(run->metrics)) {
		run->status = EXIT_FAILURE;
		return false;
	}
	if (clock_now_ns() - run->line_at_ns < NSEC_PER_SEC)
		return true;
	keep_keeper(run);
	if (run->trial) {
		run->line_at_ns = clock_now_ns();
		return true;
	}
	/* A reader that went away ends the run. */
	return run_take_line(run);
}

/* The better one that works; each that does not says why in a line. */
static bool start_actuator(struct run *run)
{
	if ((run->chosen.wanted == ACTUATOR_AUTO || run->chosen.wanted == ACTUATOR_SCX) && !try_scx(run))
		return false;
	if (!run->scx && (run->chosen.wanted == ACTUATOR_AUTO || run->chosen.wanted == ACTUATOR_HINTS))
		return try_hints(run);
	if (run->chosen.wanted == ACTUATOR_NONE)
		note("observing only");
	return true;
}

bool run_restart_actuator(struct run *run)
{
	struct scx_exit_record last;

	if (run->hints)
		hints_close(run->hints);
	run->hints = NULL;
	if (run->scx)
		scx_stop(run->scx, &last);
	run->scx = NULL;
	run->tries = 0;
	if (!start_actuator(run))
		return false;
	if (run->hints)
		sched_read_roles(run->sched, 0, run_hint_again, run);
	return true;
}

/* Whatever becomes of the rest of the end, the threads have what they had. */
static void end_hints(struct run *run)
{
	if (!run->hints)
		return;
	run->hints_given = hints_close(run->hints);
	run->hints = NULL;
	run->gave_hints = true;
}

/* The part of a second that is left over. */
static void on_close(void *data)
{
	struct run *run = data;
	u64 dropped;

	notify_send("STOPPING=1");
	if (run->began && !run->trial && !run->status && clock_now_ns() - run->line_at_ns >= 100 * NSEC_PER_MSEC)
		run_take_line(run);
	run_effect_end(run);
	metrics_live_end(run->metrics);
	end_hints(run);
	dropped = run->lines_out ? lines_close(run->lines_out, OUTPUT_PATIENCE_NS) : 0;
	run->lines_out = NULL;
	if (dropped)
		note("%" PRIu64 " lines were dropped: nobody read them", dropped);
}

/* How much of what comes is known already. */
static void say_learned(struct run *run)
{
	struct learned_counts learned = learned_counts(sensor_set_find(run->capture.sensors, "learned"));

	if (learned.path[0])
		note("what was learned: %" PRIu64 " kinds of threads from %s, %" PRIu64 " of them predict",
		     learned.loaded, learned.path, learned.confident);
}

static bool open_lines(struct run *run)
{
	int out = fileno(stdout); /* where the report goes, see base/report.h */

	fflush(stdout);
	/* Where that fails, there is only a look whether there is room before each line. */
	never_wait(out);
	never_wait(STDERR_FILENO);
	run->lines_out = lines_open(out);
	if (!run->lines_out)
		fail("run", "out of memory");
	return run->lines_out;
}

static bool on_open(void *data, struct sensor *sched)
{
	struct run *run = data;

	run->sched = sched;
	if (run->trial)
		run->began = start_actuator(run) && run_trial_begin(run);
	else
		run->began = open_lines(run) && start_actuator(run) && run_begin_lines(run);
	if (run->began && run->metrics)
		run->began = metrics_live_begin(run->metrics, &run->capture, sched);
	if (run->began && !run->trial)
		say_learned(run);
	run_effect_begin(run);
	ease(run);
	if (run->began)
		run_tell_state(run, true);
	return run->began;
}

static void end_actuators(struct run *run)
{
	const struct hints_counts *counts = &run->hints_given;
	struct scx_exit_record last;
	bool put_out;

	end_hints(run);

	if (run->scx) {
		put_out = scx_is_out(run->scx);
		if (scx_groups_refused(run->scx))
			note("%" PRIu64 " control groups' weights had no effect: there was no room for them",
			     scx_groups_refused(run->scx));
		scx_stop(run->scx, &last);
		say_exit_info(&last, "the kernel's own scheduler is in charge");
		if (!run->status && (put_out || last.kind >= SCX_KIND_ERROR))
			run->status = EXIT_FAILURE;
	}
	if (run->chosen.partial && !run->had_partial && sched_ext_policy_end())
		note("some threads could not be taken from the scheduler's policy: 'tactus undo' tries again");
	if (run->gave_hints) {
		note("%" PRIu64 " hints %s (%" PRIu64 " threads left alone, %" PRIu64 " refused)", counts->given,
		     run->chosen.dry_run ? "would have been given (dry run)"
					 : "given, all taken back but those of threads that ended",
		     counts->left_alone, counts->refused);
		if (counts->stuck)
			note("%" PRIu64 " threads could not be put back: 'tactus undo' tries again", counts->stuck);
	}
	if (run->feed && feed_dropped(run->feed))
		note("%lu lines did not reach a 'tactus stats' that was too slow", feed_dropped(run->feed));
	feed_close(run->feed);
}

int run_conduct(struct run *run)
{
	bool acts = run->chosen.wanted != ACTUATOR_NONE && !run->chosen.dry_run;
	char words[DETECTION_WORDS_SIZE];
	int status;

	if (acts)
		run->keeper = keeper_start(undo_after_death, undo_while_it_stands);
	if (run->keeper < 0)
		note("cannot start the process that takes hints back after a kill: %s", strerror(-run->keeper));
	if (!run->trial && (run->chosen.wanted == ACTUATOR_AUTO || run->chosen.wanted == ACTUATOR_SCX))
		power_profile_start(&run->control.power);
	/* Loading takes some seconds of CPU time, which it would not get for a minute on a machine that is full: when
	 * people start it. */
	run->pressed = acts && thread_attr_press();
	privileges_need(acts ? NEED_TO_ACT : 0);
	run->capture.request.whole_machine = true;
	run->capture.request.on_tier = on_tier;
	run->capture.request.on_program = run->trial ? NULL : run_game_program;
	run->capture.request.on_event = on_event;
	run->capture.request.on_open = on_open;
	run->capture.request.on_tick = on_tick;
	run->capture.request.on_close = on_close;
	run->capture.request.data = run;
	run->games = run->trial ? NULL : games_new();
	run->evidence_of = calloc(TIDS_MAX, 1);
	status = capture_run(&run->capture, run->options);
	end_actuators(run);
	run_game_end(run);
	free(run->evidence_of);
	/* What could not be put back from here, perhaps from there: it has descriptors of its own. */
	if (!run->hints_given.stuck)
		keeper_end(run->keeper);
	if (run->began && run->options->output)
		note("%s: %" PRIu64 " events", run->options->output, run->capture.written_events);
	if (run->began && run->last.magic) {
		detection_words(words, &run->last);
		note("%s", words);
		learned_words(words, &run->last);
		note("%s", words);
	}
	if (run->began)
		capture_print_losses(&run->capture);
	return status ? status : run->status;
}

int view_run(int argc, char **argv)
{
	struct options options;
	struct run run = { .options = &options,
			   .chosen = run_chosen_by_default,
			   .control = { .argc = argc, .argv = argv } };
	int status;

	options_parse(&options, &run_usage, &run.chosen, argc, argv);
	status = run_check_options(&run.chosen, &options);
	if (status)
		return status;
	notify_open();
	run.capture.request = (struct capture_request){ .view = "run",
							.groups = EVENTS_ROLES,
							.learns = !run.chosen.dry_run,
							.counts_cpus = true,
							.prompt_urgency = !options.output,
							.raise = run.chosen.raise_by,
							.no_threads = true };
	run_keep_begun(&run);
	if (run.chosen.metrics.serves) {
		status = metrics_live_open(&run.metrics, &run.chosen.metrics, "run",
					   options.output ? METRICS_OF_RECORD : METRICS_OF_RUN);
		metrics_live_request(&run.capture.request, &run.chosen.metrics, &run.cuda);
	}
	if (run.metrics)
		run.capture.request.also_fd = metrics_live_fd(run.metrics);
	if (!status)
		status = run_conduct(&run);
	metrics_live_close(run.metrics);
	capture_free(&run.capture);
	return status;
}
