// SPDX-License-Identifier: GPL-2.0
/* tactus trial: whether tactus helps this program on this machine. It acts and holds back in turns within one run, in
 * an order that is drawn, measures the program in each, and stops when the answer is clear. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../base/loop.h"
#include "../base/map.h"
#include "../base/say.h"
#include "../capture/role_options.h"
#include "../model/compare.h"
#include "../model/compare_take.h"
#include "../model/trial.h"
#include "../sensor/cuda.h"
#include "../sink/json.h"
#include "compare_print.h"
#include "run.h"
#include "trial_words.h"
#include "view.h"

enum {
	OPTION_ACTUATOR = 0x200,
	OPTION_TURN,
	OPTION_SEED,
	OPTION_BY,
	OPTION_LIBRARY,
	MEMBERS_MOST = 1 << 16,
	MEMBER = 1, /* of the program that is on trial */
	FORMER = 2, /* its pid is another's now */
};

#define DURATION_DEFAULT_NS (120ull * NSEC_PER_SEC)
#define TURN_DEFAULT_NS (2ull * NSEC_PER_SEC)
#define TURN_LEAST_NS (NSEC_PER_SEC / 2)
#define TURN_MOST_NS (60ull * NSEC_PER_SEC)

struct chosen {
	struct run_chosen run;
	u64 turn_ns, seed;
	bool has_seed, has_by;
	enum trial_by by;
	struct cuda_settings cuda;
};

