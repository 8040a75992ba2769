/* SPDX-License-Identifier: GPL-2.0 */
/* What power-profiles-daemon's active profile is, and each time that it changes. Heard on the system bus by a process
 * apart, which has no rights: of all that others may send there, one word comes back. */
#ifndef TACTUS_BASE_POWER_PROFILE_H
#define TACTUS_BASE_POWER_PROFILE_H

#include <stdbool.h>

enum { POWER_PROFILE_SIZE = 16 };

/* Forks it. A descriptor for the next, or -1: there is no bus. Call it while other users can be had. */
int power_profile_start(void);

/* The last that was heard since the last call: "power-saver", "balanced", "performance", or "" where the daemon went.
 * False: nothing new. *ended: there will be no more. */
bool power_profile_heard(int fd, char profile[POWER_PROFILE_SIZE], bool *ended);

/* A word of the daemon's that is known here. */
bool power_profile_is_known(const char *word);

#endif
