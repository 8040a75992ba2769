// SPDX-License-Identifier: GPL-2.0
/* The panes of CPUs, of frames and of waits, and the help.
 */
#include <inttypes.h>
#include <string.h>

#include "../model/roles.h"
#include "../sink/text.h"
#include "thread_words.h"
#include "top_view.h"

static enum canvas_style busy_style(u32 percent)
{
	return percent >= 90 ? STYLE_BAD : percent >= 50 ? STYLE_WARNING : STYLE_GOOD;
}

/* Its last turns, the newest last. */
static void put_busy(struct canvas *canvas, u32 row, u32 column, u32 width, const struct top *top,
		     const struct top_cpu *cpu)
{
	u32 shown = width < TOP_SHOWN ? width : TOP_SHOWN;

	for (u32 i = 0; i < shown; i++) {
		u32 percent = cpu->percents[(top->turns + 1 + TOP_SHOWN - shown + i) % TOP_SHOWN];

		canvas_put(canvas, row, column + i, 1, busy_style(percent),
			   canvas_bar(canvas, percent ? 1 + percent * 7 / 100 : 0));
	}
}

void top_paint_cpus(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row, u32 end)
{
	const struct top *top = scene->top;
	u32 spark = canvas->width >= 60 ? TOP_SHOWN : 8;
	char words[TOP_LINE_SIZE], who[THREAD_WORDS_SIZE];

	(void)view;
	snprintf(words, sizeof(words), " CPU BUSY  %-*s  RUNS NOW", (int)spark, "LAST s");
	canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD, words);
	canvas_style_row(canvas, row++, STYLE_HEAD);
	for (u32 i = 0; i < top->cpus_len && row < end; i++) {
		const struct top_cpu *cpu = &top->cpus[i];

		if (!cpu->seen)
			continue;
		snprintf(words, sizeof(words), "%4u %3u%%", i, cpu->percent);
		canvas_put(canvas, row, 0, canvas->width, busy_style(cpu->percent), words);
		put_busy(canvas, row, 11, spark, top, cpu);
		if (cpu->shown_tid && cpu->shown_comm.text[0])
			comm_words(who, &cpu->shown_comm, cpu->shown_tid, THREAD_TIGHT);
		else
			strcpy(who, cpu->shown_tid ? "not watched" : "idle");
		canvas_put(canvas, row++, 13 + spark, canvas->width, cpu->shown_tid ? STYLE_PLAIN : STYLE_FAINT, who);
	}
}

/* The tallest: three times what its pace allows, and more. */
static void put_frames(struct canvas *canvas, u32 row, u32 column, const struct top_presenter *one)
{
	u64 base_ns = one->target_ns ? one->target_ns : one->p50_ns;

	for (u32 i = 0; i < one->last_len; i++) {
		u64 eighths = base_ns ? one->last_ns[i] * 8 / (base_ns * 3) + 1 : 1;

		canvas_put(canvas, row, column + i, 1,
			   eighths > 5	 ? STYLE_BAD
			   : eighths > 3 ? STYLE_WARNING
					 : STYLE_GOOD,
			   canvas_bar(canvas, eighths < 8 ? (u32)eighths : 8));
	}
}

static u32 put_late(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end, const struct top_late *late)
{
	char who[THREAD_WORDS_SIZE], when[TOP_TIME_SIZE], by[TOP_TIME_SIZE], took[TOP_TIME_SIZE], words[TOP_LINE_SIZE];

	comm_words(who, &late->comm, late->pid, THREAD_TIGHT);
	top_when_words(when, scene, late->frame.at_ns);
	format_time(by, sizeof(by), late->frame.late_ns);
	format_time(took, sizeof(took), late->frame.interval_ns);
	snprintf(words, sizeof(words), "%s: %s frame %" PRIu64 ", %s, %s late: %s", when, who, late->frame.number, took,
		 by, late->words);
	return top_put_wrapped(canvas, row, end, 4, STYLE_PLAIN, words);
}

void top_paint_frames(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		      u32 end)
{
	const struct top *top = scene->top;
	char words[TOP_LINE_SIZE], name[THREAD_NAME_SIZE], p50[TOP_TIME_SIZE], p99[TOP_TIME_SIZE];
	long place;

	(void)view;
	snprintf(words, sizeof(words), "%-15s %6s %6s %6s %5s  LAST FRAMES", "NAME", "FPS", "P50", "P99", "LATE");
	canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD, words);
	canvas_style_row(canvas, row++, STYLE_HEAD);
	for (u32 i = 0; i < top->presenters_len && row < end; i++) {
		const struct top_presenter *one = &top->presenters[i];

		comm_name(name, &one->comm);
		top_time_words(p50, one->p50_ns);
		top_time_words(p99, one->p99_ns);
		canvas_put(canvas, row, 0, 15, STYLE_PLAIN, name);
		snprintf(words, sizeof(words), "%6.1f %6s %6s %5" PRIu64, (double)one->fps_tenths / 10, p50, p99,
			 one->all_late);
		canvas_put(canvas, row, 16, canvas->width, one->late ? STYLE_WARNING : STYLE_PLAIN, words);
		put_frames(canvas, row++, 44, one);
	}
	if (!top->presenters_len)
		canvas_put(canvas, row++, 0, canvas->width, STYLE_FAINT, "no program has presented a frame");
	if (top->late_taken && ++row < end)
		canvas_put(canvas, row++, 0, canvas->width, STYLE_HEAD, "Late frames, the last first");
	for (u64 back = 0; row < end && (place = top_place(top->late_taken, TOP_LATE_FRAMES, back)) >= 0; back++)
		row = put_late(canvas, scene, row, end, &top->late[place]);
}

