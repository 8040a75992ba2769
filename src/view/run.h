/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of 'tactus run' share: the run itself, and its line a second.
 */
#ifndef TACTUS_VIEW_RUN_H
#define TACTUS_VIEW_RUN_H

#include <sys/types.h>

#include "../base/lines.h"
#include "../base/power_profile.h"
#include "../model/effects.h"
#include "../model/games.h"
#include "../sched/holds.h"
#include "../sched/hints.h"
#include "../sched/scx.h"
#include "../sched/scx_events.h"
#include "../sensor/sched.h"
#include "../stream/feed.h"
#include "../capture/capture.h"
#include "metrics_live.h"
#include "status.h"

enum { TIDS_MAX = 1 << 22 }; /* the kernel has no more */

enum actuator { ACTUATOR_AUTO, ACTUATOR_SCX, ACTUATOR_HINTS, ACTUATOR_NONE, ACTUATORS };

struct run_chosen {
	enum actuator wanted;
	bool dry_run, partial;
	u64 slice_us, credit, discount, light_us; /* 0: the scheduler's own */
	u32 raise_by;
	bool raise_given;
	u32 power; /* enum power */
	bool power_given;
	bool no_compare;
	bool only_root; /* others may not look */
	struct metrics_wishes metrics;
};
extern const struct run_chosen run_chosen_by_default;

enum { RUN_GAMES_MAX = 128, RUN_GAMES_OF_USER = 8, RUN_LOOKERS = 32 };

/* A process that said by GameMode's interface that it is a game. */
struct run_registered {
	u32 pid;
	uid_t charged;
	u64 start_ticks;
	bool was_game; /* before it said so */
};

/* What a run keeps of options that count at its start alone. */
struct run_begun {
	const char *without, *db;
	u32 raise_by, ring_bytes;
	struct metrics_wishes metrics;
};

/* What others ask of it, see run_control.c. */
struct run_control {
	int argc; /* its command line, which a reload reads again */
	char **argv;
	struct run_begun begun;
	bool is_paused;
	u64 began_wall_ns, reloads;
	struct run_looker {
		uid_t charged;
		u64 next_ns;	/* he may ask why again */
	} lookers[RUN_LOOKERS]; /* users other than root, who asked last */
	struct run_registered games[RUN_GAMES_MAX];
	u32 games_len;
	u64 games_refused, games_looked_ns;
	struct power_profile power;
	bool power_is_lost; /* the bus went */
	u64 power_tried_ns;
	const char *told;		  /* the last that the service manager was told */
	char profile[POWER_PROFILE_SIZE]; /* as power-profiles-daemon has it; "": not heard */
};

/* What acting does to others, see run_effect.c. */
struct run_effect {
	struct effects *effects;  /* NULL: nobody looks at it */
	u64 since_ns;		  /* the present window began */
	bool settles;		  /* something was just changed: it begins later */
	enum effect_acting acted; /* as it began */
	struct holds eased;	  /* processes that are treated as urgent for it */
	u64 eased_ns;		  /* they last were */
	u64 worse;		  /* processes that waited longer, so far */
	struct effect_notice last;
};

struct run {
	const struct options *options;
	struct run_chosen chosen;
	struct capture capture;
	struct sensor *sched;
	struct scx *scx;		 /* in charge, or NULL */
	struct hints *hints;		 /* given, or NULL */
	struct hints_counts hints_given; /* in all, when they were taken back */
	bool gave_hints;
	struct feed *feed;	      /* for 'tactus stats', or NULL */
	struct metrics_live *metrics; /* for --metrics, or NULL */
	struct cuda_settings cuda;    /* for its --cuda */
	struct lines *lines_out;      /* to stdout: nothing here waits for who reads it */
	pid_t keeper;		      /* undoes what this process has changed if it is killed; 0: there is none */
	u32 keepers;
	u64 by_role[ROLES];
	u64 by_tier[TIERS];
	struct cpu_account before;
	struct sched_tally tally_before;
	u64 counters_before[SCX_COUNTERS];
	u64 events_before[SCX_EVENTS];
	u64 line_at_ns;
	u64 lines;	 /* printed */
	u32 errors;	 /* that ended the scheduler */
	u32 restarts;	 /* for any reason */
	u32 tries;	 /* of the next start; 0: none is due */
	u32 had_partial; /* threads with the policy before we gave it to any */
	struct run_effect effect;
	struct run_control control;
	struct run_status last; /* the last line */
	struct games *games;	/* NULL: no room for them */
	u64 sound_looked_ns;	/* for what plays games' sound, */
	u32 sound_after;	/* in threads with greater numbers next time */
	u32 game_pid;		/* the one in front in the last window of waits; 0: none */
	u64 by_evidence[EVIDENCES];
	u8 *evidence_of;	  /* of each tid, the last that was counted */
	struct trial_view *trial; /* acting is on trial ('tactus trial'), and no lines are printed; NULL: it is not */
	bool began;		  /* everything is in place */
	bool pressed;		  /* raised until that is so */
	int status;
};

