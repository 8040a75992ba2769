// SPDX-License-Identifier: GPL-2.0
/* The tables of 'tactus cuda'. Each is one declaration of columns, for people and as JSON lines, where the first column
 * says which table a row is of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "../model/nvidia.h"
#include "../sink/demangle.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "cuda_view.h"

enum { P50 = 500000, P99 = 990000, NAME_SIZE = 256, SIZES_SIZE = 48 };

struct page {
	const struct cuda *cuda;
	bool json;
	u32 rows;
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

static void begin(struct page *page, struct sheet *sheet, const char *title, const struct column *columns, int len)
{
	if (!page->json)
		printf("%s%s\n", page->begun ? "\n" : "", title);
	page->begun = true;
	sheet_open(sheet, stdout, page->json, columns, len);
}

static void end(const struct page *page, struct sheet *sheet, size_t left_out)
{
	sheet_close(sheet);
	if (left_out && !page->json)
		printf("(and %zu more; -n all shows them)\n", left_out);
}

static size_t shown(const struct page *page, size_t len)
{
	return page->json || len < page->rows ? len : page->rows;
}

static u64 sum_ns(const struct hist *hist)
{
	return hist ? hist->sum : 0;
}

static const struct column call_columns[] = {
	{ "table", NULL, CELL_TEXT },	    { "function", "FUNCTION", CELL_TEXT }, { "class", "FOR", CELL_TEXT },
	{ "calls", "CALLS", CELL_NUMBER },  { "seen", "SEEN", CELL_NUMBER },	   { "errors", "ERRORS", CELL_NUMBER },
	{ "total_ns", "TOTAL", CELL_TIME }, { "self_ns", "SELF", CELL_TIME },	   { "ioctl_ns", "IOCTLS", CELL_TIME },
	{ "ioctls", NULL, CELL_NUMBER },    { "wait_ns", "CPU WAIT", CELL_TIME },  { "p50_ns", "P50", CELL_TIME },
	{ "p99_ns", "P99", CELL_TIME },	    { "max_ns", "LONGEST", CELL_TIME },
};
enum { CALL_COLUMNS = sizeof(call_columns) / sizeof(call_columns[0]) };

static void print_calls(struct page *page)
{
	const struct cuda *cuda = page->cuda;
	struct ranked *rows = calloc(cuda->functions_len + 1, sizeof(*rows));
	struct sheet sheet;
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
	qsort(rows, len, sizeof(*rows), by_weight);
	begin(page, &sheet, "calls", call_columns, CALL_COLUMNS);
	for (size_t i = 0; i < shown(page, len); i++) {
		const struct cuda_calls *calls = rows[i].row;
		const struct hist *hist = calls->durations;
		u64 total_ns = sum_ns(hist), inner_ns = calls->ioctl_ns + calls->nested_ns + calls->driver_ns;
		union cell cells[CALL_COLUMNS] = {
			{ .text = "calls" },
			{ .text = calls->name ? calls->name : "?" },
			{ .text = cuda_class_name(calls->api->class) },
			{ .number = cuda_times_called(calls) },
			{ .number = calls->entries + (hist ? hist->total : 0) },
			{ .number = calls->failed },
			{ .number = total_ns },
			{ .number = total_ns > inner_ns ? total_ns - inner_ns : 0 },
			{ .number = calls->ioctl_ns },
			{ .number = calls->ioctls },
			{ .number = calls->wait_ns },
			{ .number = hist ? hist_percentile(hist, P50) : 0 },
			{ .number = hist ? hist_percentile(hist, P99) : 0 },
			{ .number = hist ? hist->max : 0 },
		};

		sheet_row(&sheet, cells);
	}
	end(page, &sheet, len - shown(page, len));
	free(rows);
}

static const struct column layer_columns[] = {
	{ "table", NULL, CELL_TEXT },	    { "layer", "LAYER", CELL_TEXT },  { "spans", "SPANS", CELL_NUMBER },
	{ "total_ns", "TOTAL", CELL_TIME }, { "self_ns", "SELF", CELL_TIME },
};

static void layer(struct sheet *sheet, const char *name, u64 spans, u64 total_ns, u64 self_ns)
{
	union cell cells[] = { { .text = "layers" },
			       { .text = name },
			       { .number = spans },
			       { .number = total_ns },
			       { .number = self_ns } };

	sheet_row(sheet, cells);
}

/* Where the time of calls that were seen whole goes. */
static void print_layers(struct page *page)
{
	const struct cuda *cuda = page->cuda;
	u64 total_ns = 0, nested_ns = 0, spans = 0, waited_ns = 0, inside = 0;
	struct sheet sheet;

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
	begin(page, &sheet, "layers", layer_columns, sizeof(layer_columns) / sizeof(layer_columns[0]));
	layer(&sheet, "calls seen whole", spans, total_ns, total_ns > cuda->inside_ns ? total_ns - cuda->inside_ns : 0);
	layer(&sheet, "ioctls inside them", inside, cuda->inside_ns,
	      cuda->inside_ns > cuda->driver_ns ? cuda->inside_ns - cuda->driver_ns : 0);
	layer(&sheet, "ioctls outside", cuda->outside, cuda->outside_ns, cuda->outside_ns);
	if (cuda->driver_spans)
		layer(&sheet, "the driver's functions in ioctls", cuda->driver_spans, cuda->driver_ns, cuda->driver_ns);
	layer(&sheet, "waiting for a CPU inside calls", 0, waited_ns, waited_ns);
	end(page, &sheet, 0);
}

