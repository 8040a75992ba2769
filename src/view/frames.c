// SPDX-License-Identifier: GPL-2.0
/* tactus frames: how smooth each presenting process is, a line a second and a summary at the end; with --why, what each
 * late frame's time went into. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/loop.h"
#include "../base/output.h"
#include "../base/say.h"
#include "../model/frames.h"
#include "../sensor/sensor.h"
#include "../sink/columns.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/capture.h"
#include "frame_rows.h"
#include "frame_words.h"
#include "stack_words.h"
#include "tables.h"
#include "thread_words.h"
#include "view.h"

enum { KEY_WHY = 0x200, KEY_CSV, KEY_EACH, TIME_SIZE = 16, LINES_PER_HEAD = 20, BAR_WIDTH = 50 };

/* Sensors that frames need nothing of. */
#define NOT_NEEDED "launch,wine,input,socket,sound,names,runtime"

struct chosen {
	bool with_why;
	bool with_each;
	const char *csv_path;
	enum stack_form stacks;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_CSV)
		chosen->csv_path = value;
	else if (key == KEY_EACH)
		chosen->with_each = true;
	else
		chosen->with_why = true;
	if (key == KEY_FOLDED || (key == KEY_STACKS && !chosen->stacks))
		chosen->stacks = key == KEY_FOLDED ? STACKS_FOLDED : STACKS_LISTED;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "why", KEY_WHY, 0, 0, "Explain each late frame: what its time went into", 0 },
	{ "each", KEY_EACH, 0, 0, "Print all that is known of each frame", 0 },
	{ "csv", KEY_CSV, "FILE", 0, "Write a row per frame, MangoHud's columns first", 0 },
	STACK_OPTIONS,
	{ 0 },
};

static bool fits(const void *data, const struct options *options, const char *option)
{
	const struct chosen *chosen = data;

	return stacks_fit(chosen->stacks, options, option);
}

const struct command_usage frames_usage = {
	.name = "frames",
	.text = "Shows the frames that programs present through GLX, EGL, Vulkan, Wayland, X11 or DRM. Prints one "
		"line per second for each process, and a summary, a histogram and the longest frames at the end.\v"
		"LATE counts frames that came more than a quarter of the display's period after their time or, if "
		"the program does not follow a display's period, took more than twice the median. DROPPED counts "
		"periods without a frame. 1% LOW and 0.1% LOW are the rates of the slowest frames. After "
		"more than two seconds without one it has paused. VBLANKS MISSED counts the "
		"display's periods between two flips, for programs that flip it by DRM themselves. COMPOSITOR is "
		"the time from a Wayland client's commit to the next present of its compositor.\n"
		"--each: SUBMIT is from the last submit to the present, SHOWN from that to the display, PHASE from the "
		"last "
		"vblank, ANIM ERR what intervals differ from those in which frames were begun; a dash: not known.\n"
		"--stacks implies --why and adds in which functions they waited.\n"
		"\n"
		"Examples:\n"
		"  tactus frames                     whoever presents\n"
		"  tactus frames --why -- ./game     and why frames were late\n"
		"  tactus frames --each --csv log.csv -- ./game\n"
		"  tactus frames -i file --why       from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct show {
	const struct options *options;
	struct chosen chosen;
	struct capture capture;
	struct stacks stacks;
	struct frames frames;
	FILE *csv;
	u64 csv_from_ns;
	u64 line_at_ns;
	u64 lines;
};

static void name_of(char *into, const struct show *show, u32 tid)
{
	thread_name(into, &show->capture.threads, tid);
}

static double rate_of(u64 interval_ns)
{
	return interval_ns ? (double)NSEC_PER_SEC / (double)interval_ns : 0;
}

static void print_late(const struct show *show, const struct frame_process *process, const struct late_frame *late)
{
	char who[THREAD_WORDS_SIZE], interval[TIME_SIZE], by[TIME_SIZE], words[FRAME_WORDS_SIZE];

	comm_words(who, &process->comm, process->pid, THREAD_TIGHT);
	format_time(interval, sizeof(interval), late->interval_ns);
	format_time(by, sizeof(by), late->late_ns);
	late_frame_words(words, sizeof(words), &show->capture.threads, late);
	printf("%s frame %" PRIu64 ", %s, %s late", who, late->number, interval, by);
	if (show->frames.explains)
		printf(": %s", words);
	putchar('\n');
}

