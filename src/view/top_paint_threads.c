// SPDX-License-Identifier: GPL-2.0
/* The pane of threads: a table whose columns come by rank, as many as fit; columns of which nobody has anything do not
 * come at all. */
#include <inttypes.h>
#include <string.h>

#include "../model/roles.h"
#include "thread_words.h"
#include "top_view.h"

enum column {
	COLUMN_NAME,
	COLUMN_TID,
	COLUMN_ROLE,
	COLUMN_TIER,
	COLUMN_CPU,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_WORST,
	COLUMN_LAST,
	COLUMN_FPS,
	COLUMN_LATE,
	COLUMN_GPU,
	COLUMN_CUDA,
	COLUMN_MISSES,
	COLUMN_DID,
	COLUMN_BEHIND,
	COLUMNS_OF_TOP,
};

/* In the order of the screen. Rank: the lower, the sooner it has a place. */
static const struct {
	const char *head;
	u32 width, most, rank;
	bool right;
	bool if_any; /* only if somebody has something there */
} columns[COLUMNS_OF_TOP] = {
	[COLUMN_NAME] = { "NAME", 15, 18, 0, false, false },  [COLUMN_TID] = { "TID", 7, 7, 10, true, false },
	[COLUMN_ROLE] = { "ROLE", 7, 10, 4, false, false },   [COLUMN_TIER] = { "TIER", 6, 6, 6, false, false },
	[COLUMN_CPU] = { "CPU%", 5, 5, 1, true, false },      [COLUMN_P50] = { "P50", 6, 6, 8, true, false },
	[COLUMN_P99] = { "P99", 6, 6, 2, true, false },	      [COLUMN_WORST] = { "WORST", 6, 6, 7, true, false },
	[COLUMN_LAST] = { "LAST s", 8, 20, 3, false, false }, [COLUMN_FPS] = { "FPS", 5, 5, 9, true, true },
	[COLUMN_LATE] = { "LATE", 4, 4, 12, true, true },     [COLUMN_GPU] = { "GPU/s", 6, 6, 13, true, true },
	[COLUMN_CUDA] = { "CUDA/s", 6, 6, 14, true, true },   [COLUMN_MISSES] = { "MISS", 4, 5, 11, true, true },
	[COLUMN_DID] = { "DID", 10, 14, 15, false, true },    [COLUMN_BEHIND] = { "BEHIND", 10, 26, 5, false, false },
};

struct layout {
	u32 widths[COLUMNS_OF_TOP]; /* 0: it has no place */
};

static bool has_any(const struct top_scene *scene, enum column column)
{
	bool any = false;

	if (column == COLUMN_DID && scene->hints_len)
		return true;
	for (size_t i = 0; i < scene->rows.len && !any; i++) {
		const struct top_row *row = &scene->rows.all[i];

		any = column == COLUMN_FPS	? row->fps_tenths
		      : column == COLUMN_LATE	? row->late_frames
		      : column == COLUMN_GPU	? row->all.submits || row->submits_tenths
		      : column == COLUMN_CUDA	? row->all.launches || row->launches_tenths
		      : column == COLUMN_MISSES ? row->misses
						: row->pushes;
	}
	return any;
}

static struct layout lay_out(const struct top_scene *scene, u32 width)
{
	static const enum column grow[] = { COLUMN_NAME, COLUMN_BEHIND, COLUMN_ROLE, COLUMN_LAST, COLUMN_DID };
	struct layout layout = { 0 };
	u32 used = 0;

	for (u32 rank = 0; rank < COLUMNS_OF_TOP; rank++)
		for (u32 i = 0; i < COLUMNS_OF_TOP; i++) {
			u32 wanted = columns[i].width + (used ? 1 : 0);

			if (columns[i].rank != rank || used + wanted > width ||
			    (columns[i].if_any && !has_any(scene, i)))
				continue;
			layout.widths[i] = columns[i].width;
			used += wanted;
		}
	for (u32 i = 0; i < sizeof(grow) / sizeof(grow[0]); i++) {
		u32 *mine = &layout.widths[grow[i]], more = width > used ? width - used : 0;

		if (!*mine)
			continue;
		if (more > columns[grow[i]].most - *mine)
			more = columns[grow[i]].most - *mine;
		*mine += more;
		used += more;
	}
	return layout;
}

static const char *role_word(const struct top_row *row, u32 width)
{
	static const char *const tight[ROLES] = {
		[ROLE_COMPOSITOR] = "compos", [ROLE_BACKGROUND] = "backgr", [ROLE_CPU_BOUND] = "cpu"
	};

	if (!row->has_role || row->role == ROLE_UNKNOWN)
		return "-";
	return row->role < ROLES && width < 10 && tight[row->role] ? tight[row->role] : role_name(row->role);
}

static void name_words(char *into, size_t size, const struct top_row *row, bool ascii)
{
	char name[THREAD_NAME_SIZE];

	comm_name(name, &row->comm);
	if (row->is_below)
		snprintf(into, size, "%s%s", ascii ? "  " : row->is_last ? "└ " : "├ ", name);
	else if (row->is_process && row->threads > 1)
		snprintf(into, size, "%s (%u)", name, row->threads);
	else
		snprintf(into, size, "%s", name);
}

static void rate_words(char *into, size_t size, u64 tenths)
{
	if (tenths >= 1000)
		snprintf(into, size, "%" PRIu64, tenths / 10);
	else if (tenths)
		snprintf(into, size, "%.1f", (double)tenths / 10);
	else
		into[0] = '\0';
}

static void count_words(char *into, size_t size, u64 count)
{
	if (count)
		snprintf(into, size, "%" PRIu64, count);
	else
		into[0] = '\0';
}

