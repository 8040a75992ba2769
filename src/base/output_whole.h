/* SPDX-License-Identifier: GPL-2.0 */
/* A file that is there whole or not at all: what it replaces stays until then. */
#ifndef TACTUS_BASE_OUTPUT_WHOLE_H
#define TACTUS_BASE_OUTPUT_WHOLE_H

#include <stdbool.h>

#include "say.h"
#include "way.h"

struct output_whole {
	bool begun;
	int folder;		  /* for privileges_give_up_but_folder, as long as it has begun */
	int old_fd;		  /* what is replaced, with the locks on it; -1: nothing is */
	char name[WAY_NAME_SIZE]; /* in the folder */
	char made[WAY_NAME_SIZE]; /* the same for a new file */
};

/* Takes what output_file() opened or made at that path. Returns a descriptor to write to, or -errno with a reason, when
 * `fd` has been closed. In a folder that takes no new file it is `fd`, and the old file is written over. */
int output_whole_begin(struct output_whole *whole, const char *path, int fd, bool is_new, struct reason *why);

/* Gives it its name, or with is_whole false removes it. Once, after its descriptor is closed. Returns 0 or -errno. */
int output_whole_end(struct output_whole *whole, bool is_whole);

#endif
