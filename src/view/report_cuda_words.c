// SPDX-License-Identifier: GPL-2.0
/* Of a report's verdict the sentences on training steps and on CUDA. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../model/cuda_api.h"
#include "../sink/text.h"
#include "report_sentences.h"
#include "thread_words.h"

enum { WORTH_A_PART = 100, ERRORS_NAMED = 3, WORD_SIZE = 64 };

/* What a slow step, or most of any step, went into; and what can be done about it. */
static const struct {
	const char *words, *advice;
} of_part[STEP_PARTS] = {
	[STEP_CPU_WAIT] = { "waited for a CPU",
			    "Run 'tactus run' beside it: it lets threads that feed GPUs go first." },
	[STEP_DATA] = { "waited for data of another process",
			"The loader is late, not the GPU: give it more workers, or prepare the data earlier. 'tactus "
			"cuda --steps' names the process that was waited for." },
	[STEP_LOCK] = { "waited for a lock or a queue of its own process",
			"'tactus cuda --steps' names the thread that was waited for; in Python it often is the one "
			"that "
			"holds the interpreter's lock." },
	[STEP_SYNC] = { "waited for the GPU", "No scheduler of CPUs changes that: the kernels took longer, or others "
					      "used the GPU. A profiler of kernels shows which." },
	[STEP_COPY] = { "copied", "Copies of a megabyte and more hold it up: pinned memory and copies beside the "
				  "computation (non_blocking) hide them." },
	[STEP_COLLECTIVE] = { "was in NCCL's calls",
			      "It waited for other ranks: record these too, and look for the one "
			      "that comes last." },
	[STEP_RAN] = { "ran", "No scheduler gives that time back: the program computed on the CPU. "
			      "'perf record' shows what; CUDA graphs take launches out of the way." },
	[STEP_SLEPT] = { "slept",
			 "No CPU was missing: it waited for something else, such as a disk or the network. 'tactus "
			 "record --stacks' shows where it slept." },
	[STEP_UNKNOWN] = { "did something that the recording does not show",
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
	char begin[PART_SIZE];

	for (u32 part = 0; part < STEP_PARTS; part++) {
		if (!process->slow_by[part])
			continue;
		begin_part(begin, process->slow_by[part], process->slow);
		say_it(verdict, VERDICT_WHY, "%s the thread that launches %s longer than usual.", begin,
		       of_part[part].words);
	}
	say_it(verdict, VERDICT_ADVICE, "%s", of_part[most_of(process->slow_by)].advice);
}

/* What a training loop is judged by. */
void say_steps(const struct verdict *verdict)
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
		if (process->slow)
			say_it(verdict, VERDICT_BAD,
			       "%" PRIu64 " of %" PRIu64
			       " training steps of %s (%.1f %%) were slow. Half took under %s, one in a hundred over "
			       "%s, the longest %s.",
			       process->slow, process->steps, name, percent(process->slow, process->steps), p50, p99,
			       max);
		else
			say_it(verdict, VERDICT_GOOD,
			       "None of %" PRIu64 " training steps of %s was slow. Half took under %s, the longest %s.",
			       process->steps, name, p50, max);
		if (process->slow)
			say_slow_steps(verdict, process);
		sum_parts(parts_ns, &process->sum);
		most = most_of(parts_ns);
		say_it(verdict, VERDICT_NOTE, "For %.0f %% of the time of all steps, the thread that launches %s.",
		       percent(parts_ns[most], process->sum.wall_ns), of_part[most].words);
	}
}

/* "cuLaunchKernel with CUDA_ERROR_INVALID_VALUE (3 times), ..." */
static void say_errors(const struct verdict *verdict)
{
	const struct cuda *cuda = verdict->of->cuda;
	char list[VERDICT_SIZE] = "", function[WORD_SIZE]; /* of three there is room for the longest */
	u64 all = 0, named = 0, more = 0;
	size_t used = 0;

	for (const struct cuda_error *error = cuda->errors; error; error = error->next) {
		const char *name = cuda_function_name(cuda, error->function);
		const char *result = cuda_result_name_of(name, error->result);

		all += error->count;
		if (named == ERRORS_NAMED) {
			more++;
			continue;
		}
		format_plain(function, sizeof(function), name ? name : "?");
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s with %s", named++ ? ", " : ": ",
					 function, result ? result : "an error without a name");
	}
	if (more)
		snprintf(list + used, sizeof(list) - used, " and %" PRIu64 " more kinds", more);
	if (all)
		say_it(verdict, VERDICT_NOTE, "%" PRIu64 " call%s into CUDA failed%s.", all, all == 1 ? "" : "s", list);
	if (cuda->xids)
		say_it(verdict, VERDICT_BAD,
		       "The GPU reported an error. The last one was Xid %u; the kernel's log has more.",
		       cuda->xids->code);
}

void say_cuda(const struct verdict *verdict)
{
	const struct cuda *cuda = verdict->of->cuda;
	u64 span_ns = span_between(verdict->of->report->from_ns, verdict->of->report->to_ns), cpu_wait_ns = 0;
	char waited[TIME_SIZE], no_cpu[TIME_SIZE], rate[32] = "";

	if (!cuda->launches && !cuda->calls) {
		say_errors(verdict);
		return;
	}
	for (u32 i = 0; i < cuda->functions_len; i++)
		cpu_wait_ns += cuda->functions[i].wait_ns;
	format_time(waited, sizeof(waited), cuda->wait_total_ns);
	format_time(no_cpu, sizeof(no_cpu), cpu_wait_ns);
	if (cuda->launches > 1 && span_ns)
		snprintf(rate, sizeof(rate), ", %.0f a second",
			 (double)cuda->launches * NSEC_PER_SEC / (double)span_ns);
	say_it(verdict, VERDICT_NOTE,
	       "%" PRIu64 " kernel%s launched%s. The CPU waited %s for the GPU (%.1f %% of the time).", cuda->launches,
	       cuda->launches == 1 ? " was" : "s were", rate, waited, percent(cuda->wait_total_ns, span_ns));
	say_errors(verdict);
	if (cpu_wait_ns * WORTH_A_PART > span_ns)
		say_it(verdict, VERDICT_ADVICE,
		       "Threads in CUDA calls waited %s for a CPU: 'tactus run' lets threads that feed GPUs go "
		       "first.",
		       no_cpu);
}
