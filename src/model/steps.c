// SPDX-License-Identifier: GPL-2.0
/* A step begins and ends with the rhythm's marker. What it usually goes into is learned from steps that were not slow,
 * and a slow one is explained by what there was most more of. */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"

enum {
	USUAL_WEIGHT = 8,
	SLOW_WEIGHT = 64,      /* a loop that is slower for good becomes usual too */
	STEPS_BEFORE_SLOW = 4, /* that have to be known */
	LARGE_COPY = 1 << 20,  /* who waits right behind one waits for it */
	THREADS_SUMMED = 4096,
};
#define SLOW_LEAST_NS (NSEC_PER_MSEC / 2)

void steps_init(struct steps *steps, const char *marker)
{
	*steps = (struct steps){ .marker = marker };
}

static void free_process(struct step_process *process)
{
	rhythm_free(&process->rhythm);
	free(process->times_ns);
	free(process);
}

void steps_forget(struct steps *steps, const struct threads *threads, u64 since_ns)
{
	struct step_process **at = &steps->processes;

	while (*at) {
		struct step_process *process = *at;

		if (process->last_ns >= since_ns && !threads_has_ended(threads, process->pid)) {
			at = &process->next;
			continue;
		}
		*at = process->next;
		steps->processes_len--;
		free_process(process);
	}
}

void steps_free(struct steps *steps)
{
	while (steps->processes) {
		struct step_process *next = steps->processes->next;

		free_process(steps->processes);
		steps->processes = next;
	}
	history_free(&steps->history);
	steps_init(steps, NULL);
}

const char *step_part_name(enum step_part part)
{
	static const char *const names[STEP_PARTS] = { "cpu_wait",   "data", "lock",  "sync",	"copy",
						       "collective", "ran",  "slept", "unknown" };

	return names[part < STEP_PARTS ? part : STEP_UNKNOWN];
}

static struct step_process *process_of(struct steps *steps, const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	struct step_process *process = steps->processes;

	if (!thread)
		return NULL;
	while (process && process->pid != thread->pid)
		process = process->next;
	if (process || steps->processes_len == STEPS_PROCESSES)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process) {
		steps->failed = true;
		return NULL;
	}
	process->pid = thread->pid;
	process->comm = thread->comm;
	/* Where the user says what steps begin with, nothing else is looked for. */
	if (steps->marker)
		rhythm_give(&process->rhythm, 0);
	process->next = steps->processes;
	steps->processes = process;
	steps->processes_len++;
	return process;
}

static bool launches(const struct step_process *process, u32 tid)
{
	for (u32 i = 0; i < process->launchers_len; i++)
		if (process->launchers[i] == tid)
			return true;
	return false;
}

static void add_launcher(struct step_process *process, u32 tid)
{
	if (!launches(process, tid) && process->launchers_len < STEP_LAUNCHERS)
		process->launchers[process->launchers_len++] = tid;
}

static u64 cpu_of(struct threads *threads, u32 pid, u64 now_ns)
{
	u64 cpu_ns = 0;

	if (threads->len > THREADS_SUMMED)
		return 0;
	threads_charge(threads, now_ns);
	for (size_t i = 0; i < threads->len; i++)
		if (threads->all[i]->pid == pid)
			cpu_ns += threads->all[i]->account.cpu_ns;
	return cpu_ns;
}

/* Whether whoever was running where it was woken can have done it, if the kernel does not say: its own children, or
 * those of its parent. */
static bool is_relative(const struct threads *threads, const struct thread *other, u32 pid)
{
	const struct thread *parent = threads_by_tid(threads, other->parent_tid), *own = threads_by_tid(threads, pid);

	return (parent && parent->pid == pid) || (own && own->parent_tid && own->parent_tid == other->parent_tid);
}

