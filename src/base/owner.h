/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a process is to be charged to. */
#ifndef TACTUS_BASE_OWNER_H
#define TACTUS_BASE_OWNER_H

#include "../../core/types.h"

/* The user whose process it is, by its real user. In a user namespace there are as many users as its maker likes: there
 * it is who made the outermost one that is not ours. Returns 0 or -errno, if there is no such process. */
int process_charged_to(u32 pid, u32 *uid);

#endif