char *cuda_kernel_words(const struct cuda_kernel *kernel, enum kernel_names names, bool *shortened)
{
	char text[SHORT_NAME_MOST + 1], *whole = NULL;

	if (!kernel->name) {
		snprintf(text, sizeof(text), "%s 0x%" PRIx64,
			 kernel->shape == SHAPE_LAUNCH_GRAPH  ? "graph"
			 : kernel->shape == SHAPE_LAUNCH_HOST ? "host function"
							      : "kernel",
			 kernel->handle);
		return strdup(text);
	}
	if (names != NAMES_MANGLED)
		whole = demangle(kernel->name);
	if (!whole)
		whole = strdup(kernel->name);
	if (!whole || names != NAMES_SHORT)
		return whole;
	*shortened |= shorten_name(text, sizeof(text), whole);
	free(whole);
	return strdup(text);
}

static const struct column launch_columns[] = {
	{ "table", NULL, CELL_TEXT },	   { "pid", "PID", CELL_NUMBER },   { "launches", "LAUNCHES", CELL_NUMBER },
	{ "grid", "GRID", CELL_TEXT },	   { "block", "BLOCK", CELL_TEXT }, { "shared_bytes", "SHARED", CELL_BYTES },
	{ "kernel", "KERNEL", CELL_TEXT }, { "mangled", NULL, CELL_TEXT },
};
enum { LAUNCH_COLUMNS = sizeof(launch_columns) / sizeof(launch_columns[0]) };

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
		qsort(rows, len, sizeof(*rows), by_name);
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
	struct sheet sheet;
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
	qsort(rows, len, sizeof(*rows), by_weight);
	begin(page, &sheet, "launches (sizes of the last one)", launch_columns, LAUNCH_COLUMNS);
	for (size_t i = 0; i < shown(page, len); i++) {
		const struct cuda_kernel *kernel = rows[i].row;
		char *name = cuda_kernel_words(kernel, page->names, &shortened), grid[SIZES_SIZE], block[SIZES_SIZE];
		union cell cells[LAUNCH_COLUMNS] = {
			{ .text = "launches" },
			{ .number = kernel->pid },
			{ .number = rows[i].weight },
			{ .text = grid },
			{ .text = block },
			{ .number = kernel->shared_bytes },
			{ .text = name ? name : "?" },
			{ .text = kernel->name ? kernel->name : "" },
		};

		snprintf(grid, sizeof(grid), "%ux%ux%u", kernel->grid[0], kernel->grid[1], kernel->grid[2]);
		snprintf(block, sizeof(block), "%ux%ux%u", kernel->block[0], kernel->block[1], kernel->block[2]);
		sheet_row(&sheet, cells);
		free(name);
	}
	end(page, &sheet, len - shown(page, len));
	if (shortened && !page->json)
		puts("(--wide shows names whole)");
	free(rows);
}

