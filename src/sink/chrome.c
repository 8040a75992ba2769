// SPDX-License-Identifier: GPL-2.0
/* The format has processes with threads in them, and nothing else: process 0 is the machine, with a row a CPU, and each
 * track is a thread of its own, whose number no thread has. Times are microseconds, with three decimals. */
#include "chrome.h"

#include <stdlib.h>

#include "../base/vec.h"
#include "chars.h"
#include "json.h"
#include "text.h"

enum { CPUS_MOST = 4096, TRACK_ROW = 0x40000000, MACHINE_PID = 0, NAME_SIZE = 64, LINE_SIZE = 512, NAMES_KEPT = 256 };

/* How a thread is called, ready to be written: those that run come back, and a name is long to escape. */
struct kept_name {
	u32 tid;
	u32 len; /* 0: none */
	struct comm comm;
	char text[NAME_SIZE];
};

/* Who runs. */
struct cpu_row {
	bool is_named, known;
	u32 tid;
	u64 since_ns; /* that it does */
	u64 last_ns;  /* of the last switch */
	u64 seen_ns;  /* who runs woke somebody then */
	u64 lost_ns;  /* events are missing from then on */
	struct comm comm;
};

struct chrome {
	FILE *out;
	struct json json;
	struct cpu_row *cpus;
	size_t cpus_len;
	u64 last_flow;
	bool failed;
	struct kept_name names[NAMES_KEPT];
};

/* How an event begins. */
static char *put_head(char *at, char phase, u32 pid, u32 row, u64 at_ns)
{
	at = chars_text(at, ",\n{\"ph\":\"");
	*at++ = phase;
	at = chars_text(at, "\",\"pid\":");
	at = chars_number(at, pid);
	at = chars_text(at, ",\"tid\":");
	at = chars_number(at, row);
	if (phase == 'M')
		return at;
	at = chars_text(at, ",\"ts\":");
	return chars_us(at, at_ns);
}

static void put_line(struct chrome *chrome, const char *line, const char *end)
{
	fwrite_unlocked(line, 1, (size_t)(end - line), chrome->out);
}

/* One event; what else it has follows. */
static struct json *begin(struct chrome *chrome, char phase, u32 pid, u32 row, u64 at_ns)
{
	char line[LINE_SIZE];

	put_line(chrome, line, put_head(line, phase, pid, row, at_ns));
	chrome->json = (struct json){ .out = chrome->out, .follows = true };
	return &chrome->json;
}

static char *put_duration(char *at, u64 ns)
{
	return chars_us(chars_text(at, ",\"dur\":"), ns);
}

static void end(struct json *json)
{
	json_object_end(json);
}

/* What a row is called, and where it stands. */
static void put_name(struct chrome *chrome, const char *what, u32 pid, u32 row, const char *name)
{
	struct json *json = begin(chrome, 'M', pid, row, 0);

	json_string(json, "name", what);
	json_object(json, "args");
	json_string(json, "name", name);
	json_object_end(json);
	end(json);
}

/* "name [tid]" within a JSON string. Of plain text only two characters mean anything there. */
static void make_name(struct kept_name *name)
{
	char plain[NAME_SIZE / 2], text[COMM_LEN + 1] = "", *at = name->text;

	memcpy(text, name->comm.text, COMM_LEN);
	format_plain(plain, sizeof(plain), text);
	for (const char *from = plain; *from; from++) {
		if (*from == '"' || *from == '\\')
			*at++ = '\\';
		*at++ = *from;
	}
	if (name->tid) {
		at = chars_text(at, " [");
		at = chars_number(at, name->tid);
		*at++ = ']';
	}
	name->len = (u32)(at - name->text);
}

static char *put_thread_name(struct chrome *chrome, char *at, const struct comm *comm, u32 tid)
{
	static const struct comm none;
	struct kept_name *kept = &chrome->names[tid % NAMES_KEPT];

	if (!comm)
		comm = &none;
	if (!kept->len || kept->tid != tid || memcmp(&kept->comm, comm, sizeof(*comm)) != 0) {
		kept->tid = tid;
		kept->comm = *comm;
		make_name(kept);
	}
	return chars_put(at, kept->text, kept->len);
}

struct chrome *chrome_open(FILE *out, const struct trace_machine *machine)
{
	struct chrome *made = calloc(1, sizeof(*made));
	struct json json = { .out = out, .follows = true };

