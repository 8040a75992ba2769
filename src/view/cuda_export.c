// SPDX-License-Identifier: GPL-2.0
/* A trace as JSON lines, in the order of time, or in the form that chrome://tracing and Perfetto open. A call is known
 * when it ends but has its line where it began, so everything is kept until the end and put in order then. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/nvidia.h"
#include "../sink/text.h"
#include "cuda_view.h"

enum phase { PHASE_INSTANT, PHASE_BEGIN, PHASE_END };
enum { NAME_SIZE = 256, TOLD_SLOTS = 256 };

/* An event that was taken; the place of its copy. */
union kept {
	struct event_header head;
	struct event_cuda_call call;
	struct event_cuda_launch launch;
	struct event_cuda_ioctl ioctl;
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
	FILE *out;
	const struct cuda *cuda;
	const struct threads *threads;
	u64 from_ns;
	u64 lines;
	enum kernel_names names;
	/* Names in words, by the kernel's place in memory: to make them takes longer than to write a line. */
	struct {
		const struct cuda_kernel *kernel;
		char *words;
	} told[TOLD_SLOTS];
};

bool cuda_form_of(const char *path, enum cuda_form *form)
{
	size_t len = path ? strlen(path) : 0;

	if (len > 6 && !strcmp(path + len - 6, ".jsonl"))
		*form = FORM_LINES;
	else if (len > 5 && !strcmp(path + len - 5, ".json"))
		*form = FORM_CHROME;
	else
		return false;
	return true;
}

struct cuda_export *cuda_export_open(const char *path, enum cuda_form form, enum kernel_names names)
{
	struct cuda_export *export = calloc(1, sizeof(*export));

	if (export)
		export->out = fopen(path, "we");
	if (!export || !export->out) {
		fail(path, "cannot write: %m");
		free(export);
		return NULL;
	}
	export->path = path;
	export->form = form;
	export->names = names == NAMES_MANGLED ? NAMES_MANGLED : NAMES_WHOLE;
	return export;
}

void cuda_export_take(struct cuda_export *export, const struct event_header *event)
{
	size_t bytes = event->kind == EVENT_CUDA_CALL	  ? sizeof(struct event_cuda_call)
		       : event->kind == EVENT_CUDA_LAUNCH ? sizeof(struct event_cuda_launch)
		       : event->kind == EVENT_CUDA_IOCTL  ? sizeof(struct event_cuda_ioctl)
							  : 0;

	if (!bytes)
		return;
	if (export->len == export->room) {
		size_t room = export->room ? export->room * 2 : 4096;
		union kept *events = realloc(export->events, room * sizeof(*events));

		if (!events) {
			export->failed = true;
			return;
		}
		export->events = events;
		export->room = room;
	}
	memcpy(&export->events[export->len++], event, bytes);
}

static u64 duration_of(const union kept *event)
{
	return event->head.kind == EVENT_CUDA_CALL    ? event->call.duration_ns
	       : event->head.kind == EVENT_CUDA_IOCTL ? event->ioctl.duration_ns
						      : 0;
}

static u32 function_of(const union kept *event)
{
	return event->head.kind == EVENT_CUDA_CALL ? event->call.function : event->launch.function;
}

static const char *name_of(const struct writing *writing, const union kept *event)
{
	const char *name = event->head.kind == EVENT_CUDA_IOCTL ? "ioctl"
								: cuda_function_name(writing->cuda, function_of(event));

	return name ? name : "?";
}

static u32 pid_of(const struct writing *writing, u32 tid)
{
	const struct thread *thread = threads_by_tid(writing->threads, tid);

	return thread ? thread->pid : tid;
}

