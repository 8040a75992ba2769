// SPDX-License-Identifier: GPL-2.0
/* 'tactus top' of what happens now: the sensors' events, by a capture as all views have it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../capture/capture.h"
#include "../model/top_sums.h"
#include "../sensor/sched_sums.h"
#include "frame_words.h"
#include "top_screen.h"
#include "top_session.h"

/* Events are handed over so long after they were; see SETTLED_NS of the capture. Then a second is complete. */
enum { BEHIND_NS = 120 * NSEC_PER_MSEC };

/* Ticks come every 250 ms, not to the microsecond: a second is over so long before it is. */
enum { EARLY_NS = 120 * NSEC_PER_MSEC };

struct live {
	struct top_session *session;
	struct capture capture;
	struct sched_sums *sums;    /* NULL: every switch is read */
	struct sched_cpu_sum *cpus; /* as they were last taken */
	u64 sums_taken_ns;
};

static int take_row(void *data, const void *row)
{
	struct live *live = data;

	top_sums_add(&live->session->top, &live->capture.threads, row);
	return 0;
}

/* `counts`: else only what comes from now on will. */
static void take_sums(struct live *live, u64 now_ns, bool counts)
{
	struct top *top = &live->session->top;

	live->sums_taken_ns = now_ns;
	sched_sums_take(live->sums, counts ? take_row : NULL, live);
	for (u32 cpu = 0; cpu < top->cpus_len; cpu++) {
		struct sched_cpu_sum sum = sched_sums_cpu(live->sums, cpu, now_ns);

		if (counts)
			top_sums_add_cpu(top, cpu, span_between(live->cpus[cpu].busy_ns, sum.busy_ns),
					 sum.switches - live->cpus[cpu].switches, sum.tid);
		live->cpus[cpu] = sum;
	}
}

/* Frames are explained by what every thread did, and some panes list single waits. For all else sums do. */
static void choose_way(struct live *live, u64 now_ns)
{
	const struct top_view *view = &live->session->view;
	struct top *top = &live->session->top;
	bool by_sums = !view->page_tid && view->pane != PANE_WAITS && !top->frame_model.explains;

	if (!live->sums || top->frozen || by_sums == top->by_sums)
		return;
	take_sums(live, now_ns, top->by_sums);
	sched_sums_only(live->sums, by_sums);
	if (by_sums)
		top_sums_begin(top);
	else
		top_sums_end(top, &live->capture.threads, now_ns);
}

static void open_sums(struct live *live, struct sensor *sched)
{
	u64 now_ns = clock_now_ns();

	live->cpus = calloc(live->capture.info.cpus_len, sizeof(*live->cpus));
	live->sums = live->cpus && live->capture.request.sums ? sched_sums_open(sched) : NULL;
	top_advance(&live->session->top, &live->capture.threads, now_ns);
	choose_way(live, now_ns);
}

static void close_sums(struct live *live)
{
	if (live->sums && sched_sums_refused(live->sums))
		note("top: there was no room for the sums of %" PRIu64 " threads", sched_sums_refused(live->sums));
	sched_sums_close(live->sums);
	live->sums = NULL;
	free(live->cpus);
}

static void advance(struct live *live, u64 now_ns)
{
	struct top *top = &live->session->top;

	if (!top->by_sums) {
		top_advance(top, &live->capture.threads, now_ns - BEHIND_NS);
		return;
	}
	if (now_ns + EARLY_NS < (top->frozen ? live->sums_taken_ns + TOP_TURN_NS : top->turn_at_ns))
		return;
	take_sums(live, now_ns, true);
	if (!top->frozen)
		top_turn(top, &live->capture.threads, now_ns);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct live *live = data;

	top_handle(&live->session->top, &live->capture.threads, event, ended);
}

static bool on_open(void *data, struct sensor *sched)
{
	struct live *live = data;

	if (top_init(&live->session->top, live->capture.info.cpus_len, late_frame_words)) {
		fail("top", "out of memory");
		return false;
	}
	live->session->scene.top = &live->session->top;
	live->session->scene.threads = &live->capture.threads;
	live->session->scene.kernel = live->capture.info.kernel;
	open_sums(live, sched);
	if (top_session_open_screen(live->session))
		return false;
	return !live->session->on_screen || top_session_show(live->session);
}

/* Taking the sensors away takes a while: nobody has to look at a screen that stands still meanwhile. */
static void on_close(void *data)
{
	close_sums(data);
	screen_close();
}

static void take_wall_time(struct top_scene *scene)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	scene->wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
}

static void freeze_or_thaw(struct live *live, u64 now_ns)
{
	struct top *top = &live->session->top;

	if (top->frozen && !live->session->view.frozen && top->by_sums)
		take_sums(live, now_ns, true);
	if (top->frozen && !live->session->view.frozen)
		top_thaw(top, &live->capture.threads, now_ns);
	top->frozen = live->session->view.frozen;
}

static bool on_tick(void *data)
{
	struct live *live = data;
	struct top_session *session = live->session;
	u64 now_ns = clock_now_ns();
	bool pressed = false, news = top_session_hear_run(session, now_ns) && session->view.pane == PANE_RUN;

	if (!top_session_take_input(session, &pressed))
		return false;
	freeze_or_thaw(live, session->top.by_sums ? now_ns : now_ns - BEHIND_NS);
	advance(live, now_ns);
	choose_way(live, now_ns);
	/* An event may have ended the second before this tick. */
	if (session->top.turns != session->shown_turns)
		take_wall_time(&session->scene);
	else if (!pressed && !news)
		return true;
	session->shown_turns = session->top.turns;
	if (!session->on_screen && !session->top.turns)
		return true;
	return top_session_show(session) && !session->wishes.once;
}

int top_watch_live(struct top_session *session)
{
	static const struct filter everything;
	struct options options = *session->options;
	struct live live = { .session = session };
	int status;

	/* That it is being watched is seen on the screen, and need not be said. */
	if (!options.duration_ns)
		options.duration_ns = 365ULL * 24 * 3600 * NSEC_PER_SEC;
	session->scene.source = TOP_LIVE;
	session->scene.cuda = session->wishes.with_cuda;
	session->scene.filtered = options.command || memcmp(&options.filter, &everything, sizeof(everything)) != 0;
	live.capture =
		(struct capture){ .request = { .view = "top",
					       .groups = EVENTS_SCHED | EVENTS_ROLES | EVENTS_FRAMES | EVENTS_GPU |
							 (session->wishes.with_cuda ? EVENTS_CUDA : 0),
					       .cuda = session->wishes.with_cuda ? &session->wishes.cuda : NULL,
					       .forgets_ended = true,
					       .sums = !session->scene.filtered && !options.output,
					       .also_fd = screen_fd(),
					       .calm = !session->wishes.with_cuda && !options.command,
					       .on_event = on_event,
					       .on_open = on_open,
					       .on_tick = on_tick,
					       .on_close = on_close,
					       .data = &live } };
	status = capture_run(&live.capture, &options);
	screen_close();
	if (live.capture.threads.last_ns)
		capture_print_losses(&live.capture);
	top_rows_free(&session->scene.rows);
	if (session->scene.top)
		top_free(&session->top);
	capture_free(&live.capture);
	return status;
}
