// SPDX-License-Identifier: GPL-2.0
/* Plays a recording. Events are only ever given forward; going back is reading it again from its beginning. */
#include "player.h"

#include <errno.h>
#include <stdlib.h>

#include "../../core/account.h"

const struct play_speed play_speeds[PLAY_SPEEDS] = { { 1, 4, "x1/4" }, { 1, 2, "x1/2" }, { 1, 1, "x1" },
						     { 2, 1, "x2" },   { 4, 1, "x4" },	 { 8, 1, "x8" },
						     { 16, 1, "x16" } };

void play_begin(struct play_clock *clock, u64 first_ns, u64 last_ns, u64 now_ns)
{
	*clock = (struct play_clock){ .first_ns = first_ns,
				      .zero_ns = first_ns,
				      .last_ns = last_ns > first_ns ? last_ns : first_ns,
				      .position_ns = first_ns,
				      .speed = PLAY_SPEED_NORMAL,
				      .now_ns = now_ns };
}

bool play_is_at_end(const struct play_clock *clock)
{
	return clock->position_ns >= clock->last_ns;
}

void play_goes_on(struct play_clock *clock, u64 now_ns)
{
	u64 passed_ns = span_between(clock->now_ns, now_ns);
	u64 step_ns = passed_ns * play_speeds[clock->speed].times / play_speeds[clock->speed].parts;

	clock->now_ns = now_ns;
	if (clock->paused)
		return;
	clock->position_ns = step_ns < clock->last_ns - clock->position_ns ? clock->position_ns + step_ns
									   : clock->last_ns;
	clock->paused = play_is_at_end(clock);
}

void play_toggle(struct play_clock *clock, u64 now_ns)
{
	if (clock->paused && play_is_at_end(clock))
		clock->position_ns = clock->first_ns;
	clock->paused = !clock->paused;
	clock->now_ns = now_ns;
}

void play_seek_to(struct play_clock *clock, u64 since_first_ns)
{
	u64 length_ns = clock->last_ns - clock->first_ns;

	clock->position_ns = clock->first_ns + (since_first_ns < length_ns ? since_first_ns : length_ns);
}

void play_seek(struct play_clock *clock, s64 steps, u64 step_ns)
{
	u64 since_ns = clock->position_ns - clock->first_ns, whole = since_ns / step_ns, back = (u64)-steps;

	if (steps >= 0) {
		play_seek_to(clock, (whole + (u64)steps) * step_ns);
		return;
	}
	/* The first step back leads to the beginning of the one that it is in. */
	if (since_ns % step_ns)
		back--;
	play_seek_to(clock, whole > back ? (whole - back) * step_ns : 0);
}

void play_change_speed(struct play_clock *clock, int by)
{
	s64 speed = (s64)clock->speed + by;

	clock->speed = speed < 0 ? 0 : speed < PLAY_SPEEDS ? (u32)speed : PLAY_SPEEDS - 1;
}

struct player {
	struct recording_reader *reader;
	struct player_handler handler;
	u64 first_ns, last_ns;
	u64 position_ns;		  /* all up to here was given */
	const struct event_header *ahead; /* the next one, which was read already */
	bool ended;
	struct reason trouble;
};

/* Reads all of it, only to know when it ends. */
static void look_through(struct player *player)
{
	const struct event_header *event;
	int got;

	player->first_ns = recording_reader_info(player->reader)->mono_start_ns;
	while ((got = recording_next(player->reader, &event, &player->trouble)) > 0) {
		if (!player->first_ns)
			player->first_ns = event->time_ns;
		if (event->time_ns > player->last_ns)
			player->last_ns = event->time_ns;
	}
	if (!got && recording_was_cut(player->reader))
		reason_set(&player->trouble, "ends in the middle of a block");
	if (player->last_ns < player->first_ns)
		player->last_ns = player->first_ns;
}

/* To the beginning. Returns 0, or -errno with the reason. */
static int rewind_it(struct player *player, struct reason *why)
{
	player->ahead = NULL;
	player->ended = false;
	player->position_ns = 0;
	return recording_rewind(player->reader, why);
}

int player_open(struct player **out, const char *path, const struct player_handler *handler, struct reason *why)
{
	struct player *player = calloc(1, sizeof(*player));
	int error;

	if (!player) {
		reason_set(why, "out of memory");
		return -ENOMEM;
	}
	player->handler = *handler;
	error = recording_open(&player->reader, path, why);
	if (!error) {
		look_through(player);
		error = rewind_it(player, why);
	}
	if (error) {
		player_close(player);
		return error;
	}
	*out = player;
	return 0;
}

const struct recording_info *player_info(const struct player *player)
{
	return recording_reader_info(player->reader);
}

void player_span(const struct player *player, u64 *first_ns, u64 *last_ns)
{
	*first_ns = player->first_ns;
	*last_ns = player->last_ns;
}

const char *player_trouble(const struct player *player)
{
	return player->trouble.text;
}

int player_go_to(struct player *player, u64 position_ns, struct reason *why)
{
	int error;

	if (position_ns < player->position_ns) {
		error = rewind_it(player, why);
		if (error)
			return error;
		player->handler.again(player->handler.data);
	}
	while (!player->ended) {
		/* Where it is damaged it ends: that was said when it was looked through. */
		if (!player->ahead && recording_next(player->reader, &player->ahead, why) <= 0) {
			player->ahead = NULL;
			player->ended = true;
			break;
		}
		if (player->ahead->time_ns > position_ns)
			break;
		player->handler.event(player->handler.data, player->ahead);
		player->ahead = NULL;
	}
	player->position_ns = position_ns;
	return 0;
}

void player_close(struct player *player)
{
	if (!player)
		return;
	recording_close_reader(player->reader);
	free(player);
}