static void print_late_json(const struct show *show, const struct frame_process *process, const struct late_frame *late)
{
	static const char *const kinds[PATH_KINDS] = { "ran", "waited", "slept", "unknown" };
	struct json json = { .out = stdout };
	char name[THREAD_NAME_SIZE];

	json_record(&json, "late_frame", true);
	json_u64(&json, "late_frame", late->number);
	json_u64(&json, "pid", process->pid);
	json_u64(&json, "tid", late->tid);
	json_u64(&json, "time_ns", late->at_ns);
	json_u64(&json, "interval_ns", late->interval_ns);
	json_u64(&json, "late_ns", late->late_ns);
	json_u64(&json, "target_ns", late->target_ns);
	json_u64(&json, "moves", late->moves);
	json_u64(&json, "gpu_ns", late->gpu_ns);
	if (late->has_cause) {
		name_of(name, show, late->cause.other_tid);
		json_string(&json, "cause", kinds[late->cause.kind]);
		json_u64(&json, "cause_tid", late->cause.tid);
		json_u64(&json, "cause_ns", late->cause.ns);
		json_u64(&json, "cause_cpu", late->cause.cpu);
		json_u64(&json, "usual_ns", late->usual_ns);
		json_u64(&json, "other_tid", late->cause.other_tid);
		json_string(&json, "other_comm", late->cause.other_tid ? name : "");
		json_string(&json, "woken_by",
			    late->cause.woken_by & EVENT_FLAG_BY_INTERRUPT ? "interrupt"
			    : late->cause.woken_by & EVENT_FLAG_BY_THREAD  ? "thread"
									   : "");
	}
	late_parts_json(&json, &show->capture.threads, late);
	json_object_end(&json);
	json_line_end(&json);
}

static bool open_csv(void *data)
{
	struct show *show = data;
	struct output_rule rule = { .beginning = FRAMES_CSV_BEGINNING, .force = show->options->force };
	struct reason why;

	if (!show->chosen.csv_path)
		return true;
	show->csv = output_text(show->chosen.csv_path, &rule, &why);
	if (!show->csv) {
		fail(show->chosen.csv_path, "cannot write: %s", why.text);
		return false;
	}
	frame_csv_heads(show->csv);
	return true;
}

static void show_record(struct show *show, const struct frame_process *process, const struct frame_record *record)
{
	const struct threads *threads = &show->capture.threads;
	u64 interval_ns = record->frame.interval_ns;

	if (show->csv && interval_ns && !show->csv_from_ns)
		show->csv_from_ns = record->frame.at_ns - interval_ns;
	if (show->csv && interval_ns)
		frame_csv_row(show->csv, threads, process, record, show->csv_from_ns);
	if (!show->chosen.with_each || show->chosen.stacks == STACKS_FOLDED)
		return;
	if (show->options->json) {
		frame_row_json(threads, process, record);
		return;
	}
	if (show->lines++ % LINES_PER_HEAD == 0)
		frame_row_heads();
	frame_row(threads, process, record);
}

/* Those of which no more can come. `now_ns`: ~0 at the end. */
static void show_records(struct show *show, u64 now_ns)
{
	const struct frame_process *process;
	struct frame_record record;

	while (frames_next_record(&show->frames, now_ns, &record, &process))
		if (!show->capture.before_window)
			show_record(show, process, &record);
}

/* The last frames, the tallest three periods and more. */
static void print_sparkline(const struct frame_process *process)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	u64 base_ns = process->target_ns;

	if (!base_ns && process->streams)
		base_ns = process->streams->pace.median_ns;
	for (u32 i = 0; i < process->shown_len; i++) {
		u32 at = (process->shown_next + FRAMES_SHOWN - process->shown_len + i) % FRAMES_SHOWN;
		u64 height = base_ns ? process->shown_ns[at] * 8 / (base_ns * 3) : 0;

		fputs(bars[height < 8 ? height : 7], stdout);
	}
}

