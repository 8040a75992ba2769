/* SPDX-License-Identifier: GPL-2.0 */
/* A recording that is played: as fast as it was, faster or slower, paused, and from any place of it.
 * The clock alone is pure; the player gives the events up to where the clock is. */
#ifndef TACTUS_STREAM_PLAYER_H
#define TACTUS_STREAM_PLAYER_H

#include <stdbool.h>

#include "recording.h"

/* Where in a recording it is, and how fast it goes on. Times are the recording's, but for now_ns. */
struct play_clock {
	u64 first_ns, last_ns;
	u64 zero_ns; /* times are shown since then: the recording's start, where not all of it is played */
	u64 position_ns;
	bool paused;
	u32 speed;  /* an index of play_speeds */
	u64 now_ns; /* when the position was last looked at */
};

enum { PLAY_SPEEDS = 7, PLAY_SPEED_NORMAL = 2 };
extern const struct play_speed {
	u32 times, parts;
	const char *words; /* "x2" */
} play_speeds[PLAY_SPEEDS];

void play_begin(struct play_clock *clock, u64 first_ns, u64 last_ns, u64 now_ns);
/* Goes on by the time that has passed. At the end it is paused. */
void play_goes_on(struct play_clock *clock, u64 now_ns);
/* From the end it begins anew. */
void play_toggle(struct play_clock *clock, u64 now_ns);
/* So far forward, or back, by whole steps from the beginning: 3.4 s and a step of 1 s back is 3 s. */
void play_seek(struct play_clock *clock, s64 steps, u64 step_ns);
void play_seek_to(struct play_clock *clock, u64 since_first_ns);
void play_change_speed(struct play_clock *clock, int by);
bool play_is_at_end(const struct play_clock *clock);

struct player;

struct player_handler {
	void (*event)(void *data, const struct event_header *event);
	/* The stream begins anew: all that was known of it is to be forgotten. */
	void (*again)(void *data);
	void *data;
};

/* Looks through all of it once, for its end. Returns 0, or -errno with the reason. */
int player_open(struct player **out, const char *path, const struct player_handler *handler, struct reason *why);
const struct recording_info *player_info(const struct player *player);
/* When its first and its last event were. */
void player_span(const struct player *player, u64 *first_ns, u64 *last_ns);
/* What is wrong with the file, as far as it could be read; "": nothing. */
const char *player_trouble(const struct player *player);

/* Gives all events up to this time. Where it lies before what was given, it begins anew. Returns 0, or -errno with the
 * reason if the file can't be read any more. */
int player_go_to(struct player *player, u64 position_ns, struct reason *why);
void player_close(struct player *player);

#endif
