// SPDX-License-Identifier: GPL-2.0
/* The whole of what 'tactus top' shows: a head of four lines that is always there, one of the panes, and a foot.
 * What does not fit into the width is left out by what matters least. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "../sink/text.h"
#include "thread_words.h"
#include "top_view.h"

enum { HEAD_ROWS = 5, WIDTH_LEAST = 20, HEIGHT_LEAST = 8, WORDS_LEAST = 16 };

void top_time_words(char into[TOP_TIME_SIZE], u64 span_ns)
{
	char words[TOP_TIME_SIZE], *to = into;

	format_time(words, sizeof(words), span_ns);
	if (!span_ns)
		strcpy(words, "-");
	for (const char *at = words; *at; at++)
		if (*at != ' ')
			*to++ = *at;
	*to = '\0';
}

void top_when_words(char into[TOP_TIME_SIZE], const struct top_scene *scene, u64 at_ns)
{
	if (scene->clock)
		snprintf(into, TOP_TIME_SIZE, "%.3f s",
			 (double)span_between(scene->clock->zero_ns, at_ns) / NSEC_PER_SEC);
	else
		snprintf(into, TOP_TIME_SIZE, "%.1f s ago",
			 (double)span_between(at_ns, scene->top->shown_ns) / NSEC_PER_SEC);
}

const char *top_tier_word(u32 tier)
{
	static const char *const words[TIERS] = {
		[TIER_BATCH] = "batch", [TIER_INTERACTIVE] = "normal", [TIER_LATENCY_CRITICAL] = "urgent"
	};

	return tier < TIERS ? words[tier] : "?";
}

void top_did_words(char *into, size_t size, const struct top_scene *scene, u32 tid, u64 pushes)
{
	char slice[TOP_TIME_SIZE];

	into[0] = '\0';
	for (size_t i = 0; i < scene->hints_len; i++) {
		const struct top_hint *hint = &scene->hints[i];

		if (hint->tid != tid)
			continue;
		top_time_words(slice, hint->slice_ns);
		if (hint->nice && hint->slice_ns)
			snprintf(into, size, "nice %d %s", hint->nice, slice);
		else if (hint->nice)
			snprintf(into, size, "nice %d", hint->nice);
		else if (hint->slice_ns)
			snprintf(into, size, "slice %s", slice);
	}
	if (!into[0] && pushes)
		snprintf(into, size, "pushed %" PRIu64, pushes);
}

enum canvas_style top_wait_style(u64 wait_ns)
{
	return wait_ns >= 20 * NSEC_PER_MSEC ? STYLE_BAD : wait_ns >= 5 * NSEC_PER_MSEC ? STYLE_WARNING : STYLE_PLAIN;
}

u32 top_wait_eighths(u64 wait_ns)
{
	static const u64 least_ns[] = { 1, 30000, 100000, 300000, 1000000, 3000000, 10000000, 30000000 };
	u32 eighths = 0;

	while (eighths < 8 && wait_ns >= least_ns[eighths])
		eighths++;
	return eighths;
}

/* How many bytes of the text go into so many columns, broken after a word if there is one to break after. */
static size_t fitting(const struct canvas *canvas, const char *text, u32 columns)
{
	char part[TOP_LINE_SIZE];
	size_t len = strlen(text), end;

	if (canvas_text_width(canvas, text) <= columns)
		return len;
	for (end = len; end; end--) {
		if (text[end] != ' ' || end >= sizeof(part))
			continue;
		memcpy(part, text, end);
		part[end] = '\0';
		if (canvas_text_width(canvas, part) <= columns)
			return end;
	}
	return len;
}

u32 top_put_wrapped(struct canvas *canvas, u32 row, u32 end, u32 indent, enum canvas_style style, const char *text)
{
	char part[TOP_LINE_SIZE];
	u32 column = 0;

	while (*text && row < end) {
		u32 columns = canvas->width > column ? canvas->width - column : 1;
		size_t len = fitting(canvas, text, columns);

		snprintf(part, sizeof(part), "%.*s", (int)len, text);
		canvas_put(canvas, row++, column, columns, style, part);
		text += len;
		text += strspn(text, " ");
		column = indent;
	}
	return row;
}