static void print_line(struct show *show, const struct frame_process *process, u64 span_ns)
{
	struct frame_times times = frame_times(process, process->line_from);
	char name[THREAD_NAME_SIZE], padded[2 * THREAD_NAME_SIZE], p[4][TIME_SIZE];

	comm_name(name, &process->comm);
	text_in_columns(padded, sizeof(padded), name, THREAD_NAME_SIZE - 1);
	format_time(p[0], TIME_SIZE, times.p50_ns);
	format_time(p[1], TIME_SIZE, times.p95_ns);
	format_time(p[2], TIME_SIZE, times.p99_ns);
	format_time(p[3], TIME_SIZE, times.p999_ns);
	if (show->lines++ % LINES_PER_HEAD == 0)
		printf("%7s  %-15s %8s %8s %8s %8s %8s %8s %8s %5s %7s  LAST FRAMES\n", "PID", "COMM", "FPS", "P50",
		       "P95", "P99", "P99.9", "1% LOW", "0.1% LOW", "LATE", "DROPPED");
	printf("%7u  %s %8.1f %8s %8s %8s %8s %8.1f %8.1f %5" PRIu64 " %7" PRIu64 "  ", process->pid, padded,
	       span_ns ? (double)process->line_frames * NSEC_PER_SEC / (double)span_ns : 0, p[0], p[1], p[2], p[3],
	       rate_of(times.low1_ns), rate_of(times.low01_ns), process->line_late, process->line_dropped);
	print_sparkline(process);
	putchar('\n');
}

