// SPDX-License-Identifier: GPL-2.0
/* tactus frames: how smooth each presenting process is, a line a second and a summary at the end; with --why, what each
 * late frame's time went into. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/frames.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "source.h"

enum { KEY_WHY = 0x200, KEY_CSV, TIME_SIZE = 16, NAME_SIZE = COMM_LEN * 2, LINES_PER_HEAD = 20, BAR_WIDTH = 50 };

/* Sensors that frames need nothing of. */
#define NOT_NEEDED "launch,wine,input,socket,sound,names,runtime"

static bool with_why;
static const char *csv_path;

static const char *take_own(int key, const char *value)
{
	if (key == KEY_WHY)
		with_why = true;
	else
		csv_path = value;
	return NULL;
}

static const struct argp_option own[] = {
	{ "why", KEY_WHY, 0, 0, "For each late frame, what its time went into", 0 },
	{ "csv", KEY_CSV, "FILE", 0, "Write a row a frame, in the columns of MangoHud's logs", 0 },
	{ 0 },
};

static const struct command_usage usage = {
	.name = "frames",
	.text = "Watches the frames that programs present through GLX, EGL, Vulkan, Wayland, X11 or DRM: a line a "
		"second "
		"for each "
		"process, and at the end its summary, a histogram and its longest frames.\v"
		"LATE is a frame more than a quarter of the display's period late, or, where a program keeps no "
		"display's "
		"pace, one that took more than twice the median. DROPPED are periods that passed without a frame. 1% "
		"LOW and "
		"0.1% LOW are the rates of the slowest frames. A stream that stops for more than two seconds pauses; "
		"that is no "
		"late frame. VBLANKS MISSED are the display's periods between two flips, for programs that flip it "
		"by DRM themselves. COMPOSITOR is the time from a Wayland client's commit to the next present of the "
		"compositor that serves it; of several commits before that the last counts.\n"
		"\n"
		"Examples:\n"
		"  tactus frames                     whoever presents\n"
		"  tactus frames --why -- ./game     and why frames were late\n"
		"  tactus frames --csv log.csv -- ./game\n"
		"  tactus frames -i file --why       from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW,
	.own = own,
	.take_own = take_own,
};

struct show {
	const struct options *options;
	struct source source;
	struct frames frames;
	FILE *csv;
	u64 csv_from_ns;
	u64 line_at_ns;
	u64 lines;
};

static void plain_name(char *into, const struct comm *comm)
{
	char text[COMM_LEN + 1] = "";

	memcpy(text, comm->text, COMM_LEN);
	format_plain(into, COMM_LEN, text);
}

static void name_of(char *into, const struct show *show, u32 tid)
{
	const struct thread *thread = threads_by_tid(&show->source.threads, tid);

	if (thread)
		plain_name(into, &thread->comm);
	else
		strcpy(into, "?");
}

static double rate_of(u64 interval_ns)
{
	return interval_ns ? (double)NSEC_PER_SEC / (double)interval_ns : 0;
}

/* "RenderThread waited 12.9 ms on CPU 3 behind cc1 [4411]" */
static void print_cause(const struct show *show, const struct late_frame *late)
{
	const struct path_item *cause = &late->cause;
	char who[NAME_SIZE], other[NAME_SIZE], span[TIME_SIZE], usual[TIME_SIZE];

	name_of(who, show, cause->tid);
	name_of(other, show, cause->other_tid);
	format_time(span, sizeof(span), cause->ns);
	format_time(usual, sizeof(usual), late->usual_ns);
	if (!late->has_cause)
		printf("nothing is known of its time");
	else if (cause->kind == PATH_RAN && cause->tid == late->tid)
		printf("%s ran %s itself, usually %s", who, span, usual);
	else if (cause->kind == PATH_RAN)
		printf("it waited for %s [%u], which ran %s", who, cause->tid, span);
	else if (cause->kind == PATH_WAITED && cause->other_tid)
		printf("%s waited %s on CPU %u behind %s [%u]", who, span, cause->cpu, other, cause->other_tid);
	else if (cause->kind == PATH_WAITED)
		printf("%s waited %s for CPU %u", who, span, cause->cpu);
	else if (cause->tid != late->tid)
		printf("it waited for %s [%u], which slept %s", who, cause->tid, span);
	else if (cause->other_tid && (cause->woken_by & EVENT_FLAG_BY_THREAD))
		printf("%s slept %s, until %s [%u] woke it", who, span, other, cause->other_tid);
	else if (cause->other_tid)
		printf("%s slept %s, until a timer, a device or %s [%u] woke it", who, span, other, cause->other_tid);
	else
		printf("%s slept %s, until a timer or a device woke it", who, span);
}

