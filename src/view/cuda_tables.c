// SPDX-License-Identifier: GPL-2.0
/* The tables of 'tactus cuda'. Each is one declaration of columns, for people and as JSON lines, where the first column
 * says which table a row is of. */
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "../model/nvidia.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "cuda_view.h"
#include "thread_words.h"
#include "view.h"

enum { ROWS_DEFAULT = 20, P50 = 500000, P99 = 990000, NAME_SIZE = 256, SIZES_SIZE = 48 };

struct page {
	const struct cuda *cuda;
	const struct options *options;
	bool json;
	bool begun; /* a table was printed */
	u64 from_ns;
	enum kernel_names names;
};

/* A table is a list of rows in the order of how much each matters. */
struct ranked {
	u64 weight;
	const void *row;
};

static int by_weight(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	if (one->weight != other->weight)
		return one->weight < other->weight ? 1 : -1;
	return one->row < other->row ? -1 : one->row > other->row;
}

static const struct table_look look = { .alarms = "errors,failed,refused" };

static void begin(struct page *page, struct table *table, const char *title, const char *record,
		  const struct column *columns, int len)
{
	if (!page->json)
		printf("%s%s\n", page->begun ? "\n" : "", title);
	page->begun = true;
	table_open_for(table, page->options, record, columns, len, ROWS_DEFAULT, &look);
}

static u64 sum_ns(const struct hist *hist)
{
	return hist ? hist->sum : 0;
}

#define CALL_TABLE(COLUMN, SHOWN)                     \
	COLUMN(CALL, table, NULL, CELL_TEXT)          \
	COLUMN(CALL, function, "FUNCTION", CELL_TEXT) \
	COLUMN(CALL, class, "FOR", CELL_TEXT)         \
	COLUMN(CALL, calls, "CALLS", CELL_NUMBER)     \
	COLUMN(CALL, seen, "SEEN", CELL_NUMBER)       \
	COLUMN(CALL, errors, "ERRORS", CELL_NUMBER)   \
	COLUMN(CALL, total_ns, "TOTAL", CELL_TIME)    \
	COLUMN(CALL, self_ns, "SELF", CELL_TIME)      \
	COLUMN(CALL, ioctl_ns, "IOCTLS", CELL_TIME)   \
	COLUMN(CALL, ioctls, NULL, CELL_NUMBER)       \
	COLUMN(CALL, wait_ns, "CPU WAIT", CELL_TIME)  \
	COLUMN(CALL, p50_ns, "P50", CELL_TIME)        \
	COLUMN(CALL, p99_ns, "P99", CELL_TIME)        \
	COLUMN(CALL, max_ns, "LONGEST", CELL_TIME)
TABLE_OF(call_columns, CALL);

static void print_calls(struct page *page)
{
	const struct cuda *cuda = page->cuda;
	struct ranked *rows = calloc(cuda->functions_len + 1, sizeof(*rows));
	struct table table;
	size_t len = 0;

	for (u32 i = 0; rows && i < cuda->functions_len; i++) {
		const struct cuda_calls *calls = &cuda->functions[i];

		/* The longest first, then the most frequent. */
		if (cuda_times_called(calls))
			rows[len++] = (struct ranked){ sum_ns(calls->durations) + cuda_times_called(calls), calls };
	}
	if (!len) {
		free(rows);
		return;
	}
	sort_rows(rows, len, sizeof(*rows), by_weight);
	begin(page, &table, "calls", "cuda_calls", call_columns, CALL_CELLS);
	for (size_t i = 0; i < len; i++) {
		const struct cuda_calls *calls = rows[i].row;
		const struct hist *hist = calls->durations;
		u64 total_ns = sum_ns(hist), inner_ns = calls->ioctl_ns + calls->nested_ns + calls->driver_ns;
		union cell cells[CALL_CELLS] = {
			[CALL_table] = { .text = "calls" },
			[CALL_function] = { .text = calls->name ? calls->name : "?" },
			[CALL_class] = { .text = cuda_class_name(calls->api->class) },
			[CALL_calls] = { .number = cuda_times_called(calls) },
			[CALL_seen] = { .number = calls->entries + (hist ? hist->total : 0) },
			[CALL_errors] = { .number = calls->failed },
			[CALL_total_ns] = { .number = total_ns },
			[CALL_self_ns] = { .number = total_ns > inner_ns ? total_ns - inner_ns : 0 },
			[CALL_ioctl_ns] = { .number = calls->ioctl_ns },
			[CALL_ioctls] = { .number = calls->ioctls },
			[CALL_wait_ns] = { .number = calls->wait_ns },
			[CALL_p50_ns] = { .number = hist ? hist_percentile(hist, P50) : 0 },
			[CALL_p99_ns] = { .number = hist ? hist_percentile(hist, P99) : 0 },
			[CALL_max_ns] = { .number = hist ? hist->max : 0 },
		};

		table_row(&table, cells);
	}
	table_close(&table);
	free(rows);
}

