// SPDX-License-Identifier: GPL-2.0
/* tactus events: the stream itself, a line an event: who left a CPU after how long, who came after waiting how long.
 * Live or from a recording; with --json every field of every event. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../base/say.h"
#include "../base/suggest.h"
#include "../sensor/cuda.h"
#include "../sink/event.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/capture.h"
#include "stack_words.h"
#include "thread_words.h"
#include "view.h"

enum { KEY_WAKEUPS = 0x200, KEY_ONLY, TIME_SIZE = 16, FIELDS_SIZE = 512 };

/* Those that are printed as a sentence. */
#define HAS_WORDS (1ull << EVENT_SWITCH | 1ull << EVENT_WAKEUP | 1ull << EVENT_MIGRATE | 1ull << EVENT_DECISION)

struct chosen {
	bool with_wakeups;
	bool lists_kinds;
	u64 only; /* kinds, as bits; 0: those of the scheduler */
};

#define KIND_GROUP(KIND, name, group, rate, bytes) [EVENT_##KIND] = #group,
static const char *const kind_groups[EVENT_KINDS] = { EVENT_TABLE(KIND_GROUP) };

#define KIND_TABLE(COLUMN, SHOWN)               \
	COLUMN(KIND, kind, "KIND", CELL_TEXT)   \
	COLUMN(KIND, group, "GROUP", CELL_TEXT) \
	COLUMN(KIND, fields, "FIELDS", CELL_TEXT)
TABLE_OF(kind_columns, KIND);

/* --only help. */
static int print_kinds(bool json)
{
	struct table table;

	table_open(&table, stdout, json, "event_kind", kind_columns, KIND_CELLS);
	for (u32 kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
		const struct event_info *info = event_info(kind);
		char fields[FIELDS_SIZE] = "", group[16] = "";
		size_t used = 0;

		for (size_t i = 0; kind_groups[kind][i] && i + 1 < sizeof(group); i++)
			group[i] = (char)tolower(kind_groups[kind][i]);
		for (const struct event_field *field = info->fields; field->name && used < sizeof(fields); field++)
			used += (size_t)snprintf(fields + used, sizeof(fields) - used, "%s%s", used ? " " : "",
						 field->name);
		table_row(&table, (union cell[KIND_CELLS]){
					  [KIND_kind] = { .text = info->name },
					  [KIND_group] = { .text = strcmp(group, "any") ? group : "every" },
					  [KIND_fields] = { .text = fields },
				  });
	}
	return table_close(&table) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const char *no_such_kind(const char *word, size_t len)
{
	static char hint[96];
	struct suggestion meant = { .word = word, .len = len };

	for (u32 kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++)
		suggest(&meant, event_info(kind)->name);
	snprintf(hint, sizeof(hint), "names no kind of event: %s%s'--only help' lists them",
		 meant.nearest ? meant.nearest : "", meant.nearest ? "? " : "");
	return hint;
}

/* Takes a list of kinds such as "frame,role". */
static const char *take_kinds(struct chosen *chosen, const char *list)
{
	chosen->lists_kinds = !strcmp(list, "help");
	if (chosen->lists_kinds)
		return NULL;
	for (size_t len; *list; list += len + (list[len] == ',')) {
		u32 kind = EVENT_NONE + 1;

		len = strcspn(list, ",");
		while (kind < EVENT_KINDS &&
		       (strncmp(event_info(kind)->name, list, len) || event_info(kind)->name[len]))
			kind++;
		if (kind == EVENT_KINDS)
			return no_such_kind(list, len);
		chosen->only |= 1ull << kind;
	}
	return chosen->only ? NULL : "names no kind of event";
}

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_ONLY)
		return take_kinds(chosen, value);
	chosen->with_wakeups = true;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "wakeups", KEY_WAKEUPS, 0, 0, "Also show wake-ups and moves", 0 },
	{ "only", KEY_ONLY, "KINDS", 0,
	  "Print only events of these kinds, such as frame,role,exec ('help' lists them); live, each within a "
	  "millisecond if none of the "
	  "kinds is a scheduler event",
	  0 },
	{ 0 },
};

