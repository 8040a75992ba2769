// SPDX-License-Identifier: GPL-2.0
/* Sentences out of counts. Each says what was measured; what follows from it for whoever reads is one of a few pieces
 * of advice, by what most late frames were late for. */
#include "report_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sink/text.h"
#include "thread_words.h"

enum { TIME_SIZE = 16, NAMED_MOST = 3, WORTH_A_PART = 100, WORTH_A_WORD_NS = 10 * NSEC_PER_MSEC };

struct verdict {
	const struct verdict_of *of;
	void (*each)(void *data, enum verdict_kind kind, const char *text);
	void *data;
};

const char *verdict_kind_name(enum verdict_kind kind)
{
	static const char *const names[VERDICT_KINDS] = { "good", "bad", "why", "advice", "note" };

	return names[kind];
}

const char *report_blame_name(enum report_blame blame)
{
	static const char *const names[REPORT_BLAMES] = { "cpu", "itself", "work", "sleep", "gpu", "unknown" };

	return names[blame];
}

void report_name_words(char into[COMM_LEN + 1], const struct report_names *names, u32 name)
{
	if (name == REPORT_NAME_IDLE || name == REPORT_NAME_OTHERS)
		snprintf(into, COMM_LEN + 1, "%s", name == REPORT_NAME_IDLE ? "idle" : "others");
	else if (name < REPORT_NAMES_FIRST || name >= names->len)
		snprintf(into, COMM_LEN + 1, "?");
	else
		comm_name(into, &names->all[name]);
}

