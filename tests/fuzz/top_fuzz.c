// SPDX-License-Identifier: GPL-2.0
/* Fuzzing 'tactus top': any bytes as events, as in models_fuzz.c, then every pane and page painted in several sizes.
 * Nothing but plain characters may come onto a canvas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../../src/view/frame_words.h"
#include "../../src/view/top_view.h"

enum { GROWING_TIMES = 1, FEW_TIDS = 2, FORGETS = 4, CPUS = 4, EVENT_BYTES_MAX = 512 };

static struct threads threads;
static struct top top;

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static void look_at(const struct canvas *canvas)
{
	for (size_t i = 0; i < (size_t)canvas->width * canvas->height; i++)
		for (const char *at = canvas->places[i].bytes; *at; at++)
			require(*at >= ' ' && *at <= '~', "a canvas has plain characters only");
}

static void paint(struct top_view *view, const struct top_scene *scene)
{
	static const u32 sizes[][2] = { { 80, 24 }, { 40, 20 }, { 21, 8 }, { 200, 9 } };
	struct canvas canvas;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (canvas_open(&canvas, sizes[i][0], sizes[i][1], true))
			return;
		top_paint(&canvas, view, scene);
		look_at(&canvas);
		canvas_close(&canvas);
	}
}

static void paint_all(unsigned char how)
{
	struct top_view view = { .choice = { .order = how % TOP_ORDERS, .group = how % TOP_GROUPS, .idle_too = true } };
	struct top_scene scene = { .source = TOP_LIVE, .top = &top, .threads = &threads, .kernel = "" };

	if (top_rows_make(&scene.rows, &top, &threads, &view.choice))
		return;
	top_follow(&view, &scene.rows);
	for (u32 pane = 0; pane < TOP_PANES; pane++) {
		view.pane = pane;
		paint(&view, &scene);
	}
	for (size_t i = 0; i < scene.rows.len && i < 3; i++) {
		view.page_tid = scene.rows.all[i].tid;
		paint(&view, &scene);
	}
	top_rows_free(&scene.rows);
}

static void take(const struct event_header *event)
{
	struct wait ended;
	bool waited = threads_handle(&threads, event, &ended);

	top_handle(&top, &threads, event, waited ? &ended : NULL);
	require(top.len <= TOP_THREADS_MOST, "threads have a bound");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct cpu_topology topology[CPUS] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 0, 0, 1 }, { 3, 3, 1, 1 } };
	_Alignas(8) unsigned char bytes[EVENT_BYTES_MAX];
	struct event_header *event = (struct event_header *)bytes;
	unsigned char how = size ? *data++ : 0;
	u64 now_ns = 1;

	require(!threads_init(&threads, topology, CPUS) && !top_init(&top, CPUS, late_frame_words), "there is memory");
	threads.ended_most = how & FORGETS ? 4 : 0;
	for (size_t left = size ? size - 1 : 0; left >= sizeof(*event);) {
		const struct event_info *info;
		size_t len;

		memcpy(event, data, sizeof(*event));
		event->kind = (u8)(1 + event->kind % (EVENT_KINDS - 1));
		info = event_info(event->kind);
		len = info->bytes < left ? info->bytes : left;
		memset(bytes + sizeof(*event), 0, info->bytes - sizeof(*event));
		memcpy(bytes + sizeof(*event), data + sizeof(*event), len - sizeof(*event));
		data += len;
		left -= len;
		if (how & GROWING_TIMES)
			event->time_ns = now_ns += event->time_ns % 200000000;
		if (how & FEW_TIDS)
			event->tid %= 8;
		take(event);
	}
	top_finish(&top, &threads, threads.last_ns);
	paint_all(how);
	top_free(&top);
	threads_free(&threads);
	return 0;
}