/* What a sleep of its own was for. */
static enum step_part part_of_sleep(const struct step_process *process, const struct threads *threads,
				    const struct path_item *item)
{
	const struct thread *other = item->other_tid ? threads_by_tid(threads, item->other_tid) : NULL;

	if (!other || (item->woken_by & EVENT_FLAG_BY_INTERRUPT))
		return STEP_SLEPT;
	if (other->pid != process->pid)
		return (item->woken_by & EVENT_FLAG_BY_THREAD) || is_relative(threads, other, process->pid)
			       ? STEP_DATA
			       : STEP_SLEPT;
	return launches(process, other->tid) ? STEP_SLEPT : STEP_LOCK;
}

static enum step_part part_of(const struct step_process *process, const struct threads *threads, u32 owner_tid,
			      const struct path_item *item)
{
	const struct thread *thread = threads_by_tid(threads, item->tid);

	if (item->kind == PATH_UNKNOWN || !thread)
		return STEP_UNKNOWN;
	if (item->kind == PATH_WAITED)
		return STEP_CPU_WAIT;
	if (thread->pid != process->pid)
		return STEP_DATA;
	if (item->tid != owner_tid && !launches(process, item->tid))
		return STEP_LOCK;
	return item->kind == PATH_RAN ? STEP_RAN : part_of_sleep(process, threads, item);
}

static u64 excess(u64 value, u64 usual)
{
	return value > usual ? value - usual : 0;
}

/* What there was most more of than usual. Time in calls is also that of running or sleeping in them. */
static void find_cause(const struct step_process *process, const struct threads *threads, const struct path *path,
		       struct step *step)
{
	u64 more_ns[STEP_PARTS], in_calls_ns, most_ns = 0;

	for (u32 part = 0; part < STEP_PARTS; part++)
		more_ns[part] = excess(step->parts_ns[part], process->usual_parts_ns[part]);
	in_calls_ns = more_ns[STEP_SYNC] + more_ns[STEP_COPY] + more_ns[STEP_COLLECTIVE];
	more_ns[STEP_RAN] = excess(more_ns[STEP_RAN], in_calls_ns);
	more_ns[STEP_SLEPT] = excess(more_ns[STEP_SLEPT], in_calls_ns);
	more_ns[STEP_UNKNOWN] = excess(more_ns[STEP_UNKNOWN], in_calls_ns);
	step->part = STEP_UNKNOWN;
	for (u32 part = 0; part < STEP_PARTS; part++)
		if (more_ns[part] > most_ns) {
			most_ns = more_ns[part];
			step->part = part;
		}
	step->usual_part_ns = process->usual_parts_ns[step->part];
	step->call = process->calls[step->part];
	for (u32 i = 0; i < path->len; i++)
		if (part_of(process, threads, step->tid, &path->items[i]) == step->part &&
		    (!step->has_cause || path->items[i].ns > step->cause.ns)) {
			step->cause = path->items[i];
			step->has_cause = true;
		}
}

static void learn_usual(struct step_process *process, const struct step *step)
{
	s64 weight = step->is_slow ? SLOW_WEIGHT : process->steps <= STEPS_BEFORE_SLOW ? 2 : USUAL_WEIGHT;

	if (!process->usual_ns) {
		process->usual_ns = step->wall_ns;
		memcpy(process->usual_parts_ns, step->parts_ns, sizeof(process->usual_parts_ns));
		return;
	}
	process->usual_ns = (u64)((s64)process->usual_ns + ((s64)step->wall_ns - (s64)process->usual_ns) / weight);
	for (u32 part = 0; part < STEP_PARTS; part++)
		process->usual_parts_ns[part] =
			(u64)((s64)process->usual_parts_ns[part] +
			      ((s64)step->parts_ns[part] - (s64)process->usual_parts_ns[part]) / weight);
}

static void keep_worst(struct step_process *process, const struct step *step)
{
	u32 at = process->worst_len;

	while (at && process->worst[at - 1].wall_ns < step->wall_ns)
		at--;
	if (at == STEPS_WORST)
		return;
	process->worst_len += process->worst_len < STEPS_WORST;
	memmove(&process->worst[at + 1], &process->worst[at], (process->worst_len - at - 1) * sizeof(*step));
	process->worst[at] = *step;
}

