/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and attaches a BPF object so that a program which this kernel refuses costs what it is for, not its sensor.
 * A refused program is switched off, its reason kept, and the rest is loaded again; without those that a sensor does
 * not name as optional it fails. */
#ifndef TACTUS_SENSOR_LOAD_H
#define TACTUS_SENSOR_LOAD_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../base/say.h"

/* A program that can be missed, and what a user misses then, as in "moves between CPUs are not seen". Or a variable of
 * the kernel's: one that is of another kind than the object takes it for counts as absent then, and the programs that
 * ask for it are for the sensor to replace. */
struct load_optional {
	const char *program;
	const char *loss;
};

/* What generated code calls, also where it got no memory for its list of programs: libbpf would walk that list. */
struct bpf_object_skeleton;
void skeleton_destroy(struct bpf_object_skeleton *skeleton);
#define bpf_object__destroy_skeleton skeleton_destroy

/* A generated skeleton, whatever its type: LOADABLE(sched) makes `sched_loadable` of sched.skel.h. */
struct loadable {
	void *(*make)(void); /* knows its file, which is not opened yet; NULL with errno */
	void (*destroy)(void *skeleton);
};

#define LOADABLE(name)                                                          \
	static void *name##_make_any(void)                                      \
	{                                                                       \
		struct name##_bpf *made = calloc(1, sizeof(*made));             \
		int error = made ? name##_bpf__create_skeleton(made) : -ENOMEM; \
                                                                                \
		if (!error)                                                     \
			return made;                                            \
		name##_bpf__destroy(made);                                      \
		errno = -error;                                                 \
		return NULL;                                                    \
	}                                                                       \
	static void name##_destroy_any(void *skeleton)                          \
	{                                                                       \
		name##_bpf__destroy(skeleton);                                  \
	}                                                                       \
	static const struct loadable name##_loadable = { name##_make_any, name##_destroy_any }

struct load_attempt;

struct load_plan {
	const struct loadable *loadable;
	const struct load_optional *optional; /* ends with one that has no name; NULL: none is */
	/* Sets up a freshly opened skeleton: chooses programs, fills constants, shares maps. Returns 0 or -errno. It is
	 * called again for each attempt, since an object can be loaded only once. */
	int (*configure)(void *data, void *skeleton, const struct load_attempt *attempt, struct reason *why);
	void *data;
};

/* For configure: whether a program or a variable is known to be refused, so that another has to stand in for it. */
bool load_lacks(const struct load_attempt *attempt, const char *program);
/* The same for anything that is for one thing, by what is missed without it. */
bool load_lacks_what(const struct load_attempt *attempt, const char *loss);

/* Returns the loaded skeleton, or NULL with *error set to -errno, and the reason where it is known better than by that.
 */
void *load_programs(const struct load_plan *plan, int *error, struct reason *why);

/* When all that a start loads is there: gives back what loading took, libbpf's copies of the kernel's types above all.
 * What is loaded later, as when a server of sound comes, gives it back at once. */
void load_give_back(void);

/* Attaches every program that is loaded and attaches by itself. Optional ones may fail. Returns 0 or -errno. */
int load_attach(void *skeleton, const struct load_optional *optional);

/* An optional program that could not be attached by other means: keeps the loss, with errno's reason or `why`. */
void load_note_absent(const char *program, const struct load_optional *optional, int error);
/* One that was not even tried, since what it asks for is not there. */
void load_left_out(const char *program, const struct load_optional *optional, const char *why);

/* Whether programs may read the kernel's memory, which a locked down kernel keeps from them. */
bool load_may_read_memory(void);

/* What a sensor misses. Kept while load_collect has named the sensor and a place for it; otherwise it is said at once.
 */
struct load_loss {
	char program[32];
	const char *loss;
	struct reason why;
};
enum { LOSSES_MAX = 8 };
struct load_losses {
	struct load_loss all[LOSSES_MAX];
	int len;
};
void load_collect(const char *sensor, struct load_losses *losses);
/* One line on stderr for each. */
void load_print(const char *sensor, const struct load_losses *losses);

/* Sends libbpf's own messages to stderr, or only keeps what names a cause. */
void load_set_verbose(bool verbose);
bool sensor_is_verbose(void);
/* Forgets what libbpf said so far. */
void load_log_clear(void);
/* Turns a failed load or attach into words: the kernel's own where it has some. */
void sensor_explain(struct reason *why, int error);

#endif