static bool on_tick(void *data)
{
	struct show *show = data;
	u64 now_ns = clock_now_ns();

	show_records(show, now_ns);
	if (!show->line_at_ns)
		show->line_at_ns = now_ns;
	if (now_ns - show->line_at_ns < NSEC_PER_SEC)
		return fflush(stdout) == 0;
	for (const struct frame_process *process = show->frames.processes;
	     process && !show->options->json && !show->chosen.with_each && show->chosen.stacks != STACKS_FOLDED;
	     process = process->next)
		if (process->line_frames)
			print_line(show, process, now_ns - show->line_at_ns);
	frames_turn_over(&show->frames);
	show->line_at_ns = now_ns;
	if (show->csv)
		fflush(show->csv);
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

/* Where the thread that a frame waited for was longest without a CPU. */
static void count_stacks(struct show *show, const struct late_frame *late)
{
	const struct event_stack *stack = NULL;

	if (show->chosen.stacks && late->has_cause && late->cause.kind != PATH_RAN)
		stack = stacks_longest(&show->stacks, late->cause.tid, late->at_ns - late->interval_ns, late->at_ns);
	if (stack)
		stacks_count(&show->stacks, &show->capture.threads, stack, stack->off_ns);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	const struct frame_process *process = NULL;
	struct show *show = data;
	struct late_frame late;
	bool is_late = frames_handle(&show->frames, &show->capture.threads, event, &late, &process);

	(void)ended;
	if (show->chosen.stacks)
		stacks_handle(&show->stacks, event);
	if (event->kind == EVENT_FRAME || event->kind == EVENT_VBLANK)
		show_records(show, event->time_ns);
	if (!is_late || !show->chosen.with_why || show->capture.before_window)
		return;
	count_stacks(show, &late);
	if (show->chosen.stacks == STACKS_FOLDED)
		return;
	if (show->options->json)
		print_late_json(show, process, &late);
	else
		print_late(show, process, &late);
}

#define FRAMES_TABLE(COLUMN, SHOWN)                                    \
	COLUMN(FRAMES, pid, "PID", CELL_NUMBER)                        \
	COLUMN(FRAMES, comm, "COMM", CELL_TEXT)                        \
	COLUMN(FRAMES, frames, "FRAMES", CELL_NUMBER)                  \
	COLUMN(FRAMES, fps, "FPS", CELL_HUNDREDTHS)                    \
	COLUMN(FRAMES, p50_ns, "P50", CELL_TIME)                       \
	COLUMN(FRAMES, p95_ns, "P95", CELL_TIME)                       \
	COLUMN(FRAMES, p99_ns, "P99", CELL_TIME)                       \
	COLUMN(FRAMES, p999_ns, "P99.9", CELL_TIME)                    \
	COLUMN(FRAMES, max_ns, "LONGEST", CELL_TIME)                   \
	COLUMN(FRAMES, low1_fps, "1% LOW", CELL_HUNDREDTHS)            \
	COLUMN(FRAMES, low01_fps, "0.1% LOW", CELL_HUNDREDTHS)         \
	COLUMN(FRAMES, target_ns, "PACE", CELL_TIME)                   \
	COLUMN(FRAMES, late, "LATE", CELL_NUMBER)                      \
	COLUMN(FRAMES, dropped, "DROPPED", CELL_NUMBER)                \
	COLUMN(FRAMES, stutters, "STUTTERS", CELL_NUMBER)              \
	COLUMN(FRAMES, pauses, "PAUSES", CELL_NUMBER)                  \
	COLUMN(FRAMES, vblanks_missed, "VBLANKS MISSED", CELL_NUMBER)  \
	COLUMN(FRAMES, compositor_p50_ns, "COMPOSITOR P50", CELL_TIME) \
	COLUMN(FRAMES, compositor_p99_ns, "COMPOSITOR P99", CELL_TIME) \
	COLUMN(FRAMES, composited, NULL, CELL_NUMBER)
TABLE_OF(columns, FRAMES);
const struct table_columns frames_tables[] = { { columns, FRAMES_CELLS },
					       { frame_part_columns, FRAME_PART_CELLS },
					       { 0 } };
static const struct table_look look = {
	.drops = "compositor_p50,compositor_p99,vblanks_missed,pauses,p999_ns,low01_fps,p95,"
		 "stutters,target",
	.alarms = "late,dropped,stutters,vblanks_missed"
};

static void add_row(struct table *table, const struct frame_process *process)
{
	struct frame_times times = frame_times(process, 0), server = frame_server_times(process);
	char name[COMM_TEXT_SIZE];
	union cell cells[FRAMES_CELLS];

	comm_text(name, &process->comm);
	cells[FRAMES_pid].number = process->pid;
	cells[FRAMES_comm].text = name;
	cells[FRAMES_frames].number = process->frames;
	cells[FRAMES_fps].number = (u64)(times.sum_ns ? 100.0 * (double)times.len * NSEC_PER_SEC / (double)times.sum_ns
						      : 0);
	cells[FRAMES_p50_ns].number = times.p50_ns;
	cells[FRAMES_p95_ns].number = times.p95_ns;
	cells[FRAMES_p99_ns].number = times.p99_ns;
	cells[FRAMES_p999_ns].number = times.p999_ns;
	cells[FRAMES_max_ns].number = times.max_ns;
	cells[FRAMES_low1_fps].number = (u64)(100 * rate_of(times.low1_ns));
	cells[FRAMES_low01_fps].number = (u64)(100 * rate_of(times.low01_ns));
	cells[FRAMES_target_ns].number = process->target_ns;
	cells[FRAMES_late].number = process->late;
	cells[FRAMES_dropped].number = process->dropped;
	cells[FRAMES_stutters].number = process->stutters;
	cells[FRAMES_pauses].number = process->pauses;
	cells[FRAMES_vblanks_missed].number = process->vblanks_missed;
	cells[FRAMES_compositor_p50_ns].number = server.len ? server.p50_ns : CELL_NONE;
	cells[FRAMES_compositor_p99_ns].number = server.len ? server.p99_ns : CELL_NONE;
	cells[FRAMES_composited].number = server.len;
	table_row(table, cells);
}

/* How many frames took how long, in sixteen steps from nothing to twice the 99th percentile. */
static void print_histogram(const struct frame_process *process)
{
	enum { STEPS = 16 };
	struct frame_times times = frame_times(process, 0);
	u64 step_ns = times.p99_ns * 2 / STEPS + 1, counts[STEPS + 1] = { 0 }, most = 1;
	char who[THREAD_WORDS_SIZE], edge[TIME_SIZE];

	for (size_t i = 0; i < process->len; i++) {
		u64 at = process->intervals_ns[i] / step_ns;

		counts[at < STEPS ? at : STEPS]++;
	}
	for (u32 i = 0; i <= STEPS; i++)
		most = counts[i] > most ? counts[i] : most;
	comm_words(who, &process->comm, process->pid, THREAD_TIGHT);
	printf("\n%s: frames by how long they took\n", who);
	for (u32 i = 0; i <= STEPS; i++) {
		if (!counts[i])
			continue;
		format_time(edge, sizeof(edge), (i + 1) * step_ns);
		printf("%s %8s %8" PRIu64 " ", i < STEPS ? " under" : "  over", i < STEPS ? edge : "that", counts[i]);
		for (u64 bar = 0; bar < counts[i] * BAR_WIDTH / most; bar++)
			putchar('#');
		putchar('\n');
	}
}

static void print_worst(const struct show *show, const struct frame_process *process)
{
	puts("longest frames:");
	for (u32 i = 0; i < process->worst_len; i++) {
		const struct late_frame *frame = &process->worst[i];
		char interval[TIME_SIZE], words[FRAME_WORDS_SIZE];

		format_time(interval, sizeof(interval), frame->interval_ns);
		late_cause_words(words, sizeof(words), &show->capture.threads, frame);
		printf("  frame %" PRIu64 " at %.3f s: %s", frame->number,
		       (double)(frame->at_ns - show->capture.threads.first_ns) / NSEC_PER_SEC, interval);
		if (show->frames.explains && frame->late_ns)
			printf(": %s", words);
		putchar('\n');
	}
}

static bool any_frames(const struct show *show)
{
	const struct frame_process *process = show->frames.processes;

	while (process && !process->frames)
		process = process->next;
	return process;
}

static void on_window(void *data)
{
	struct show *show = data;

	frames_restart(&show->frames);
}

int frames_print_processes(const struct frames *frames, const struct options *options)
{
	struct table table;

	table_open_for(&table, options, "frames", columns, FRAMES_CELLS, ROWS_ALL, &look);
	for (const struct frame_process *process = frames->processes; process; process = process->next)
		if (process->frames)
			add_row(&table, process);
	return table_close(&table);
}

static void print_end(struct show *show)
{
	int error;

	show_records(show, ~0ull);
	if (!any_frames(show)) {
		note("no frame was presented");
		return;
	}
	if (show->chosen.stacks == STACKS_FOLDED) {
		stacks_print(&show->stacks, show->options, STACKS_FOLDED, "was away", ROWS_ALL);
		return;
	}
	if (!show->options->json && show->lines)
		putchar('\n');
	/* A script takes the last lines for the processes. */
	if (show->frames.explains && show->options->json)
		frame_parts_table(show->options, &show->frames);
	error = frames_print_processes(&show->frames, show->options);
	if (show->frames.displays_refused)
		note("%" PRIu64 " periods of displays are not counted: there are too many displays",
		     show->frames.displays_refused);
	if (error || show->frames.failed)
		note("some frames are missing: there was no memory for them");
	if (show->frames.explains && !show->options->json)
		frame_parts_table(show->options, &show->frames);
	for (const struct frame_process *process = show->frames.processes; process && !show->options->json;
	     process = process->next) {
		if (!process->len)
			continue;
		print_histogram(process);
		print_worst(show, process);
	}
	if (show->chosen.stacks)
		stacks_print(&show->stacks, show->options, STACKS_LISTED, "had no CPU for", STACKS_SHOWN);
}

/* A CSV on standard output is alone there: what is shown besides goes to stderr. */
static const char *csv_conflict(struct options *options, const char *csv_path)
{
	if (!csv_path || !output_is_stdout(csv_path))
		return NULL;
	if (options->command)
		return "the command writes to standard output too: name a file for the CSV";
	if (options->json && !options->report)
		return "the JSON goes to standard output: name a file for the CSV";
	options->output_is_stdout = true;
	return NULL;
}

int view_frames(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	const char *conflict;
	bool explains;
	int status;

	options_parse(&options, &frames_usage, &show.chosen, argc, argv);
	table_check(&options, "frames", frames_tables);
	if (options.inputs.len > 1 && show.chosen.csv_path) {
		fail("frames", "several recordings are read and one file is written: name one recording");
		return EXIT_USAGE;
	}
	if (output_is_input(show.chosen.csv_path, options.input)) {
		fail("frames", "what is read and what is written are one file");
		return EXIT_USAGE;
	}
	conflict = csv_conflict(&options, show.chosen.csv_path);
	if (!conflict)
		conflict = stacks_conflict(&options, show.chosen.stacks);
	if (conflict)
		return fail("frames", "%s", conflict), EXIT_USAGE;
	explains = show.chosen.with_why || show.chosen.with_each;
	frames_init(&show.frames, explains);
	show.frames.keeps_records = explains || show.chosen.csv_path;
	show.capture = (struct capture){ .request = { .view = "frames",
						      .groups = EVENTS_ROLES | EVENTS_FRAMES |
								(explains ? EVENTS_SCHED | EVENTS_GPU : 0) |
								(show.chosen.stacks ? EVENTS_STACKS : 0),
						      .names_stacks = show.chosen.stacks,
						      .stacks_over_ns = STACKS_OVER_NS,
						      .no_sched_hooks = !explains,
						      .soon = explains,
						      .forgets_ended = true,
						      .without = NOT_NEEDED,
						      .on_outputs = open_csv,
						      .wants_before = true,
						      .on_window = on_window,
						      .on_event = on_event,
						      .on_tick = on_tick,
						      .data = &show } };
	status = capture_run(&show.capture, &options);
	if (show.capture.threads.last_ns)
		print_end(&show);
	if (show.csv && !output_close(show.csv) && !status)
		status = EXIT_FAILURE;
	capture_print_losses(&show.capture);
	frames_free(&show.frames);
	stacks_free(&show.stacks);
	capture_free(&show.capture);
	return status;
}
