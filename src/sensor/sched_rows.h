/* SPDX-License-Identifier: GPL-2.0 */
/* For sched.c alone: runs one of its iterators over threads and takes apart what that writes.
 */
#ifndef TACTUS_SENSOR_SCHED_ROWS_H
#define TACTUS_SENSOR_SCHED_ROWS_H

#include <stddef.h>

#include "../../core/types.h"

struct bpf_program;

/* Takes apart what an iterator writes. */
struct row_reader {
	size_t (*row_bytes)(const void *row, size_t held); /* of the first row; 0: not known yet; may exceed `held` */
	int (*take)(void *data, const void *row);
	void *data;
};

/* Runs an iterator over all threads, or over those of one process (0: all). Returns 0 or -errno. */
int run_iterator(const struct bpf_program *program, u32 pid, const struct row_reader *reader);

#endif