/* Worth a word if it is a quarter of what the frame was late by. */
static void print_gpu(const struct late_frame *late)
{
	char span[TIME_SIZE], usual[TIME_SIZE];

	if (late->gpu_ns <= late->usual_gpu_ns || (late->gpu_ns - late->usual_gpu_ns) * 4 < late->late_ns)
		return;
	format_time(span, sizeof(span), late->gpu_ns);
	format_time(usual, sizeof(usual), late->usual_gpu_ns);
	printf("; %s of it in calls to the GPU's driver, usually %s", span, usual);
}

static void print_late(const struct show *show, const struct frame_process *process, const struct late_frame *late)
{
	char name[NAME_SIZE], interval[TIME_SIZE], by[TIME_SIZE];

	plain_name(name, &process->comm);
	format_time(interval, sizeof(interval), late->interval_ns);
	format_time(by, sizeof(by), late->late_ns);
	printf("%s [%u] frame %" PRIu64 ", %s, %s late", name, process->pid, late->number, interval, by);
	if (show->frames.explains) {
		fputs(": ", stdout);
		print_cause(show, late);
		if (late->moves)
			printf("; moved %u time%s", late->moves, late->moves == 1 ? "" : "s");
		print_gpu(late);
	}
	putchar('\n');
}

static void print_late_json(const struct show *show, const struct frame_process *process, const struct late_frame *late)
{
	static const char *const kinds[PATH_KINDS] = { "ran", "waited", "slept", "unknown" };
	char name[NAME_SIZE];

	printf("{\"late_frame\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"time_ns\":%" PRIu64 ",\"interval_ns\":%" PRIu64
	       ",\"late_ns\":%" PRIu64 ",\"target_ns\":%" PRIu64 ",\"moves\":%u,\"gpu_ns\":%" PRIu64,
	       late->number, process->pid, late->tid, late->at_ns, late->interval_ns, late->late_ns, late->target_ns,
	       late->moves, late->gpu_ns);
	if (late->has_cause) {
		name_of(name, show, late->cause.other_tid);
		printf(",\"cause\":\"%s\",\"cause_tid\":%u,\"cause_ns\":%" PRIu64
		       ",\"cause_cpu\":%u,\"usual_ns\":%" PRIu64 ",\"other_tid\":%u,\"other_comm\":",
		       kinds[late->cause.kind], late->cause.tid, late->cause.ns, late->cause.cpu, late->usual_ns,
		       late->cause.other_tid);
		print_json_string(stdout, late->cause.other_tid ? name : "");
		printf(",\"woken_by\":\"%s\"", late->cause.woken_by & EVENT_FLAG_BY_INTERRUPT ? "interrupt"
					       : late->cause.woken_by & EVENT_FLAG_BY_THREAD  ? "thread"
											      : "");
	}
	puts("}");
}

/* The columns that MangoHud writes; what is not known here is 0. */
static void csv_begin(FILE *csv)
{
	fputs("os,cpu,gpu,ram,kernel,driver,cpuscheduler\n,,,,,,\n"
	      "fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,"
	      "gpu_power,ram_used,swap_used,process_rss,elapsed\n",
	      csv);
}

