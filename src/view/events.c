// SPDX-License-Identifier: GPL-2.0
/* tactus events: the stream itself, a line an event: who left a CPU after how long, who came after waiting how long.
 * Live or from a recording; with --json every field of every event. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../base/say.h"
#include "../sensor/sensor.h"
#include "../sink/event.h"
#include "../sink/text.h"
#include "source.h"

enum { KEY_WAKEUPS = 0x200, KEY_ONLY, NAME_SIZE = 32, TIME_SIZE = 16 };

/* Kinds, as bits, that the sched sensor alone sends. */
#define SCHED_KINDS                                                                                              \
	(1u << EVENT_SWITCH | 1u << EVENT_WAKEUP | 1u << EVENT_MIGRATE | 1u << EVENT_EXEC | 1u << EVENT_RENAME | \
	 1u << EVENT_SAMPLE | 1u << EVENT_MISSED | 1u << EVENT_DECISION)

#define CUDA_KINDS                                                                                          \
	(1u << EVENT_CUDA_CALL | 1u << EVENT_CUDA_LAUNCH | 1u << EVENT_CUDA_IOCTL | 1u << EVENT_CUDA_NAME | \
	 1u << EVENT_CUDA_COUNT)

/* What is sent where frames are. */
#define FRAME_KINDS (1u << EVENT_FRAME | 1u << EVENT_VBLANK | 1u << EVENT_COMMIT | 1u << EVENT_SERVED)

/* Those that are told in a sentence. */
#define HAS_WORDS (1u << EVENT_SWITCH | 1u << EVENT_WAKEUP | 1u << EVENT_MIGRATE | 1u << EVENT_DECISION)

static bool with_wakeups;
static u32 only; /* kinds, as bits; 0: those of the scheduler */

/* Takes a list of kinds such as "frame,role". */
static const char *take_kinds(const char *list)
{
	for (size_t len; *list; list += len + (list[len] == ',')) {
		u32 kind = EVENT_NONE + 1;

		len = strcspn(list, ",");
		while (kind < EVENT_KINDS &&
		       (strncmp(event_info(kind)->name, list, len) || event_info(kind)->name[len]))
			kind++;
		if (kind == EVENT_KINDS)
			return "names no kind of event: 'tactus events --json' shows them";
		only |= 1u << kind;
	}
	return only ? NULL : "names no kind of event";
}

static const char *take_own(int key, const char *value)
{
	if (key == KEY_ONLY)
		return take_kinds(value);
	with_wakeups = true;
	return NULL;
}

static const struct argp_option own[] = {
	{ "wakeups", KEY_WAKEUPS, 0, 0, "Also show wake-ups and moves", 0 },
	{ "only", KEY_ONLY, "KINDS", 0,
	  "Only events of these kinds, such as frame,role,launch; live, each within a millisecond of its happening, if "
	  "none "
	  "of them is of the scheduler",
	  0 },
	{ 0 },
};

static const struct command_usage usage = {
	.name = "events",
	.text = "Prints every context switch as it happens: when, on which CPU, who left after running how long, who "
		"came after "
		"waiting how long.\v"
		"With --json every event of every kind, with all its fields.\n"
		"\n"
		"Examples:\n"
		"  tactus events -d 1\n"
		"  tactus events --wakeups -- sleep 1\n"
		"  tactus events --only frame --json -- ./game      a line a frame, at once\n"
		"  tactus events -i file --json",
	.takes = TAKES_EVENTS_OF_VIEW,
	.own = own,
	.take_own = take_own,
};

struct printer {
	struct source *source;
	bool json;
	bool headed;
	/* How long the thread that leaves has run: its account is closed by the time its event is shown. */
	u64 *since_ns;
};

static void name_of(char *into, const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	char comm[COMM_LEN + 1] = "", plain[COMM_LEN];

	if (thread)
		memcpy(comm, thread->comm.text, COMM_LEN);
	format_plain(plain, sizeof(plain), tid ? (thread ? comm : "?") : "idle");
	snprintf(into, NAME_SIZE, "%-15.15s [%6u]", plain, tid);
}

static void print_switch(struct printer *printer, const struct event_switch *event, const struct wait *ended)
{
	const struct threads *threads = &printer->source->threads;
	u64 now_ns = event->head.time_ns, *since_ns = &printer->since_ns[event->head.cpu];
	char prev[NAME_SIZE], next[NAME_SIZE], ran[TIME_SIZE] = "?", waited[TIME_SIZE] = "";

	name_of(prev, threads, event->head.tid);
	name_of(next, threads, event->next_tid);
	if (*since_ns)
		format_time(ran, sizeof(ran), now_ns - *since_ns);
	if (ended)
		format_time(waited, sizeof(waited), ended->to_ns - ended->from_ns);
	printf("%12.3f | %3u | %s %c (%8s) | %s (%8s)\n", (double)(now_ns - threads->first_ns) / NSEC_PER_MSEC,
	       event->head.cpu, prev, event->head.flags & EVENT_FLAG_PREEMPTED || !event->prev_state ? 'R' : ' ', ran,
	       next, ended ? waited : "-");
}

