// SPDX-License-Identifier: GPL-2.0
/* tactus top: threads, CPUs, frames and waits on one screen, as they are now or as they were in a recording.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/say.h"
#include "../capture/role_options.h"
#include "top_screen.h"
#include "top_session.h"
#include "view.h"

enum { KEY_ONCE = 0x200, KEY_AT, KEY_PANE, KEY_THREAD, KEY_SORT, KEY_BY, KEY_FILTER, KEY_CUDA, KEY_RUN };

static const char *const pane_names[TOP_PANES] = { "threads", "cpus", "frames", "waits", "run" };
static const char *const by_names[TOP_GROUPS] = { "tree", "thread", "process" };

/* The index of a word, or `len`. */
static u32 find_word(const char *const *words, u32 len, const char *word)
{
	u32 i = 0;

	while (i < len && strcmp(words[i], word))
		i++;
	return i;
}

static const char *take_choice(struct top_view *view, int key, const char *value)
{
	u64 number;

	switch (key) {
	case KEY_PANE:
		view->pane = find_word(pane_names, TOP_PANES, value);
		return view->pane < TOP_PANES ? NULL : "is none of threads, cpus, frames, waits, run";
	case KEY_SORT:
		view->choice.order = top_order_parse(value);
		return view->choice.order < TOP_ORDERS
			       ? NULL
			       : "is none of cpu, p99, worst, waits, fps, gpu, cuda, misses, name, tid";
	case KEY_BY:
		view->choice.group = find_word(by_names, TOP_GROUPS, value);
		return view->choice.group < TOP_GROUPS ? NULL : "is none of tree, thread, process";
	case KEY_THREAD:
		if (parse_number(value, ~0u, &number) || !number)
			return "is not a thread's number";
		view->page_tid = (u32)number;
		return NULL;
	default:
		if (strlen(value) >= sizeof(view->choice.filter))
			return "is longer than 31 bytes";
		strcpy(view->choice.filter, value);
		return NULL;
	}
}

static const char *take_own(void *data, int key, const char *value)
{
	struct top_session *session = data;

	switch (key) {
	case KEY_ONCE:
		session->wishes.once = true;
		return NULL;
	case 'b':
		session->wishes.batch = true;
		return NULL;
	case KEY_AT:
		session->wishes.at_ns = 0;
		return strcmp(value, "0") && parse_duration(value, &session->wishes.at_ns)
			       ? "is not a time such as 2.5 or 1m"
			       : NULL;
	case KEY_CUDA:
		session->wishes.with_cuda = true;
		return NULL;
	case KEY_RUN:
		session->wishes.as_client = true;
		return NULL;
	case KEY_WITHOUT:
		return role_options_take(key, value);
	default:
		return take_choice(&session->view, key, value);
	}
}

static const struct argp_option own_options[] = {
	{ "once", KEY_ONCE, 0, 0, "Print one screen as text, and end", 0 },
	{ "batch", 'b', 0, 0, "Print a screen a second as text", 0 },
	{ "at", KEY_AT, "TIME", 0, "With -i: begin there, paused", 0 },
	{ "pane", KEY_PANE, "threads|cpus|frames|waits|run", 0, "Begin with this pane", 0 },
	{ "thread", KEY_THREAD, "TID", 0, "Begin with this thread's page", 0 },
	{ "sort", KEY_SORT, "cpu|p99|worst|waits|fps|gpu|cuda|misses|name|tid", 0, "Sort by this", 0 },
	{ "by", KEY_BY, "tree|thread|process", 0, "How to group rows (default: tree)", 0 },
	{ "filter", KEY_FILTER, "TEXT", 0, "Show only names and roles with this, or a tid", 0 },
	{ "cuda", KEY_CUDA, 0, 0, "Also count CUDA launches; each costs a probe", 0 },
	{ "run", KEY_RUN, 0, 0, "Show what a 'tactus run' reports, as without root", 0 },
	{ "without", KEY_WITHOUT, "KIND,...", 0, "Ignore evidence, as 'tactus roles' does", 0 },
	{ 0 },
};

static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	if (!strcmp(option, "at"))
		return options->input;
	if (!strcmp(option, "cuda"))
		return !options->input;
	return strcmp(option, "run") != 0 || !(options->input || options->output || options->command);
}

const struct command_usage top_usage = {
	.name = "top",
	.text = "Shows threads by process on a full screen: role, tier, CPU, waits and behind whom, frames and why "
		"the last late one was late, GPU submits, CUDA launches, misses, and what 'tactus run' did to "
		"them. Other panes show CPUs, frames and waits; Enter shows a thread's page; ? lists all keys.\v"
		"P50, P99 and WORST are waits for a CPU in the last 10 seconds, LAST s the longest of each second. "
		"Without root it shows what a running 'tactus run' reports. COLUMNS and LINES set the size of text. "
		"A command's output is shown at the end. NO_COLOR turns colours off.\n"
		"\n"
		"Examples:\n"
		"  tactus top                                         the whole machine\n"
		"  tactus top -i examples/late-frames.tactus          play a recording\n"
		"  tactus top -i examples/late-frames.tactus --once --at 6 --pane frames",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_INPUT | TAKES_ONE_INPUT | TAKES_OUTPUT | TAKES_FILTER |
		 TAKES_RING,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct top_session),
	.fits = fits,
};

/* Options that are sound one by one but not together. */
static const char *find_conflict(const struct top_session *session, const struct options *options)
{
	if (session->wishes.at_ns != ~0ULL && !options->input)
		return "--at is for a recording: -i FILE";
	if (session->wishes.as_client && (options->input || options->output || options->command))
		return "--run shows what a 'tactus run' reports: it takes neither -i nor -o nor a command";
	if (session->wishes.with_cuda && options->input)
		return "--cuda is for live: a recording has what it has";
	return NULL;
}

static int show(struct top_session *session)
{
	bool is_text = session->wishes.once || session->wishes.batch;
	struct reason why = { "" };

	if (is_text)
		setlocale(LC_CTYPE, "");
	else if (screen_check(&why) || screen_reserve(&why))
		return fail("top", "%s", why.text);
	if (session->options->input)
		return top_play_recording(session);
	if (session->wishes.as_client || geteuid() != 0)
		return top_be_client(session);
	return top_watch_live(session);
}

int view_top(int argc, char **argv)
{
	struct top_session *session = calloc(1, sizeof(*session));
	struct options options;
	const char *conflict;
	int status;

	if (!session)
		return fail("top", "out of memory");
	session->wishes.at_ns = ~0ULL;
	session->wishes.cuda = (struct cuda_settings){ .api = "default", .sample = 1, .no_ioctls = true };
	session->feed_fd = -1;
	session->options = &options;
	options_parse(&options, &top_usage, session, argc, argv);
	conflict = find_conflict(session, &options);
	if (conflict)
		fail("top", "%s", conflict);
	status = conflict ? EXIT_USAGE : show(session);
	if (session->feed_fd >= 0)
		close(session->feed_fd);
	free((void *)session->scene.hints);
	free(session);
	return status;
}
