/* SPDX-License-Identifier: GPL-2.0 */
/* Whose command it is that is started, and what the program gives up once everything is in place.
 * Each capability that is kept stands in a table in privileges.c, with what it is for. */
#ifndef TACTUS_BASE_PRIVILEGES_H
#define TACTUS_BASE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../core/types.h"
#include "say.h"

/* The user who called through sudo. False: none did, or root itself. */
bool sudo_caller(uid_t *uid, gid_t *gid);

#endif