static u32 put_miss(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end, const struct top_miss *miss)
{
	char who[THREAD_WORDS_SIZE], behind[THREAD_WORDS_SIZE], when[TOP_TIME_SIZE], late[TOP_TIME_SIZE],
		period[TOP_TIME_SIZE], words[TOP_LINE_SIZE];

	comm_words(who, &miss->comm, miss->miss.tid, THREAD_TIGHT);
	comm_words(behind, &miss->behind_comm, miss->miss.behind_tid, THREAD_TIGHT);
	top_when_words(when, scene, miss->miss.verdict.expected_ns);
	format_time(late, sizeof(late), miss->miss.verdict.late_ns);
	format_time(period, sizeof(period), miss->miss.verdict.period_ns);
	snprintf(words, sizeof(words), "%s: %s, every %s, %s late%s%s", when, who, period, late,
		 miss->miss.verdict.kind == MISS_OVERRAN ? ", still at work for the period before"
		 : miss->miss.culprit == CULPRIT_THREAD	 ? ", behind "
							 : "",
		 miss->miss.verdict.kind != MISS_OVERRAN && miss->miss.culprit == CULPRIT_THREAD ? behind : "");
	return top_put_wrapped(canvas, row, end, 4, STYLE_PLAIN, words);
}

static u32 put_wait(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end, const struct top_wait *wait)
{
	char who[THREAD_WORDS_SIZE], behind[THREAD_WORDS_SIZE], when[TOP_TIME_SIZE], span[TOP_TIME_SIZE],
		words[TOP_LINE_SIZE];

	comm_words(who, &wait->comm, wait->tid, THREAD_TIGHT);
	comm_words(behind, &wait->behind_comm, wait->behind_tid, THREAD_TIGHT);
	top_when_words(when, scene, wait->to_ns);
	format_time(span, sizeof(span), wait->wait_ns);
	snprintf(words, sizeof(words), "%s: %s %s on CPU %u%s%s", when, who, span, wait->cpu,
		 wait->culprit == CULPRIT_THREAD ? " behind " : "", wait->culprit == CULPRIT_THREAD ? behind : "");
	return top_put_wrapped(canvas, row, end, 4, top_wait_style(wait->wait_ns), words);
}

void top_paint_waits(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		     u32 end)
{
	const struct top *top = scene->top;
	u32 half = row + (end - row) / 2, misses_end = top->misses_taken ? half : row;
	long place;

	(void)view;
	if (top->misses_taken) {
		canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD,
			   "Misses of threads that work by a timer, the last first");
		canvas_style_row(canvas, row++, STYLE_HEAD);
	}
	for (u64 back = 0; row < misses_end && (place = top_place(top->misses_taken, TOP_MISSES, back)) >= 0; back++)
		row = put_miss(canvas, scene, row, misses_end, &top->misses[place]);
	canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD, "Waits of 1 ms and more for a CPU, the last first");
	canvas_style_row(canvas, row++, STYLE_HEAD);
	for (u64 back = 0; row < end && (place = top_place(top->waits_taken, TOP_LONG_WAITS, back)) >= 0; back++)
		if (top->waits[place].wait_ns >= NSEC_PER_MSEC)
			row = put_wait(canvas, scene, row, end, &top->waits[place]);
}

void top_paint_help(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end)
{
	static const char *const lines[] = {
		"1 threads  2 CPUs  3 frames  4 waits  5 run   Tab: next",
		"Up Down j k PgUp PgDn Home End   choose a row",
		"Enter thread's page   Esc back, or no filter",
		"s S   sort by cpu p99 worst waits fps gpu cuda misses name tid   r reverse",
		"/     filter: part of a name or role, or a tid",
		"v     threads by process, threads, processes",
		"a     also those that did nothing for 10 s",
	};
	static const char *const columns[] = {
		"",
		"P50 P99 WORST: waits for a CPU, last 10 s",
		"LAST s: the longest wait of each second, to 30 ms",
		"BEHIND: who had the CPU meanwhile",
		"TIER: urgent, normal, batch, by its role",
		"MISS: ran too late for its timer",
		"DID: what tactus run did to it",
		"",
		"any key: back",
	};

	for (u32 i = 0; i < sizeof(lines) / sizeof(lines[0]) && row < end; i++)
		row = top_put_wrapped(canvas, row, end, 6, STYLE_PLAIN, lines[i]);
	if (scene->clock) {
		row = top_put_wrapped(canvas, row, end, 6, STYLE_PLAIN, "Space play or pause   - + slower, faster");
		row = top_put_wrapped(canvas, row, end, 6, STYLE_PLAIN,
				      "Left Right 1 s   [ ] 10 s   0 the beginning   $ the end");
	} else if (scene->source == TOP_LIVE) {
		row = top_put_wrapped(canvas, row, end, 6, STYLE_PLAIN, "f Space   freeze, and go on");
	}
	row = top_put_wrapped(canvas, row, end, 6, STYLE_PLAIN, "q     quit");
	for (u32 i = 0; i < sizeof(columns) / sizeof(columns[0]) && row < end; i++) {
		canvas_put(canvas, row, 0, canvas->width, STYLE_FAINT, columns[i]);
		row++;
	}
}