/* Compares what processes wait with us and without, and takes back what makes one wait longer. Begin it when everything
 * is in place, call the next at each tick, and the last before anything is taken back. */
void run_effect_begin(struct run *run);
/* False ends the run. */
bool run_effect_tick(struct run *run);
void run_effect_end(struct run *run);
/* What is acted on has just changed: nothing is compared with what was before. */
void run_effect_settle(struct run *run);

/* Requests by the socket: from when everything is in place, at every tick. */
void run_control_begin(struct run *run);
void run_control_tick(struct run *run);
/* GameMode's, and those that have ended. False: refused. */
bool run_register_game(struct run *run, const struct feed_asker *asker, const struct control_request *request);
void run_forget_games(struct run *run);

/* What a reload is compared with; a reload, which says in words what came of it; an actuator by other options. */
void run_keep_begun(struct run *run);
bool run_reload(struct run *run, struct reason *words);
bool run_restart_actuator(struct run *run);

/* Tells the service manager how it acts, if that has changed; and with it that everything is in place. */
void run_tell_state(struct run *run, bool is_ready);

/* "scx", "hints", "paused"; "performance"; and what a profile of power-profiles-daemon means. */
const char *run_actuator_name(const struct run *run);
const char *run_power_name(u32 power);
u32 run_power_of_profile(const char *profile);

/* Games, see run_game.c: what programs are, news of roles, each tick. */
void run_game_program(void *data, const struct program_seen *seen);
void run_game_role(struct run *run, const struct event_role *event);
void run_game_tick(struct run *run);
void run_game_end(struct run *run);
/* Whose threads have an audience in this window of waits; its end; and whether a process is a game in front, or serves
 * one. */
void run_game_row(struct run *run, const struct wait_row *row);
void run_game_window_ends(struct run *run);
bool run_game_has(void *run, u32 pid);

/* What is known of a thread goes to the hints, if they are given. */
void run_hint(struct run *run, const struct event_role *event);
bool run_role_is_sound(const struct event_header *header);
/* The same for sched_read_roles. */
int run_hint_again(void *run, const void *event);

/* Acting goes on, or is held back: by a scheduler for which nobody is urgent where there is one, or wholly. */
enum run_acting { RUN_ACTS, RUN_IS_NEUTRAL, RUN_IS_OUT };
void run_hold(struct run *run, enum run_acting acting);

/* From the first sensor to the last hint that is taken back. Returns the status to end with. */
int run_conduct(struct run *run);
/* Options that are sound one by one but not together. Returns 0, or after a message the status to end with. */
int run_check_options(const struct run_chosen *chosen, const struct options *options);
/* For take_own. */
const char *run_take_actuator(struct run_chosen *chosen, const char *value);
#define ACTUATOR_WORDS "auto|scx|hints|none"
#define ACTUATOR_MEANING                                                                                           \
	"How to act: as a sched_ext scheduler, by hints to the kernel's own, or not at all; auto (default) takes " \
	"the first that works"

/* view/trial.c's part of a run: when everything is in place, for every event, and at every tick; false ends it. */
bool run_trial_begin(struct run *run);
void run_trial_event(struct run *run, const struct event_header *event, const struct wait *ended);
bool run_trial_tick(struct run *run);

/* The scheduler leaves for good, and hints take over. False ends the run. */
bool run_leave_scx(struct run *run);
bool run_may_leave_scx(const struct run *run);

/* Keeps count of threads by role, tier and evidence. */
void run_count_role(struct run *run, const struct event_role *event);

/* What lines count from, once everything is in place. */
bool run_begin_lines(struct run *run);

/* What happened since the last line. False if the accounts can't be read any more, or nobody reads the lines. */
bool run_take_line(struct run *run);

#endif
