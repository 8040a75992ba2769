// SPDX-License-Identifier: GPL-2.0
/* A trace as JSON lines, in the order of time, or in the form that chrome://tracing and Perfetto open. A call is known
 * when it ends but has its line where it began, so everything is kept until the end and put in order then. */
#include <stdlib.h>
#include <string.h>

#include "../base/output.h"
#include "../base/progress.h"
#include "../base/say.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "../model/nvidia.h"
#include "../sink/json.h"
#include "cuda_view.h"

enum phase { PHASE_INSTANT, PHASE_BEGIN, PHASE_END };
enum { NAME_SIZE = 256, WORDED_SLOTS = 256 };

/* An event that was taken; the place of its copy. */
union kept {
	struct event_header head;
	struct event_cuda_call call;
	struct event_cuda_launch launch;
	struct event_cuda_ioctl ioctl;
	struct event_cuda_work work;
	struct event_fence fence;
	struct event_gpu_memory memory;
};

/* A line to be: when, and what of which event. */
struct line {
	u64 at_ns;
	u32 event;
	u32 phase;
};

struct cuda_export {
	const char *path;
	enum cuda_form form;
	FILE *out;
	enum kernel_names names;
	union kept *events;
	size_t len, room;
	bool failed;
};

struct writing {
	struct json json;
	const struct cuda *cuda;
	const struct threads *threads;
	u64 from_ns;
	u64 lines;
	enum kernel_names names;
	struct progress progress;
	/* Names in words, by the kernel's place in memory: to make them takes longer than to write a line. */
	struct {
		const struct cuda_kernel *kernel;
		char *words;
	} worded[WORDED_SLOTS];
};

/* How the two forms begin, by which a file of ours is told from others. */
#define LINES_BEGINNING "{\"record\":\"cuda_trace\""
#define CHROME_BEGINNING "{\"otherData\":{\"producer\":\"tactus"

struct cuda_export *cuda_export_open(const char *path, enum cuda_form form, bool force, enum kernel_names names)
{
	struct output_rule rule = { .beginning = form == FORM_LINES ? LINES_BEGINNING : CHROME_BEGINNING,
				    .force = force };
	struct cuda_export *export = calloc(1, sizeof(*export));
	struct reason why;

	reason_set(&why, "out of memory");
	if (export)
		export->out = output_text(path, &rule, &why);
	if (!export || !export->out) {
		fail(path, "cannot write: %s", why.text);
		free(export);
		return NULL;
	}
	export->path = path;
	export->form = form;
	export->names = names == NAMES_MANGLED ? NAMES_MANGLED : NAMES_WHOLE;
	return export;
}

void cuda_export_handle(struct cuda_export *export, const struct event_header *event)
{
	size_t bytes = event->kind == EVENT_CUDA_CALL	  ? sizeof(struct event_cuda_call)
		       : event->kind == EVENT_CUDA_LAUNCH ? sizeof(struct event_cuda_launch)
		       : event->kind == EVENT_CUDA_IOCTL  ? sizeof(struct event_cuda_ioctl)
		       : event->kind == EVENT_CUDA_WORK	  ? sizeof(struct event_cuda_work)
		       : event->kind == EVENT_FENCE	  ? sizeof(struct event_fence)
		       : event->kind == EVENT_GPU_MEMORY  ? sizeof(struct event_gpu_memory)
		       : event->kind == EVENT_CUDA_XID	  ? sizeof(struct event_header) /* cuda keeps its words */
							  : 0;

	/* The ioctl that allocates is there itself. */
	if (!bytes || (event->kind == EVENT_CUDA_CALL &&
		       ((const struct event_cuda_call *)event)->function == CUDA_FUNCTION_OF_DRIVER))
		return;
	if (!vec_reserve(export->events, export->room, export->len + 1, 4096)) {
		export->failed = true;
		return;
	}
	memcpy(&export->events[export->len++], event, bytes);
}

