/* SPDX-License-Identifier: GPL-2.0 */
/* What the cuda sensor has met: functions by their numbers, and libraries as they were when they were probed. */
#ifndef TACTUS_SENSOR_CUDA_KNOWN_H
#define TACTUS_SENSOR_CUDA_KNOWN_H

#include <stdbool.h>

#include "../../core/types.h"

struct stat;

/* A library as it was when it was probed. */
struct cuda_file {
	u64 device, inode, bytes, changed_ns;
};

struct cuda_known {
	char **names; /* of the functions, by their number */
	u32 *hashes;  /* of the names */
	u32 names_len;
	struct cuda_file *files;
	u32 files_len;
};

void cuda_known_free(struct cuda_known *known);

/* The function's number: the same name has the same in every library. 0: there is no room left. Half of it is for
 * libraries that are root's: a user's may export any names. */
u32 cuda_number_of(struct cuda_known *known, const char *name, bool is_roots);

/* Whether the file is probed already, as it is now; if not, notes that it is from now on. */
bool cuda_was_probed(struct cuda_known *known, const struct stat *seen);
void cuda_forget_file(struct cuda_known *known, u64 device, u64 inode);

#endif