static void add_up(struct steps *steps, struct step_process *process, const struct step *step)
{
	process->sum.wall_ns += step->wall_ns;
	process->sum.cpu_ns += step->cpu_ns;
	process->sum.launches += step->launches;
	process->sum.copies += step->copies;
	process->sum.copy_bytes += step->copy_bytes;
	process->sum.waits += step->waits;
	process->sum.collectives += step->collectives;
	for (u32 part = 0; part < STEP_PARTS; part++)
		process->sum.parts_ns[part] += step->parts_ns[part];
	process->slow += step->is_slow;
	if (step->is_slow)
		process->slow_by[step->part]++;
	keep_worst(process, step);
	if (process->times_len < STEPS_TIMES_MAX &&
	    vec_reserve(process->times_ns, process->times_room, process->times_len + 1, 64))
		process->times_ns[process->times_len++] = step->wall_ns;
	else
		steps->failed = true;
}

static void add_items(struct path *into, const struct path *from)
{
	for (u32 i = 0; i < from->len; i++)
		if (into->len < PATH_ITEMS)
			into->items[into->len++] = from->items[i];
		else
			into->unlisted_ns += from->items[i].ns;
	into->unlisted_ns += from->unlisted_ns;
}

/* What the thread's time went into but for collective calls: ranks of one machine wake each other there, which looks as
 * if they handed data over. */
static void walk_between(struct steps *steps, const struct step_process *process, const struct threads *threads,
			 u32 tid, u64 now_ns, struct path *path)
{
	u64 from_ns = process->from_ns;
	struct path piece;

	if (!process->spans_len) {
		path_walk_own(path, threads, &steps->history, tid, from_ns, now_ns);
		return;
	}
	memset(path, 0, sizeof(*path));
	for (u32 i = 0; i <= process->spans_len; i++) {
		const struct step_span *span = i < process->spans_len ? &process->spans[i] : NULL;

		if (span && span->tid != tid)
			continue;
		if ((span ? span->from_ns : now_ns) > from_ns) {
			path_walk_own(&piece, threads, &steps->history, tid, from_ns, span ? span->from_ns : now_ns);
			add_items(path, &piece);
		}
		if (span && span->to_ns > from_ns)
			from_ns = span->to_ns;
	}
}

/* The step that is under way ends: what it went into. */
static void close_step(struct steps *steps, struct step_process *process, struct threads *threads, u32 tid, u64 now_ns,
		       struct step *out)
{
	struct step *step = &process->now;
	struct path path;
	u64 cpu_ns = cpu_of(threads, process->pid, now_ns);

	step->number = ++process->steps;
	step->at_ns = now_ns;
	step->wall_ns = now_ns - process->from_ns;
	step->tid = tid;
	step->cpu_ns = excess(cpu_ns, process->cpu_from_ns);
	step->usual_ns = process->usual_ns;
	walk_between(steps, process, threads, tid, now_ns, &path);
	for (u32 i = 0; i < path.len; i++)
		step->parts_ns[part_of(process, threads, tid, &path.items[i])] += path.items[i].ns;
	step->parts_ns[STEP_UNKNOWN] += path.unlisted_ns;
	step->is_slow = process->steps > STEPS_BEFORE_SLOW && step->wall_ns > process->usual_ns / 10 * 13 &&
			step->wall_ns - process->usual_ns >= SLOW_LEAST_NS;
	if (step->is_slow)
		find_cause(process, threads, &path, step);
	add_up(steps, process, step);
	learn_usual(process, step);
	*out = *step;
}

static void begin_step(struct step_process *process, struct threads *threads, u64 now_ns)
{
	process->now = (struct step){ 0 };
	process->spans_len = 0;
	memset(process->calls, 0, sizeof(process->calls));
	process->from_ns = now_ns;
	process->cpu_from_ns = cpu_of(threads, process->pid, now_ns);
}