static const struct column memory_columns[] = {
	{ "table", NULL, CELL_TEXT },
	{ "pid", "PID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "memory", "MEMORY", CELL_TEXT },
	{ "now_bytes", "NOW", CELL_BYTES },
	{ "peak_bytes", "PEAK", CELL_BYTES },
	{ "total_bytes", "ALLOCATED", CELL_BYTES },
	{ "allocations", "ALLOCATIONS", CELL_NUMBER },
	{ "frees", "FREES", CELL_NUMBER },
};
enum { MEMORY_COLUMNS = sizeof(memory_columns) / sizeof(memory_columns[0]) };

static void print_memory(struct page *page)
{
	struct sheet sheet;
	bool begun = false;

	for (const struct cuda_process *process = page->cuda->processes; process; process = process->next) {
		char comm[COMM_LEN + 1] = "";

		memcpy(comm, process->comm.text, COMM_LEN);
		for (u32 kind = 0; kind < MEMORY_KINDS; kind++) {
			const struct cuda_memory_use *use = &process->memory[kind];
			union cell cells[MEMORY_COLUMNS] = {
				{ .text = "memory" },
				{ .number = process->pid },
				{ .text = comm },
				{ .text = cuda_memory_name(kind) },
				{ .number = use->now_bytes },
				{ .number = use->peak_bytes },
				{ .number = use->total_bytes },
				{ .number = use->allocations },
				{ .number = use->frees },
			};

			if (!use->allocations)
				continue;
			if (!begun)
				begin(page, &sheet, "memory", memory_columns, MEMORY_COLUMNS);
			begun = true;
			sheet_row(&sheet, cells);
		}
	}
	if (begun)
		end(page, &sheet, 0);
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
				struct left *more;

				while (i < len && (all[i].process != process || all[i].function != at->function ||
						   all[i].each_bytes != at->bytes))
					i++;
				if (i == len) {
					more = realloc(all, (len + 1) * sizeof(*all));
					if (!more)
						continue;
					all = more;
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

static const struct column left_columns[] = {
	{ "table", NULL, CELL_TEXT },	      { "pid", "PID", CELL_NUMBER },	     { "tid", "TID", CELL_NUMBER },
	{ "memory", "MEMORY", CELL_TEXT },    { "bytes", "BYTES", CELL_BYTES },	     { "count", "TIMES", CELL_NUMBER },
	{ "each_bytes", "EACH", CELL_BYTES }, { "at_ns", "FIRST AFTER", CELL_TIME }, { "function", "BY", CELL_TEXT },
};
enum { LEFT_COLUMNS = sizeof(left_columns) / sizeof(left_columns[0]) };

static void print_left(struct page *page)
{
	struct left *all;
	size_t len = gather_left(page->cuda, &all);
	struct ranked *rows = len ? calloc(len, sizeof(*rows)) : NULL;
	struct sheet sheet;

	for (size_t i = 0; rows && i < len; i++)
		rows[i] = (struct ranked){ all[i].each_bytes * all[i].count, &all[i] };
	if (rows) {
		qsort(rows, len, sizeof(*rows), by_weight);
		begin(page, &sheet, "never freed", left_columns, LEFT_COLUMNS);
		for (size_t i = 0; i < shown(page, len); i++) {
			const struct left *left = rows[i].row;
			const char *name = cuda_function_name(page->cuda, left->function);
			u64 from_ns = page->from_ns;
			union cell cells[LEFT_COLUMNS] = {
				{ .text = "never_freed" },
				{ .number = left->process->pid },
				{ .number = left->tid },
				{ .text = cuda_memory_name(left->memory) },
				{ .number = rows[i].weight },
				{ .number = left->count },
				{ .number = left->each_bytes },
				{ .number = left->first_ns > from_ns ? left->first_ns - from_ns : 0 },
				{ .text = name ? name : "?" },
			};

			sheet_row(&sheet, cells);
		}
		end(page, &sheet, len - shown(page, len));
	}
	free(rows);
	free(all);
}

static const struct column copy_columns[] = {
	{ "table", NULL, CELL_TEXT },
	{ "kind", "COPIES", CELL_TEXT },
	{ "returns", "RETURNS", CELL_TEXT },
	{ "count", "COUNT", CELL_NUMBER },
	{ "bytes", "BYTES", CELL_BYTES },
	{ "total_ns", "TIME IN CALLS", CELL_TIME },
	{ "gb_per_s", "GB/S", CELL_HUNDREDTHS },
};
enum { COPY_COLUMNS = sizeof(copy_columns) / sizeof(copy_columns[0]) };

/* Only of a copy that returns when it is done is the time of the call that of the copy. */
static void print_copies(struct page *page)
{
	struct sheet sheet;
	bool begun = false;

	for (u32 kind = 0; kind < COPY_KINDS; kind++)
		for (u32 is_async = 0; is_async < 2; is_async++) {
			const struct cuda_copies *copies = &page->cuda->copies[kind][is_async];
			union cell cells[COPY_COLUMNS] = {
				{ .text = "copies" },
				{ .text = cuda_copy_name(kind) },
				{ .text = is_async ? "before" : "when done" },
				{ .number = copies->count },
				{ .number = copies->bytes },
				{ .number = copies->ns },
				{ .number = !is_async && copies->ns ? copies->bytes * 100 / copies->ns : 0 },
			};

			if (!copies->count)
				continue;
			if (!begun)
				begin(page, &sheet, "copies", copy_columns, COPY_COLUMNS);
			begun = true;
			sheet_row(&sheet, cells);
		}
	if (begun)
		end(page, &sheet, 0);
}

static const struct column error_columns[] = {
	{ "table", NULL, CELL_TEXT },	     { "count", "ERRORS", CELL_NUMBER }, { "function", "FUNCTION", CELL_TEXT },
	{ "result", "NUMBER", CELL_NUMBER }, { "name", "RESULT", CELL_TEXT },
};

static void print_errors(struct page *page)
{
	struct sheet sheet;

	if (!page->cuda->errors)
		return;
	begin(page, &sheet, "errors", error_columns, sizeof(error_columns) / sizeof(error_columns[0]));
	for (const struct cuda_error *error = page->cuda->errors; error; error = error->next) {
		const char *function = cuda_function_name(page->cuda, error->function);
		const char *name = cuda_result_name(error->result);
		union cell cells[] = { { .text = "errors" },
				       { .number = error->count },
				       { .text = function ? function : "?" },
				       { .number = error->result },
				       { .text = name ? name : "?" } };

		sheet_row(&sheet, cells);
	}
	end(page, &sheet, 0);
}

static const struct column ioctl_columns[] = {
	{ "table", NULL, CELL_TEXT },
	{ "device", "DEVICE", CELL_TEXT },
	{ "cmd", "COMMAND", CELL_TEXT },
	{ "count", "COUNT", CELL_NUMBER },
	{ "inside", "INSIDE", CELL_NUMBER },
	{ "failed", "FAILED", CELL_NUMBER },
	{ "refused", "REFUSED", CELL_NUMBER },
	{ "total_ns", "TOTAL", CELL_TIME },
	{ "p50_ns", "P50", CELL_TIME },
	{ "p99_ns", "P99", CELL_TIME },
	{ "status", "LAST REFUSAL", CELL_TEXT },
	{ "name", "NAME", CELL_TEXT },
};
enum { IOCTL_COLUMNS = sizeof(ioctl_columns) / sizeof(ioctl_columns[0]) };

static void ioctl_row(struct sheet *sheet, const struct cuda_ioctls *row)
{
	char name[NAME_SIZE], cmd[16], status[SIZES_SIZE] = "";
	union cell cells[IOCTL_COLUMNS] = {
		{ .text = "ioctls" },
		{ .text = row->device == NVIDIA_UVM ? "nvidia-uvm" : "nvidia" },
		{ .text = cmd },
		{ .number = row->durations.total },
		{ .number = row->inside },
		{ .number = row->failed },
		{ .number = row->refused },
		{ .number = row->durations.sum },
		{ .number = hist_percentile(&row->durations, P50) },
		{ .number = hist_percentile(&row->durations, P99) },
		{ .text = status },
		{ .text = name },
	};

	if (row->refused && nvidia_status_name(row->status))
		snprintf(status, sizeof(status), "%s", nvidia_status_name(row->status));
	else if (row->refused)
		snprintf(status, sizeof(status), "0x%x", row->status);
	snprintf(cmd, sizeof(cmd), "0x%08x", row->cmd);
	nvidia_describe(name, sizeof(name), row->device, row->cmd, row->inner_nr, row->detail);
	sheet_row(sheet, cells);
}

static void print_ioctls(struct page *page)
{
	struct ranked *rows;
	struct sheet sheet;
	size_t len = 0, at = 0;

	for (const struct cuda_ioctls *row = page->cuda->ioctls; row; row = row->next)
		len++;
	rows = len ? calloc(len, sizeof(*rows)) : NULL;
	if (!rows)
		return;
	for (const struct cuda_ioctls *row = page->cuda->ioctls; row; row = row->next)
		rows[at++] = (struct ranked){ row->durations.sum, row };
	qsort(rows, len, sizeof(*rows), by_weight);
	begin(page, &sheet, "ioctls", ioctl_columns, IOCTL_COLUMNS);
	for (size_t i = 0; i < shown(page, len); i++)
		ioctl_row(&sheet, rows[i].row);
	end(page, &sheet, len - shown(page, len));
	free(rows);
}

static const struct column xid_columns[] = {
	{ "table", NULL, CELL_TEXT },
	{ "at_ns", "AFTER", CELL_TIME },
	{ "xid", "XID", CELL_NUMBER },
	{ "message", "MESSAGE", CELL_TEXT },
};

static void print_xids(struct page *page)
{
	struct sheet sheet;

	if (!page->cuda->xids)
		return;
	begin(page, &sheet, "errors that the GPU reported (the last first)", xid_columns,
	      sizeof(xid_columns) / sizeof(xid_columns[0]));
	for (const struct cuda_xid *xid = page->cuda->xids; xid; xid = xid->next) {
		char message[LONG_NAME_LEN + 1] = "";
		union cell cells[] = { { .text = "xids" },
				       { .number = xid->at_ns > page->from_ns ? xid->at_ns - page->from_ns : 0 },
				       { .number = xid->code },
				       { .text = message } };

		memcpy(message, xid->message.text, LONG_NAME_LEN);
		sheet_row(&sheet, cells);
	}
	end(page, &sheet, 0);
}

void cuda_print_tables(const struct cuda *cuda, bool json, u32 rows, u64 from_ns, bool sampled, enum kernel_names names)
{
	struct page page = { .cuda = cuda, .json = json, .rows = rows, .from_ns = from_ns, .names = names };

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
