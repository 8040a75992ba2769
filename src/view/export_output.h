/* SPDX-License-Identifier: GPL-2.0 */
/* A file for other programs: for who made it, never in place of a file of others, and with `only_whole` there whole or
 * not at all. */
#ifndef TACTUS_VIEW_EXPORT_OUTPUT_H
#define TACTUS_VIEW_EXPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "../base/output.h"
#include "../base/output_whole.h"
#include "../../core/types.h"

enum { EXPORT_TEXT_BYTES = 1 << 16 };

struct export_output {
	int fd;
	bool is_stdout;
	u64 bytes;
	int error; /* 0 or -errno: nothing is written after it */
	struct output_whole whole;
	char text[EXPORT_TEXT_BYTES]; /* that is gathered before it is written */
};

/* Returns 0, or -errno with the reason. */
int export_output_open(struct export_output *output, const char *path, const struct output_rule *rule, bool only_whole,
		       struct reason *why);

/* `output` is the struct. Returns 0 or -errno; what did not get there whole is taken off again. */
int export_output_write(void *output, const void *bytes, size_t len);

/* Text to it. NULL for want of memory. Closing it closes only the stream. */
FILE *export_output_text(struct export_output *output);

/* With only_whole: the folder in which it gets its name; 0: none is needed. */
int export_output_folder(const struct export_output *output);

/* With only_whole and not `is_whole` nothing is left. Returns 0, or -errno, also for an error that was there before. */
int export_output_close(struct export_output *output, bool is_whole);

#endif
