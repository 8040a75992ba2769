// SPDX-License-Identifier: GPL-2.0
/* What each key does to what is shown. No terminal here: keys are numbers. */
#include <string.h>

#include "top_view.h"

enum { SEEK_FAR = 10 };

static void choose(struct top_view *view, const struct top_rows *rows, size_t at)
{
	if (!rows->len)
		return;
	view->chosen = at < rows->len ? at : rows->len - 1;
	view->chosen_tid = rows->all[view->chosen].tid;
	view->chosen_is_process = rows->all[view->chosen].is_process;
}

void top_follow(struct top_view *view, const struct top_rows *rows)
{
	for (size_t i = 0; i < rows->len && view->follows; i++) {
		if (rows->all[i].tid == view->chosen_tid && rows->all[i].is_process == view->chosen_is_process) {
			view->chosen = i;
			return;
		}
	}
	choose(view, rows, view->follows ? view->chosen : 0);
}

static void move(struct top_view *view, const struct top_scene *scene, int key)
{
	size_t page = view->rows_shown > 1 ? view->rows_shown - 1 : 1, at = view->chosen;

	if (key == TOP_KEY_UP)
		at = at ? at - 1 : 0;
	else if (key == TOP_KEY_DOWN)
		at++;
	else if (key == TOP_KEY_PAGE_UP)
		at = at > page ? at - page : 0;
	else if (key == TOP_KEY_PAGE_DOWN)
		at += page;
	else if (key == TOP_KEY_HOME)
		at = 0;
	else
		at = scene->rows.len;
	choose(view, &scene->rows, at);
	view->follows = key != TOP_KEY_HOME;
}

static void open_page(struct top_view *view, const struct top_scene *scene)
{
	const struct top_row *row = view->chosen < scene->rows.len ? &scene->rows.all[view->chosen] : NULL;

	if (!row || view->pane != PANE_THREADS)
		return;
	view->page_tid = row->tid;
	/* A process without threads of its own to show: its first thread that is shown stands for it. */
	if (row->is_process && !top_find(scene->top, row->tid) && view->chosen + 1 < scene->rows.len &&
	    scene->rows.all[view->chosen + 1].is_below)
		view->page_tid = scene->rows.all[view->chosen + 1].tid;
}

static void type(struct top_view *view, int key)
{
	size_t len = strlen(view->choice.filter);

	if (key == TOP_KEY_ENTER) {
		view->typing = false;
	} else if (key == TOP_KEY_ESCAPE) {
		view->typing = false;
		memcpy(view->choice.filter, view->typed_before, sizeof(view->choice.filter));
	} else if (key == TOP_KEY_BACKSPACE && len) {
		/* All bytes of the last character. */
		do
			len--;
		while (len && ((unsigned char)view->choice.filter[len] & 0xc0) == 0x80);
		view->choice.filter[len] = '\0';
	} else if (key >= ' ' && key < 0x100 && key != 0x7f && len + 1 < TOP_FILTER_SIZE) {
		view->choice.filter[len] = (char)key;
		view->choice.filter[len + 1] = '\0';
	}
	view->changed = true;
}

/* True if the key is one for playing. */
static bool play(struct play_clock *clock, int key, u64 now_ns)
{
	switch (key) {
	case ' ':
	case 'p':
		play_toggle(clock, now_ns);
		return true;
	case TOP_KEY_LEFT:
		play_seek(clock, -1, NSEC_PER_SEC);
		return true;
	case TOP_KEY_RIGHT:
		play_seek(clock, 1, NSEC_PER_SEC);
		return true;
	case '[':
		play_seek(clock, -SEEK_FAR, NSEC_PER_SEC);
		return true;
	case ']':
		play_seek(clock, SEEK_FAR, NSEC_PER_SEC);
		return true;
	case '0':
		play_seek_to(clock, 0);
		return true;
	case '$':
		play_seek_to(clock, ~0ULL);
		return true;
	case '-':
		play_change_speed(clock, -1);
		return true;
	case '+':
		play_change_speed(clock, 1);
		return true;
	default:
		return false;
	}
}

static void go_back(struct top_view *view)
{
	if (view->page_tid) {
		view->page_tid = 0;
	} else if (view->choice.filter[0]) {
		view->choice.filter[0] = '\0';
		view->changed = true;
	}
}

static void show_pane(struct top_view *view, u32 pane)
{
	view->pane = pane;
	view->page_tid = 0;
}

static void change_choice(struct top_view *view, int key)
{
	struct top_choice *choice = &view->choice;

	if (key == 's')
		choice->order = (choice->order + 1) % TOP_ORDERS;
	else if (key == 'S')
		choice->order = (choice->order + TOP_ORDERS - 1) % TOP_ORDERS;
	else if (key == 'r')
		choice->reversed = !choice->reversed;
	else if (key == 'v')
		choice->group = (choice->group + 1) % TOP_GROUPS;
	else
		choice->idle_too = !choice->idle_too;
	view->changed = true;
}

static void press_other(struct top_view *view, struct top_scene *scene, int key)
{
	switch (key) {
	case 'q':
		view->quits = true;
		break;
	case '?':
	case 'h':
		view->help = true;
		break;
	case '\t':
		show_pane(view, (view->pane + 1) % TOP_PANES);
		break;
	case '/':
		view->typing = true;
		memcpy(view->typed_before, view->choice.filter, sizeof(view->typed_before));
		break;
	case ' ':
	case 'f':
		view->frozen = scene->source == TOP_LIVE && !view->frozen;
		break;
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		go_back(view);
		break;
	case TOP_KEY_ENTER:
		open_page(view, scene);
		break;
	case 'j':
		move(view, scene, TOP_KEY_DOWN);
		break;
	case 'k':
		move(view, scene, TOP_KEY_UP);
		break;
	default:
		if (key >= '1' && key < '1' + TOP_PANES)
			show_pane(view, (u32)(key - '1'));
		else if (key == 's' || key == 'S' || key == 'r' || key == 'v' || key == 'a')
			change_choice(view, key);
		else if (key >= TOP_KEY_UP && key != TOP_KEY_LEFT && key != TOP_KEY_RIGHT)
			move(view, scene, key);
	}
}

void top_press(struct top_view *view, struct top_scene *scene, int key, u64 now_ns)
{
	if (key == TOP_KEY_NONE)
		return;
	if (view->typing)
		type(view, key);
	else if (view->help)
		view->help = false; /* any key */
	else if (!scene->clock || !play(scene->clock, key, now_ns))
		press_other(view, scene, key);
}
