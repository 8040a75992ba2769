/* SPDX-License-Identifier: GPL-2.0 */
/* What goes over the socket of a 'tactus run' (feed.h): requests of fixed size, and a reply to each, with what was
 * asked for behind it. Both ends are of one version. Who may ask for what is decided here. */
#ifndef TACTUS_STREAM_CONTROL_H
#define TACTUS_STREAM_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../core/event.h"

enum {
	CONTROL_ASKS = 0x74636171,    /* magic of a request, */
	CONTROL_REPLIES = 0x74637270, /* of a reply, */
	CONTROL_STATE = 0x74637374,   /* and of what may follow one */
	CONTROL_THREAD = 0x74637468,
	CONTROL_VERSION = 1,
	CONTROL_WORDS_SIZE = 400,
	CONTROL_NAME_SIZE = 16,
	CONTROL_PATH_SIZE = 128,
	/* Threads that one answer has at most: what a socket holds without somebody who reads. */
	CONTROL_THREADS_MOST = 96,
};

enum control_verb {
	CONTROL_FOLLOW, /* a status every second from now on */
	CONTROL_STATUS, /* a struct control_state */
	CONTROL_WHY,	/* a struct control_thread for each thread of a process */
	CONTROL_PAUSE,
	CONTROL_RESUME,
	CONTROL_RELOAD,
	/* A process says by GameMode's interface that it is a game, or no longer; and whether it is taken for one. */
	CONTROL_GAME,
	CONTROL_NO_GAME,
	CONTROL_IS_GAME,
	CONTROL_VERBS
};

struct control_request {
	u32 magic, version;
	u32 verb;
	u32 pid; /* of WHY and the last three; else 0 */
};

enum control_status { CONTROL_DONE, CONTROL_REFUSED, CONTROL_FAILED, CONTROL_STATUSES };

struct control_reply {
	u32 magic, version;
	u32 verb;
	u32 status;   /* enum control_status */
	u32 rows;     /* that follow */
	u32 left_out; /* for which there was no room */
	u32 value;    /* IS_GAME: 0 no game is there, 1 others are, 2 this one is; WHY: the PROCESS_* bits */
	u32 unused;
	char words[CONTROL_WORDS_SIZE];
};

struct control_state {
	u32 magic, version;
	u32 pid;
	u32 is_paused;
	u64 began_wall_ns;
	u64 reloads;
	u64 games_registered; /* by GameMode's interface, that there are now */
	u64 refused;	      /* requests, so far */
	u64 hints;	      /* threads that have one */
	char tactus[CONTROL_NAME_SIZE];
	char actuator[CONTROL_NAME_SIZE];
	char power[CONTROL_NAME_SIZE];
	char profile[CONTROL_NAME_SIZE]; /* what power-profiles-daemon says; "": it is not heard */
	char readers[CONTROL_NAME_SIZE];
	char config[CONTROL_PATH_SIZE]; /* the file, whether it is there or not */
};

/* Why a thread runs as it does. */
enum control_hint {
	CONTROL_HINT_NONE,	 /* it is left to the kernel */
	CONTROL_HINT_GIVEN,	 /* nice and slice_ns say which */
	CONTROL_HINT_HELD,	 /* urgent, but not for now: it or its owner uses too much, or somebody waited for it */
	CONTROL_HINT_LEFT_ALONE, /* its owner or another tool has chosen */
	CONTROL_HINT_SCHEDULED,	 /* by the sched_ext scheduler, by its tier */
	CONTROL_HINTS
};

struct control_thread {
	u32 magic, version;
	u32 tid, pid;
	struct comm comm;
	u32 hint; /* enum control_hint */
	s32 nice; /* that it was given */
	u64 slice_ns;
	struct event_role role;
};

/* Whether so many bytes from the other end are one that can be used. */
bool control_request_is_sound(const void *from, size_t bytes);
bool control_reply_is_sound(const void *from, size_t bytes);
bool control_state_is_sound(const void *from, size_t bytes);
bool control_thread_is_sound(const void *from, size_t bytes);

/* Whether a user may ask for it. `owner`: of the process that it is about, -1 if there is none or it is not known.
 * `users_look`: others than root may look. Root acts; a user looks, and speaks for the processes that are its own. */
bool control_may(u32 verb, uid_t user, uid_t owner, bool users_look);

/* "pause"; "?" where there is no such verb. */
const char *control_verb_name(u32 verb);

/* Sends a request. Returns 0 or -errno. */
int control_ask(int fd, enum control_verb verb, u32 pid);

#endif
