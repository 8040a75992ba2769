/* SPDX-License-Identifier: GPL-2.0 */
/* What input devices send and how soon the threads that wait for it run. From events of kinds device, input and
 * input_wake. */
#ifndef TACTUS_MODEL_INPUTS_H
#define TACTUS_MODEL_INPUTS_H

#include "../../core/hist.h"
#include "threads.h"

/* A thread that a device wakes. */
struct input_reader {
	u32 tid, pid;
	u64 start_ns; /* of the thread: with its tid, who it is */
	struct comm comm;
	struct hist delay_ns; /* from the device's report until the thread runs */
	struct input_reader *next;
};

struct input_source {
	u32 number; /* the kernel's, as in input5 */
	u32 node;   /* as in /dev/input/event3; ~0: not known */
	u32 kind;   /* enum input_kind */
	u16 vendor, product;
	struct tail name;
	u64 reports, events;
	u64 first_ns, last_ns; /* reports */
	struct hist interval_ns;
	struct input_reader *readers;
	struct input_source *next;
};

/* Devices and readers together; whatever a recording claims, there are not more. */
enum { INPUT_ROWS_MAX = 4096 };

struct inputs {
	u32 len;
	struct input_source *sources; /* in the order of their first event, as the readers are */
	u64 refused;		      /* events for which there was no row and no room or memory for one */
};

void inputs_handle(struct inputs *inputs, const struct threads *threads, const struct event_header *event);
void inputs_free(struct inputs *inputs);

/* Counting begins anew. */
void inputs_restart(struct inputs *inputs);

/* Reports a second, in hundredths, from the first to the last. */
u64 input_rate(const struct input_source *source);

#endif