static void print_other(const struct printer *printer, const struct event_header *event)
{
	const struct threads *threads = &printer->source->threads;
	double at_ms = (double)(event->time_ns - threads->first_ns) / NSEC_PER_MSEC;
	char who[NAME_SIZE], other[NAME_SIZE];

	name_of(who, threads, event->tid);
	if (event->kind == EVENT_WAKEUP) {
		name_of(other, threads, ((const struct event_wakeup *)event)->waker_tid);
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
	const struct threads *threads = &printer->source->threads;
	char who[NAME_SIZE], other[NAME_SIZE], waited[TIME_SIZE];

	name_of(who, threads, event->head.tid);
	name_of(other, threads, event->other_tid);
	format_time(waited, sizeof(waited), event->wait_ns);
	printf("%12.3f | %3u | %s ", (double)(event->head.time_ns - threads->first_ns) / NSEC_PER_MSEC, event->head.cpu,
	       who);
	if (event->what == DECISION_PREEMPT)
		printf("pushes %s off CPU %u\n", other, event->to_cpu);
	else if (event->what == DECISION_MOVE)
		printf("goes from CPU %u to CPU %u\n", event->from_cpu, event->to_cpu);
	else if (event->what == DECISION_MISS)
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
	const struct threads *threads = &printer->source->threads;
	char who[NAME_SIZE];

	name_of(who, threads, event->tid);
	printf("%12.3f | %3u | %s ", (double)(s64)(event->time_ns - threads->first_ns) / NSEC_PER_MSEC, event->cpu,
	       who);
	print_event_words(stdout, event);
	putchar('\n');
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct printer *printer = data;

	if (only && event->kind != EVENT_LOST && !(only >> event->kind & 1))
		return;
	if (printer->json) {
		print_event_json(stdout, event);
		return;
	}
	if (only && event->kind != EVENT_LOST && !(HAS_WORDS >> event->kind & 1)) {
		print_words(printer, event);
		return;
	}
	if (!printer->headed)
		printf("    TIME(ms) | CPU | PREV                       (     RAN) | NEXT                     (  "
		       "WAITED)\n");
	printer->headed = true;
	if (event->kind == EVENT_LOST)
		printf("             | %3u | %" PRIu64 " events of this CPU%s%s are missing here\n", event->cpu,
		       (u64)((const struct event_lost *)event)->count, lost_kind(event) ? " of kind " : "",
		       lost_kind(event) ? lost_kind(event) : "");
	else if (event->kind == EVENT_SWITCH)
		print_switch(printer, (const struct event_switch *)event, ended);
	else if (event->kind == EVENT_DECISION)
		print_decision(printer, (const struct event_decision *)event);
	else if (with_wakeups || only)
		print_other(printer, event);
	if ((event->kind == EVENT_SWITCH || event->kind == EVENT_SAMPLE) &&
	    event->cpu < printer->source->threads.cpus_len)
		printer->since_ns[event->cpu] = event->time_ns;
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

int view_events(int argc, char **argv)
{
	struct source source = { .view = "events", .events = true, .on_event = on_event, .on_tick = on_tick };
	struct printer printer = { .source = &source };
	struct options options;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	printer.json = options.json;
	source.forgets_ended = true;
	if ((only & CUDA_KINDS) && !options.input) {
		fail("events", "calls into CUDA are watched by 'tactus cuda', and are here only in its recordings");
		return EXIT_USAGE;
	}
	if (only) {
		source.events = only & SCHED_KINDS;
		source.roles = only & ~SCHED_KINDS;
		source.frames = only & FRAME_KINDS;
		source.input = only & (1u << EVENT_DEVICE | 1u << EVENT_INPUT | 1u << EVENT_INPUT_WAKE);
		source.gpu = only & (1u << EVENT_SUBMIT | 1u << EVENT_FENCE | 1u << EVENT_GPU_MEMORY);
		source.prompt = !source.events;
	}
	/* A CPU number in an event is 16 bits wide, whatever a recording claims. */
	printer.since_ns = calloc(1 << 16, sizeof(*printer.since_ns));
	if (!printer.since_ns)
		return fail("events", "out of memory");
	source.data = &printer;
	status = source_play(&source, &options);
	source_print_losses(&source);
	source_free(&source);
	free(printer.since_ns);
	return status;
}