static const char *words_of(struct writing *writing, const struct cuda_kernel *kernel)
{
	size_t slot = (size_t)kernel / sizeof(*kernel) % TOLD_SLOTS;
	bool shortened = false;

	if (writing->told[slot].kernel != kernel) {
		free(writing->told[slot].words);
		writing->told[slot].kernel = kernel;
		writing->told[slot].words = cuda_kernel_words(kernel, writing->names, &shortened);
	}
	return writing->told[slot].words ? writing->told[slot].words : "?";
}

/* What is known of a launch, behind what both forms begin with. */
static void print_launch(struct writing *writing, const struct event_cuda_launch *event)
{
	const struct cuda_kernel *kernel = cuda_kernel_of(writing->cuda, pid_of(writing, event->head.tid),
							  event->kernel);

	fputs("\"kernel\":", writing->out);
	print_json_string(writing->out, kernel ? words_of(writing, kernel) : "");
	fprintf(writing->out,
		",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared_bytes\":%u,\"stream\":\"0x%" PRIx64 "\"",
		event->grid_x, event->grid_y, event->grid_z, event->block_x, event->block_y, event->block_z,
		event->shared_bytes, event->stream);
}

static void print_call(const struct writing *writing, const struct event_cuda_call *event)
{
	const char *result = cuda_result_name(event->result);

	fprintf(writing->out, "\"result\":%u,\"result_name\":\"%s\",\"wait_us\":%.3f", event->result,
		result ? result : "?", (double)event->wait_ns / 1e3);
	if (event->bytes)
		fprintf(writing->out, ",\"bytes\":%" PRIu64, event->bytes);
	if (event->address)
		fprintf(writing->out, ",\"address\":\"0x%" PRIx64 "\"", event->address);
	if (event->stream)
		fprintf(writing->out, ",\"stream\":\"0x%" PRIx64 "\"", event->stream);
}

static void print_ioctl(const struct writing *writing, const struct event_cuda_ioctl *event)
{
	char name[NAME_SIZE];

	nvidia_describe(name, sizeof(name), event->device, event->cmd, event->inner_nr, event->detail);
	fprintf(writing->out, "\"cmd\":%u,\"device\":\"%s\",\"command\":\"%s\"", event->cmd,
		event->device == NVIDIA_UVM ? "nvidia-uvm" : "nvidia", name);
	/* UVM's commands are plain numbers: there is nothing in them to take apart. */
	if (event->device != NVIDIA_UVM)
		fprintf(writing->out, ",\"decoded\":{\"dir\":%u,\"type\":%u,\"nr\":%u,\"size\":%u}",
			ioc_dir(event->cmd), ioc_type(event->cmd), ioc_nr(event->cmd), ioc_size(event->cmd));
}

static double since_ms(const struct writing *writing, u64 at_ns)
{
	return at_ns > writing->from_ns ? (double)(at_ns - writing->from_ns) / 1e6 : 0;
}

static void write_line(struct writing *writing, const union kept *event, const struct line *line)
{
	static const char *const phases[] = { "I", "B", "E" };
	bool is_ioctl = event->head.kind == EVENT_CUDA_IOCTL;

	fprintf(writing->out,
		"{\"event_id\":%" PRIu64 ",\"ts\":%.6f,\"tid\":%u,\"type\":\"%s\",\"name\":", writing->lines++,
		since_ms(writing, line->at_ns), event->head.tid, is_ioctl ? "syscall" : "userspace");
	print_json_string(writing->out, name_of(writing, event));
	fprintf(writing->out, ",\"phase\":\"%s\"", phases[line->phase]);
	if (line->phase == PHASE_END)
		fprintf(writing->out, ",\"duration_us\":%.3f", (double)duration_of(event) / 1e3);
	if (event->head.kind == EVENT_CUDA_LAUNCH) {
		fputc(',', writing->out);
		print_launch(writing, &event->launch);
	} else if (is_ioctl) {
		fputc(',', writing->out);
		print_ioctl(writing, &event->ioctl);
		if (line->phase == PHASE_END)
			fprintf(writing->out, ",\"status\":%u,\"ret\":%d", event->ioctl.status, event->ioctl.result);
	} else if (line->phase == PHASE_END) {
		fputc(',', writing->out);
		print_call(writing, &event->call);
	}
	fputs("}\n", writing->out);
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
		bool is_span = event->head.kind != EVENT_CUDA_LAUNCH;

		/* A launch that is seen whole has its sizes on a line of its own, where it begins. */
		lines[len++] = (struct line){ event->head.time_ns - duration_of(event), (u32)i,
					      is_span ? PHASE_BEGIN : PHASE_INSTANT };
		if (is_span)
			lines[len++] = (struct line){ event->head.time_ns, (u32)i, PHASE_END };
	}
	if (!lines)
		return false;
	sorted_events = export->events;
	qsort(lines, len, sizeof(*lines), by_time);
	for (size_t i = 0; i < len; i++)
		write_line(writing, &export->events[lines[i].event], &lines[i]);
	free(lines);
	return true;
}

