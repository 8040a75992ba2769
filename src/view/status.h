/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus run' says of each second, as numbers: printed by it, and sent to whoever asks with 'tactus stats'.
 * The layout is what goes over the socket between the two, so both must be of one version. */
#ifndef TACTUS_VIEW_STATUS_H
#define TACTUS_VIEW_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/effect.h"
#include "../../core/hits.h"
#include "../../core/role.h"
#include "../../core/scx_exit.h"
#include "../sched/scx_events.h"

enum { STATUS_MAGIC = 0x74637473, STATUS_VERSION = 9, STATUS_NAME_LEN = 16 };

/* A process that waited longer because of us, and what was done about that. */
struct effect_notice {
	u32 pid;
	u32 cause_pid; /* who was urgent; it may be the same */
	struct comm comm;
	struct comm cause_comm;
	u64 acted_p99_ns;
	u64 held_p99_ns;
	u64 span_ns; /* for how long it was done */
	u64 remedy;  /* enum effect_remedy */
};

struct run_status {
	u32 magic;
	u32 version;
	u64 wall_ns; /* when this second ended */
	u64 span_ns;
	char actuator[STATUS_NAME_LEN];
	u64 busy_ns;
	u64 idle_ns;
	u64 switches;
	u64 moves;
	u64 lost;	     /* switches, events and facts */
	u64 deadline_misses; /* urgent threads that waited longer than they may */
	u64 wait_p99_ns[TIERS];
	u64 waits[TIERS];   /* how many that is of */
	u64 by_tier[TIERS]; /* threads that there are now */
	u64 by_role[ROLES];
	u64 by_evidence[EVIDENCES];
	u64 decisions[SCX_COUNTERS];
	u64 counts_events; /* 1: the kernel counts the next */
	u64 kernel_events[SCX_EVENTS];
	u64 hints_urgent; /* threads that have one */
	u64 hints_given;  /* so far */
	u64 hints_taken_back;
	u64 hints_left_alone;
	u64 hints_refused;
	u64 restarts;	  /* of the scheduler so far */
	u64 untimed_cpus; /* as of scx_untimed_cpus() */
	/* What others' processes said or mapped and was not gone into, so far. */
	u64 addresses_refused;
	u64 files_refused;
	u64 hits[HITS]; /* how often hooks reported something of a thread */
	/* What was learned of kinds of threads; since the run began, how threads turned out of which a tier was
	 * predicted. */
	u64 learned_profiles;
	u64 learned_confident; /* of them: they predict */
	u64 learned_hits;
	u64 learned_misses;
	/* What acting does to others, so far. */
	u64 effect_trials;
	u64 effect_worse;	   /* processes that waited longer */
	u64 effect_for_game;	   /* that did, and may while a game is in front */
	u64 game_pid;		   /* in front; 0: none */
	u64 effect_held_back;	   /* of them now get no hints, or are eased */
	struct effect_notice last; /* of these, with effect_worse */
};

/* Whether `bytes` of something that came over the socket are a status that can be shown. */
bool status_is_sound(const void *from, size_t bytes);

/* In words what acting did to a process, in a line. */
enum { EFFECT_WORDS_SIZE = 300 };
void effect_words(char words[EFFECT_WORDS_SIZE], const struct effect_notice *notice);

/* In words what was refused so far; "": nothing. */
void status_refusals(char *words, size_t size, const struct run_status *status);

/* In words what Windows programs asked for in a way that is not known; "": nothing. */
void status_unfit(char *words, size_t size, const struct run_status *status);

/* In words by what evidence threads are known now, and how often hooks told something of one. */
enum { DETECTION_WORDS_SIZE = 500 };
void detection_words(char words[DETECTION_WORDS_SIZE], const struct run_status *status);

/* In words what was learned and how well it predicts. */
enum { LEARNED_WORDS_SIZE = 200 };
void learned_words(char words[LEARNED_WORDS_SIZE], const struct run_status *status);

void status_print_head(FILE *out);
void status_print_line(FILE *out, const struct run_status *status);
void status_print_json(FILE *out, const struct run_status *status);

#endif
