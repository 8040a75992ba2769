// SPDX-License-Identifier: GPL-2.0
/* Sentences out of counts. Each says what was measured; what follows from it for whoever reads is one of a few pieces
 * of advice, by what most late frames were late for. */
#include "report_sentences.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../model/roles.h"
#include "../sink/text.h"
#include "thread_words.h"

enum { VERDICT_TIMERS = 2, NAMED_MOST = 3, WORTH_A_WORD_NS = 10 * NSEC_PER_MSEC, WAITS_LEAST = 100 };

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

void say_it(const struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
{
	char text[VERDICT_SIZE];
	va_list args;

	if ((kind == VERDICT_NOTE) != verdict->says_notes)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	verdict->each(verdict->data, kind, text);
}

double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void begin_part(char into[PART_SIZE], u64 part, u64 whole)
{
	if (part < whole)
		snprintf(into, PART_SIZE, "In %" PRIu64 " of the %" PRIu64 " (%.0f %%)", part, whole,
			 percent(part, whole));
	else if (whole <= 2)
		snprintf(into, PART_SIZE, whole == 2 ? "In both" : "In that one");
	else
		snprintf(into, PART_SIZE, "In all %" PRIu64, whole);
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
		const char *words, *before, *after, *alone; /* around who was guilty; where nobody is named */
	} how[REPORT_BLAMES] = {
		[REPORT_BLAME_CPU] = { "a thread that the frame needed waited for a CPU", " behind ", "", "" },
		[REPORT_BLAME_ITSELF] = { "the thread that presents ran longer than usual", "", "", "" },
		[REPORT_BLAME_WORK] = { "the thread that presents waited for another that ran longer than usual", ": ",
					"", "" },
		[REPORT_BLAME_SLEEP] = { "the thread that presents slept until a timer", ", a device or ", " woke it",
					 " or a device woke it" },
		[REPORT_BLAME_GPU] = { "the time went into calls to the GPU's driver", "", "", "" },
		[REPORT_BLAME_UNKNOWN] = { "the recording does not say where the time went", "", "", "" },
	};
	u64 frames = blamed(verdict->of->report, process->pid, blame);
	char guilty[VERDICT_SIZE / 2], part[PART_SIZE];

	if (!frames)
		return;
	list_guilty(guilty, sizeof(guilty), verdict->of->report, process->pid, blame, how[blame].before);
	begin_part(part, frames, process->late);
	say_it(verdict, VERDICT_WHY, "%s %s%s%s.", part, how[blame].words, guilty,
	       guilty[0] ? how[blame].after : how[blame].alone);
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

/* `whom`: the threads that are to go first; `name`: of who was in the way of most, or nothing. */
static void advise_to_run(const struct verdict *verdict, const char *whom, const char *name)
{
	if (tactus_acted(verdict->of->report))
		say_it(verdict, VERDICT_ADVICE,
		       "tactus acted here, and it was not enough: 'tactus roles' shows whether it knows what the "
		       "threads are for. If it does not, tell it: [roles] in /etc/tactus.conf.");
	else if (!name[0])
		say_it(verdict, VERDICT_ADVICE, "Run 'tactus run' beside it: it lets %s go first.", whom);
	else if (!strcmp(name, "tactus"))
		say_it(verdict, VERDICT_ADVICE,
		       "tactus itself was in the way, because it watched: -p, -c and --cgroup make it watch less.");
	else
		say_it(verdict, VERDICT_ADVICE,
		       "Run 'tactus run' beside it: it lets %s go before %s. Or start what runs %s with 'nice -n 19', "
		       "or with fewer jobs at once.",
		       whom, name, name);
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
	advise_to_run(verdict, "threads that frames wait for", name);
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
		       "computes; lower settings make it compute less.");
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
	if (!process->late && process->frames <= PACE_ENOUGH + 1) {
		say_it(verdict, VERDICT_NOTE, "%s presented %" PRIu64 " frame%s, too few to say which are late.", name,
		       process->frames, process->frames == 1 ? "" : "s");
		return;
	}
	if (!process->late) {
		say_it(verdict, VERDICT_GOOD,
		       "None of %" PRIu64 " frames of %s was late. It presented %.1f a second; half of them took under "
		       "%s, the longest %s.",
		       process->frames, name, seconds > 0 ? (double)times.len / seconds : 0, p50, max);
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
	sort_rows(worst, len, sizeof(*worst), most_late_first);
	for (u32 i = 0; i < len && i < VERDICT_PROCESSES; i++)
		say_process(verdict, worst[i]);
	if (len > VERDICT_PROCESSES)
		say_it(verdict, VERDICT_NOTE, "%u more programs presented frames; the table below has them.",
		       len - VERDICT_PROCESSES);
	return len;
}

/* " behind cc1 (38 times), make (2)": whoever had the CPU most often when that thread was to run. */
static void list_in_the_way(char *into, size_t size, const struct report *report, u32 tid)
{
	u32 named = 0, more = 0;
	size_t used = 0;

	into[0] = '\0';
	for (u32 i = 0; i < report->miss_causes_len; i++) {
		const struct report_miss_cause *cause = &report->miss_causes[i];
		char name[COMM_LEN + 1];

		if (cause->tid != tid || cause->who != REPORT_ANOTHER)
			continue;
		if (named == NAMED_MOST) {
			more++;
			continue;
		}
		report_name_words(name, &report->names, cause->name);
		used += (size_t)snprintf(into + used, size - used, "%s%s (%" PRIu64 "%s)", named ? ", " : " behind ",
					 name, cause->misses,
					 named		      ? ""
					 : cause->misses == 1 ? " time"
							      : " times");
		named++;
	}
	if (more)
		snprintf(into + used, size - used, " and %u more", more);
}

static u64 missed_by(const struct report *report, u32 tid, enum report_in_the_way who)
{
	u64 misses = 0;

	for (u32 i = 0; i < report->miss_causes_len; i++)
		if (report->miss_causes[i].tid == tid && report->miss_causes[i].who == who)
			misses += report->miss_causes[i].misses;
	return misses;
}

static void advise_by_misses(const struct verdict *verdict, u32 tid)
{
	const struct report *report = verdict->of->report;
	char name[COMM_LEN + 1] = "";

	for (u32 i = 0; i < report->miss_causes_len; i++) {
		const struct report_miss_cause *cause = &report->miss_causes[i];

		if (cause->tid != tid)
			continue;
		if (cause->who == REPORT_ANOTHER && cause->name >= REPORT_NAMES_FIRST)
			report_name_words(name, &report->names, cause->name);
		if (cause->who == REPORT_ITSELF)
			say_it(verdict, VERDICT_ADVICE,
			       "No scheduler gives that time back: its own work takes longer than a period. A longer "
			       "period (for sound: a larger buffer) helps, or less work in each.");
		else if (cause->who == REPORT_ANOTHER)
			advise_to_run(verdict, "threads that work by a timer", name);
		return;
	}
}

static void say_missed(const struct verdict *verdict, const struct thread *thread)
{
	static const char *const words[] = { [REPORT_NOT_KNOWN] = "the recording does not say who had its CPU",
					     [REPORT_ITSELF] = "it was still at work for the period before",
					     [REPORT_IDLE_CPU] = "its CPU was idle: no other thread was in the way",
					     [REPORT_ANOTHER] = "it waited for a CPU" };
	const struct thread_clock *clock = thread->clock;
	char name[THREAD_NAME_SIZE], period[TIME_SIZE], latest[TIME_SIZE], behind[VERDICT_SIZE / 2];
	char part[PART_SIZE];

	comm_name(name, &thread->comm);
	format_time(period, sizeof(period), clock->watch.timer.gap_ns);
	format_time(latest, sizeof(latest), clock->late_max_ns);
	say_it(verdict, VERDICT_BAD,
	       "%s (%s) ran too late in %" PRIu64 " of %" PRIu64
	       " periods (%.1f %%). A timer wakes it every %s; it was late by up to %s.",
	       name, role_name(thread->role ? thread->role->role : ROLE_UNKNOWN), clock->misses, clock->periods,
	       percent(clock->misses, clock->periods), period, latest);
	list_in_the_way(behind, sizeof(behind), verdict->of->report, thread->tid);
	for (u32 who = REPORT_ANOTHER + 1; who-- > 0;) {
		u64 misses = missed_by(verdict->of->report, thread->tid, (enum report_in_the_way)who);

		if (!misses)
			continue;
		begin_part(part, misses, clock->misses);
		say_it(verdict, VERDICT_WHY, "%s %s%s.", part, words[who], who == REPORT_ANOTHER ? behind : "");
	}
	advise_by_misses(verdict, thread->tid);
}

/* One that presents is judged by its frames. */
static bool is_judged_by_frames(const struct verdict *verdict, const struct thread *thread)
{
	if (!thread->role || thread->role->role != ROLE_RENDER)
		return false;
	for (const struct frame_process *process = verdict->of->frames->processes; process; process = process->next)
		if (process->pid == thread->pid && process->frames)
			return true;
	return false;
}

/* True if a thread works by a timer. */
static bool say_misses(struct verdict *verdict)
{
	const struct thread **list;
	size_t len, said = 0, more = 0, in_time = 0;

	list = misses_sorted(verdict->of->misses, verdict->of->threads, &len);
	verdict->failed |= !list;
	for (size_t i = 0; list && i < len; i++) {
		if (is_judged_by_frames(verdict, list[i]))
			continue;
		if (!list[i]->clock->misses)
			in_time++;
		else if (said == VERDICT_TIMERS)
			more++;
		else if (++said)
			say_missed(verdict, list[i]);
	}
	free(list);
	if (more)
		say_it(verdict, VERDICT_NOTE,
		       "%zu more thread%s that work%s by a timer ran too late at times; the table below has them.",
		       more, more == 1 ? "" : "s", more == 1 ? "s" : "");
	if (verdict->of->report->misses_refused)
		say_it(verdict, VERDICT_NOTE, "The cause of %" PRIu64 " more misses was not kept.",
		       verdict->of->report->misses_refused);
	if (in_time)
		say_it(verdict, VERDICT_NOTE, "%zu %sthread%s that work%s by a timer %s always in time.", in_time,
		       said ? "other " : "", in_time == 1 ? "" : "s", in_time == 1 ? "s" : "",
		       in_time == 1 ? "was" : "were");
	return said || in_time;
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

	/* Of fewer there is none in a hundred. */
	hist_merge(&all, &verdict->of->latency->preempted);
	if (!all.total)
		return;
	format_time(p50, sizeof(p50), hist_percentile(&all, 500000));
	format_time(p99, sizeof(p99), hist_percentile(&all, 990000));
	format_time(max, sizeof(max), all.max);
	if (all.total < WAITS_LEAST)
		say_it(verdict, VERDICT_NOTE, "Threads waited for a CPU %" PRIu64 " time%s, at the longest %s.",
		       (u64)all.total, all.total == 1 ? "" : "s", max);
	else if (!hist_percentile(&all, 990000))
		say_it(verdict, VERDICT_NOTE,
		       "Threads waited for a CPU %" PRIu64 " times, nearly always for no time at all, at the longest "
		       "%s.",
		       (u64)all.total, max);
	else
		say_it(verdict, VERDICT_NOTE,
		       "Threads waited for a CPU %" PRIu64
		       " times: half %s%s, one in a hundred over %s, the longest %s.",
		       (u64)all.total, hist_percentile(&all, 500000) ? "under " : "for no time at all",
		       hist_percentile(&all, 500000) ? p50 : "", p99, max);
	if (!pair || pair->wait_ns < WORTH_A_WORD_NS)
		return;
	report_name_words(waiter, &verdict->of->report->names, pair->waiter);
	report_name_words(culprit, &verdict->of->report->names, pair->culprit);
	format_time(max, sizeof(max), pair->wait_ns);
	say_it(verdict, VERDICT_NOTE, "%s waited most: %s behind %s, in %" PRIu64 " wait%s.", waiter, max,
	       pair->waiter == pair->culprit ? "others of that name" : culprit, pair->waits,
	       pair->waits == 1 ? "" : "s");
}

static void say_all(struct verdict *verdict)
{
	const struct verdict_of *of = verdict->of;
	bool has_frames = say_frames(verdict), has_timers = say_misses(verdict);

	say_steps(verdict);
	say_cuda(verdict);
	if (!has_frames && !has_timers && !of->cuda->calls && !of->cuda->launches)
		say_it(verdict, VERDICT_NOTE, "No program presented a frame here, and none called CUDA.");
	say_waits(verdict);
	if (of->lost)
		say_it(verdict, VERDICT_NOTE,
		       "%" PRIu64 " events were lost while this was recorded: there was more than is counted here.",
		       of->lost);
}

/* What somebody has to know comes first, notes at the end. */
int report_verdict(const struct verdict_of *of, void (*each)(void *data, enum verdict_kind kind, const char *text),
		   void *data)
{
	struct verdict verdict = { .of = of, .each = each, .data = data };

	say_all(&verdict);
	verdict.says_notes = true;
	say_all(&verdict);
	return verdict.failed;
}