static void csv_frame(struct show *show, const struct event_frame *event)
{
	if (!show->csv || !event->interval_ns || event->interval_ns > PACE_PAUSE_NS)
		return;
	if (!show->csv_from_ns)
		show->csv_from_ns = event->head.time_ns - event->interval_ns;
	fprintf(show->csv, "%.4f,%.6f,0,0,0,0,0,0,0,0,0,0,0,0,%" PRIu64 "\n", rate_of(event->interval_ns),
		(double)event->interval_ns / NSEC_PER_MSEC, event->head.time_ns - show->csv_from_ns);
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
	char name[NAME_SIZE], p[4][TIME_SIZE];

	plain_name(name, &process->comm);
	format_time(p[0], TIME_SIZE, times.p50_ns);
	format_time(p[1], TIME_SIZE, times.p95_ns);
	format_time(p[2], TIME_SIZE, times.p99_ns);
	format_time(p[3], TIME_SIZE, times.p999_ns);
	if (show->lines++ % LINES_PER_HEAD == 0)
		printf("%7s  %-15s %8s %8s %8s %8s %8s %8s %8s %5s %7s  LAST FRAMES\n", "PID", "COMM", "FPS", "P50",
		       "P95", "P99", "P99.9", "1% LOW", "0.1% LOW", "LATE", "DROPPED");
	printf("%7u  %-15.15s %8.1f %8s %8s %8s %8s %8.1f %8.1f %5" PRIu64 " %7" PRIu64 "  ", process->pid, name,
	       span_ns ? (double)process->line_frames * NSEC_PER_SEC / (double)span_ns : 0, p[0], p[1], p[2], p[3],
	       rate_of(times.low1_ns), rate_of(times.low01_ns), process->line_late, process->line_dropped);
	print_sparkline(process);
	putchar('\n');
}