static void paint_title(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene)
{
	const struct play_clock *clock = scene->clock;
	char words[TOP_LINE_SIZE] = "tactus top", right[64] = "";
	time_t at = (time_t)(scene->wall_ns / NSEC_PER_SEC);
	struct tm local;
	u32 column;

	if (scene->wall_ns && localtime_r(&at, &local))
		strftime(right, sizeof(right), "%H:%M:%S", &local);
	if (clock)
		snprintf(words, sizeof(words), "tactus top  %.1f of %.1f s  %s%s",
			 (double)span_between(clock->zero_ns, clock->position_ns) / NSEC_PER_SEC,
			 (double)span_between(clock->zero_ns, clock->last_ns) / NSEC_PER_SEC,
			 scene->is_text	 ? ""
			 : clock->paused ? "paused"
					 : "playing ",
			 scene->is_text || clock->paused ? "" : play_speeds[clock->speed].words);
	else
		snprintf(words, sizeof(words), "tactus top  %s",
			 scene->source == TOP_CLIENT ? "client of 'tactus run'"
			 : view->frozen		     ? "frozen"
						     : "live");
	column = canvas_put(canvas, 0, 0, canvas->width, STYLE_TITLE, words) + 1;
	if (column + strlen(right) <= canvas->width)
		canvas_put_right(canvas, 0, column, canvas->width - column, STYLE_TITLE, right);
	if (canvas->width >= 100 && (scene->path || scene->kernel)) {
		snprintf(words, sizeof(words), "%s%s%s", scene->path ? scene->path : "",
			 scene->path && scene->kernel ? "  Linux " : "Linux ", scene->kernel ? scene->kernel : "?");
		canvas_put(canvas, 0, 40, canvas->width - 52, STYLE_TITLE, words);
	}
}

/* A bar for each CPU, those that fit, and the sums. */
static void paint_strip(struct canvas *canvas, const struct top_scene *scene)
{
	const struct top *top = scene->top;
	u32 seen = 0, percents = 0, column = 5, room = canvas->width / 2;
	char words[TOP_LINE_SIZE];

	canvas_put(canvas, 1, 0, 5, STYLE_FAINT, "CPUs ");
	for (u32 i = 0; i < top->cpus_len; i++) {
		const struct top_cpu *cpu = &top->cpus[i];

		if (!cpu->seen)
			continue;
		seen++;
		percents += cpu->percent;
		if (column < room)
			column = canvas_put(canvas, 1, column, 1,
					    cpu->percent >= 90	 ? STYLE_BAD
					    : cpu->percent >= 50 ? STYLE_WARNING
								 : STYLE_GOOD,
					    canvas_bar(canvas, cpu->percent ? 1 + cpu->percent * 7 / 100 : 0));
	}
	snprintf(words, sizeof(words), " %u %% of %u%s, %" PRIu64 " switches/s, %" PRIu64 " moves/s",
		 seen ? (percents + seen / 2) / seen : 0, seen, scene->filtered ? " (watched)" : "",
		 top_rate_tenths(top, top->last.switches) / 10, top_rate_tenths(top, top->last.moves) / 10);
	column = canvas_put(canvas, 1, column, canvas->width, STYLE_PLAIN, words);
	if (top->all.lost) {
		snprintf(words, sizeof(words), "  %" PRIu64 " events lost", top->all.lost);
		canvas_put(canvas, 1, column, canvas->width, STYLE_BAD, words);
	}
}

static void paint_frames_line(struct canvas *canvas, const struct top_scene *scene)
{
	const struct top *top = scene->top;
	const struct top_presenter *most = NULL;
	long place = top_place(top->late_taken, TOP_LATE_FRAMES, 0);
	char name[THREAD_NAME_SIZE], words[TOP_LINE_SIZE], late[TOP_TIME_SIZE];
	u32 column;

	for (u32 i = 0; i < top->presenters_len; i++)
		if (!most || top->presenters[i].fps_tenths > most->fps_tenths)
			most = &top->presenters[i];
	if (!most) {
		canvas_put(canvas, 2, 0, canvas->width, STYLE_FAINT, "no program has presented a frame");
		return;
	}
	comm_name(name, &most->comm);
	snprintf(words, sizeof(words), "%s %.1f fps, %" PRIu64 " late", name, (double)most->fps_tenths / 10,
		 most->all_late);
	column = canvas_put(canvas, 2, 0, canvas->width, most->late ? STYLE_WARNING : STYLE_GOOD, words);
	if (place < 0 || column + WORDS_LEAST > canvas->width)
		return;
	format_time(late, sizeof(late), top->late[place].frame.late_ns);
	snprintf(words, sizeof(words), "; last by %s: %s", late, top->late[place].words);
	canvas_put(canvas, 2, column, canvas->width, STYLE_PLAIN, words);
}

