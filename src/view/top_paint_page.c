// SPDX-License-Identifier: GPL-2.0
/* A thread's page: what it is, how it waits and behind whom, who wakes it, where it moves, its frames.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../model/roles.h"
#include "../sink/text.h"
#include "role_words.h"
#include "thread_words.h"
#include "top_view.h"

static u32 put_who(struct canvas *canvas, const struct top_scene *scene, u32 row, const struct top_thread *thread)
{
	const struct thread *known = threads_by_tid(scene->threads, thread->tid);
	char who[THREAD_WORDS_SIZE], process[THREAD_WORDS_SIZE], prio[ROLE_WORDS_SIZE], why[ROLE_WORDS_SIZE] = "",
											words[TOP_LINE_SIZE];

	comm_words(who, &thread->comm, thread->tid, THREAD_TIGHT);
	thread_words(process, scene->threads, thread->pid, THREAD_TIGHT);
	prio_words(prio, thread->prio);
	snprintf(words, sizeof(words), "%s of %s, %s%s", who, process, prio, thread->ended ? ", has ended" : "");
	canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD, words);
	canvas_style_row(canvas, row++, STYLE_HEAD);
	if (known && known->role && thread->has_role)
		role_words(why, known->role);
	snprintf(words, sizeof(words), "role     %s, %s%s%s", thread->has_role ? role_name(thread->role) : "not known",
		 thread->has_role ? top_tier_word(thread->tier) : "normal", why[0] ? ": " : "", why);
	return top_put_wrapped(canvas, row, canvas->height - 1, 9, STYLE_PLAIN, words);
}

static u32 put_waits(struct canvas *canvas, const struct top_scene *scene, u32 row, const struct top_thread *thread)
{
	const struct top *top = scene->top;
	struct top_wait_sum sum;
	struct top_wait_summary wait;
	char p50[TOP_TIME_SIZE], p99[TOP_TIME_SIZE], worst[TOP_TIME_SIZE], cpu[TOP_TIME_SIZE], words[TOP_LINE_SIZE];

	top_waits_begin(&sum);
	top_waits_sum(&sum, &thread->waits);
	wait = top_waits_summary(&sum);
	format_time(cpu, sizeof(cpu), thread->all.cpu_ns);
	snprintf(words, sizeof(words), "CPU      %.1f %%, %s in all, %" PRIu64 " runs, %" PRIu64 " moves",
		 top->last_span_ns ? (double)thread->last.cpu_ns * 100 / (double)top->last_span_ns : 0, cpu,
		 thread->all.runs, thread->all.moves);
	row = top_put_wrapped(canvas, row, canvas->height - 1, 9, STYLE_PLAIN, words);
	format_time(p50, sizeof(p50), wait.p50_ns);
	format_time(p99, sizeof(p99), wait.p99_ns);
	format_time(worst, sizeof(worst), wait.max_ns);
	snprintf(words, sizeof(words), "waits    %" PRIu64 " in 10 s: p50 %s, p99 %s, worst %s", wait.waits, p50, p99,
		 worst);
	row = top_put_wrapped(canvas, row, canvas->height - 1, 9, top_wait_style(wait.p99_ns), words);
	canvas_put(canvas, row, 0, canvas->width, STYLE_PLAIN, "last s");
	for (u32 i = 0; i < TOP_SHOWN; i++) {
		u64 worst_ns = thread->worst_ns[(top->turns + 1 + i) % TOP_SHOWN];

		canvas_put(canvas, row, 9 + i, 1, top_wait_style(worst_ns),
			   canvas_bar(canvas, top_wait_eighths(worst_ns)));
	}
	return row + 1;
}

static int most_first(const void *a, const void *b)
{
	u64 x = ((const struct top_other *)a)->amount, y = ((const struct top_other *)b)->amount;

	return x != y ? (x > y ? -1 : 1) : 0;
}

/* "behind   cc1 [8871] 24.3 ms, as [8901] 3.1 ms" */
static u32 put_others(struct canvas *canvas, u32 row, const char *head, const struct top_other *others, bool are_times,
		      bool unsure)
{
	struct top_other sorted[TOP_CULPRITS];
	char who[THREAD_WORDS_SIZE], amount[32], words[TOP_LINE_SIZE];
	size_t used = (size_t)snprintf(words, sizeof(words), "%-9s", head);

	_Static_assert((int)TOP_CULPRITS == (int)TOP_WAKERS, "one list serves both");
	memcpy(sorted, others, sizeof(sorted));
	sort_rows(sorted, TOP_CULPRITS, sizeof(sorted[0]), most_first);
	for (u32 i = 0; i < TOP_CULPRITS && sorted[i].amount; i++) {
		if (sorted[i].tid)
			comm_words(who, &sorted[i].comm, sorted[i].tid, THREAD_TIGHT);
		else
			strcpy(who, "a timer or a device");
		if (are_times)
			format_time(amount, sizeof(amount), sorted[i].amount);
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s%s%s", i ? ", " : "", who,
					 are_times ? " " : "", are_times ? amount : "");
	}
	if (sorted[0].amount && unsure)
		snprintf(words + used, sizeof(words) - used, ", or by interrupts while these ran");
	if (!sorted[0].amount)
		snprintf(words + used, sizeof(words) - used, "%s",
			 are_times ? "nobody for 100 us or more" : "nobody lately");
	return top_put_wrapped(canvas, row, canvas->height - 1, 9, STYLE_PLAIN, words);
}

