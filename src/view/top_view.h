/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of 'tactus top' share: where its data come from, what its user has chosen by keys, and how that
 * becomes a canvas. Nothing here knows a terminal. */
#ifndef TACTUS_VIEW_TOP_VIEW_H
#define TACTUS_VIEW_TOP_VIEW_H

#include "../model/top_rows.h"
#include "../sink/canvas.h"
#include "../stream/player.h"
#include "status.h"

enum top_pane { PANE_THREADS, PANE_CPUS, PANE_FRAMES, PANE_WAITS, PANE_RUN, TOP_PANES };

/* Characters are themselves. */
enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = 27,
	TOP_KEY_UP = 0x10000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKSPACE,
};

/* What the user has chosen. */
struct top_view {
	struct top_choice choice;
	enum top_pane pane;
	bool help;
	bool typing; /* a filter, which takes effect letter by letter */
	char typed_before[TOP_FILTER_SIZE];
	u32 page_tid; /* whose page is shown; 0: nobody's */
	bool follows; /* the row that was chosen stays so, wherever it goes; else the first one */
	u32 chosen_tid;
	bool chosen_is_process;
	size_t chosen, scroll;
	size_t rows_shown; /* that fit, when it was last painted */
	bool frozen;
	bool changed; /* rows have to be made anew */
	bool quits;
};

/* What a hint of 'tactus run' made of a thread. */
struct top_hint {
	u32 tid;
	s32 nice;
	u64 slice_ns; /* 0: the kernel's */
};

enum top_source { TOP_LIVE, TOP_RECORDING, TOP_CLIENT };

enum { TOP_BUSY_SHOWN = 60 };

/* What is there to be shown. */
struct top_scene {
	enum top_source source;
	const struct top *top; /* NULL: of a client */
	const struct threads *threads;
	struct top_rows rows;
	struct play_clock *clock; /* of a recording, else NULL */
	const char *path;	  /* of a recording */
	const char *kernel;
	u64 wall_ns;		      /* of what is shown; 0: not known */
	const struct run_status *run; /* the last of a 'tactus run', or NULL */
	const char *no_run;	      /* why there is none */
	u8 run_busy[TOP_BUSY_SHOWN];  /* percent, of its last seconds; the newest last */
	u32 run_busy_len;
	const struct top_hint *hints;
	size_t hints_len;
	bool cuda;	    /* calls are watched */
	bool filtered;	    /* not all threads are */
	bool is_text;	    /* printed, not on a screen: there are no keys */
	const char *notice; /* the last thing that was said, or "" */
};

/* Takes a key. now_ns: the monotonic clock's, for playing. */
void top_press(struct top_view *view, struct top_scene *scene, int key, u64 now_ns);

/* Finds the chosen row again, after rows were made anew. */
void top_follow(struct top_view *view, const struct top_rows *rows);

/* Paints all of it. */
void top_paint(struct canvas *canvas, struct top_view *view, const struct top_scene *scene);

/* The parts, each from a row on; they end before `end`. */
void top_paint_threads(struct canvas *canvas, struct top_view *view, const struct top_scene *scene, u32 row, u32 end);
void top_paint_cpus(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		    u32 end);
void top_paint_frames(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		      u32 end);
void top_paint_waits(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		     u32 end);
void top_paint_run(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end);
void top_paint_page(struct canvas *canvas, const struct top_view *view, const struct top_scene *scene, u32 row,
		    u32 end);
void top_paint_help(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end);

/* Words that several parts use. */
enum { TOP_TIME_SIZE = 16, TOP_LINE_SIZE = 400 };
/* "1.02ms": as text.h has it, without the blank; "-" for nothing. */
void top_time_words(char into[TOP_TIME_SIZE], u64 span_ns);
/* When something was: "3.214 s" into a recording, or "1.2 s ago". */
void top_when_words(char into[TOP_TIME_SIZE], const struct top_scene *scene, u64 at_ns);
const char *top_tier_word(u32 tier);
/* What tactus does to a thread: "nice -9", "slice 1.00ms", "pushed 12"; "" nothing. */
void top_did_words(char *into, size_t size, const struct top_scene *scene, u32 tid, u64 pushes);
/* How bad a wait is. */
enum canvas_style top_wait_style(u64 wait_ns);
/* How high a bar a wait gets: by powers of ten, from 10 us to 100 ms. */
u32 top_wait_eighths(u64 wait_ns);
/* Puts text into rows of the canvas, broken between words, each after the first `indent` columns in. Returns the row
 * after it. */
u32 top_put_wrapped(struct canvas *canvas, u32 row, u32 end, u32 indent, enum canvas_style style, const char *text);

#endif