static void paint_counts_line(struct canvas *canvas, const struct top_scene *scene)
{
	const struct top *top = scene->top;
	char words[TOP_LINE_SIZE], cuda[64] = "-";

	if (scene->cuda)
		snprintf(cuda, sizeof(cuda), "%" PRIu64 "/s", top_rate_tenths(top, top->last.launches) / 10);
	snprintf(words, sizeof(words), "misses %" PRIu64 "  GPU %" PRIu64 "/s  CUDA %s", top->all.misses,
		 top_rate_tenths(top, top->last.submits) / 10, cuda);
	if (scene->run)
		snprintf(words + strlen(words), sizeof(words) - strlen(words),
			 "  run: %s, %" PRIu64 " urgent, %" PRIu64 " batch", scene->run->actuator,
			 scene->run->by_tier[TIER_LATENCY_CRITICAL], scene->run->by_tier[TIER_BATCH]);
	else if (!scene->clock)
		strcat(words, "  no tactus run");
	canvas_put(canvas, 3, 0, canvas->width, STYLE_PLAIN, words);
}

static void paint_tabs(struct canvas *canvas, const struct top_view *view)
{
	static const char *const names[TOP_PANES] = { "1 threads", "2 CPUs", "3 frames", "4 waits", "5 run" };
	static const char *const tight[TOP_PANES] = { "1thr", "2cpu", "3frm", "4wai", "5run" };
	bool is_tight = canvas->width < 60;
	u32 column = 0, from;
	char words[TOP_LINE_SIZE];

	for (u32 i = 0; i < TOP_PANES; i++)
		column = canvas_put(canvas, 4, column, canvas->width,
				    i == view->pane && !view->page_tid ? STYLE_CHOSEN : STYLE_PLAIN,
				    is_tight ? tight[i] : names[i]) +
			 (is_tight ? 1 : 2);
	snprintf(words, sizeof(words), "%s%s%s%s", view->choice.reversed ? "-" : "", top_order_name(view->choice.order),
		 view->choice.filter[0] ? "  /" : "", view->choice.filter);
	from = column < canvas->width ? canvas->width - column : 0;
	if (view->pane == PANE_THREADS && !view->page_tid)
		canvas_put_right(canvas, 4, column, from, STYLE_FAINT, words);
}

static void paint_foot(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene)
{
	u32 row = canvas->height - 1;
	char words[TOP_LINE_SIZE];

	if (view->typing)
		snprintf(words, sizeof(words), "filter: %s_  (a name, a role, a tid; Enter keeps it, Esc does not)",
			 view->choice.filter);
	else if (scene->is_text)
		words[0] = '\0';
	else if (scene->notice && scene->notice[0])
		snprintf(words, sizeof(words), "%s", scene->notice);
	else if (view->page_tid)
		snprintf(words, sizeof(words), "Esc back  q quit  ? help");
	else if (canvas->width < 60)
		snprintf(words, sizeof(words), "q quit  ? help  / filter  Enter page");
	else if (scene->clock)
		snprintf(words, sizeof(words), "q quit  ? help  Space %s  Left Right 1 s  [ ] 10 s  - + speed  s sort",
			 scene->clock->paused ? "play" : "pause");
	else
		snprintf(words, sizeof(words),
			 "q quit  ? help  s sort  / filter  v group  f freeze  Enter thread's page");
	canvas_put(canvas, row, 0, canvas->width, view->typing ? STYLE_WARNING : STYLE_FAINT, words);
}

static void paint_pane(struct canvas *canvas, struct top_view *view, const struct top_scene *scene, u32 row, u32 end)
{
	if (view->page_tid)
		top_paint_page(canvas, view, scene, row, end);
	else if (view->pane == PANE_CPUS)
		top_paint_cpus(canvas, view, scene, row, end);
	else if (view->pane == PANE_FRAMES)
		top_paint_frames(canvas, view, scene, row, end);
	else if (view->pane == PANE_WAITS)
		top_paint_waits(canvas, view, scene, row, end);
	else if (view->pane == PANE_RUN)
		top_paint_run(canvas, scene, row, end);
	else
		top_paint_threads(canvas, view, scene, row, end);
}

void top_paint(struct canvas *canvas, struct top_view *view, const struct top_scene *scene)
{
	u32 end = canvas->height ? canvas->height - 1 : 0;

	if (canvas->width < WIDTH_LEAST || canvas->height < HEIGHT_LEAST) {
		canvas_put(canvas, 0, 0, canvas->width, STYLE_PLAIN, "too small");
		return;
	}
	paint_title(canvas, view, scene);
	paint_foot(canvas, view, scene);
	if (view->help) {
		top_paint_help(canvas, scene, 1, end);
		return;
	}
	if (scene->source == TOP_CLIENT) {
		top_paint_run(canvas, scene, 1, end);
		return;
	}
	paint_strip(canvas, scene);
	paint_frames_line(canvas, scene);
	paint_counts_line(canvas, scene);
	paint_tabs(canvas, view);
	paint_pane(canvas, view, scene, HEAD_ROWS, end);
}
