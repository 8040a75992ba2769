// SPDX-License-Identifier: GPL-2.0
/* What only some recordings have, on the page by the functions of the commands that show it alone: training steps, as
 * 'tactus cuda --steps' has them, and from input to frames, as 'tactus input --to-frame' does. */
#include <stdlib.h>

#include "../base/sort.h"
#include "cuda_view.h"
#include "input_frames.h"
#include "report_view.h"

static u32 shortest_of(const struct report_clicks *clicks)
{
	u32 at = 0;

	for (u32 i = 1; i < clicks->len; i++)
		if (clicks->each[i].present_ns < clicks->each[at].present_ns)
			at = i;
	return at;
}

/* When there is no room any more, the shortest goes. */
static void keep(struct report_clicks *clicks, const struct to_frame *done)
{
	u32 at;

	if (clicks->len < CLICKS_KEPT) {
		clicks->each[clicks->len++] = *done;
		return;
	}
	at = shortest_of(clicks);
	clicks->left_out++;
	if (done->present_ns > clicks->each[at].present_ns)
		clicks->each[at] = *done;
}

static void take_done(struct report_clicks *clicks, const struct threads *threads, u64 now_ns, bool is_before)
{
	struct to_frame done;

	while (to_frames_next(clicks->all, threads, now_ns, &done))
		if (!is_before)
			keep(clicks, &done);
}

void report_take_click(struct report_clicks *clicks, const struct threads *threads, const struct event_header *event,
		       bool is_before)
{
	if (!clicks->all && event->kind != EVENT_INPUT_WAKE && event->kind != EVENT_SERVED)
		return;
	if (!clicks->all && !clicks->failed) {
		clicks->all = calloc(1, sizeof(*clicks->all));
		clicks->each = calloc(CLICKS_KEPT, sizeof(*clicks->each));
		clicks->failed = !clicks->all || !clicks->each;
	}
	if (clicks->failed)
		return;
	to_frames_handle(clicks->all, threads, event);
	if (event->kind == EVENT_FRAME || event->kind == EVENT_VBLANK || event->kind == EVENT_INPUT_WAKE)
		take_done(clicks, threads, event->time_ns, is_before);
}

void report_end_clicks(struct report_clicks *clicks, const struct threads *threads)
{
	if (clicks->all && !clicks->failed)
		take_done(clicks, threads, ~0ULL, false);
}

void report_restart_clicks(struct report_clicks *clicks)
{
	if (clicks->all && !clicks->failed)
		to_frames_restart(clicks->all);
	clicks->len = 0;
	clicks->left_out = 0;
}

void report_free_clicks(struct report_clicks *clicks)
{
	free(clicks->all);
	free(clicks->each);
}

static int by_time(const void *a, const void *b)
{
	const struct to_frame *one = a, *other = b;

	return one->report_ns < other->report_ns ? -1 : one->report_ns > other->report_ns;
}

void report_print_clicks(const struct report_clicks *clicks, const struct options *options,
			 const struct threads *threads)
{
	if (!clicks->all || clicks->failed || !clicks->all->rows_len)
		return;
	to_frame_table(options, clicks->all);
	sort_rows(clicks->each, clicks->len, sizeof(*clicks->each), by_time);
	for (u32 i = 0; i < clicks->len; i++)
		input_frame_line(options, threads, &clicks->each[i]);
}

void report_print_steps(const struct steps *steps, const struct options *options, const struct threads *threads,
			const struct cuda *cuda)
{
	bool found = false;

	for (const struct step_process *process = steps->processes; process; process = process->next)
		found |= process->steps != 0;
	if (!found)
		return;
	cuda_print_steps(steps, options, threads, cuda);
	for (const struct step_process *process = steps->processes; process; process = process->next)
		for (u32 i = 0; i < process->worst_len; i++)
			if (process->worst[i].is_slow)
				cuda_print_slow_step(&process->worst[i], process, threads, cuda, true);
}
