/* SPDX-License-Identifier: GPL-2.0 */
/* Games that were found, what belongs to each, and what their threads are for.
 * Hears of programs and of roles; says when a game is worth a line. No /proc here: that is handed in. */
#ifndef TACTUS_MODEL_GAMES_H
#define TACTUS_MODEL_GAMES_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../../core/role.h"

/* Anybody may call his program a game: each user has a part of the room. */
enum { GAMES_KEPT_MAX = 64, GAMES_OF_USER = 16, GAME_HELPERS_MAX = 8, GAME_WHY_SIZE = 96, GAME_THREADS_MAX = 1024 };
enum { GAME_SOUND_MAX = 4, GAME_PARENTS_MAX = 16 };
enum { HELPERS_KEPT_MAX = 128, HELPERS_OF_USER = HELPERS_KEPT_MAX / 4, THREADS_OF_USER = GAME_THREADS_MAX / 2 };

/* A program that the rules know. */
struct program_seen {
	u32 pid;
	u32 bits;	  /* PROCESS_* */
	u64 family;	  /* what a launcher gave all programs of one game; 0: nothing */
	const char *comm; /* may hold any bytes, as the next */
	const char *why;
	u32 user;      /* who is charged for it */
	bool compiles; /* shaders, and nothing else */
};

struct game {
	u32 pid;
	u32 user;
	bool is_reported;
	bool is_loading;	    /* by what the kernel half was told */
	bool is_shown, is_in_front; /* somebody looks: in this window of waits so far, in the last one */
	char comm[COMM_LEN];
	char why[GAME_WHY_SIZE];
	u64 family;
	u64 found_ns;
	u64 first_frame_ns; /* 0: it has not presented */
	u64 looked_ns;	    /* for what plays its sound */
	struct {
		u32 pid;
		char comm[COMM_LEN];
	} helpers[GAME_HELPERS_MAX];
	u32 helpers_len, helpers_more; /* these had no room */
	/* Threads that play its sound: its own, or of a process of its tree. */
	struct {
		u32 tid, pid;
		char comm[COMM_LEN];
	} sound[GAME_SOUND_MAX];
	u32 sound_len, sound_more;
	u64 by_role[ROLES]; /* threads of which something is known */
};

struct games;

/* NULL for want of memory. */
struct games *games_new(void);
void games_free(struct games *games);

/* A process is a game, or serves one: what it is may be reported several times. */
void games_saw(struct games *games, const struct program_seen *seen, u64 now_ns);

/* Whether news of a role may be about a game, so that it is worth to ask whose thread it is. */
bool games_want(const struct games *games, const struct event_role *event);
/* A thread of the process has a new role. One that flips the display itself and is no compositor has the whole screen,
 * which makes it a game. */
void games_role(struct games *games, u32 pid, u32 user, const char *comm, const struct event_role *event, u64 now_ns);

/* A thread that plays sound. */
struct sound_seen {
	u32 tid, pid, user;
	u64 family;	  /* of its process, as above */
	const char *comm; /* of the thread in a game itself, else of the process */
	const u32 *parents;
	u32 parents_len;
};
/* It is linked to the game that it is part of: to which its process, or a parent of it, belongs. */
void games_sound(struct games *games, const struct sound_seen *seen);

/* The next game of which a line may be due now, each once a second: from a second after its first frame on, when its
 * threads have shown what they are for, or from ten after it was found. NULL: none. */
const struct game *games_due(struct games *games, u64 now_ns);
/* Whether it is told now, once: when what plays its sound is known, or three seconds after its first frame. Later where
 * not all threads that play sound were looked at yet. */
bool games_report(struct games *games, u32 pid, bool knows_sound, u64 now_ns);

/* A process of which the kernel half is to be told that it is loading, a game before its first frame or what compiles
 * shaders for one, or that it no longer is. Each change once; 0: there is none. */
u32 games_next_loading(struct games *games, u64 now_ns, bool *is_loading);

/* A thread of the process has an audience: if it is a game, it is in front from the end of this window on. */
void games_shows(struct games *games, u32 pid);
/* A window of waits ends. Returns the pid of a game in front, the same as before if that one still is: nobody takes its
 * place by a game of his own. 0: there is none. */
u32 games_front(struct games *games, u32 before_pid);

/* Whether the process is a game in front, or serves one. */
bool games_belongs(const struct games *games, u32 pid);

/* Whether one of them is this user's. */
bool games_has_user(const struct games *games, u32 user);

/* NULL: the process is none. */
const struct game *games_find(const struct games *games, u32 pid);

/* A process has ended; and all those that have, by how many threads each has. */
void games_end(struct games *games, u32 pid);
void games_drop_ended(struct games *games, u32 (*threads_of)(u32 pid));

/* Games that there was no room for. */
u64 games_refused(const struct games *games);

#endif