/* What was taken for steps were parts of them, or another loop. */
static void forget(struct step_process *process)
{
	process->from_ns = 0;
	process->steps = process->slow = process->usual_ns = 0;
	process->sum = (struct step){ 0 };
	process->times_len = 0;
	process->worst_len = 0;
	memset(process->slow_by, 0, sizeof(process->slow_by));
}

/* True if a step has ended. */
static bool take_occurrence(struct steps *steps, struct step_process *process, struct threads *threads,
			    const struct occurrence *occurrence, u64 now_ns, struct step *out)
{
	enum rhythm_said said = rhythm_take(&process->rhythm, occurrence);
	bool ended = false;

	if (said == RHYTHM_CHANGED)
		forget(process);
	if (said != RHYTHM_MARK)
		return false;
	if (process->from_ns && now_ns > process->from_ns) {
		close_step(steps, process, threads, occurrence->tid, now_ns, out);
		ended = true;
	}
	begin_step(process, threads, now_ns);
	return ended;
}

/* Whether the user's word is in the name of what is launched, called or begun. */
static void look_for_word(const struct steps *steps, struct step_process *process, const char *name, u64 key)
{
	if (steps->marker && name && strstr(name, steps->marker) && !process->rhythm.marker)
		rhythm_give(&process->rhythm, key);
}

static u64 mix(u64 a, u64 b)
{
	a = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	a ^= a >> 32;
	return a ? a : 1;
}

static bool handle_launch(struct steps *steps, struct step_process *process, struct threads *threads,
			  const struct cuda *cuda, const struct event_cuda_launch *event, struct step *out)
{
	const struct cuda_kernel *kernel = cuda_kernel_of(cuda, process->pid, event->kernel);
	const char *function = cuda_function_name(cuda, event->function);
	bool is_graph = function && !strncmp(function, "cuGraphLaunch", 13);
	struct occurrence occurrence = { .key = mix(event->kernel, event->function),
					 .tid = event->head.tid,
					 .rank = is_graph ? BEAT_GRAPH : BEAT_LAUNCH,
					 .is_of_first = event->head.tid == process->pid };

	look_for_word(steps, process, kernel && kernel->name ? kernel->name : function, occurrence.key);
	add_launcher(process, event->head.tid);
	process->now.launches++;
	process->copied = (struct event_cuda_call){ 0 };
	return take_occurrence(steps, process, threads, &occurrence, event->head.time_ns, out);
}

static void count_call(struct step_process *process, enum step_part part, const struct event_cuda_call *event)
{
	/* What it waited for a CPU meanwhile is in the path. */
	u64 ns = excess(event->duration_ns, event->wait_ns);

	process->now.parts_ns[part] += ns;
	if (ns >= process->calls[part].ns)
		process->calls[part] = (struct step_call){ ns, event->bytes, event->function, event->copy };
}

/* What it waited for a CPU in there is not in the path, which leaves the call out. */
static void add_span(struct step_process *process, const struct event_cuda_call *event)
{
	u64 from_ns = event->head.time_ns > event->duration_ns ? event->head.time_ns - event->duration_ns : 0;

	if (process->spans_len == STEP_SPANS || from_ns < process->from_ns)
		return;
	process->spans[process->spans_len++] = (struct step_span){ from_ns, event->head.time_ns, event->head.tid };
	process->now.parts_ns[STEP_CPU_WAIT] += event->wait_ns;
}