static u32 put_counts(struct canvas *canvas, const struct top_scene *scene, u32 row, const struct top_thread *thread)
{
	const struct top *top = scene->top;
	char did[64], words[TOP_LINE_SIZE];

	top_did_words(did, sizeof(did), scene, thread->tid, thread->all.pushes);
	snprintf(words, sizeof(words), "GPU      %.1f submits/s, CUDA %.1f launches/s, %" PRIu64 " misses%s%s",
		 (double)top_rate_tenths(top, thread->last.submits) / 10,
		 (double)top_rate_tenths(top, thread->last.launches) / 10, thread->all.misses,
		 did[0] || scene->run ? "; tactus run: " : "",
		 did[0]	      ? did
		 : scene->run ? "left alone"
			      : "");
	row = top_put_wrapped(canvas, row, canvas->height - 1, 9, STYLE_PLAIN, words);
	for (u32 i = 0; i < top->presenters_len; i++) {
		const struct top_presenter *one = &top->presenters[i];

		if (one->pid != thread->pid)
			continue;
		snprintf(words, sizeof(words),
			 "frames   of its process: %.1f fps, %" PRIu64 " late, %" PRIu64 " dropped",
			 (double)one->fps_tenths / 10, one->all_late, one->dropped);
		row = top_put_wrapped(canvas, row, canvas->height - 1, 9, STYLE_PLAIN, words);
	}
	return row;
}

/* Lists that share what is left of the page. Each puts its `back`th entry, if that is the thread's; false: there are
 * no more. */
struct list {
	const char *head;
	bool (*put)(char *words, const struct top_scene *scene, u32 tid, u64 back, bool *is_its);
};

static bool put_a_wait(char *words, const struct top_scene *scene, u32 tid, u64 back, bool *is_its)
{
	long place = top_place(scene->top->waits_taken, TOP_LONG_WAITS, back);
	const struct top_wait *wait = place >= 0 ? &scene->top->waits[place] : NULL;
	char when[TOP_TIME_SIZE], span[TOP_TIME_SIZE], behind[THREAD_WORDS_SIZE], waker[THREAD_WORDS_SIZE];

	if (!wait)
		return false;
	*is_its = wait->tid == tid;
	if (!*is_its)
		return true;
	top_when_words(when, scene, wait->to_ns);
	format_time(span, sizeof(span), wait->wait_ns);
	comm_words(behind, &wait->behind_comm, wait->behind_tid, THREAD_TIGHT);
	comm_words(waker, &wait->waker_comm, wait->waker_tid, THREAD_TIGHT);
	snprintf(words, TOP_LINE_SIZE, "%s: %s on CPU %u%s%s%s%s", when, span, wait->cpu,
		 wait->culprit == CULPRIT_THREAD ? " behind " : "", wait->culprit == CULPRIT_THREAD ? behind : "",
		 wait->waker_tid ? ", woken by " : "", wait->waker_tid ? waker : "");
	return true;
}