static u64 duration_of(const union kept *event)
{
	return event->head.kind == EVENT_CUDA_CALL    ? event->call.duration_ns
	       : event->head.kind == EVENT_CUDA_IOCTL ? event->ioctl.duration_ns
	       : event->head.kind == EVENT_CUDA_WORK  ? event->work.duration_ns
						      : 0;
}

static u32 function_of(const union kept *event)
{
	return event->head.kind == EVENT_CUDA_CALL ? event->call.function : event->launch.function;
}

static const char *name_of(const struct writing *writing, const union kept *event)
{
	const char *name;

	switch (event->head.kind) {
	case EVENT_CUDA_IOCTL:
		return "ioctl";
	case EVENT_CUDA_WORK:
		return "work";
	case EVENT_FENCE:
		return "dma_fence_signaled";
	case EVENT_GPU_MEMORY:
		return "gpu_mem_total";
	case EVENT_CUDA_XID:
		return "xid";
	default:
		name = cuda_function_name(writing->cuda, function_of(event));
		return name ? name : "?";
	}
}

static bool is_of_driver(const struct writing *writing, const union kept *event)
{
	u32 function = event->call.function;

	return event->head.kind == EVENT_CUDA_CALL && function < writing->cuda->functions_len &&
	       writing->cuda->functions[function].name && writing->cuda->functions[function].api->class == CUDA_DRIVER;
}

/* What a function of the driver is for, by its name: there are no others' words for it. */
static const char *driver_type(const char *name)
{
	static const char *const of_memory[] = { "mem", "alloc", "_free", "vma", "_map_", "unmap" };
	const char *symbol = strchr(name, ':') ? strchr(name, ':') + 1 : name;

	if (strstr(symbol, "sched"))
		return "scheduler";
	for (size_t i = 0; i < sizeof(of_memory) / sizeof(of_memory[0]); i++)
		if (strstr(symbol, of_memory[i]))
			return "kernel_mem";
	return "kernel";
}

static const char *type_of(const struct writing *writing, const union kept *event)
{
	switch (event->head.kind) {
	case EVENT_CUDA_IOCTL:
		return "syscall";
	case EVENT_CUDA_WORK:
		return "kernel";
	case EVENT_FENCE:
		return "gpu_complete";
	case EVENT_GPU_MEMORY:
		return "gpu_mem";
	case EVENT_CUDA_XID:
		return "gpu_error";
	default:
		return is_of_driver(writing, event) ? driver_type(name_of(writing, event)) : "userspace";
	}
}

static bool is_instant(const union kept *event)
{
	return event->head.kind != EVENT_CUDA_CALL && event->head.kind != EVENT_CUDA_IOCTL &&
	       event->head.kind != EVENT_CUDA_WORK;
}

static u32 pid_of(const struct writing *writing, u32 tid)
{
	const struct thread *thread = threads_by_tid(writing->threads, tid);

	return thread ? thread->pid : tid;
}

static const char *words_of(struct writing *writing, const struct cuda_kernel *kernel)
{
	size_t slot = (size_t)kernel / sizeof(*kernel) % WORDED_SLOTS;
	bool shortened = false;

	if (writing->worded[slot].kernel != kernel) {
		free(writing->worded[slot].words);
		writing->worded[slot].kernel = kernel;
		writing->worded[slot].words = cuda_kernel_words(kernel, writing->names, &shortened);
	}
	return writing->worded[slot].words ? writing->worded[slot].words : "?";
}

static void print_sizes(struct json *json, const char *key, u32 x, u32 y, u32 z)
{
	json_array(json, key);
	json_u64(json, NULL, x);
	json_u64(json, NULL, y);
	json_u64(json, NULL, z);
	json_array_end(json);
}

