// SPDX-License-Identifier: GPL-2.0
/* 'tactus top -i FILE': a recording that is played, paused and searched. The same events make the same screen, however
 * one came there. */
#include <string.h>

#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../capture/capture_filter.h"
#include "../capture/excerpt_find.h"
#include "../capture/watch.h"
#include "../model/event_filter.h"
#include "frame_words.h"
#include "top_screen.h"
#include "top_session.h"

enum { TICK_NS = 100 * NSEC_PER_MSEC };

struct replay {
	struct top_session *session;
	struct player *player;
	struct play_clock clock;
	struct threads threads;
	struct event_filter *filter; /* NULL: none was given */
	bool begun;		     /* what was before the part that is played has come */
	u64 shown_ns;
};

/* Whether the event is of the part that is played. What was before makes known who runs and who waits. */
static bool is_played(struct replay *replay, const struct event_header *event)
{
	struct wait ended;

	if (event->time_ns < replay->clock.first_ns && !replay->begun) {
		threads_handle(&replay->threads, event, &ended);
		return false;
	}
	if (!replay->begun) {
		threads_charge(&replay->threads, replay->clock.first_ns);
		threads_restart(&replay->threads);
	}
	replay->begun = true;
	return true;
}

static void on_event(void *data, const struct event_header *event)
{
	struct replay *replay = data;
	union any_event changed;
	struct wait ended;
	bool waited;

	if (replay->filter)
		event = event_filter_pass(replay->filter, event, &changed);
	if (!event || !is_played(replay, event))
		return;
	/* A second ends before what comes after it. */
	top_advance(&replay->session->top, &replay->threads, event->time_ns);
	waited = threads_handle(&replay->threads, event, &ended);
	top_handle(&replay->session->top, &replay->threads, event, waited ? &ended : NULL);
	replay->session->scene.filtered |= event->kind == EVENT_THREAD && (event->flags & EVENT_FLAG_BYSTANDER);
	replay->session->scene.cuda |= event->kind == EVENT_CUDA_LAUNCH || event->kind == EVENT_CUDA_CALL;
}

/* Returns 0, or after a message the status to end with. */
static int begin(struct replay *replay)
{
	const struct recording_info *info = player_info(replay->player);

	if (threads_init(&replay->threads, info->topology, info->cpus_len))
		return fail("top", "out of memory");
	replay->threads.first_ns = replay->clock.first_ns;
	replay->begun = false;
	if (!filter_is_empty(&replay->session->options->filter)) {
		replay->filter = event_filter_open(&replay->session->options->filter, true);
		if (!replay->filter)
			return fail("top", "out of memory");
	}
	if (top_init(&replay->session->top, info->cpus_len, late_frame_words))
		return fail("top", "out of memory");
	top_advance(&replay->session->top, &replay->threads, replay->clock.first_ns);
	return 0;
}

static void end(struct replay *replay)
{
	top_rows_free(&replay->session->scene.rows);
	if (replay->session->top.cpus)
		top_free(&replay->session->top);
	threads_free(&replay->threads);
	event_filter_close(replay->filter);
	replay->filter = NULL;
}

static void on_again(void *data)
{
	struct replay *replay = data;

	end(replay);
	if (begin(replay))
		replay->session->status = EXIT_FAILURE;
}

static bool go_to_clock(struct replay *replay)
{
	struct top_session *session = replay->session;
	const struct recording_info *info = player_info(replay->player);
	u64 position_ns = replay->clock.position_ns;
	struct reason why = { "" };

	if (player_go_to(replay->player, position_ns, &why)) {
		session->status = fail(session->options->input, "%s", why.text);
		return false;
	}
	if (session->status)
		return false;
	top_advance(&session->top, &replay->threads, position_ns);
	/* The last second need not be a whole one. */
	if (play_is_at_end(&replay->clock))
		top_finish(&session->top, &replay->threads, position_ns);
	session->scene.wall_ns = info->wall_start_ns + span_between(info->mono_start_ns, position_ns);
	replay->shown_ns = position_ns;
	return true;
}