static void __attribute__((format(printf, 3, 4)))
say_it(const struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
{
	char text[VERDICT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	verdict->each(verdict->data, kind, text);
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "behind cc1 (38 frames), make (2)": of one process's causes of that kind, the most frequent. */
static void list_guilty(char *into, size_t size, const struct report *report, u32 pid, enum report_blame blame,
			const char *before)
{
	const struct report_frames *frames = &report->frames;
	u32 named = 0, more = 0;
	size_t used = 0;

	into[0] = '\0';
	for (u32 i = 0; i < frames->causes_len; i++) {
		const struct report_cause *cause = &frames->causes[i];
		char name[COMM_LEN + 1];

		if (cause->pid != pid || cause->blame != blame || cause->name < REPORT_NAMES_FIRST)
			continue;
		if (named == NAMED_MOST) {
			more++;
			continue;
		}
		report_name_words(name, &report->names, cause->name);
		used += (size_t)snprintf(into + used, size - used, "%s%s (%" PRIu64 "%s)", named ? ", " : before, name,
					 cause->frames,
					 named		      ? ""
					 : cause->frames == 1 ? " frame"
							      : " frames");
		named++;
	}
	if (more)
		snprintf(into + used, size - used, " and %u more", more);
}

static u64 blamed(const struct report *report, u32 pid, enum report_blame blame)
{
	u64 frames = 0;

	for (u32 i = 0; i < report->frames.causes_len; i++)
		if (report->frames.causes[i].pid == pid && report->frames.causes[i].blame == blame)
			frames += report->frames.causes[i].frames;
	return frames;
}

/* What most late frames were late for. */
static enum report_blame worst_blame(const struct report *report, u32 pid)
{
	enum report_blame worst = REPORT_BLAME_UNKNOWN;
	u64 most = 0;

	for (u32 blame = 0; blame < REPORT_BLAMES; blame++) {
		u64 frames = blamed(report, pid, (enum report_blame)blame);

		if (frames > most) {
			most = frames;
			worst = (enum report_blame)blame;
		}
	}
	return worst;
}

static void say_blame(const struct verdict *verdict, const struct frame_process *process, enum report_blame blame)
{
	static const struct {
		const char *words, *before, *after;
	} how[REPORT_BLAMES] = {
		[REPORT_BLAME_CPU] = { "a thread that the frame needed waited for a CPU", " behind ", "" },
		[REPORT_BLAME_ITSELF] = { "the thread that presents ran longer than usual", "", "" },
		[REPORT_BLAME_WORK] = { "the thread that presents waited for another that ran longer than usual", ": ",
					"" },
		[REPORT_BLAME_SLEEP] = { "the thread that presents slept until a timer or a device woke it", ", or ",
					 " did" },
		[REPORT_BLAME_GPU] = { "its time went into calls to the GPU's driver", "", "" },
		[REPORT_BLAME_UNKNOWN] = { "the recording does not say what its time went into", "", "" },
	};
	u64 frames = blamed(verdict->of->report, process->pid, blame);
	char guilty[VERDICT_SIZE / 2];

	if (!frames)
		return;
	list_guilty(guilty, sizeof(guilty), verdict->of->report, process->pid, blame, how[blame].before);
	say_it(verdict, VERDICT_WHY, "In %" PRIu64 " of the %" PRIu64 " (%.0f %%) %s%s%s.", frames, process->late,
	       percent(frames, process->late), how[blame].words, guilty, guilty[0] ? how[blame].after : "");
}

static u64 sum_count(const struct report *report, enum report_count what)
{
	u64 sum = 0;

	for (u32 bin = 0; bin < report->bins; bin++)
		sum += report->counts[what][bin];
	return sum;
}

static bool tactus_acted(const struct report *report)
{
	return sum_count(report, REPORT_PREEMPTS) || sum_count(report, REPORT_DECIDED_MOVES) || report->effects_all;
}

/* Who was in the way of most. */
static void say_advice_cpu(const struct verdict *verdict, u32 pid)
{
	const struct report *report = verdict->of->report;
	char name[COMM_LEN + 1] = "";

	for (u32 i = 0; i < report->frames.causes_len; i++) {
		const struct report_cause *cause = &report->frames.causes[i];

		if (cause->pid == pid && cause->blame == REPORT_BLAME_CPU && cause->name >= REPORT_NAMES_FIRST) {
			report_name_words(name, &report->names, cause->name);
			break;
		}
	}
	if (tactus_acted(report))
		say_it(verdict, VERDICT_ADVICE,
		       "tactus acted here, and these frames were late nevertheless: 'tactus roles' shows whether it "
		       "knows what the threads are for; [roles] in /etc/tactus.conf tells it.");
	else if (!name[0])
		say_it(verdict, VERDICT_ADVICE,
		       "Let 'tactus run' run beside it: threads that frames wait for then go first.");
	else
		say_it(verdict, VERDICT_ADVICE,
		       "Let 'tactus run' run beside it: threads that frames wait for then go before %s. Or start what "
		       "runs %s with 'nice -n 19', or with fewer jobs at once.",
		       name, name);
}

static void say_advice(const struct verdict *verdict, u32 pid)
{
	switch (worst_blame(verdict->of->report, pid)) {
	case REPORT_BLAME_CPU:
		say_advice_cpu(verdict, pid);
		break;
	case REPORT_BLAME_ITSELF:
	case REPORT_BLAME_WORK:
		say_it(verdict, VERDICT_ADVICE,
		       "No scheduler gives that time back: the program needed it. 'perf record' shows what it "
		       "computes; "
		       "lower settings make it less.");
		break;
	case REPORT_BLAME_SLEEP:
		say_it(verdict, VERDICT_ADVICE,
		       "No CPU was missing: it waited for something else, such as the GPU, the display, a lock or a "
		       "disk. 'tactus frames --why --stacks' shows where it slept.");
		break;
	case REPORT_BLAME_GPU:
		say_it(verdict, VERDICT_ADVICE,
		       "The GPU or its driver is the limit: 'tactus gpu' shows its calls; a lower resolution or fewer "
		       "effects help.");
		break;
	default:
		say_it(verdict, VERDICT_ADVICE,
		       "The recording does not say why: 'tactus record' without filters sees more.");
	}
}

static void say_process(const struct verdict *verdict, const struct frame_process *process)
{
	struct frame_times times = frame_times(process, 0);
	char name[THREAD_NAME_SIZE], p50[TIME_SIZE], p99[TIME_SIZE], max[TIME_SIZE];
	double seconds = (double)times.sum_ns / NSEC_PER_SEC;

	comm_name(name, &process->comm);
	format_time(p50, sizeof(p50), times.p50_ns);
	format_time(p99, sizeof(p99), times.p99_ns);
	format_time(max, sizeof(max), times.max_ns);
	if (!process->late) {
		say_it(verdict, VERDICT_GOOD,
		       "%s presented %" PRIu64 " frames, %.1f a second, and none was late: half took under %s, the "
		       "longest %s.",
		       name, process->frames, seconds > 0 ? (double)times.len / seconds : 0, p50, max);
		return;
	}
	say_it(verdict, VERDICT_BAD,
	       "%" PRIu64 " of %" PRIu64
	       " frames of %s (%.1f %%) were late. Half of its frames took under %s, one in a "
	       "hundred over %s, the longest %s.",
	       process->late, process->frames, name, percent(process->late, process->frames), p50, p99, max);
	for (u32 blame = 0; blame < REPORT_BLAMES; blame++)
		say_blame(verdict, process, (enum report_blame)blame);
	say_advice(verdict, process->pid);
}

static int most_late_first(const void *a, const void *b)
{
	const struct frame_process *one = *(const struct frame_process *const *)a;
	const struct frame_process *other = *(const struct frame_process *const *)b;

	if (one->late != other->late)
		return one->late > other->late ? -1 : 1;
	return one->frames > other->frames ? -1 : one->frames < other->frames;
}

/* True if there were any. */
static bool say_frames(const struct verdict *verdict)
{
	const struct frame_process *worst[FRAMES_ROWS_MAX] = { NULL };
	u32 len = 0;

	for (const struct frame_process *process = verdict->of->frames->processes; process; process = process->next)
		if (process->frames && len < FRAMES_ROWS_MAX)
			worst[len++] = process;
	qsort(worst, len, sizeof(*worst), most_late_first);
	for (u32 i = 0; i < len && i < VERDICT_PROCESSES; i++)
		say_process(verdict, worst[i]);
	if (len > VERDICT_PROCESSES)
		say_it(verdict, VERDICT_NOTE, "%u more programs presented frames; the table below has them.",
		       len - VERDICT_PROCESSES);
	return len;
}

/* The pair in which most time was waited. */
static const struct report_pair *worst_pair(const struct report *report)
{
	const struct report_pair *worst = NULL;

	for (size_t i = 0; i < report->pairs_len; i++)
		if (report->pairs[i].culprit >= REPORT_NAMES_FIRST &&
		    (!worst || report->pairs[i].wait_ns > worst->wait_ns))
			worst = &report->pairs[i];
	return worst;
}

static void say_waits(const struct verdict *verdict)
{
	const struct report_pair *pair = worst_pair(verdict->of->report);
	struct hist all = verdict->of->latency->woken;
	char waiter[COMM_LEN + 1], culprit[COMM_LEN + 1], p50[TIME_SIZE], p99[TIME_SIZE], max[TIME_SIZE];

	hist_merge(&all, &verdict->of->latency->preempted);
	if (!all.total)
		return;
	format_time(p50, sizeof(p50), hist_percentile(&all, 500000));
	format_time(p99, sizeof(p99), hist_percentile(&all, 990000));
	format_time(max, sizeof(max), all.max);
	say_it(verdict, VERDICT_NOTE,
	       "Threads waited for a CPU %" PRIu64 " times: half under %s, one in a hundred over %s, the longest %s.",
	       (u64)all.total, p50, p99, max);
	if (!pair || pair->wait_ns < WORTH_A_WORD_NS)
		return;
	report_name_words(waiter, &verdict->of->report->names, pair->waiter);
	report_name_words(culprit, &verdict->of->report->names, pair->culprit);
	format_time(max, sizeof(max), pair->wait_ns);
	say_it(verdict, VERDICT_NOTE, "The most waiting was that of %s behind %s: %s in %" PRIu64 " wait%s.", waiter,
	       culprit, max, pair->waits, pair->waits == 1 ? "" : "s");
}

/* What a slow step, or most of any step, went into; and what can be done about it. */
static const struct {
	const char *words, *advice;
} of_part[STEP_PARTS] = {
	[STEP_CPU_WAIT] = { "waited for a CPU",
			    "Let 'tactus run' run beside it: threads that feed GPUs then go first." },
	[STEP_DATA] = { "waited for data of another process",
			"The loader is late, not the GPU: give it more workers, or prepare the data before. 'tactus "
			"cuda --steps' names the process that was waited for." },
	[STEP_LOCK] = { "waited for a lock or a queue of its own process",
			"'tactus cuda --steps' names the thread that was waited for; in Python the usual one holds the "
			"interpreter's lock." },
	[STEP_SYNC] = { "waited for the GPU", "No scheduler of CPUs changes that: the kernels took longer, or others "
					      "used the GPU. A profiler of kernels shows which." },
	[STEP_COPY] = { "copied", "Copies of a megabyte and more hold it up: pinned memory and copies beside the "
				  "computation (non_blocking) hide them." },
	[STEP_COLLECTIVE] = { "was in NCCL's calls", "It waited for other ranks: record these too, and look at the one "
						     "that comes last." },
	[STEP_RAN] = { "ran", "No scheduler gives that time back: the program computed on the CPU. "
			      "'perf record' shows what; CUDA graphs take launches out of the way." },
	[STEP_SLEPT] = { "slept",
			 "No CPU was missing: it waited for something else, such as a disk or the network. 'tactus "
			 "record --stacks' shows where it slept." },
	[STEP_UNKNOWN] = { "did what the recording does not say",
			   "The recording does not say why: 'tactus record --cuda' without filters sees more." },
};

static enum step_part most_of(const u64 by[STEP_PARTS])
{
	enum step_part most = 0;

	for (u32 part = 1; part < STEP_PARTS; part++)
		if (by[part] > by[most])
			most = (enum step_part)part;
	return most;
}

/* What steps went into, each nanosecond once: in calls a thread sleeps or runs as well. */
static void sum_parts(u64 parts_ns[STEP_PARTS], const struct step *sum)
{
	u64 in_calls_ns = sum->parts_ns[STEP_SYNC] + sum->parts_ns[STEP_COPY] + sum->parts_ns[STEP_COLLECTIVE];
	static const enum step_part within[] = { STEP_SLEPT, STEP_RAN };

	memcpy(parts_ns, sum->parts_ns, sizeof(sum->parts_ns));
	for (u32 i = 0; i < sizeof(within) / sizeof(within[0]); i++) {
		u64 taken_ns = in_calls_ns < parts_ns[within[i]] ? in_calls_ns : parts_ns[within[i]];

		parts_ns[within[i]] -= taken_ns;
		in_calls_ns -= taken_ns;
	}
}

static void say_slow_steps(const struct verdict *verdict, const struct step_process *process)
{
	for (u32 part = 0; part < STEP_PARTS; part++)
		if (process->slow_by[part])
			say_it(verdict, VERDICT_WHY,
			       "In %" PRIu64 " of the %" PRIu64
			       " (%.0f %%) the thread that launches %s longer than usual.",
			       process->slow_by[part], process->slow, percent(process->slow_by[part], process->slow),
			       of_part[part].words);
	say_it(verdict, VERDICT_ADVICE, "%s", of_part[most_of(process->slow_by)].advice);
}

/* What a training loop is judged by. */
static void say_steps(const struct verdict *verdict)
{
	u32 said = 0;

	for (const struct step_process *process = verdict->of->steps->processes; process; process = process->next) {
		struct step_times times = step_times(process);
		u64 parts_ns[STEP_PARTS];
		enum step_part most;
		char name[THREAD_NAME_SIZE], p50[TIME_SIZE], p99[TIME_SIZE], max[TIME_SIZE];

		if (!process->steps || said == VERDICT_PROCESSES)
			continue;
		said++;
		comm_name(name, &process->comm);
		format_time(p50, sizeof(p50), times.p50_ns);
		format_time(p99, sizeof(p99), times.p99_ns);
		format_time(max, sizeof(max), times.max_ns);
		say_it(verdict, process->slow ? VERDICT_BAD : VERDICT_GOOD,
		       "%" PRIu64 " of %" PRIu64
		       " training steps of %s (%.1f %%) were slow. Half took under %s, one in a hundred over %s, the "
		       "longest %s.",
		       process->slow, process->steps, name, percent(process->slow, process->steps), p50, p99, max);
		if (process->slow)
			say_slow_steps(verdict, process);
		sum_parts(parts_ns, &process->sum);
		most = most_of(parts_ns);
		say_it(verdict, VERDICT_NOTE, "Of all steps' time the thread that launches %s for %.0f %%.",
		       of_part[most].words, percent(parts_ns[most], process->sum.wall_ns));
	}
}

static void say_cuda(const struct verdict *verdict)
{
	const struct cuda *cuda = verdict->of->cuda;
	u64 span_ns = span_between(verdict->of->report->from_ns, verdict->of->report->to_ns), cpu_wait_ns = 0;
	char waited[TIME_SIZE], no_cpu[TIME_SIZE];

	if (!cuda->launches && !cuda->calls)
		return;
	for (u32 i = 0; i < cuda->functions_len; i++)
		cpu_wait_ns += cuda->functions[i].wait_ns;
	format_time(waited, sizeof(waited), cuda->wait_total_ns);
	format_time(no_cpu, sizeof(no_cpu), cpu_wait_ns);
	say_it(verdict, VERDICT_NOTE,
	       "Kernels were launched %" PRIu64
	       " times, %.0f a second. The CPU waited %s for the GPU in synchronisation, which "
	       "is %.1f %% of the time.",
	       cuda->launches, span_ns ? (double)cuda->launches * NSEC_PER_SEC / (double)span_ns : 0, waited,
	       percent(cuda->wait_total_ns, span_ns));
	if (cpu_wait_ns * WORTH_A_PART > span_ns)
		say_it(verdict, VERDICT_ADVICE,
		       "Threads in CUDA's calls waited %s for a CPU: 'tactus run' lets threads that feed GPUs go "
		       "first.",
		       no_cpu);
}

void report_verdict(const struct verdict_of *of, void (*each)(void *data, enum verdict_kind kind, const char *text),
		    void *data)
{
	struct verdict verdict = { .of = of, .each = each, .data = data };
	bool has_frames = say_frames(&verdict);

	say_steps(&verdict);
	say_cuda(&verdict);
	if (!has_frames && !of->cuda->calls && !of->cuda->launches)
		say_it(&verdict, VERDICT_NOTE, "No program presented a frame here, and none called CUDA.");
	say_waits(&verdict);
	if (of->lost)
		say_it(&verdict, VERDICT_NOTE,
		       "%" PRIu64 " events were lost while this was watched: what is counted is less than there was.",
		       of->lost);
}