/* What is known of a launch, behind what both forms begin with. */
static void print_launch(struct json *json, struct writing *writing, const struct event_cuda_launch *event)
{
	const struct cuda_kernel *kernel = cuda_kernel_of(writing->cuda, pid_of(writing, event->head.tid),
							  event->kernel);

	json_string(json, "kernel", kernel ? words_of(writing, kernel) : "");
	print_sizes(json, "grid", event->grid_x, event->grid_y, event->grid_z);
	print_sizes(json, "block", event->block_x, event->block_y, event->block_z);
	json_u64(json, "shared_bytes", event->shared_bytes);
	json_hex(json, "stream", event->stream);
}

static void print_call(struct json *json, const struct event_cuda_call *event, const char *function)
{
	const char *result = cuda_result_name_of(function, event->result);

	json_u64(json, "result", event->result);
	json_string(json, "result_name", result ? result : "?");
	json_double(json, "wait_us", (double)event->wait_ns / 1e3, 3);
	if (event->bytes)
		json_u64(json, "bytes", event->bytes);
	if (event->address)
		json_hex(json, "address", event->address);
	if (event->stream)
		json_hex(json, "stream", event->stream);
}

static void print_ioctl(struct json *json, const struct event_cuda_ioctl *event)
{
	char name[NAME_SIZE];

	nvidia_describe(name, sizeof(name), event->device, event->cmd, event->inner_nr, event->detail);
	json_u64(json, "cmd", event->cmd);
	json_string(json, "device", event->device == NVIDIA_UVM ? "nvidia-uvm" : "nvidia");
	json_string(json, "command", name);
	/* UVM's commands are plain numbers: there is nothing in them to take apart. */
	if (event->device == NVIDIA_UVM)
		return;
	json_object(json, "decoded");
	json_u64(json, "dir", ioc_dir(event->cmd));
	json_u64(json, "type", ioc_type(event->cmd));
	json_u64(json, "nr", ioc_nr(event->cmd));
	json_u64(json, "size", ioc_size(event->cmd));
	json_object_end(json);
}

static void print_driver_call(struct json *json, const struct event_cuda_call *event)
{
	static const char *const contexts[] = { [DRIVER_IN_THREAD] = "thread",
						[DRIVER_IN_KERNEL_THREAD] = "kernel thread",
						[DRIVER_IN_INTERRUPT] = "interrupt" };

	json_string(json, "context", event->copy <= DRIVER_IN_INTERRUPT ? contexts[event->copy] : "?");
	json_array(json, "arguments");
	json_hex(json, NULL, event->address);
	json_hex(json, NULL, event->stream);
	json_hex(json, NULL, event->bytes);
	json_array_end(json);
}

static void print_work(struct json *json, const struct event_cuda_work *event)
{
	char function[TAIL_LEN + 1] = "";

	memcpy(function, event->function.text, TAIL_LEN);
	json_string(json, "context", "kernel thread");
	json_string(json, "function", function);
	json_u64(json, "for_pid", event->pid);
	json_u64(json, "for_tid", event->for_tid);
	json_double(json, "queued_us", (double)event->queued_ns / 1e3, 3);
}

static void print_fence(struct json *json, const struct event_fence *event)
{
	char driver[COMM_LEN + 1] = "", timeline[COMM_LEN + 1] = "";

	memcpy(driver, event->driver.text, COMM_LEN);
	memcpy(timeline, event->timeline.text, COMM_LEN);
	json_string(json, "fence", driver);
	json_string(json, "timeline", timeline);
	json_u64(json, "context", event->context);
	json_u64(json, "seqno", event->seqno);
	json_double(json, "took_us", (double)event->took_ns / 1e3, 3);
}

static void print_xid(struct json *json, const struct writing *writing, const struct event_header *event)
{
	const struct cuda_xid *xid = writing->cuda->xids;
	char message[LONG_NAME_LEN + 1] = "";

	while (xid && xid->at_ns != event->time_ns)
		xid = xid->next;
	if (!xid)
		return;
	memcpy(message, xid->message.text, LONG_NAME_LEN);
	json_u64(json, "xid", xid->code);
	json_string(json, "message", message);
}