static bool on_tick(void *data)
{
	struct replay *replay = data;
	struct top_session *session = replay->session;
	bool anew = false;

	if (!top_session_take_input(session, &anew))
		return false;
	play_goes_on(&replay->clock, clock_now_ns());
	if (replay->clock.position_ns != replay->shown_ns) {
		anew = true;
		if (!go_to_clock(replay))
			return false;
	}
	return !anew || top_session_show(session);
}

static void seek_since_zero(struct play_clock *clock, u64 since_ns)
{
	u64 skipped_ns = clock->first_ns - clock->zero_ns;

	play_seek_to(clock, since_ns > skipped_ns ? since_ns - skipped_ns : 0);
}

/* One screen a second of the recording, as text; or just one. */
static void print_all(struct replay *replay)
{
	const struct top_wishes *wishes = &replay->session->wishes;
	bool goes_on = true;

	if (wishes->once) {
		seek_since_zero(&replay->clock, wishes->at_ns);
		if (go_to_clock(replay))
			top_session_show(replay->session);
		return;
	}
	while (goes_on && !play_is_at_end(&replay->clock)) {
		play_seek(&replay->clock, 1, NSEC_PER_SEC);
		goes_on = go_to_clock(replay) && top_session_show(replay->session);
	}
}

static int play(struct replay *replay)
{
	struct top_session *session = replay->session;
	struct watch watch;
	int status = watch_prepare(&watch, session->options);

	if (!status)
		status = top_session_open_screen(session);
	privileges_give_up_all();
	if (status)
		return status;
	replay->clock.now_ns = clock_now_ns();
	if (session->wishes.at_ns != ~0ULL) {
		seek_since_zero(&replay->clock, session->wishes.at_ns);
		replay->clock.paused = true;
	}
	if (go_to_clock(replay) && top_session_show(session))
		watch_wait(&watch, TICK_NS, screen_fd(), on_tick, replay);
	return session->status;
}

/* Returns 0, or after a message the status to end with. */
static int choose_part(struct replay *replay)
{
	const struct options *options = replay->session->options;
	struct capture machine = { .request.view = "top", .replay = true };
	struct excerpt part = options->excerpt;
	u64 first_ns, last_ns, from_ns, to_ns;
	struct reason why = { "" };

	machine.info.cpus_len = player_info(replay->player)->cpus_len;
	if (capture_check_cpus(&machine, &options->filter))
		return EXIT_FAILURE;
	player_span(replay->player, &first_ns, &last_ns);
	if (part.around && excerpt_find_frame(&part, options, &why))
		return fail(options->input, "%s", why.text);
	from_ns = first_ns + part.from_ns;
	to_ns = part.has_to && first_ns + part.to_ns < last_ns ? first_ns + part.to_ns : last_ns;
	if (from_ns > last_ns)
		return fail(options->input, "is %.3f s long: nothing lies after --from",
			    (double)(last_ns - first_ns) / NSEC_PER_SEC);
	play_begin(&replay->clock, from_ns, to_ns, 0);
	replay->clock.zero_ns = first_ns;
	return 0;
}

int top_play_recording(struct top_session *session)
{
	struct replay replay = { .session = session };
	struct player_handler handler = { on_event, on_again, &replay };
	const char *path = session->options->input;
	struct reason why = { "" };
	u64 first_ns, last_ns;
	int status;

	if (player_open(&replay.player, path, &handler, &why)) {
		screen_close();
		return fail(path, "%s", why.text);
	}
	status = choose_part(&replay);
	session->scene.source = TOP_RECORDING;
	session->scene.clock = &replay.clock;
	session->scene.path = path;
	session->scene.kernel = player_info(replay.player)->kernel;
	session->scene.top = &session->top;
	session->scene.threads = &replay.threads;
	if (!status)
		status = begin(&replay);
	if (!status && (session->wishes.once || session->wishes.batch)) {
		privileges_give_up_all();
		print_all(&replay);
		status = session->status;
	} else if (!status) {
		status = play(&replay);
	}
	screen_close();
	player_span(replay.player, &first_ns, &last_ns);
	if (!status && first_ns == last_ns)
		note("%s: has no events", path);
	if (player_trouble(replay.player)[0])
		note("%s: %s: what came before is shown", path, player_trouble(replay.player));
	end(&replay);
	player_close(replay.player);
	return status;
}