	if (!made)
		return NULL;
	made->out = out;
	fputs(CHROME_BEGINNING "\"", out);
	json_string(&json, "kernel", machine->kernel);
	json_string(&json, "machine", machine->name);
	json_u64(&json, "cpus", machine->cpus_len);
	json_u64(&json, "monotonic_ns", machine->mono_ns);
	json_u64(&json, "realtime_ns", machine->wall_ns);
	fputs("},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
	      "\"machine\"}}",
	      out);
	return made;
}

void chrome_close(struct chrome *chrome)
{
	if (chrome)
		free(chrome->cpus);
	free(chrome);
}

bool chrome_failed(const struct chrome *chrome)
{
	return chrome->failed;
}

/* NULL: there are not so many, or for want of memory. */
static struct cpu_row *row_of(struct chrome *chrome, u32 cpu)
{
	char name[NAME_SIZE];

	if (cpu >= CPUS_MOST)
		return NULL;
	if (!vec_lengthen(chrome->cpus, chrome->cpus_len, (size_t)cpu + 1)) {
		chrome->failed = true;
		return NULL;
	}
	if (!chrome->cpus[cpu].is_named) {
		snprintf(name, sizeof(name), "CPU %u", cpu);
		put_name(chrome, "thread_name", MACHINE_PID, cpu, name);
		chrome->cpus[cpu].is_named = true;
	}
	return &chrome->cpus[cpu];
}

/* A run that ends. That of nobody is none. */
static void put_run(struct chrome *chrome, u32 cpu, const struct cpu_row *row, u64 to_ns)
{
	char line[LINE_SIZE], *at;

	if (!row->known || !row->tid || to_ns <= row->since_ns)
		return;
	at = put_head(line, 'X', MACHINE_PID, cpu, row->since_ns);
	at = put_duration(at, to_ns - row->since_ns);
	at = chars_text(at, ",\"cat\":\"run\",\"name\":\"");
	at = put_thread_name(chrome, at, &row->comm, row->tid);
	at = chars_text(at, "\",\"args\":{\"tid\":");
	at = chars_number(at, row->tid);
	put_line(chrome, line, chars_text(at, "}}"));
}

static void turn_to(struct cpu_row *row, u32 tid, const struct comm *comm, u64 now_ns)
{
	static const struct comm none;

	row->known = true;
	row->tid = tid;
	row->since_ns = row->last_ns = now_ns;
	row->comm = comm ? *comm : none;
}

static void switched(void *sink, const struct trace_switch *change)
{
	struct chrome *chrome = sink;
	struct cpu_row *row = row_of(chrome, change->cpu);
	u64 now_ns = change->at_ns;

	if (!row || (change->prev_is_unknown && row->known && row->tid == change->next_tid))
		return;
	/* A CPU's switches never go back. */
	if (now_ns < row->last_ns)
		now_ns = row->last_ns;
	/* Another thread leaves than came: it came in what is missing, not before that began. */
	if (row->known && !change->prev_is_unknown && row->tid != change->prev_tid) {
		u64 since_ns = row->seen_ns >= row->last_ns ? row->seen_ns + 1 : row->last_ns;

		if (row->lost_ns > since_ns)
			since_ns = row->lost_ns;
		if (since_ns > now_ns)
			since_ns = now_ns;
		put_run(chrome, change->cpu, row, since_ns);
		turn_to(row, change->prev_tid, change->prev_comm, since_ns);
	}
	put_run(chrome, change->cpu, row, now_ns);
	turn_to(row, change->next_tid, change->next_comm, now_ns);
}

static void woken(void *sink, const struct trace_wakeup *wakeup)
{
	struct chrome *chrome = sink;
	struct cpu_row *row = row_of(chrome, wakeup->cpu);
	char line[LINE_SIZE], *at;

	if (!row)
		return;
	if (row->known && row->tid == wakeup->waker_tid)
		row->seen_ns = wakeup->at_ns;
	at = put_head(line, 'i', MACHINE_PID, wakeup->cpu, wakeup->at_ns);
	at = chars_text(at, ",\"s\":\"t\",\"cat\":\"wakeup\",\"name\":\"wakes ");
	at = put_thread_name(chrome, at, wakeup->comm, wakeup->tid);
	at = chars_text(at, "\",\"args\":{\"tid\":");
	at = chars_number(at, wakeup->tid);
	at = chars_text(at, ",\"waker_tid\":");
	at = chars_number(at, wakeup->waker_tid);
	at = chars_text(at, ",\"target_cpu\":");
	at = chars_number(at, wakeup->target_cpu);
	put_line(chrome, line, chars_text(at, "}}"));
}