/* What is known of it, behind what both forms begin with. */
static void print_about(struct json *json, struct writing *writing, const union kept *event)
{
	switch (event->head.kind) {
	case EVENT_CUDA_LAUNCH:
		print_launch(json, writing, &event->launch);
		break;
	case EVENT_CUDA_IOCTL:
		print_ioctl(json, &event->ioctl);
		break;
	case EVENT_FENCE:
		print_fence(json, &event->fence);
		break;
	case EVENT_CUDA_WORK:
		print_work(json, &event->work);
		break;
	case EVENT_GPU_MEMORY:
		json_u64(json, "gpu", event->memory.gpu);
		json_u64(json, "pid", event->memory.pid);
		json_u64(json, "bytes", event->memory.bytes);
		break;
	case EVENT_CUDA_XID:
		print_xid(json, writing, &event->head);
		break;
	default:
		if (is_of_driver(writing, event))
			print_driver_call(json, &event->call);
		else
			print_call(json, &event->call, cuda_function_name(writing->cuda, event->call.function));
	}
}

static double since_ms(const struct writing *writing, u64 at_ns)
{
	return at_ns > writing->from_ns ? (double)(at_ns - writing->from_ns) / 1e6 : 0;
}

static void write_line(struct writing *writing, const union kept *event, const struct line *line)
{
	static const char *const phases[] = { "I", "B", "E" };
	bool is_ioctl = event->head.kind == EVENT_CUDA_IOCTL;
	struct json *json = &writing->json;

	json_record(json, "cuda_trace", true);
	json_u64(json, "event_id", writing->lines++);
	json_u64(json, "time_ns", line->at_ns);
	json_double(json, "ts", since_ms(writing, line->at_ns), 6);
	json_u64(json, "tid", event->head.tid);
	json_string(json, "type", type_of(writing, event));
	json_string(json, "name", name_of(writing, event));
	json_string(json, "phase", phases[line->phase]);
	if (line->phase == PHASE_END)
		json_double(json, "duration_us", (double)duration_of(event) / 1e3, 3);
	/* What came of a call is known at its end. */
	if (line->phase != PHASE_BEGIN || is_ioctl || is_of_driver(writing, event))
		print_about(json, writing, event);
	if (is_ioctl && line->phase == PHASE_END) {
		json_u64(json, "status", event->ioctl.status);
		json_s64(json, "ret", event->ioctl.result);
	}
	json_object_end(json);
	json_line_end(json);
}

/* At one moment an end comes before a beginning; of two that begin then, the longer one is outside. */
static const union kept *sorted_events;

static int by_time(const void *a, const void *b)
{
	const struct line *one = a, *other = b;
	u64 one_ns, other_ns;

	if (one->at_ns != other->at_ns)
		return one->at_ns < other->at_ns ? -1 : 1;
	if (one->phase != other->phase)
		return one->phase > other->phase ? -1 : 1;
	one_ns = duration_of(&sorted_events[one->event]);
	other_ns = duration_of(&sorted_events[other->event]);
	if (one_ns != other_ns)
		return (one_ns > other_ns) == (one->phase == PHASE_BEGIN) ? -1 : 1;
	return one->event < other->event ? -1 : one->event > other->event;
}

static bool write_lines(struct cuda_export *export, struct writing *writing)
{
	struct line *lines = calloc(export->len * 2 + 1, sizeof(*lines));
	size_t len = 0;

	for (size_t i = 0; lines && i < export->len; i++) {
		const union kept *event = &export->events[i];
		bool is_span = !is_instant(event);

		/* A launch that is seen whole has its sizes on a line of its own, where it begins. */
		lines[len++] = (struct line){ event->head.time_ns - duration_of(event), (u32)i,
					      is_span ? PHASE_BEGIN : PHASE_INSTANT };
		if (is_span)
			lines[len++] = (struct line){ event->head.time_ns, (u32)i, PHASE_END };
	}
	if (!lines)
		return false;
	sorted_events = export->events;
	sort_rows(lines, len, sizeof(*lines), by_time);
	for (size_t i = 0; i < len; i++) {
		write_line(writing, &export->events[lines[i].event], &lines[i]);
		progress_at(&writing->progress, i, i, len);
	}
	free(lines);
	return true;
}