#define LAYER_TABLE(COLUMN, SHOWN)                  \
	COLUMN(LAYER, table, NULL, CELL_TEXT)       \
	COLUMN(LAYER, layer, "LAYER", CELL_TEXT)    \
	COLUMN(LAYER, spans, "SPANS", CELL_NUMBER)  \
	COLUMN(LAYER, total_ns, "TOTAL", CELL_TIME) \
	COLUMN(LAYER, self_ns, "SELF", CELL_TIME)
TABLE_OF(layer_columns, LAYER);

static void layer(struct table *table, const char *name, u64 spans, u64 total_ns, u64 self_ns)
{
	union cell cells[LAYER_CELLS] = {
		[LAYER_table] = { .text = "layers" },	 [LAYER_layer] = { .text = name },
		[LAYER_spans] = { .number = spans },	 [LAYER_total_ns] = { .number = total_ns },
		[LAYER_self_ns] = { .number = self_ns },
	};

	table_row(table, cells);
}

/* Where the time of calls that were seen whole goes. */
static void print_layers(struct page *page)
{
	const struct cuda *cuda = page->cuda;
	u64 total_ns = 0, nested_ns = 0, spans = 0, waited_ns = 0, inside = 0;
	struct table table;

	for (u32 i = 0; i < cuda->functions_len; i++) {
		const struct cuda_calls *calls = &cuda->functions[i];

		if (calls->api->class == CUDA_DRIVER)
			continue;
		total_ns += sum_ns(calls->durations);
		nested_ns += calls->nested_ns;
		spans += calls->durations ? calls->durations->total : 0;
		waited_ns += calls->wait_ns;
		inside += calls->ioctls;
	}
	if (!spans && !cuda->outside)
		return;
	total_ns = total_ns > nested_ns ? total_ns - nested_ns : 0;
	begin(page, &table, "layers", "cuda_layer", layer_columns, LAYER_CELLS);
	layer(&table, "calls seen whole", spans, total_ns, total_ns > cuda->inside_ns ? total_ns - cuda->inside_ns : 0);
	layer(&table, "ioctls inside them", inside, cuda->inside_ns,
	      cuda->inside_ns > cuda->driver_ns ? cuda->inside_ns - cuda->driver_ns : 0);
	layer(&table, "ioctls outside", cuda->outside, cuda->outside_ns, cuda->outside_ns);
	if (cuda->driver_spans)
		layer(&table, "the driver's functions in ioctls", cuda->driver_spans, cuda->driver_ns, cuda->driver_ns);
	layer(&table, "waiting for a CPU inside calls", 0, waited_ns, waited_ns);
	table_close(&table);
}

#define LAUNCH_TABLE(COLUMN, SHOWN)                        \
	COLUMN(LAUNCH, table, NULL, CELL_TEXT)             \
	COLUMN(LAUNCH, pid, "PID", CELL_NUMBER)            \
	COLUMN(LAUNCH, launches, "LAUNCHES", CELL_NUMBER)  \
	COLUMN(LAUNCH, grid, "GRID", CELL_TEXT)            \
	COLUMN(LAUNCH, block, "BLOCK", CELL_TEXT)          \
	COLUMN(LAUNCH, shared_bytes, "SHARED", CELL_BYTES) \
	COLUMN(LAUNCH, kernel, "KERNEL", CELL_TEXT)        \
	COLUMN(LAUNCH, mangled, NULL, CELL_TEXT)
TABLE_OF(launch_columns, LAUNCH);

/* One kernel may have several handles: those of one name, in one process, are one. */
static int by_name(const void *a, const void *b)
{
	const struct cuda_kernel *one = ((const struct ranked *)a)->row, *other = ((const struct ranked *)b)->row;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	if (!one->name || !other->name)
		return one->name		     ? -1
		       : other->name		     ? 1
		       : one->handle < other->handle ? -1
						     : one->handle > other->handle;
	return strcmp(one->name, other->name);
}