static void write_chrome_event(struct writing *writing, const union kept *event)
{
	u64 from_ns = event->head.time_ns - duration_of(event);
	bool is_ioctl = event->head.kind == EVENT_CUDA_IOCTL, is_launch = event->head.kind == EVENT_CUDA_LAUNCH;
	char name[NAME_SIZE] = "";

	if (is_ioctl)
		nvidia_describe(name, sizeof(name), event->ioctl.device, event->ioctl.cmd, event->ioctl.inner_nr,
				event->ioctl.detail);
	fprintf(writing->out, "%s{\"name\":", writing->lines++ ? ",\n" : "");
	print_json_string(writing->out, is_ioctl ? name : name_of(writing, event));
	fprintf(writing->out, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,", is_ioctl ? "ioctl" : "cuda",
		pid_of(writing, event->head.tid), event->head.tid, since_ms(writing, from_ns) * 1e3);
	if (is_launch)
		fputs("\"ph\":\"i\",\"s\":\"t\",\"args\":{", writing->out);
	else
		fprintf(writing->out, "\"ph\":\"X\",\"dur\":%.3f,\"args\":{", (double)duration_of(event) / 1e3);
	if (is_launch)
		print_launch(writing, &event->launch);
	else if (is_ioctl)
		print_ioctl(writing, &event->ioctl);
	else
		print_call(writing, &event->call);
	fputs("}}", writing->out);
}

static void write_chrome_names(struct writing *writing)
{
	for (size_t i = 0; i < writing->threads->len; i++) {
		const struct thread *thread = writing->threads->all[i];
		char name[COMM_LEN + 1] = "";

		memcpy(name, thread->comm.text, COMM_LEN);
		fprintf(writing->out, "%s{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
			writing->lines++ ? ",\n" : "", thread->pid == thread->tid ? "process_name" : "thread_name",
			thread->pid, thread->tid);
		print_json_string(writing->out, name);
		fputs("}}", writing->out);
	}
}

int cuda_export_close(struct cuda_export *export, const struct cuda *cuda, const struct threads *threads, u64 from_ns)
{
	struct writing writing = {
		.out = export->out, .cuda = cuda, .threads = threads, .from_ns = from_ns, .names = export->names
	};
	int status = 0;

	if (export->form == FORM_LINES) {
		export->failed |= !write_lines(export, &writing);
	} else {
		fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", export->out);
		for (size_t i = 0; i < export->len; i++)
			write_chrome_event(&writing, &export->events[i]);
		write_chrome_names(&writing);
		fputs("\n]}\n", export->out);
	}
	if (export->failed)
		note("%s: some events are missing: there was no memory for them", export->path);
	if (ferror(export->out) | fclose(export->out))
		status = fail(export->path, "cannot write: %m");
	for (size_t i = 0; i < TOLD_SLOTS; i++)
		free(writing.told[i].words);
	free(export->events);
	free(export);
	return status;
}