static bool on_tick(void *data)
{
	struct show *show = data;
	u64 now_ns = clock_now_ns();

	if (!show->line_at_ns)
		show->line_at_ns = now_ns;
	if (now_ns - show->line_at_ns < NSEC_PER_SEC)
		return fflush(stdout) == 0;
	for (const struct frame_process *process = show->frames.processes; process && !show->options->json;
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

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	const struct frame_process *process = NULL;
	struct show *show = data;
	struct late_frame late;
	bool is_late = frames_take(&show->frames, &show->source.threads, event, &late, &process);

	(void)ended;
	/* Those of others, who serve a display, are in no process that is shown. */
	if (event->kind == EVENT_FRAME && process)
		csv_frame(show, (const struct event_frame *)event);
	if (!is_late || !with_why)
		return;
	if (show->options->json)
		print_late_json(show, process, &late);
	else
		print_late(show, process, &late);
}

static const struct column columns[] = {
	{ "pid", "PID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "frames", "FRAMES", CELL_NUMBER },
	{ "fps", "FPS", CELL_HUNDREDTHS },
	{ "p50_ns", "P50", CELL_TIME },
	{ "p95_ns", "P95", CELL_TIME },
	{ "p99_ns", "P99", CELL_TIME },
	{ "p999_ns", "P99.9", CELL_TIME },
	{ "max_ns", "LONGEST", CELL_TIME },
	{ "low1_fps", "1% LOW", CELL_HUNDREDTHS },
	{ "low01_fps", "0.1% LOW", CELL_HUNDREDTHS },
	{ "target_ns", "PACE", CELL_TIME },
	{ "late", "LATE", CELL_NUMBER },
	{ "dropped", "DROPPED", CELL_NUMBER },
	{ "stutters", "STUTTERS", CELL_NUMBER },
	{ "pauses", "PAUSES", CELL_NUMBER },
	{ "vblanks_missed", "VBLANKS MISSED", CELL_NUMBER },
	{ "compositor_p50_ns", "COMPOSITOR P50", CELL_TIME },
	{ "compositor_p99_ns", "COMPOSITOR P99", CELL_TIME },
	{ "composited", NULL, CELL_NUMBER },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_row(struct sheet *sheet, const struct frame_process *process)
{
	struct frame_times times = frame_times(process, 0), server = frame_server_times(process);
	char name[COMM_LEN + 1] = "";
	union cell cells[COLUMNS];

	memcpy(name, process->comm.text, COMM_LEN);
	cells[0].number = process->pid;
	cells[1].text = name;
	cells[2].number = process->frames;
	cells[3].number = (u64)(times.sum_ns ? 100.0 * (double)times.len * NSEC_PER_SEC / (double)times.sum_ns : 0);
	cells[4].number = times.p50_ns;
	cells[5].number = times.p95_ns;
	cells[6].number = times.p99_ns;
	cells[7].number = times.p999_ns;
	cells[8].number = times.max_ns;
	cells[9].number = (u64)(100 * rate_of(times.low1_ns));
	cells[10].number = (u64)(100 * rate_of(times.low01_ns));
	cells[11].number = process->target_ns;
	cells[12].number = process->late;
	cells[13].number = process->dropped;
	cells[14].number = process->stutters;
	cells[15].number = process->pauses;
	cells[16].number = process->vblanks_missed;
	cells[17].number = server.len ? server.p50_ns : CELL_NONE;
	cells[18].number = server.len ? server.p99_ns : CELL_NONE;
	cells[19].number = server.len;
	sheet_row(sheet, cells);
}

/* How many frames took how long, in sixteen steps from nothing to twice the 99th percentile. */
static void print_histogram(const struct frame_process *process)
{
	enum { STEPS = 16 };
	struct frame_times times = frame_times(process, 0);
	u64 step_ns = times.p99_ns * 2 / STEPS + 1, counts[STEPS + 1] = { 0 }, most = 1;
	char name[NAME_SIZE], edge[TIME_SIZE];

	for (size_t i = 0; i < process->len; i++) {
		u64 at = process->intervals_ns[i] / step_ns;

		counts[at < STEPS ? at : STEPS]++;
	}
	for (u32 i = 0; i <= STEPS; i++)
		most = counts[i] > most ? counts[i] : most;
	plain_name(name, &process->comm);
	printf("\n%s [%u]: frames by how long they took\n", name, process->pid);
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
		char interval[TIME_SIZE];

		format_time(interval, sizeof(interval), frame->interval_ns);
		printf("  frame %" PRIu64 " at %.3f s: %s", frame->number,
		       (double)(frame->at_ns - show->source.threads.first_ns) / NSEC_PER_SEC, interval);
		if (show->frames.explains && frame->late_ns) {
			fputs(": ", stdout);
			print_cause(show, frame);
		}
		putchar('\n');
	}
}

static void print_end(struct show *show)
{
	struct sheet sheet;

	if (!show->frames.processes) {
		note("no frame was presented");
		return;
	}
	if (!show->options->json && show->lines)
		putchar('\n');
	sheet_open(&sheet, stdout, show->options->json, columns, COLUMNS);
	for (const struct frame_process *process = show->frames.processes; process; process = process->next)
		add_row(&sheet, process);
	if (show->frames.displays_refused)
		note("%" PRIu64 " periods of displays are not counted: there are too many displays",
		     show->frames.displays_refused);
	if (sheet_close(&sheet) || show->frames.failed)
		note("some frames are missing: there was no memory for them");
	for (const struct frame_process *process = show->frames.processes; process && !show->options->json;
	     process = process->next) {
		if (!process->len)
			continue;
		print_histogram(process);
		print_worst(show, process);
	}
}

int view_frames(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	if (csv_path) {
		show.csv = fopen(csv_path, "we");
		if (!show.csv)
			return fail(csv_path, "cannot write: %m");
		csv_begin(show.csv);
	}
	frames_init(&show.frames, with_why);
	show.source = (struct source){ .view = "frames",
				       .forgets_ended = true,
				       .roles = true,
				       .frames = true,
				       .gpu = with_why,
				       .events = with_why,
				       .unfollowed = !with_why,
				       .without = NOT_NEEDED,
				       .on_event = on_event,
				       .on_tick = on_tick,
				       .data = &show };
	status = source_play(&show.source, &options);
	if (show.source.threads.last_ns)
		print_end(&show);
	if (show.csv && fclose(show.csv) && !status)
		status = fail(csv_path, "cannot write: %m");
	source_print_losses(&show.source);
	frames_free(&show.frames);
	source_free(&show.source);
	return status;
}