static size_t merge_names(struct ranked *rows, size_t len)
{
	size_t kept = 0;

	if (len)
		sort_rows(rows, len, sizeof(*rows), by_name);
	for (size_t i = 0; i < len; i++) {
		const struct cuda_kernel *kernel = rows[i].row, *last = kept ? rows[kept - 1].row : NULL;

		if (last && kernel->name && last->name && last->pid == kernel->pid && !strcmp(last->name, kernel->name))
			rows[kept - 1].weight += rows[i].weight;
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

static void print_launches(struct page *page)
{
	const struct cuda *cuda = page->cuda;
	struct ranked *rows = calloc(cuda->kernels_len + 1, sizeof(*rows));
	bool shortened = false;
	struct table table;
	size_t len = 0;

	for (u32 slot = 0; rows && slot < CUDA_SLOTS; slot++)
		for (const struct cuda_kernel *kernel = cuda->kernels[slot]; kernel; kernel = kernel->next)
			if (kernel->launches && len < cuda->kernels_len)
				rows[len++] = (struct ranked){ kernel->launches, kernel };
	len = rows ? merge_names(rows, len) : 0;
	if (!len) {
		free(rows);
		return;
	}
	sort_rows(rows, len, sizeof(*rows), by_weight);
	begin(page, &table, "launches (sizes of the last one)", "cuda_launches", launch_columns, LAUNCH_CELLS);
	for (size_t i = 0; i < len; i++) {
		const struct cuda_kernel *kernel = rows[i].row;
		char *name = cuda_kernel_words(kernel, page->names, &shortened), grid[SIZES_SIZE], block[SIZES_SIZE];
		union cell cells[LAUNCH_CELLS] = {
			[LAUNCH_table] = { .text = "launches" },
			[LAUNCH_pid] = { .number = kernel->pid },
			[LAUNCH_launches] = { .number = rows[i].weight },
			[LAUNCH_grid] = { .text = grid },
			[LAUNCH_block] = { .text = block },
			[LAUNCH_shared_bytes] = { .number = kernel->shared_bytes },
			[LAUNCH_kernel] = { .text = name ? name : "?" },
			[LAUNCH_mangled] = { .text = kernel->name ? kernel->name : "" },
		};

		snprintf(grid, sizeof(grid), "%ux%ux%u", kernel->grid[0], kernel->grid[1], kernel->grid[2]);
		snprintf(block, sizeof(block), "%ux%ux%u", kernel->block[0], kernel->block[1], kernel->block[2]);
		table_row(&table, cells);
		free(name);
	}
	table_close(&table);
	if (shortened && !page->json)
		puts("(--wide shows names whole)");
	free(rows);
}

#define MEMORY_TABLE(COLUMN, SHOWN)                             \
	COLUMN(MEMORY, table, NULL, CELL_TEXT)                  \
	COLUMN(MEMORY, pid, "PID", CELL_NUMBER)                 \
	COLUMN(MEMORY, comm, "COMM", CELL_TEXT)                 \
	COLUMN(MEMORY, memory, "MEMORY", CELL_TEXT)             \
	COLUMN(MEMORY, now_bytes, "NOW", CELL_BYTES)            \
	COLUMN(MEMORY, peak_bytes, "PEAK", CELL_BYTES)          \
	COLUMN(MEMORY, total_bytes, "ALLOCATED", CELL_BYTES)    \
	COLUMN(MEMORY, allocations, "ALLOCATIONS", CELL_NUMBER) \
	COLUMN(MEMORY, frees, "FREES", CELL_NUMBER)
TABLE_OF(memory_columns, MEMORY);

static void print_memory(struct page *page)
{
	struct table table;
	bool begun = false;

	for (const struct cuda_process *process = page->cuda->processes; process; process = process->next) {
		char comm[COMM_TEXT_SIZE];

		comm_text(comm, &process->comm);
		for (u32 kind = 0; kind < MEMORY_KINDS; kind++) {
			const struct cuda_memory_use *use = &process->memory[kind];
			union cell cells[MEMORY_CELLS] = {
				[MEMORY_table] = { .text = "memory" },
				[MEMORY_pid] = { .number = process->pid },
				[MEMORY_comm] = { .text = comm },
				[MEMORY_memory] = { .text = cuda_memory_name(kind) },
				[MEMORY_now_bytes] = { .number = use->now_bytes },
				[MEMORY_peak_bytes] = { .number = use->peak_bytes },
				[MEMORY_total_bytes] = { .number = use->total_bytes },
				[MEMORY_allocations] = { .number = use->allocations },
				[MEMORY_frees] = { .number = use->frees },
			};

			if (!use->allocations)
				continue;
			if (!begun)
				begin(page, &table, "memory", "cuda_memory", memory_columns, MEMORY_CELLS);
			begun = true;
			table_row(&table, cells);
		}
	}
	if (begun)
		table_close(&table);
}

/* Allocations of one function and size that nobody freed, as one row. */
struct left {
	const struct cuda_process *process;
	u32 function, tid;
	enum cuda_memory memory;
	u64 each_bytes, count, first_ns;
};

static size_t gather_left(const struct cuda *cuda, struct left **out)
{
	struct left *all = NULL;
	size_t len = 0;

	for (const struct cuda_process *process = cuda->processes; process; process = process->next)
		for (u32 slot = 0; slot < CUDA_SLOTS; slot++)
			for (const struct cuda_allocation *at = process->allocations[slot]; at; at = at->next) {
				size_t i = 0;

				while (i < len && (all[i].process != process || all[i].function != at->function ||
						   all[i].each_bytes != at->bytes))
					i++;
				if (i == len) {
					if (!vec_one_more(all, len))
						continue;
					all[len++] = (struct left){ process,	at->function, at->tid,
								    at->memory, at->bytes,    0,
								    at->at_ns };
				}
				all[i].count++;
				if (at->at_ns < all[i].first_ns) {
					all[i].first_ns = at->at_ns;
					all[i].tid = at->tid;
				}
			}
	*out = all;
	return len;
}

#define LEFT_TABLE(COLUMN, SHOWN)                     \
	COLUMN(LEFT, table, NULL, CELL_TEXT)          \
	COLUMN(LEFT, pid, "PID", CELL_NUMBER)         \
	COLUMN(LEFT, tid, "TID", CELL_NUMBER)         \
	COLUMN(LEFT, memory, "MEMORY", CELL_TEXT)     \
	COLUMN(LEFT, bytes, "BYTES", CELL_BYTES)      \
	COLUMN(LEFT, count, "TIMES", CELL_NUMBER)     \
	COLUMN(LEFT, each_bytes, "EACH", CELL_BYTES)  \
	COLUMN(LEFT, at_ns, "FIRST AFTER", CELL_TIME) \
	COLUMN(LEFT, function, "BY", CELL_TEXT)
TABLE_OF(left_columns, LEFT);

static void print_left(struct page *page)
{
	struct left *all;
	size_t len = gather_left(page->cuda, &all);
	struct ranked *rows = len ? calloc(len, sizeof(*rows)) : NULL;
	struct table table;

	for (size_t i = 0; rows && i < len; i++)
		rows[i] = (struct ranked){ all[i].each_bytes * all[i].count, &all[i] };
	if (rows) {
		sort_rows(rows, len, sizeof(*rows), by_weight);
		begin(page, &table, "never freed", "cuda_never_freed", left_columns, LEFT_CELLS);
		for (size_t i = 0; i < len; i++) {
			const struct left *left = rows[i].row;
			const char *name = cuda_function_name(page->cuda, left->function);
			u64 from_ns = page->from_ns;
			union cell cells[LEFT_CELLS] = {
				[LEFT_table] = { .text = "never_freed" },
				[LEFT_pid] = { .number = left->process->pid },
				[LEFT_tid] = { .number = left->tid },
				[LEFT_memory] = { .text = cuda_memory_name(left->memory) },
				[LEFT_bytes] = { .number = rows[i].weight },
				[LEFT_count] = { .number = left->count },
				[LEFT_each_bytes] = { .number = left->each_bytes },
				[LEFT_at_ns] = { .number = left->first_ns > from_ns ? left->first_ns - from_ns : 0 },
				[LEFT_function] = { .text = name ? name : "?" },
			};

			table_row(&table, cells);
		}
		table_close(&table);
	}
	free(rows);
	free(all);
}

#define COPY_TABLE(COLUMN, SHOWN)                          \
	COLUMN(COPY, table, NULL, CELL_TEXT)               \
	COLUMN(COPY, kind, "COPIES", CELL_TEXT)            \
	COLUMN(COPY, returns, "RETURNS", CELL_TEXT)        \
	COLUMN(COPY, count, "COUNT", CELL_NUMBER)          \
	COLUMN(COPY, bytes, "BYTES", CELL_BYTES)           \
	COLUMN(COPY, total_ns, "TIME IN CALLS", CELL_TIME) \
	COLUMN(COPY, gb_per_s, "GB/S", CELL_HUNDREDTHS)
TABLE_OF(copy_columns, COPY);

/* Only of a copy that returns when it is done is the time of the call that of the copy. */
static void print_copies(struct page *page)
{
	struct table table;
	bool begun = false;

	for (u32 kind = 0; kind < COPY_KINDS; kind++)
		for (u32 is_async = 0; is_async < 2; is_async++) {
			const struct cuda_copies *copies = &page->cuda->copies[kind][is_async];
			union cell cells[COPY_CELLS] = {
				[COPY_table] = { .text = "copies" },
				[COPY_kind] = { .text = cuda_copy_name(kind) },
				[COPY_returns] = { .text = is_async ? "before" : "when done" },
				[COPY_count] = { .number = copies->count },
				[COPY_bytes] = { .number = copies->bytes },
				[COPY_total_ns] = { .number = copies->ns },
				[COPY_gb_per_s] = { .number = !is_async && copies->ns ? copies->bytes * 100 / copies->ns
										      : 0 },
			};

			if (!copies->count)
				continue;
			if (!begun)
				begin(page, &table, "copies", "cuda_copies", copy_columns, COPY_CELLS);
			begun = true;
			table_row(&table, cells);
		}
	if (begun)
		table_close(&table);
}

#define ERROR_TABLE(COLUMN, SHOWN)                     \
	COLUMN(ERROR, table, NULL, CELL_TEXT)          \
	COLUMN(ERROR, count, "ERRORS", CELL_NUMBER)    \
	COLUMN(ERROR, function, "FUNCTION", CELL_TEXT) \
	COLUMN(ERROR, result, "NUMBER", CELL_NUMBER)   \
	COLUMN(ERROR, name, "RESULT", CELL_TEXT)
TABLE_OF(error_columns, ERROR);

static void print_errors(struct page *page)
{
	struct table table;

	if (!page->cuda->errors)
		return;
	begin(page, &table, "errors", "cuda_errors", error_columns, ERROR_CELLS);
	for (const struct cuda_error *error = page->cuda->errors; error; error = error->next) {
		const char *function = cuda_function_name(page->cuda, error->function);
		const char *name = cuda_result_name_of(function, error->result);
		union cell cells[ERROR_CELLS] = {
			[ERROR_table] = { .text = "errors" },
			[ERROR_count] = { .number = error->count },
			[ERROR_function] = { .text = function ? function : "?" },
			[ERROR_result] = { .number = error->result },
			[ERROR_name] = { .text = name ? name : "?" },
		};

		table_row(&table, cells);
	}
	table_close(&table);
}

#define IOCTL_TABLE(COLUMN, SHOWN)                       \
	COLUMN(IOCTL, table, NULL, CELL_TEXT)            \
	COLUMN(IOCTL, device, "DEVICE", CELL_TEXT)       \
	COLUMN(IOCTL, cmd, "COMMAND", CELL_TEXT)         \
	COLUMN(IOCTL, count, "COUNT", CELL_NUMBER)       \
	COLUMN(IOCTL, inside, "INSIDE", CELL_NUMBER)     \
	COLUMN(IOCTL, failed, "FAILED", CELL_NUMBER)     \
	COLUMN(IOCTL, refused, "REFUSED", CELL_NUMBER)   \
	COLUMN(IOCTL, total_ns, "TOTAL", CELL_TIME)      \
	COLUMN(IOCTL, p50_ns, "P50", CELL_TIME)          \
	COLUMN(IOCTL, p99_ns, "P99", CELL_TIME)          \
	COLUMN(IOCTL, status, "LAST REFUSAL", CELL_TEXT) \
	COLUMN(IOCTL, name, "NAME", CELL_TEXT)
TABLE_OF(ioctl_columns, IOCTL);

static void ioctl_row(struct table *table, const struct cuda_ioctls *row)
{
	char name[NAME_SIZE], cmd[16], status[SIZES_SIZE] = "";
	union cell cells[IOCTL_CELLS] = {
		[IOCTL_table] = { .text = "ioctls" },
		[IOCTL_device] = { .text = row->device == NVIDIA_UVM ? "nvidia-uvm" : "nvidia" },
		[IOCTL_cmd] = { .text = cmd },
		[IOCTL_count] = { .number = row->durations.total },
		[IOCTL_inside] = { .number = row->inside },
		[IOCTL_failed] = { .number = row->failed },
		[IOCTL_refused] = { .number = row->refused },
		[IOCTL_total_ns] = { .number = row->durations.sum },
		[IOCTL_p50_ns] = { .number = hist_percentile(&row->durations, P50) },
		[IOCTL_p99_ns] = { .number = hist_percentile(&row->durations, P99) },
		[IOCTL_status] = { .text = status },
		[IOCTL_name] = { .text = name },
	};

	if (row->refused && nvidia_status_name(row->status))
		snprintf(status, sizeof(status), "%s", nvidia_status_name(row->status));
	else if (row->refused)
		snprintf(status, sizeof(status), "0x%x", row->status);
	snprintf(cmd, sizeof(cmd), "0x%08x", row->cmd);
	nvidia_describe(name, sizeof(name), row->device, row->cmd, row->inner_nr, row->detail);
	table_row(table, cells);
}

static void print_ioctls(struct page *page)
{
	struct ranked *rows;
	struct table table;
	size_t len = 0, at = 0;

	for (const struct cuda_ioctls *row = page->cuda->ioctls; row; row = row->next)
		len++;
	rows = len ? calloc(len, sizeof(*rows)) : NULL;
	if (!rows)
		return;
	for (const struct cuda_ioctls *row = page->cuda->ioctls; row; row = row->next)
		rows[at++] = (struct ranked){ row->durations.sum, row };
	sort_rows(rows, len, sizeof(*rows), by_weight);
	begin(page, &table, "ioctls", "cuda_ioctls", ioctl_columns, IOCTL_CELLS);
	for (size_t i = 0; i < len; i++)
		ioctl_row(&table, rows[i].row);
	table_close(&table);
	free(rows);
}

#define XID_TABLE(COLUMN, SHOWN)               \
	COLUMN(XID, table, NULL, CELL_TEXT)    \
	COLUMN(XID, at_ns, "AFTER", CELL_TIME) \
	COLUMN(XID, xid, "XID", CELL_NUMBER)   \
	COLUMN(XID, message, "MESSAGE", CELL_TEXT)
TABLE_OF(xid_columns, XID);

static void print_xids(struct page *page)
{
	struct table table;

	if (!page->cuda->xids)
		return;
	begin(page, &table, "errors that the GPU reported (the last first)", "cuda_xid", xid_columns, XID_CELLS);
	for (const struct cuda_xid *xid = page->cuda->xids; xid; xid = xid->next) {
		char message[LONG_NAME_LEN + 1] = "";
		union cell cells[XID_CELLS] = {
			[XID_table] = { .text = "xids" },
			[XID_at_ns] = { .number = xid->at_ns > page->from_ns ? xid->at_ns - page->from_ns : 0 },
			[XID_xid] = { .number = xid->code },
			[XID_message] = { .text = message },
		};

		memcpy(message, xid->message.text, LONG_NAME_LEN);
		table_row(&table, cells);
	}
	table_close(&table);
}

void cuda_print_tables(const struct cuda *cuda, const struct options *options, u64 from_ns, bool sampled,
		       enum kernel_names names)
{
	bool json = options->json;
	struct page page = { .cuda = cuda, .options = options, .json = json, .from_ns = from_ns, .names = names };

	if (json && names == NAMES_SHORT)
		page.names = NAMES_WHOLE;

	print_calls(&page);
	if (sampled && page.begun && !json)
		puts("(CALLS and ERRORS are exact; times are those of the calls SEEN)");
	print_layers(&page);
	print_launches(&page);
	print_copies(&page);
	print_memory(&page);
	print_left(&page);
	print_errors(&page);
	print_xids(&page);
	print_ioctls(&page);
}

const struct table_columns cuda_tables[] = {
	{ call_columns, CALL_CELLS },	  { layer_columns, LAYER_CELLS },
	{ launch_columns, LAUNCH_CELLS }, { memory_columns, MEMORY_CELLS },
	{ left_columns, LEFT_CELLS },	  { copy_columns, COPY_CELLS },
	{ error_columns, ERROR_CELLS },	  { ioctl_columns, IOCTL_CELLS },
	{ xid_columns, XID_CELLS },	  { 0 },
};
