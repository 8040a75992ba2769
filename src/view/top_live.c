// SPDX-License-Identifier: GPL-2.0
/* 'tactus top' of what happens now: the sensors' events, by a capture as all views have it.
 */
#include <string.h>
#include <time.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../capture/capture.h"
#include "frame_words.h"
#include "top_screen.h"
#include "top_session.h"

/* Events are handed over so long after they were; see SETTLED_NS of the capture. Then a second is complete. */
enum { BEHIND_NS = 120 * NSEC_PER_MSEC };

struct live {
	struct top_session *session;
	struct capture capture;
};

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct live *live = data;

	top_handle(&live->session->top, &live->capture.threads, event, ended);
}

static bool on_open(void *data, struct sensor *sched)
{
	struct live *live = data;

	(void)sched;
	if (top_init(&live->session->top, live->capture.info.cpus_len, late_frame_words)) {
		fail("top", "out of memory");
		return false;
	}
	live->session->scene.top = &live->session->top;
	live->session->scene.threads = &live->capture.threads;
	live->session->scene.kernel = live->capture.info.kernel;
	if (top_session_open_screen(live->session))
		return false;
	return !live->session->on_screen || top_session_show(live->session);
}

/* Taking the sensors away takes a while: nobody has to look at a screen that stands still meanwhile. */
static void on_close(void *data)
{
	(void)data;
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
	freeze_or_thaw(live, now_ns - BEHIND_NS);
	top_advance(&session->top, &live->capture.threads, now_ns - BEHIND_NS);
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