static void behind_words(char *into, size_t size, const struct top_other *behind, u32 width)
{
	char words[THREAD_WORDS_SIZE];

	into[0] = '\0';
	if (!behind->amount)
		return;
	if (width >= 18)
		comm_words(words, &behind->comm, behind->tid, THREAD_TIGHT);
	else
		comm_name(words, &behind->comm);
	snprintf(into, size, "%s", words);
}

/* What a cell says, and how bad it is. */
static enum canvas_style cell_words(char *into, size_t size, const struct canvas *canvas, const struct top_scene *scene,
				    const struct top_row *row, enum column column, u32 width)
{
	char time[TOP_TIME_SIZE];
	u64 wait_ns = column == COLUMN_P50   ? row->wait.p50_ns
		      : column == COLUMN_P99 ? row->wait.p99_ns
					     : row->wait.max_ns;

	switch (column) {
	case COLUMN_NAME:
		name_words(into, size, row, canvas->ascii);
		return row->ended ? STYLE_FAINT : STYLE_PLAIN;
	case COLUMN_TID:
		snprintf(into, size, "%u", row->tid);
		return STYLE_FAINT;
	case COLUMN_ROLE:
		snprintf(into, size, "%s", role_word(row, width));
		return STYLE_PLAIN;
	case COLUMN_TIER:
		snprintf(into, size, "%s", row->has_role ? top_tier_word(row->tier) : "-");
		return row->has_role && row->tier == TIER_LATENCY_CRITICAL ? STYLE_GOOD : STYLE_PLAIN;
	case COLUMN_CPU:
		snprintf(into, size, "%.1f", (double)row->cpu_hundredths / 100);
		return row->cpu_hundredths >= 9000 ? STYLE_WARNING : STYLE_PLAIN;
	case COLUMN_FPS:
		rate_words(into, size, row->fps_tenths);
		return STYLE_PLAIN;
	case COLUMN_LATE:
		count_words(into, size, row->late_frames);
		return STYLE_WARNING;
	case COLUMN_GPU:
		rate_words(into, size, row->submits_tenths);
		return STYLE_PLAIN;
	case COLUMN_CUDA:
		rate_words(into, size, row->launches_tenths);
		return STYLE_PLAIN;
	case COLUMN_MISSES:
		count_words(into, size, row->misses);
		return STYLE_WARNING;
	case COLUMN_DID:
		top_did_words(into, size, scene, row->tid, row->pushes);
		return STYLE_GOOD;
	case COLUMN_BEHIND:
		behind_words(into, size, &row->behind, width);
		return STYLE_PLAIN;
	default:
		top_time_words(time, wait_ns);
		snprintf(into, size, "%s", time);
		return top_wait_style(wait_ns);
	}
}

static void put_sparkline(struct canvas *canvas, u32 at, u32 column, u32 width, const struct top_row *row)
{
	for (u32 i = 0; i < width && i < TOP_SHOWN; i++) {
		u64 wait_ns = row->worst_ns[TOP_SHOWN - (width < TOP_SHOWN ? width : TOP_SHOWN) + i];

		canvas_put(canvas, at, column + i, 1, top_wait_style(wait_ns),
			   canvas_bar(canvas, top_wait_eighths(wait_ns)));
	}
}

static void put_row(struct canvas *canvas, u32 at, const struct layout *layout, const struct top_scene *scene,
		    const struct top_row *row)
{
	u32 column = 0;
	char words[TOP_LINE_SIZE];

	for (u32 i = 0; i < COLUMNS_OF_TOP; i++) {
		u32 width = layout->widths[i];
		enum canvas_style style;

		if (!width)
			continue;
		if (i == COLUMN_LAST) {
			put_sparkline(canvas, at, column, width, row);
		} else {
			style = cell_words(words, sizeof(words), canvas, scene, row, i, width);
			if (columns[i].right)
				canvas_put_right(canvas, at, column, width, style, words);
			else
				canvas_put(canvas, at, column, width, style, words);
		}
		column += width + 1;
	}
}

static void put_head(struct canvas *canvas, u32 row, const struct layout *layout)
{
	u32 column = 0;

	for (u32 i = 0; i < COLUMNS_OF_TOP; i++) {
		if (!layout->widths[i])
			continue;
		if (columns[i].right)
			canvas_put_right(canvas, row, column, layout->widths[i], STYLE_HEAD, columns[i].head);
		else
			canvas_put(canvas, row, column, layout->widths[i], STYLE_HEAD, columns[i].head);
		column += layout->widths[i] + 1;
	}
	canvas_style_row(canvas, row, STYLE_HEAD);
}

void top_paint_threads(struct canvas *canvas, struct top_view *view, const struct top_scene *scene, u32 row, u32 end)
{
	const struct top_rows *rows = &scene->rows;
	struct layout layout = lay_out(scene, canvas->width);

	put_head(canvas, row++, &layout);
	view->rows_shown = end > row ? end - row : 0;
	if (view->chosen < view->scroll)
		view->scroll = view->chosen;
	if (view->rows_shown && view->chosen >= view->scroll + view->rows_shown)
		view->scroll = view->chosen - view->rows_shown + 1;
	if (view->scroll + view->rows_shown > rows->len)
		view->scroll = rows->len > view->rows_shown ? rows->len - view->rows_shown : 0;
	for (size_t i = view->scroll; i < rows->len && row < end; i++, row++) {
		put_row(canvas, row, &layout, scene, &rows->all[i]);
		if (i == view->chosen)
			canvas_style_row(canvas, row, STYLE_CHOSEN);
	}
	if (!rows->len)
		canvas_put(canvas, row, 0, canvas->width, STYLE_FAINT,
			   view->choice.filter[0] ? "no thread matches the filter" : "nothing has run yet");
}
