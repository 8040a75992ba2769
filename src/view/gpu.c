// SPDX-License-Identifier: GPL-2.0
/* tactus gpu: what threads submit to GPUs and how long the driver and the GPU take over it; calls and gaps that stand
 * out as they happen, and tables at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../base/sort.h"
#include "../model/gpu.h"
#include "../model/submits.h"
#include "../sensor/sensor.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "tables.h"
#include "thread_words.h"
#include "view.h"

enum { ROWS_DEFAULT = 20, TIME_SIZE = 16, P50 = 500000, P99 = 990000 };

/* Sensors that it needs nothing of. */
#define NOT_NEEDED "launch,wine,input,frame,socket,sound,learned,names,runtime"

const struct command_usage gpu_usage = {
	.name = "gpu",
	.text = "Shows what threads submit to GPUs: how often, how long the driver's ioctl takes, how long it waits in "
		"a queue and runs on a ring (drm_sched), how long until the GPU has done it (dma_fence), how long the "
		"GPU was idle, and the GPU memory in use, as far as the driver reports it.\v"
		"KIND is what was submitted: commands, a flip (a frame put on a screen), a fence (vgem), a channel "
		"(NVIDIA, whose commands then go through memory, unseen), memory (NVIDIA's moves). A stall is an "
		"ioctl or a gap more than twice as long as the fourth longest of the last 256, and at least 1 ms "
		"(ioctl) or 5 ms (gap); work that a GPU takes long over, or that waits long in its queue, is judged "
		"the "
		"same way, from 5 ms. Each is printed as it happens. A gap of more than two seconds is a pause.\n"
		"QUEUE is the time in the scheduler's queue; BEHIND, on the ring behind the job before; RUN, on the "
		"ring "
		"alone. BUSY is from the first job or fence to the last, of the work that is watched; between them "
		"IDLES "
		"are periods without any. A driver that reports neither is named at the end.\n"
		"\n"
		"Examples:\n"
		"  tactus gpu -d 10                  whoever submits\n"
		"  tactus gpu -- ./game\n"
		"  tactus gpu -i file --json         from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
};

struct show {
	const struct options *options;
	struct capture capture;
	struct submits submits;
};

static const char *const stall_names[] = { [STALL_IOCTL] = "ioctl",
					   [STALL_GAP] = "gap",
					   [STALL_FENCE] = "fence",
					   [STALL_QUEUE] = "queue",
					   [STALL_RUN] = "run" };
static const char *const stall_words[] = { [STALL_IOCTL] = "the ioctl took",
					   [STALL_GAP] = "none for",
					   [STALL_FENCE] = "the GPU took",
					   [STALL_QUEUE] = "it was queued for",
					   [STALL_RUN] = "the ring took" };

/* Who, what and on what it was, of both sorts of stalls. */
struct stalled {
	u32 pid, tid;
	const struct comm *comm; /* NULL: not known */
	char driver[COMM_TEXT_SIZE], what[COMM_TEXT_SIZE];
};

static struct stalled stalled(const struct show *show, const struct stall *stall)
{
	const struct thread *thread = threads_by_tid(&show->capture.threads, stall->tid);
	struct stalled found = { .tid = stall->tid };

	if (stall->row) {
		found = (struct stalled){ stall->row->pid, stall->row->tid, &stall->row->comm, "", "" };
		snprintf(found.driver, sizeof(found.driver), "%s", gpu_driver_name(stall->row->driver));
		snprintf(found.what, sizeof(found.what), "%s", gpu_work_name(stall->row->work));
		return found;
	}
	if (thread) {
		found.pid = thread->pid;
		found.comm = &thread->comm;
	}
	comm_text(found.driver, stall->driver);
	comm_text(found.what, stall->timeline);
	return found;
}