static const struct argp_option own_options[] = {
	{ "pid", 'p', "PID,...", 0, "Try these processes, with what they start from now on, instead of a command", 0 },
	{ "actuator", OPTION_ACTUATOR, ACTUATOR_WORDS, 0, ACTUATOR_MEANING, 0 },
	{ "turn", OPTION_TURN, "SPAN", 0, "Act, and do not act, for so long at a time (default 2s)", 0 },
	{ "seed", OPTION_SEED, "N", 0, "Draw the order of turns by this number, which is printed otherwise", 0 },
	{ "by", OPTION_BY, "WHAT", 0,
	  "Measure frames, launches, waits or progress; default: frames of a program that presents, launches a second "
	  "of "
	  "one that launches kernels by CUDA, waits of one that wakes often, else its CPU time",
	  0 },
	{ "library", OPTION_LIBRARY, "FILE", OPTION_HIDDEN, "Probe this libcuda before anything maps it", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;
	const char *wrong;

	switch (key) {
	case OPTION_ACTUATOR:
		return run_take_actuator(&chosen->run, value);
	case OPTION_TURN:
		wrong = parse_span(value, &chosen->turn_ns);
		if (!wrong && (chosen->turn_ns < TURN_LEAST_NS || chosen->turn_ns > TURN_MOST_NS))
			wrong = "is not a span from 500ms to 60s";
		return wrong;
	case OPTION_SEED:
		chosen->has_seed = true;
		return parse_number(value, ~0ull, &chosen->seed) ? "is not a number" : NULL;
	case OPTION_BY:
		chosen->has_by = true;
		for (chosen->by = 0; chosen->by < TRIAL_BYS; chosen->by++)
			if (!strcmp(value, trial_by_json(chosen->by)))
				return NULL;
		return "is none of frames, launches, waits, progress";
	case OPTION_LIBRARY:
		chosen->cuda.library = value;
		return NULL;
	default:
		return role_options_take(key, value);
	}
}

const struct command_usage trial_usage = {
	.name = "trial",
	.text = "Tries whether tactus helps a program on this machine: acts as 'tactus run' does and holds back, in "
		"turns "
		"within one run, measures the program in each, and says what that shows.\v"
		"Turns come in pairs, one with acting and one without, and which is first is drawn. The quarter of a "
		"second after each change is left out. The trial ends when the answer is clear, with the command, or "
		"when the time "
		"is "
		"over (-d, default 2 minutes); a command that still runs then gets SIGTERM. If tactus changes nothing, "
		"an answer comes in one of a hundred trials at most, however long they are.\n"
		"\n"
		"The table has the figures of 'tactus compare' of both kinds of turns: of the program, and what other "
		"programs waited.\n"
		"\n"
		"Examples:\n"
		"  tactus trial -- ./game\n"
		"  tactus trial -p 4711 -d 5m           a program that runs already\n"
		"  tactus trial --turn 5s --by waits -- ./server",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_RING | TAKES_REPORT,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct trial_view {
	struct chosen chosen;
	struct options options;
	struct run run;
	struct trial trial;
	struct map members; /* pids: MEMBER or FORMER */
	u64 members_refused;
	u32 turn; /* that goes on */
	struct trial_windows windows;
	struct compare_take take;
	struct trial_turn now; /* what is counted, while take.blocks says where it goes */
	struct blocks sides[2];
	u32 printed; /* pairs */
	bool is_clear;
};

static bool is_member(const void *data, const struct thread *thread)
{
	return map_get(data, thread->pid) == MEMBER;
}

/* Who is started by a member is one. A pid may come again as that of another program. */
static void meet(struct trial_view *view, const struct event_thread *event)
{
	const struct thread *parent = threads_by_tid(&view->run.capture.threads, event->parent_tid);
	bool is_new = event->head.flags & EVENT_FLAG_NEW, by_member = parent && is_member(&view->members, parent);
	u32 was = map_get(&view->members, event->pid);

	if (by_member && was != MEMBER && view->members.len >= MEMBERS_MOST)
		view->members_refused++;
	else if (by_member && was != MEMBER && !map_set(&view->members, event->pid, MEMBER))
		view->members_refused++;
	else if (!by_member && was == MEMBER && is_new && event->head.tid == event->pid)
		map_set(&view->members, event->pid, FORMER);
}

static void count_cpu_time(struct trial_view *view, u64 now_ns)
{
	struct threads *threads = &view->run.capture.threads;

	threads_charge(threads, now_ns);
	for (size_t i = 0; i < threads->len; i++)
		if (!threads->all[i]->bystander && is_member(&view->members, threads->all[i]))
			view->now.cpu_ns += threads->all[i]->account.cpu_ns;
}

static void begin_window(struct trial_view *view, u64 now_ns)
{
	struct threads *threads = &view->run.capture.threads;

	threads_charge(threads, now_ns);
	compare_take_restart(&view->take, threads);
	view->now = (struct trial_turn){ 0 };
	view->take.blocks = &view->sides[view->windows.all[0].acts];
}

static void end_window(struct trial_view *view, const struct trial_window *window, u64 now_ns)
{
	count_cpu_time(view, now_ns);
	view->now.span_ns = span_between(window->from_ns, now_ns);
	compare_take_piece_ends(&view->take, &view->run.capture.threads, window->from_ns, now_ns);
	view->take.blocks = NULL;
	trial_turn_ends(&view->trial, &view->now);
	view->is_clear |= view->trial.turn % 2 == 0 && trial_answer(&view->trial).says;
}

static void pass_time(struct trial_view *view, u64 now_ns)
{
	struct trial_window counted;
	enum trial_pass pass;

	while ((pass = trial_windows_pass(&view->windows, now_ns, &counted)) != TRIAL_PASSES) {
		if (pass == TRIAL_COUNTED)
			end_window(view, &counted, now_ns);
		else
			begin_window(view, now_ns);
	}
}

/* After wake-ups and after preemptions: who is pushed off in the midst of its work is late too. Who has not been woken
 * in this turn does not work by being woken. */
static void count_wait(struct trial_view *view, const struct wait *ended)
{
	const struct thread *thread = ended->thread;
	const struct event_role *role = thread->role;
	double waited_ns = (double)span_between(ended->from_ns, ended->to_ns);
	bool is_batch = role && role->role != ROLE_UNKNOWN && role->tier == TIER_BATCH;

	if (is_batch || !is_member(&view->members, thread))
		return;
	view->now.wakes += ended->kind == WAIT_WOKEN;
	if (ended->kind == WAIT_WOKEN || thread->account.woken_at_ns >= view->windows.all[0].from_ns)
		view->now.wait_squares += waited_ns * waited_ns;
}

static void count(struct trial_view *view, const struct event_header *event, const struct wait *ended)
{
	const struct threads *threads = &view->run.capture.threads;

	if (ended)
		count_wait(view, ended);
	if (event->kind == EVENT_CUDA_LAUNCH) {
		const struct thread *thread = threads_by_tid(threads, event->tid);

		view->now.launches += thread && is_member(&view->members, thread);
	}
	if (event->kind == EVENT_FRAME) {
		const struct thread *thread = threads_by_tid(threads, event->tid);
		double took_ns = (double)((const struct event_frame *)event)->interval_ns;

		if (!thread || !is_member(&view->members, thread) || took_ns <= 0)
			return;
		view->now.frames++;
		view->now.frame_ns += took_ns;
		view->now.frame_squares += took_ns * took_ns;
	}
}

void run_trial_event(struct run *run, const struct event_header *event, const struct wait *ended)
{
	struct trial_view *view = run->trial;

	if (event->kind == EVENT_THREAD)
		meet(view, (const struct event_thread *)event);
	pass_time(view, event->time_ns);
	if (view->take.blocks)
		count(view, event, ended);
	compare_take_event(&view->take, &run->capture.threads, event, ended);
}

bool run_trial_begin(struct run *run)
{
	struct trial_view *view = run->trial;
	bool has_room = !run->capture.command_pid || map_set(&view->members, run->capture.command_pid, MEMBER);

	if (!run->scx && !run->hints && run->chosen.wanted != ACTUATOR_NONE) {
		fail("trial", "there is no way to act here: nothing to try");
		return false;
	}
	return has_room || (fail("trial", "out of memory"), false);
}

static void begin_turn(struct trial_view *view)
{
	bool acts = trial_acts(&view->trial, view->turn);

	run_hold(&view->run, acts ? RUN_ACTS : RUN_IS_OUT);
	trial_windows_change(&view->windows, clock_now_ns(), acts, view->chosen.turn_ns);
}

static void print_pair(struct trial_view *view, u32 pair)
{
	const struct trial_pair *of = &view->trial.pairs[pair];
	enum trial_by by = view->trial.by;
	double without = trial_measure(&of->turns[0], by), with = trial_measure(&of->turns[1], by);
	bool acts_first = trial_acts(&view->trial, 2 * pair);
	char words[2][TRIAL_VALUE_SIZE];
	struct json json = { .out = stdout };

	trial_value_words(words[0], by, without);
	trial_value_words(words[1], by, with);
	if (!view->options.json) {
		printf("pair %u, %s: %s: %s with it, %s without\n", pair + 1,
		       acts_first ? "acting first" : "acting second", trial_by_words(by), words[1], words[0]);
		return;
	}
	json_record(&json, "trial_pair", false);
	json_u64(&json, "pair", pair + 1);
	json_string(&json, "by", trial_by_json(by));
	json_bool(&json, "acts_first", acts_first);
	if (isnan(with) || isnan(without)) {
		json_null(&json, "with");
		json_null(&json, "without");
	} else {
		json_double(&json, "with", with, 6);
		json_double(&json, "without", without, 6);
	}
	json_object_end(&json);
	json_line_end(&json);
}

bool run_trial_tick(struct run *run)
{
	struct trial_view *view = run->trial;
	u64 now_ns = clock_now_ns();

	while (view->trial.by_is_fixed && view->printed < view->trial.len)
		print_pair(view, view->printed++);
	/* A reader that went away ends it. */
	if (fflush(stdout) || view->is_clear)
		return false;
	if (trial_windows_turn_is_over(&view->windows, now_ns)) {
		view->turn += view->windows.turn_end_ns != 0;
		begin_turn(view);
	}
	return view->trial.len < TRIAL_PAIRS_MOST;
}

static int print_answer(struct trial_view *view)
{
	const struct compare_names names = { "WITHOUT", "WITH" };
	const struct compare_side sides[2] = { { &view->sides[0], 1 }, { &view->sides[1], 1 } };
	struct compare_result *result = calloc(1, sizeof(*result));
	struct trial_answer answer = trial_answer(&view->trial);
	struct json json = { .out = stdout };
	char words[TRIAL_WORDS_SIZE];

	if (!result || compare_sides(result, sides)) {
		free(result);
		return fail("trial", "out of memory");
	}
	if (!view->options.json && view->printed)
		putchar('\n');
	compare_print_rows(result, &view->options, &names);
	trial_answer_words(words, &view->trial, &answer);
	free(result);
	if (!view->options.json) {
		printf("\n%s\n", words);
		return 0;
	}
	json_record(&json, "trial_verdict", false);
	json_string(&json, "verdict", trial_verdict_json(&view->trial, &answer));
	json_string(&json, "words", words);
	json_string(&json, "by", view->trial.by_is_fixed ? trial_by_json(view->trial.by) : NULL);
	json_u64(&json, "seed", view->trial.seed);
	json_u64(&json, "pairs", view->trial.len);
	json_u64(&json, "better", answer.better);
	json_u64(&json, "worse", answer.worse);
	json_double(&json, "evidence", answer.evidence, 3);
	json_double(&json, "low", answer.low, 6);
	json_double(&json, "high", answer.high, 6);
	json_object_end(&json);
	json_line_end(&json);
	return 0;
}

static bool prepare(struct trial_view *view)
{
	struct filter *filter = &view->options.filter;
	u64 seed = view->chosen.seed;
	bool has_room = true;

	/* Everything is watched and acted on, as in a run; these are who is measured. */
	for (u32 i = 0; i < filter->pids_len; i++)
		has_room &= map_set(&view->members, filter->pids[i], MEMBER);
	memset(filter, 0, sizeof(*filter));
	if (!view->options.duration_ns)
		view->options.duration_ns = DURATION_DEFAULT_NS;
	if (!view->chosen.has_seed && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_now_ns();
	if (!view->chosen.has_seed)
		seed %= 1000000;
	trial_begin(&view->trial, seed);
	view->trial.by_is_fixed = view->chosen.has_by;
	view->trial.by = view->chosen.has_by ? view->chosen.by : view->trial.by;
	compare_take_init(&view->take);
	view->take.counts = is_member;
	view->take.data = &view->members;
	view->run.options = &view->options;
	view->run.chosen = view->chosen.run;
	view->run.chosen.no_compare = true;
	view->run.chosen.raise_by = RAISE_INPUT;
	view->run.trial = view;
	view->run.capture.request = (struct capture_request){ .view = "trial",
							      .groups = EVENTS_ROLES | EVENTS_FRAMES | EVENTS_SCHED,
							      .counts_cpus = true,
							      .forgets_many = true,
							      .raise = RAISE_INPUT };
	/* Launches are counted wherever they may be what is measured. */
	if (!view->chosen.has_by || view->chosen.by == TRIAL_BY_LAUNCHES) {
		view->run.capture.request.groups |= EVENTS_CUDA;
		view->run.capture.request.cuda = &view->chosen.cuda;
	}
	return has_room;
}

/* What ended the command was the trial's own end. */
static int status_of(const struct trial_view *view, int status)
{
	u64 span_ns = span_between(view->run.capture.threads.first_ns, view->run.capture.threads.last_ns);
	bool is_over = view->is_clear || span_ns >= view->options.duration_ns;

	return is_over && status > 128 && view->options.command ? 0 : status;
}

int view_trial(int argc, char **argv)
{
	struct trial_view *view = calloc(1, sizeof(*view));
	int status;

	if (!view)
		return fail("trial", "out of memory");
	view->chosen.turn_ns = TURN_DEFAULT_NS;
	view->chosen.cuda = (struct cuda_settings){ .api = "default", .sample = 1, .no_ioctls = true };
	options_parse(&view->options, &trial_usage, &view->chosen, argc, argv);
	if (!view->options.command && !view->options.filter.pids_len) {
		free(view);
		fail("trial", "name the program to try: -- CMD or -p PID (see 'tactus trial --help')");
		return EXIT_USAGE;
	}
	if (!prepare(view)) {
		free(view);
		return fail("trial", "out of memory");
	}
	note("the order of turns is by --seed %" PRIu64, view->trial.seed);
	status = run_conduct(&view->run);
	status = status_of(view, status);
	if (view->run.began && view->windows.turn_end_ns) {
		int printed = print_answer(view);

		status = status ? status : printed;
	}
	if (view->members_refused)
		note("%" PRIu64 " processes of the program are not in: there was no room for them",
		     view->members_refused);
	compare_take_free(&view->take);
	for (int i = 0; i < 2; i++)
		blocks_free(&view->sides[i]);
	map_free(&view->members);
	capture_free(&view->run.capture);
	free(view);
	return status;
}