static u32 row_of_track(const struct trace_track *track)
{
	return TRACK_ROW | (u32)(track->id & (TRACK_ROW - 1));
}

static void track(void *sink, const struct trace_track *made)
{
	char name[2 * NAME_SIZE];

	if (made->kind != TRACK_LANE)
		return;
	if (made->tid)
		snprintf(name, sizeof(name), "%s [%u]", made->name, made->tid);
	else
		snprintf(name, sizeof(name), "%s", made->name);
	put_name(sink, "thread_name", made->pid, row_of_track(made), name);
}

static void put_args(struct json *json, const struct trace_mark *mark)
{
	json_object(json, "args");
	for (u32 i = 0; i < mark->args_len; i++) {
		const struct trace_arg *arg = &mark->args[i];

		if (arg->kind == ARG_TEXT)
			json_string(json, arg->name, arg->text);
		else if (arg->kind == ARG_HEX)
			json_hex(json, arg->name, arg->number);
		else if (arg->kind == ARG_SIGNED)
			json_s64(json, arg->name, (s64)arg->number);
		else
			json_u64(json, arg->name, arg->number);
	}
	json_object_end(json);
}

/* An arrow goes from where its number came first. It is fixed to slices by a moment that lies in them: their last,
 * since a frame ends after the wait that made it late, and begins before. */
static void put_flow(struct chrome *chrome, const struct trace_mark *mark, u32 pid, u32 row)
{
	bool is_first = mark->flow > chrome->last_flow;
	struct json *json;

	if (!mark->flow || mark->to_ns <= mark->from_ns)
		return;
	if (is_first)
		chrome->last_flow = mark->flow;
	json = begin(chrome, is_first ? 's' : 't', pid, row, mark->to_ns - 1);
	json_string(json, "cat", "in the way");
	json_string(json, "name", "in the way");
	json_hex(json, "id", mark->flow);
	end(json);
}

static void put_mark(void *sink, const struct trace_mark *mark)
{
	struct chrome *chrome = sink;
	u32 pid = mark->track->pid, row = row_of_track(mark->track);
	struct json *json = begin(chrome, mark->is_instant ? 'i' : 'X', pid, row, mark->from_ns);
	char took[LINE_SIZE];

	if (!mark->is_instant)
		put_line(chrome, took,
			 put_duration(took, mark->to_ns > mark->from_ns ? mark->to_ns - mark->from_ns : 0));
	else
		json_string(json, "s", "t");
	json_string(json, "cat", mark->category);
	json_string(json, "name", mark->name);
	put_args(json, mark);
	end(json);
	if (!mark->is_instant)
		put_flow(chrome, mark, pid, row);
}

static void put_count(void *sink, const struct trace_track *counter, u64 at_ns, u64 value)
{
	struct json *json;

	if (!counter)
		return;
	json = begin(sink, 'C', counter->pid, 0, at_ns);
	json_string(json, "name", counter->name);
	json_object(json, "args");
	json_u64(json, counter->unit, value);
	json_object_end(json);
	end(json);
}

/* Threads have no row of their own: what they do is on tracks, which are named by their tid. */
static void put_thread(void *sink, const struct trace_thread *thread)
{
	char name[NAME_SIZE], text[COMM_LEN + 1] = "";

	if (!thread->pid || thread->tid != thread->pid || !thread->comm)
		return;
	memcpy(text, thread->comm->text, COMM_LEN);
	format_plain(name, sizeof(name), text);
	put_name(sink, "process_name", thread->pid, thread->tid, name);
}

static void put_end(void *sink, const struct trace_thread *thread)
{
	(void)sink;
	(void)thread;
}

static void lost(void *sink, u32 cpu, u64 at_ns)
{
	struct chrome *chrome = sink;
	struct cpu_row *row = row_of(chrome, cpu);

	if (row)
		row->lost_ns = at_ns;
}

static void flush(void *sink)
{
	(void)sink;
}

static void finish(void *sink, u64 at_ns)
{
	struct chrome *chrome = sink;

	for (size_t cpu = 0; cpu < chrome->cpus_len; cpu++)
		put_run(chrome, (u32)cpu, &chrome->cpus[cpu], at_ns);
	fputs("\n]}\n", chrome->out);
}

const struct trace_form chrome_form = {
	.track = track,
	.mark = put_mark,
	.count = put_count,
	.thread = put_thread,
	.renamed = put_thread,
	.ended = put_end,
	.switched = switched,
	.woken = woken,
	.lost = lost,
	.flush = flush,
	.end = finish,
};