const struct command_usage events_usage = {
	.name = "events",
	.text = "Prints every context switch as it happens: when, on which CPU, which thread left and how long it "
		"ran, which thread came and how long it waited.\v"
		"--json prints every event of every kind, with all its fields.\n"
		"\n"
		"Examples:\n"
		"  tactus events -n 20                              the next twenty\n"
		"  tactus events --wakeups -- sleep 1\n"
		"  tactus events --only frame --json -- ./game      a line a frame, at once\n"
		"  tactus events -i file --json",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct printer {
	struct chosen chosen;
	struct capture *capture;
	bool json;
	bool headed;
	u64 printed, most; /* lines, and after how many it ends */
	/* How long the thread that leaves has run: its account is closed by the time its event is shown. */
	u64 *since_ns;
};

/* As ps and perf have them; '+' where it could still run. */
static void state_words(char into[4], const struct event_switch *event)
{
	static const struct {
		u16 bits;
		char letter;
	} states[] = { { 0x402, 'I' }, { 0x80, 'X' }, { 0x40, 'P' }, { 0x20, 'Z' }, { 0x10, 'X' },
		       { 0x08, 't' },  { 0x04, 'T' }, { 0x02, 'D' }, { 0x01, 'S' } };
	bool can_run = event->head.flags & EVENT_FLAG_PREEMPTED || !event->prev_state;
	char letter = can_run ? 'R' : '?';

	for (size_t i = 0; !can_run && letter == '?' && i < sizeof(states) / sizeof(states[0]); i++)
		if ((event->prev_state & states[i].bits) == states[i].bits)
			letter = states[i].letter;
	snprintf(into, 4, "%c%s", letter, event->head.flags & EVENT_FLAG_PREEMPTED ? "+" : "");
}

struct switch_facts {
	const struct printer *printer;
	const struct event_switch *event;
	const struct wait *ended;
};

/* What the event itself has not: who it is about, and for how long. */
static void print_switch_facts(struct json *json, void *data)
{
	const struct switch_facts *facts = data;
	const struct threads *threads = &facts->printer->capture->threads;
	const struct event_switch *event = facts->event;
	u64 since_ns = facts->printer->since_ns[event->head.cpu];
	char comm[COMM_TEXT_SIZE], state[4];

	comm_text(comm, thread_comm(threads, event->head.tid));
	json_string(json, "prev_comm", event->head.tid ? comm : "idle");
	comm_text(comm, thread_comm(threads, event->next_tid));
	json_string(json, "next_comm", event->next_tid ? comm : "idle");
	state_words(state, event);
	json_string(json, "prev_state_letter", state);
	json_u64_or_null(json, "ran_ns", since_ns != 0, event->head.time_ns - since_ns);
	json_u64_or_null(json, "waited_ns", facts->ended != NULL,
			 facts->ended ? facts->ended->to_ns - facts->ended->from_ns : 0);
}

static void print_switch(struct printer *printer, const struct event_switch *event, const struct wait *ended)
{
	const struct threads *threads = &printer->capture->threads;
	u64 now_ns = event->head.time_ns, *since_ns = &printer->since_ns[event->head.cpu];
	char prev[THREAD_WORDS_SIZE], next[THREAD_WORDS_SIZE], ran[TIME_SIZE] = "?", waited[TIME_SIZE] = "", state[4];

	thread_words(prev, threads, event->head.tid, THREAD_IN_COLUMN);
	thread_words(next, threads, event->next_tid, THREAD_IN_COLUMN);
	if (*since_ns)
		format_time(ran, sizeof(ran), now_ns - *since_ns);
	if (ended)
		format_time(waited, sizeof(waited), ended->to_ns - ended->from_ns);
	state_words(state, event);
	printf("%12.3f | %3u | %s %4d %-2s (%8s) | %s %4d (%8s)\n",
	       (double)(now_ns - threads->first_ns) / NSEC_PER_MSEC, event->head.cpu, prev,
	       prio_printed(event->prev_prio), state, ran, next, prio_printed(event->next_prio), ended ? waited : "-");
}

static void print_other(const struct printer *printer, const struct event_header *event)
{
	const struct threads *threads = &printer->capture->threads;
	double at_ms = (double)(event->time_ns - threads->first_ns) / NSEC_PER_MSEC;
	char who[THREAD_WORDS_SIZE], other[THREAD_WORDS_SIZE];

	thread_words(who, threads, event->tid, THREAD_IN_COLUMN);
	if (event->kind == EVENT_WAKEUP) {
		thread_words(other, threads, ((const struct event_wakeup *)event)->waker_tid, THREAD_IN_COLUMN);
		printf("%12.3f | %3u | %s wakes %s for CPU %u\n", at_ms, event->cpu, other, who,
		       ((const struct event_wakeup *)event)->target_cpu);
	} else if (event->kind == EVENT_MIGRATE) {
		const struct event_migrate *move = (const struct event_migrate *)event;

		printf("%12.3f | %3u | %s moves from CPU %u to CPU %u\n", at_ms, event->cpu, who, move->from_cpu,
		       move->to_cpu);
	}
}

static void print_decision(const struct printer *printer, const struct event_decision *event)
{
	const struct threads *threads = &printer->capture->threads;
	char who[THREAD_WORDS_SIZE], other[THREAD_WORDS_SIZE], waited[TIME_SIZE];

	thread_words(who, threads, event->head.tid, THREAD_IN_COLUMN);
	thread_words(other, threads, event->other_tid, THREAD_IN_COLUMN);
	format_time(waited, sizeof(waited), event->wait_ns);
	printf("%12.3f | %3u | %s ", (double)(event->head.time_ns - threads->first_ns) / NSEC_PER_MSEC, event->head.cpu,
	       who);
	if (event->what == DECISION_PREEMPT)
		printf("pushes %s off CPU %u\n", other, event->to_cpu);
	else if (event->what == DECISION_MOVE)
		printf("goes from CPU %u to CPU %u\n", event->from_cpu, event->to_cpu);
	else if (event->what == DECISION_DEADLINE_MISS)
		printf("is urgent and waited %s behind %s\n", waited, other);
	else
		printf("decision %u\n", event->what);
}

static const char *lost_kind(const struct event_header *event)
{
	const struct event_info *info = event_info(((const struct event_lost *)event)->of_kind);

	return info ? info->name : NULL;
}

static void print_words(const struct printer *printer, const struct event_header *event)
{
	const struct threads *threads = &printer->capture->threads;
	char who[THREAD_WORDS_SIZE];

	thread_words(who, threads, event->tid, THREAD_IN_COLUMN);
	printf("%12.3f | %3u | %s ", (double)(s64)(event->time_ns - threads->first_ns) / NSEC_PER_MSEC, event->cpu,
	       who);
	print_event_words(stdout, event);
	putchar('\n');
}

static void note_run(struct printer *printer, const struct event_header *event)
{
	if ((event->kind == EVENT_SWITCH || event->kind == EVENT_SAMPLE) &&
	    event->cpu < printer->capture->threads.cpus_len)
		printer->since_ns[event->cpu] = event->time_ns;
}

static void print_json(struct printer *printer, const struct event_header *event, const struct wait *ended)
{
	struct switch_facts facts = { printer, (const struct event_switch *)event, ended };

	print_event_json_and(stdout, event, event->kind == EVENT_SWITCH ? print_switch_facts : NULL, &facts);
	note_run(printer, event);
}

/* Whether it gets a line. */
static bool is_wanted(const struct printer *printer, const struct event_header *event)
{
	u64 only = printer->chosen.only;

	if (event->kind == EVENT_LOST || printer->json || only)
		return event->kind == EVENT_LOST || !only || (only >> event->kind & 1);
	return event->kind == EVENT_SWITCH || event->kind == EVENT_DECISION ||
	       (printer->chosen.with_wakeups && (event->kind == EVENT_WAKEUP || event->kind == EVENT_MIGRATE));
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct printer *printer = data;
	u64 only = printer->chosen.only;

	if (printer->capture->before_window) {
		note_run(printer, event);
		return;
	}
	if (!is_wanted(printer, event) || printer->printed == printer->most) {
		note_run(printer, event);
		return;
	}
	if (++printer->printed == printer->most)
		printer->capture->stopped = true;
	if (printer->json) {
		print_json(printer, event, ended);
		return;
	}
	if (only && event->kind != EVENT_LOST && !(HAS_WORDS >> event->kind & 1)) {
		print_words(printer, event);
		return;
	}
	if (!printer->headed)
		printf("    TIME(ms) | CPU | PREV                     PRIO S  (     RAN) | NEXT                     "
		       "PRIO (  WAITED)\n");
	printer->headed = true;
	if (event->kind == EVENT_LOST)
		printf("             | %3u | %" PRIu64 " events of this CPU%s%s are missing here\n", event->cpu,
		       (u64)((const struct event_lost *)event)->count, lost_kind(event) ? " of kind " : "",
		       lost_kind(event) ? lost_kind(event) : "");
	else if (event->kind == EVENT_SWITCH)
		print_switch(printer, (const struct event_switch *)event, ended);
	else if (event->kind == EVENT_DECISION)
		print_decision(printer, (const struct event_decision *)event);
	else
		print_other(printer, event);
	note_run(printer, event);
}

static bool on_tick(void *data)
{
	const struct printer *printer = data;

	/* A reader that went away ends it. */
	return fflush(stdout) == 0 && printer->printed < printer->most;
}

static void ask_for(struct capture_request *request, u32 groups)
{
	static const struct cuda_settings every_call = { .api = "default", .sample = 1 };

	/* What is neither of the scheduler nor of CUDA is found by sensors that look at what threads are for. */
	request->groups = groups & ~(u32)(EVENTS_SCHED | EVENTS_CUDA) || !groups ? groups | EVENTS_ROLES : groups;
	request->prompt = !(groups & EVENTS_SCHED);
	if (groups & EVENTS_CUDA) {
		request->cuda = &every_call;
		request->subject = (struct capture_subject){ .sensor = "cuda", .hooks = CUDA_HOOKS };
	}
}

int view_events(int argc, char **argv)
{
	struct capture capture = { .request = { .view = "events",
						.groups = EVENTS_SCHED,
						.forgets_ended = true,
						.wants_before = true,
						.only_matching = true,
						.on_event = on_event,
						.on_tick = on_tick } };
	struct printer printer = { .capture = &capture };
	struct options options;
	int status;
	u64 only;

	options_parse(&options, &events_usage, &printer.chosen, argc, argv);
	if (printer.chosen.lists_kinds)
		return print_kinds(options.json);
	only = printer.chosen.only;
	printer.json = options.json;
	printer.most = options.rows && options.rows != ROWS_ALL ? options.rows : ~0ull;
	if (only)
		ask_for(&capture.request, event_groups_of(only));
	capture.request.stacks_over_ns = STACKS_OVER_NS;
	/* A CPU number in an event is 16 bits wide, whatever a recording claims. */
	printer.since_ns = calloc(1 << 16, sizeof(*printer.since_ns));
	if (!printer.since_ns)
		return fail("events", "out of memory");
	capture.request.data = &printer;
	status = capture_run(&capture, &options);
	capture_print_losses(&capture);
	capture_free(&capture);
	free(printer.since_ns);
	return status;
}