static void write_chrome_event(struct writing *writing, const union kept *event)
{
	u64 from_ns = event->head.time_ns - duration_of(event);
	bool is_ioctl = event->head.kind == EVENT_CUDA_IOCTL, is_work = event->head.kind == EVENT_CUDA_WORK;
	const char *type = type_of(writing, event);
	struct json *json = &writing->json;
	char name[NAME_SIZE] = "";

	if (is_ioctl)
		nvidia_describe(name, sizeof(name), event->ioctl.device, event->ioctl.cmd, event->ioctl.inner_nr,
				event->ioctl.detail);
	else if (is_work)
		memcpy(name, event->work.function.text, TAIL_LEN);
	json_next_line(json);
	json_object(json, NULL);
	json_string(json, "name", is_ioctl || is_work ? name : name_of(writing, event));
	json_string(json, "cat", is_ioctl ? "ioctl" : strcmp(type, "userspace") ? type : "cuda");
	/* Who it was done for. */
	json_u64(json, "pid", is_work ? event->work.pid : pid_of(writing, event->head.tid));
	json_u64(json, "tid", event->head.tid);
	json_double(json, "ts", since_ms(writing, from_ns) * 1e3, 3);
	json_string(json, "ph", is_instant(event) ? "i" : "X");
	if (is_instant(event))
		json_string(json, "s", "t");
	else
		json_double(json, "dur", (double)duration_of(event) / 1e3, 3);
	json_object(json, "args");
	print_about(json, writing, event);
	json_object_end(json);
	json_object_end(json);
}

static void write_chrome_names(struct writing *writing)
{
	struct json *json = &writing->json;

	for (size_t i = 0; i < writing->threads->len; i++) {
		const struct thread *thread = writing->threads->all[i];
		char name[COMM_LEN + 1] = "";

		memcpy(name, thread->comm.text, COMM_LEN);
		json_next_line(json);
		json_object(json, NULL);
		json_string(json, "name", thread->pid == thread->tid ? "process_name" : "thread_name");
		json_string(json, "ph", "M");
		json_u64(json, "pid", thread->pid);
		json_u64(json, "tid", thread->tid);
		json_object(json, "args");
		json_string(json, "name", name);
		json_object_end(json);
		json_object_end(json);
	}
}

static void write_chrome(struct cuda_export *export, struct writing *writing)
{
	struct json *json = &writing->json;

	json_object(json, NULL);
	json_object(json, "otherData");
	json_string(json, "producer", "tactus " TACTUS_VERSION);
	json_object_end(json);
	json_string(json, "displayTimeUnit", "ms");
	json_array(json, "traceEvents");
	fputc('\n', json->out);
	for (size_t i = 0; i < export->len; i++) {
		write_chrome_event(writing, &export->events[i]);
		progress_at(&writing->progress, i, i, export->len);
	}
	write_chrome_names(writing);
	fputc('\n', json->out);
	json_array_end(json);
	json_object_end(json);
	json_line_end(json);
}

int cuda_export_close(struct cuda_export *export, const struct cuda *cuda, const struct threads *threads, u64 from_ns)
{
	struct writing writing = {
		.json.out = export->out, .cuda = cuda, .threads = threads, .from_ns = from_ns, .names = export->names
	};
	int status = 0;

	progress_begin(&writing.progress, "writing the trace", "events");
	if (export->form == FORM_LINES)
		export->failed |= !write_lines(export, &writing);
	else
		write_chrome(export, &writing);
	progress_end(&writing.progress);
	if (export->failed)
		note("%s: some events are missing: there was no memory for them", export->path);
	if (!output_close(export->out))
		status = EXIT_FAILURE;
	for (size_t i = 0; i < WORDED_SLOTS; i++)
		free(writing.worded[i].words);
	free(export->events);
	free(export);
	return status;
}