static void print_stall_json(const struct show *show, const struct stall *stall)
{
	struct stalled of = stalled(show, stall);
	struct json json = { .out = stdout };

	json_record(&json, "stall", true);
	json_string(&json, "stall", stall_names[stall->kind]);
	json_u64(&json, "time_ns", stall->at_ns);
	json_u64(&json, "pid", of.pid);
	json_u64(&json, "tid", of.tid);
	json_string(&json, "driver", of.driver);
	json_string(&json, "kind", of.what);
	json_u64(&json, "span_ns", stall->span_ns);
	json_u64(&json, "usual_ns", stall->usual_ns);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_stall(const struct show *show, const struct stall *stall)
{
	char who[THREAD_WORDS_SIZE], span[TIME_SIZE], usual[TIME_SIZE], what[2 * COMM_TEXT_SIZE],
		driver[2 * COMM_TEXT_SIZE];
	struct stalled of;

	if (show->options->json) {
		print_stall_json(show, stall);
		return;
	}
	of = stalled(show, stall);
	comm_words(who, of.comm, of.tid, THREAD_TIGHT);
	format_plain(what, sizeof(what), of.what);
	format_plain(driver, sizeof(driver), of.driver);
	format_time(span, sizeof(span), stall->span_ns);
	format_time(usual, sizeof(usual), stall->usual_ns);
	printf("%10.3f s  %s, %s of %s: %s %s, usually %s at most\n",
	       (double)(stall->at_ns - show->capture.threads.first_ns) / NSEC_PER_SEC, who, what, driver,
	       stall_words[stall->kind], span, usual);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct stall stall;

	(void)ended;
	if (submits_handle(&show->submits, &show->capture.threads, event, &stall) &&
	    !show->capture.request.interval_ns && !show->capture.before_window)
		print_stall(show, &stall);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

#define SUBMIT_TABLE(COLUMN, SHOWN)                                \
	COLUMN(SUBMIT, row, NULL, CELL_TEXT)                       \
	COLUMN(SUBMIT, pid, "PID", CELL_NUMBER)                    \
	COLUMN(SUBMIT, tid, "TID", CELL_NUMBER)                    \
	COLUMN(SUBMIT, comm, "COMM", CELL_TEXT)                    \
	COLUMN(SUBMIT, driver, "DRIVER", CELL_TEXT)                \
	COLUMN(SUBMIT, kind, "KIND", CELL_TEXT)                    \
	COLUMN(SUBMIT, submits, "SUBMITS", CELL_NUMBER)            \
	COLUMN(SUBMIT, submits_per_s, "A SECOND", CELL_HUNDREDTHS) \
	COLUMN(SUBMIT, interval_p50_ns, "EVERY P50", CELL_TIME)    \
	COLUMN(SUBMIT, interval_p99_ns, "P99", CELL_TIME)          \
	COLUMN(SUBMIT, ioctl_p50_ns, "IOCTL P50", CELL_TIME)       \
	COLUMN(SUBMIT, ioctl_p99_ns, "P99", CELL_TIME)             \
	COLUMN(SUBMIT, ioctl_max_ns, "MAX", CELL_TIME)             \
	COLUMN(SUBMIT, refused, "REFUSED", CELL_NUMBER)            \
	COLUMN(SUBMIT, ioctl_stalls, "IOCTL STALLS", CELL_NUMBER)  \
	COLUMN(SUBMIT, gap_stalls, "GAP STALLS", CELL_NUMBER)
TABLE_OF(submit_columns, SUBMIT);
static const struct table_look submit_look = { .drops = "pid,interval_p50,interval_p99,gap_stalls,ioctl_p50",
					       .alarms = "refused,ioctl_stalls,gap_stalls" };

static void add_submits(struct table *table, const struct submit_row *row)
{
	char comm[COMM_TEXT_SIZE];
	union cell cells[SUBMIT_CELLS];

	comm_text(comm, &row->comm);
	cells[SUBMIT_row].text = "submits";
	cells[SUBMIT_pid].number = row->pid;
	cells[SUBMIT_tid].number = row->tid;
	cells[SUBMIT_comm].text = comm;
	cells[SUBMIT_driver].text = gpu_driver_name(row->driver);
	cells[SUBMIT_kind].text = gpu_work_name(row->work);
	cells[SUBMIT_submits].number = row->submits;
	cells[SUBMIT_submits_per_s].number = submit_rate(row);
	cells[SUBMIT_interval_p50_ns].number = hist_percentile(&row->interval_ns, P50);
	cells[SUBMIT_interval_p99_ns].number = hist_percentile(&row->interval_ns, P99);
	cells[SUBMIT_ioctl_p50_ns].number = hist_percentile(&row->took_ns, P50);
	cells[SUBMIT_ioctl_p99_ns].number = hist_percentile(&row->took_ns, P99);
	cells[SUBMIT_ioctl_max_ns].number = row->took_ns.max;
	cells[SUBMIT_refused].number = row->refused;
	cells[SUBMIT_ioctl_stalls].number = row->ioctl_stalls;
	cells[SUBMIT_gap_stalls].number = row->gap_stalls;
	table_row(table, cells);
}

#define FENCE_TABLE(COLUMN, SHOWN)                        \
	COLUMN(FENCE, row, NULL, CELL_TEXT)               \
	COLUMN(FENCE, driver, "FENCES OF", CELL_TEXT)     \
	COLUMN(FENCE, timeline, "TIMELINE", CELL_TEXT)    \
	COLUMN(FENCE, fences, "DONE", CELL_NUMBER)        \
	COLUMN(FENCE, p50_ns, "P50", CELL_TIME)           \
	COLUMN(FENCE, p99_ns, "P99", CELL_TIME)           \
	COLUMN(FENCE, max_ns, "LONGEST", CELL_TIME)       \
	COLUMN(FENCE, busy_percent, "BUSY", CELL_PERCENT) \
	COLUMN(FENCE, idles, "IDLES", CELL_NUMBER)        \
	COLUMN(FENCE, idle_p50_ns, "IDLE P50", CELL_TIME) \
	COLUMN(FENCE, idle_max_ns, "LONGEST", CELL_TIME)  \
	COLUMN(FENCE, stalls, "STALLS", CELL_NUMBER)
TABLE_OF(fence_columns, FENCE);

static u64 time_of(const struct hist *hist, u32 per_million)
{
	return hist->total ? hist_percentile(hist, per_million) : CELL_NONE;
}

static u64 longest_of(const struct hist *hist)
{
	return hist->total ? hist->max : CELL_NONE;
}

static void print_fences(const struct submits *submits, const struct options *options)
{
	struct table table;

	table_open_for(&table, options, "fences", fence_columns, FENCE_CELLS, ROWS_ALL, NULL);
	for (const struct fence_row *row = submits->fences; row; row = row->next) {
		char driver[COMM_TEXT_SIZE], timeline[COMM_TEXT_SIZE];
		union cell cells[FENCE_CELLS] = {
			[FENCE_row] = { .text = "fences" },
			[FENCE_driver] = { .text = driver },
			[FENCE_timeline] = { .text = timeline },
			[FENCE_fences] = { .number = row->took_ns.total },
			[FENCE_p50_ns] = { .number = hist_percentile(&row->took_ns, P50) },
			[FENCE_p99_ns] = { .number = hist_percentile(&row->took_ns, P99) },
			[FENCE_max_ns] = { .number = row->took_ns.max },
			[FENCE_busy_percent] = { .number = gpu_use_percent(&row->use) },
			[FENCE_idles] = { .number = row->use.idle_ns.total },
			[FENCE_idle_p50_ns] = { .number = time_of(&row->use.idle_ns, P50) },
			[FENCE_idle_max_ns] = { .number = longest_of(&row->use.idle_ns) },
			[FENCE_stalls] = { .number = row->stalls },
		};

		comm_text(driver, &row->driver);
		comm_text(timeline, &row->timeline);
		table_row(&table, cells);
	}
	table_close(&table);
}

#define RING_TABLE(COLUMN, SHOWN)                            \
	COLUMN(RING, row, NULL, CELL_TEXT)                   \
	COLUMN(RING, device, "RINGS OF", CELL_TEXT)          \
	COLUMN(RING, ring, "RING", CELL_TEXT)                \
	COLUMN(RING, jobs, "JOBS", CELL_NUMBER)              \
	COLUMN(RING, queue_p50_ns, "QUEUE P50", CELL_TIME)   \
	COLUMN(RING, queue_p99_ns, "P99", CELL_TIME)         \
	COLUMN(RING, queue_max_ns, "LONGEST", CELL_TIME)     \
	COLUMN(RING, behind_p50_ns, "BEHIND P50", CELL_TIME) \
	COLUMN(RING, behind_p99_ns, "P99", CELL_TIME)        \
	COLUMN(RING, run_p50_ns, "RUN P50", CELL_TIME)       \
	COLUMN(RING, run_p99_ns, "P99", CELL_TIME)           \
	COLUMN(RING, run_max_ns, "LONGEST", CELL_TIME)       \
	COLUMN(RING, busy_percent, "BUSY", CELL_PERCENT)     \
	COLUMN(RING, idles, "IDLES", CELL_NUMBER)            \
	COLUMN(RING, idle_p50_ns, "IDLE P50", CELL_TIME)     \
	COLUMN(RING, idle_max_ns, "LONGEST", CELL_TIME)      \
	COLUMN(RING, stalls, "STALLS", CELL_NUMBER)
TABLE_OF(ring_columns, RING);

static void print_rings(const struct submits *submits, const struct options *options)
{
	struct table table;

	table_open_for(&table, options, "gpu_ring", ring_columns, RING_CELLS, ROWS_ALL, NULL);
	for (const struct ring_row *row = submits->rings; row; row = row->next) {
		char device[COMM_TEXT_SIZE], ring[COMM_TEXT_SIZE];
		union cell cells[RING_CELLS] = {
			[RING_row] = { .text = "ring" },
			[RING_device] = { .text = device },
			[RING_ring] = { .text = ring },
			[RING_jobs] = { .number = row->run_ns.total },
			[RING_queue_p50_ns] = { .number = time_of(&row->queue_ns, P50) },
			[RING_queue_p99_ns] = { .number = time_of(&row->queue_ns, P99) },
			[RING_queue_max_ns] = { .number = longest_of(&row->queue_ns) },
			[RING_behind_p50_ns] = { .number = time_of(&row->behind_ns, P50) },
			[RING_behind_p99_ns] = { .number = time_of(&row->behind_ns, P99) },
			[RING_run_p50_ns] = { .number = time_of(&row->run_ns, P50) },
			[RING_run_p99_ns] = { .number = time_of(&row->run_ns, P99) },
			[RING_run_max_ns] = { .number = longest_of(&row->run_ns) },
			[RING_busy_percent] = { .number = gpu_use_percent(&row->use) },
			[RING_idles] = { .number = row->use.idle_ns.total },
			[RING_idle_p50_ns] = { .number = time_of(&row->use.idle_ns, P50) },
			[RING_idle_max_ns] = { .number = longest_of(&row->use.idle_ns) },
			[RING_stalls] = { .number = row->stalls },
		};

		comm_text(device, &row->device);
		comm_text(ring, &row->ring);
		table_row(&table, cells);
	}
	table_close(&table);
}

#define MEMORY_TABLE(COLUMN, SHOWN)                       \
	COLUMN(MEMORY, row, NULL, CELL_TEXT)              \
	COLUMN(MEMORY, gpu, "MEMORY OF GPU", CELL_NUMBER) \
	COLUMN(MEMORY, pid, "PID", CELL_NUMBER)           \
	COLUMN(MEMORY, bytes, "BYTES", CELL_NUMBER)       \
	COLUMN(MEMORY, most_bytes, "MOST", CELL_NUMBER)
TABLE_OF(memory_columns, MEMORY);

static void print_memories(const struct submits *submits, const struct options *options)
{
	struct table table;

	table_open_for(&table, options, "gpu_memory", memory_columns, MEMORY_CELLS, ROWS_ALL, NULL);
	for (const struct memory_row *row = submits->memories; row; row = row->next) {
		union cell cells[MEMORY_CELLS] = {
			[MEMORY_row] = { .text = "memory" },
			[MEMORY_gpu] = { .number = row->gpu },
			[MEMORY_pid] = { .number = row->pid },
			[MEMORY_bytes] = { .number = row->bytes },
			[MEMORY_most_bytes] = { .number = row->most_bytes },
		};

		table_row(&table, cells);
	}
	table_close(&table);
}

/* Most submits first; of equals whoever came first. */
static int by_submits(const void *a, const void *b)
{
	const struct submit_row *one = *(const struct submit_row *const *)a;
	const struct submit_row *other = *(const struct submit_row *const *)b;

	if (one->submits != other->submits)
		return one->submits < other->submits ? 1 : -1;
	return one->first_ns > other->first_ns ? 1 : one->first_ns < other->first_ns ? -1 : 0;
}

static void print_submits(const struct submits *submits, const struct options *options)
{
	const struct submit_row **rows;
	struct table table;
	size_t len = 0, at;

	for (const struct submit_row *row = submits->rows; row; row = row->next)
		len++;
	rows = calloc(len ? len : 1, sizeof(*rows));
	if (!rows) {
		note("submits are missing: there was no memory for them");
		return;
	}
	/* Whoever has submitted before may have stopped. */
	len = 0;
	for (const struct submit_row *row = submits->rows; row; row = row->next)
		if (row->submits)
			rows[len++] = row;
	sort_rows(rows, len, sizeof(*rows), by_submits);
	table_open_for(&table, options, "submits", submit_columns, SUBMIT_CELLS, ROWS_DEFAULT, &submit_look);
	for (at = 0; at < len; at++)
		add_submits(&table, rows[at]);
	table_close(&table);
	free(rows);
}

void submits_print_done(const struct submits *submits, const struct options *options)
{
	if (submits->rings)
		print_rings(submits, options);
	if (submits->fences)
		print_fences(submits, options);
}

void submits_print_tables(const struct submits *submits, const struct options *options)
{
	if (submits->rows)
		print_submits(submits, options);
	submits_print_done(submits, options);
	if (submits->memories)
		print_memories(submits, options);
}

static void print_end(const struct show *show)
{
	const struct submits *submits = &show->submits;

	if (!submits->rows && !submits->rings && !submits->fences)
		note("nothing was submitted to a GPU");
	submits_print_tables(submits, show->options);
	for (u32 driver = GPU_NONE + 1; driver < GPU_DRIVERS; driver++)
		if (submits_unreported(submits, driver))
			note("%s: nothing reports what became of the work: no fence and no job of it was seen, so "
			     "there "
			     "are no "
			     "times in queues, on the GPU or idle",
			     gpu_driver_name(driver));
	if (submits->refused)
		note("%" PRIu64 " events are in no row: there was no room for so many", submits->refused);
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct show *show = data;

	every_begin(show->options, show->capture.threads.first_ns, from_ns, to_ns);
	if (show->submits.rows || show->submits.rings)
		print_end(show);
	every_end();
	submits_restart(&show->submits);
}

static void on_window(void *data)
{
	struct show *show = data;

	submits_restart(&show->submits);
}

const struct table_columns gpu_tables[] = { { submit_columns, SUBMIT_CELLS },
					    { ring_columns, RING_CELLS },
					    { fence_columns, FENCE_CELLS },
					    { memory_columns, MEMORY_CELLS },
					    { 0 } };

int view_gpu(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &gpu_usage, NULL, argc, argv);
	table_check(&options, "gpu", gpu_tables);
	show.capture = (struct capture){ .request = { .view = "gpu",
						      .groups = EVENTS_ROLES | EVENTS_GPU,
						      .subject = { .sensor = "gpu",
								   .absent = "GPU (neither DRM nor NVIDIA's driver)" },
						      /* A recording is in the order of time. */
						      .prompt = !options.output,
						      .forgets_ended = true,
						      .without = NOT_NEEDED,
						      .interval_ns = every_ns(&options),
						      .on_interval = on_interval,
						      .wants_before = true,
						      .on_window = on_window,
						      .on_event = on_event,
						      .on_tick = on_tick,
						      .data = &show } };
	status = capture_run(&show.capture, &options);
	if (show.capture.threads.last_ns && intervals_have_rest(&show.capture))
		print_end(&show);
	capture_print_losses(&show.capture);
	submits_free(&show.submits);
	capture_free(&show.capture);
	return status;
}
