/* SPDX-License-Identifier: GPL-2.0 */
/* A sensor: a group of hooks on one subject. It names its hooks from best to worst; the loader takes the first that
 * works, and remembers in words why the better ones do not. */
#ifndef TACTUS_SENSOR_SENSOR_H
#define TACTUS_SENSOR_SENSOR_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../../core/hits.h"
#include "../base/say.h"
#include "../stream/stream.h"
#include "load.h"

struct sensor_settings;
struct rules;

struct sensor_hook {
	const char *name;
	const char *loss; /* what a user misses when it is this one that works; NULL for the best hook */
	/* Whether this hook can exist here at all. Loads nothing. NULL: always worth a try. */
	bool (*probe)(struct reason *why);
};

/* What every sensor does, in the order in which it is done: open, attach, close. open and attach return 0 or -errno and
 * may leave a reason; close takes whatever open gave, also after a failed attach. */
struct sensor_kind {
	const char *name;
	const char *subject;
	const struct sensor_hook *hooks; /* ends with a hook that has no name; NULL: not part of this version */
	const char *absent;		 /* what is missing while there is nothing to hook; NULL: a device */
	int (*open)(void **state, int hook, const struct sensor_settings *settings, struct reason *why);
	int (*attach)(void *state, int hook, struct reason *why);
	void (*close)(void *state);
	/* What it really hooked, where that depends on more than the row in use; SENSOR_WAITS while there is nothing
	 * to hook. The text stays after close. Can be NULL. */
	const char *(*hook_name)(const void *state);

	u32 groups; /* EVENTS_*: it is started where events of one of these groups are asked for */

	/* The rest can be NULL. Before the command is forked: what it is to have in its environment is put into ours.
	 * Its result is in the settings that `open` gets, and `unprepare` ends it, also where `open` was never called.
	 */
	void *(*prepare)(const struct sensor_settings *settings);
	void (*after_fork)(void *prepared);
	void (*unprepare)(void *prepared);

	/* While it watches. */
	int (*fd)(const void *state); /* readable when there is work that should not wait; -1: there is no such thing */
	void (*work)(void *state);    /* called when fd is readable, and once a second */
	bool works_first; /* its events say what the next ones in the rings are about: it works before these are read */
	void (*handle)(void *state, const struct event_role *event); /* called for every role event */

	/* Events that it adds, which `handle` gets: about what is there already, for a stream that begins now; of what
	 * its work has found since the last call; and how things stand at the end. */
	void (*describe)(void *state, u64 now_ns, event_handler handle, void *data);
	void (*emit)(void *state, u64 now_ns, event_handler handle, void *data);
	int (*snapshot)(void *state, event_handler handle, void *data);
	/* A ring of its own, whose events belong between the others. False: it has none. */
	bool (*source)(void *state, struct stream_source *source);

	/* Other rules hold from now on, and the old ones until this has returned. */
	void (*set_rules)(void *state, const struct rules *rules);

	u64 (*lost)(const void *state);			 /* what a full map or ring refused */
	u64 (*refused)(const void *state);		 /* what processes said and was not believed */
	void (*hits)(const void *state, u64 hits[HITS]); /* adds how often its hooks reported something of a thread */
};

#define SENSOR_WAITS "none yet"

enum sensor_state { SENSOR_OFF, SENSOR_FALLBACK, SENSOR_OK };

struct sensor {
	const struct sensor_kind *kind;
	enum sensor_state state;
	int hook; /* the one in use, if the state is not SENSOR_OFF */
	struct reason reason;
	struct load_losses losses; /* programs that this kernel refuses, and what is missed without them */
	void *data;
};

/* Every sensor there is. A new one is one row. */
enum { SENSORS_MAX = 24 };
extern const struct sensor_kind *const sensor_kinds[];
extern const int sensor_kinds_len;

/* Tries the sensor's hooks in order. Without settings (NULL) it is only tried, as by tactus doctor. The result is in
 * sensor->state; 0 unless it is off. */
int sensor_start(struct sensor *sensor, const struct sensor_kind *kind, const struct sensor_settings *settings);
void sensor_stop(struct sensor *sensor);

/* Which hook it would be, by the probes alone: loads nothing, needs no stop. */
void sensor_guess(struct sensor *sensor, const struct sensor_kind *kind);

const char *sensor_hook_name(const struct sensor *sensor);
const char *sensor_state_name(enum sensor_state state);

/* One line on stderr for each program that is missed. */
void sensor_print_losses(const struct sensor *sensor);

/* Attaches to a classic tracepoint without needing tracefs to be mounted. Returns NULL and sets errno on failure. */
struct bpf_program;
struct bpf_link *sensor_attach_tracepoint(const struct bpf_program *program, const char *category, const char *name);

/* For tests of fallbacks: TACTUS_SKIP_HOOKS in the environment is a list such as "gpu:fentry,gpu:kprobe,input:" of
 * SENSOR:PREFIX. A hook of that sensor whose name begins with the prefix is treated as if the kernel had refused it. A
 * sensor with several parts of its own asks by itself, and a program that a sensor can do without is one by its name,
 * as in "sched:on_task_rename". */
#define SENSOR_SKIPPED_WORDS "switched off by TACTUS_SKIP_HOOKS"
bool sensor_hook_is_skipped(const char *sensor, const char *hook);

/* How often the kernel did not run a program, or any of an object's, because its CPU was busy with one. */
struct bpf_object;
u64 sensor_recursion_misses_of(int program_fd);
u64 sensor_recursion_misses(const struct bpf_object *object);

/* Makes one descriptor readable when another is, if there is one. */
void sensor_add_fd(int epoll_fd, int fd);

bool probe_btf(struct reason *why);
bool probe_tracefs(struct reason *why);
bool probe_kprobes(struct reason *why);

#endif