/* Copies and waits of the threads that launch, and what the program itself says. */
static bool handle_call(struct steps *steps, struct step_process *process, struct threads *threads,
			const struct cuda *cuda, const struct event_cuda_call *event, struct step *out)
{
	const char *name = cuda_function_name(cuda, event->function);
	const struct cuda_api *api = name ? cuda_api_of(name) : NULL;
	struct occurrence occurrence = { .tid = event->head.tid,
					 .rank = BEAT_CALL,
					 .is_of_first = event->head.tid == process->pid };
	bool is_own = launches(process, event->head.tid) && !(event->head.flags & EVENT_FLAG_NESTED);

	if (!api || !is_own)
		return false;
	occurrence.key = mix(~(u64)event->function, event->copy + 1);
	if (api->class == CUDA_COPIES) {
		struct event_cuda_call copy = *event;

		if (!copy.copy)
			copy.copy = api->what;
		process->now.copies++;
		process->now.copy_bytes += event->bytes;
		/* A copy of a few bytes takes long where it waits for the work before it: a loss that is looked at. */
		count_call(process, event->bytes >= LARGE_COPY ? STEP_COPY : STEP_SYNC, &copy);
		process->copied = api->is_async ? copy : (struct event_cuda_call){ 0 };
	} else if (api->class == CUDA_WAITS) {
		bool is_of_copy = process->copied.bytes >= LARGE_COPY && process->copied.head.tid == event->head.tid;
		struct event_cuda_call wait = *event;

		wait.bytes = is_of_copy ? process->copied.bytes : 0;
		wait.copy = is_of_copy ? process->copied.copy : 0;
		process->now.waits++;
		count_call(process, is_of_copy ? STEP_COPY : STEP_SYNC, &wait);
		process->copied = (struct event_cuda_call){ 0 };
	} else if (api->class == CUDA_COLLECTIVES) {
		process->now.collectives++;
		count_call(process, STEP_COLLECTIVE, event);
		add_span(process, event);
	} else {
		return false;
	}
	look_for_word(steps, process, name, occurrence.key);
	return take_occurrence(steps, process, threads, &occurrence, event->head.time_ns, out);
}

/* What the program itself says that it begins with now. Its numbers, as in "step 17", are no part of what it is. */
static bool handle_range(struct steps *steps, struct step_process *process, struct threads *threads,
			 const struct event_cuda_name *event, struct step *out)
{
	struct occurrence occurrence = {
		.key = 1, .tid = event->head.tid, .rank = BEAT_RANGE, .is_of_first = event->head.tid == process->pid
	};
	char name[LONG_NAME_LEN + 1] = "";

	process->ranges++;
	memcpy(name, event->name.text, LONG_NAME_LEN);
	for (const char *at = name; *at; at++)
		if (*at < '0' || *at > '9')
			occurrence.key = mix(occurrence.key, (u8)*at);
	look_for_word(steps, process, name, occurrence.key);
	return take_occurrence(steps, process, threads, &occurrence, event->head.time_ns, out);
}

bool steps_handle(struct steps *steps, struct threads *threads, const struct cuda *cuda,
		  const struct event_header *event, struct step *step, const struct step_process **process)
{
	struct step_process *its;

	if (!history_handle(&steps->history, event) || !path_handle(threads, event))
		steps->failed = true;
	if (event->kind != EVENT_CUDA_LAUNCH && event->kind != EVENT_CUDA_CALL &&
	    (event->kind != EVENT_CUDA_NAME || ((const struct event_cuda_name *)event)->what != CUDA_NAMED_RANGE))
		return false;
	its = process_of(steps, threads, event->tid);
	if (!its) {
		steps->refused++;
		return false;
	}
	its->last_ns = event->time_ns;
	*process = its;
	if (event->kind == EVENT_CUDA_LAUNCH)
		return handle_launch(steps, its, threads, cuda, (const struct event_cuda_launch *)event, step);
	if (event->kind == EVENT_CUDA_NAME)
		return handle_range(steps, its, threads, (const struct event_cuda_name *)event, step);
	return handle_call(steps, its, threads, cuda, (const struct event_cuda_call *)event, step);
}

static int by_length(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

struct step_times step_times(const struct step_process *process)
{
	u64 *sorted = malloc((process->times_len + 1) * sizeof(*sorted));
	struct step_times times = { 0 };
	size_t len = process->times_len;

	if (sorted && len) {
		memcpy(sorted, process->times_ns, len * sizeof(*sorted));
		sort_rows(sorted, len, sizeof(*sorted), by_length);
		times = (struct step_times){ sorted[len / 2], sorted[len * 99 / 100], sorted[len - 1] };
	}
	free(sorted);
	return times;
}