static bool put_a_move(char *words, const struct top_scene *scene, u32 tid, u64 back, bool *is_its)
{
	long place = top_place(scene->top->moves_taken, TOP_MOVES, back);
	const struct move *move = place >= 0 ? &scene->top->moves[place].move : NULL;
	char when[TOP_TIME_SIZE], span[TOP_TIME_SIZE];

	if (!move)
		return false;
	*is_its = move->tid == tid;
	if (!*is_its)
		return true;
	top_when_words(when, scene, move->at_ns);
	format_time(span, sizeof(span), move->to_run_ns);
	snprintf(words, TOP_LINE_SIZE, "%s: CPU %u to %u, %s, %s, ran %s later", when, move->from_cpu, move->to_cpu,
		 move_cause_name(move->cause), distance_name(move->distance), span);
	return true;
}

static bool put_a_late_frame(char *words, const struct top_scene *scene, u32 tid, u64 back, bool *is_its)
{
	long place = top_place(scene->top->late_taken, TOP_LATE_FRAMES, back);
	const struct top_late *late = place >= 0 ? &scene->top->late[place] : NULL;
	char when[TOP_TIME_SIZE], by[TOP_TIME_SIZE];

	if (!late)
		return false;
	*is_its = late->frame.tid == tid;
	if (!*is_its)
		return true;
	top_when_words(when, scene, late->frame.at_ns);
	format_time(by, sizeof(by), late->frame.late_ns);
	snprintf(words, TOP_LINE_SIZE, "%s: frame %" PRIu64 ", %s late: %s", when, late->frame.number, by, late->words);
	return true;
}

static bool put_a_miss(char *words, const struct top_scene *scene, u32 tid, u64 back, bool *is_its)
{
	long place = top_place(scene->top->misses_taken, TOP_MISSES, back);
	const struct top_miss *miss = place >= 0 ? &scene->top->misses[place] : NULL;
	char when[TOP_TIME_SIZE], late[TOP_TIME_SIZE], behind[THREAD_WORDS_SIZE];
	bool is_behind, overran;

	if (!miss)
		return false;
	*is_its = miss->miss.tid == tid;
	if (!*is_its)
		return true;
	overran = miss->miss.verdict.kind == MISS_OVERRAN;
	is_behind = miss->miss.culprit == CULPRIT_THREAD && !overran;
	top_when_words(when, scene, miss->miss.verdict.expected_ns);
	format_time(late, sizeof(late), miss->miss.verdict.late_ns);
	comm_words(behind, &miss->behind_comm, miss->miss.behind_tid, THREAD_TIGHT);
	snprintf(words, TOP_LINE_SIZE, "%s: %s late%s%s", when, late,
		 overran     ? ", still at work for the period before"
		 : is_behind ? " behind "
			     : "",
		 is_behind ? behind : "");
	return true;
}

static u32 put_list(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end, const struct list *list,
		    u32 tid)
{
	char words[TOP_LINE_SIZE];
	bool is_its = false, any = false;

	for (u64 back = 0; row < end && list->put(words, scene, tid, back, &is_its); back++) {
		if (!is_its)
			continue;
		if (!any)
			canvas_put(canvas, row++, 0, canvas->width, STYLE_HEAD, list->head);
		any = true;
		row = top_put_wrapped(canvas, row, end, 4, STYLE_PLAIN, words);
	}
	return row;
}

void top_paint_page(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row, u32 end)
{
	static const struct list lists[] = { { "Late frames", put_a_late_frame },
					     { "Misses", put_a_miss },
					     { "Waits of 100 us and more", put_a_wait },
					     { "Moves", put_a_move } };
	enum { LISTS = sizeof(lists) / sizeof(lists[0]) };
	const struct top_thread *thread = top_find(scene->top, view->page_tid);

	if (!thread) {
		canvas_put(canvas, row, 0, canvas->width, STYLE_FAINT,
			   "this thread has done nothing for a minute, or has ended");
		return;
	}
	row = put_who(canvas, scene, row, thread);
	row = put_waits(canvas, scene, row, thread);
	row = put_others(canvas, row, "behind", thread->culprits, true, false);
	row = put_others(canvas, row, "woken by", thread->wakers, false, thread->wakers_unsure);
	row = put_counts(canvas, scene, row, thread);
	/* Each gets its part of what is left, and what those before it did not need. */
	for (u32 i = 0; i < LISTS && row < end; i++)
		row = put_list(canvas, scene, row, row + (end - row + LISTS - i - 1) / (LISTS - i), &lists[i],
			       view->page_tid);
}
