/* SPDX-License-Identifier: GPL-2.0 */
/* What power-profiles-daemon's active profile is, and each time that it changes. Heard on the system bus by a process
 * apart, which has no rights: of all that others may send there, one word comes back. */
#ifndef TACTUS_BASE_POWER_PROFILE_H
#define TACTUS_BASE_POWER_PROFILE_H

#include <stdbool.h>
#include <sys/types.h>

enum { POWER_PROFILE_SIZE = 16 };

struct power_profile {
	int fd; /* by which it is heard; 0 or less: it is not */
	pid_t listener;
};

/* Forks it. False: there is no bus. Call it while other users can be had. */
bool power_profile_start(struct power_profile *profile);

/* The same after the bus went, without waiting for it: where there is none yet, the next has ended at once. */
bool power_profile_start_again(struct power_profile *profile);
void power_profile_end(struct power_profile *profile);

/* The last that was heard since the last call: "power-saver", "balanced", "performance", or "" where the daemon went.
 * False: nothing new. *ended: there will be no more. */
bool power_profile_heard(const struct power_profile *profile, char heard[POWER_PROFILE_SIZE], bool *ended);

/* A word of the daemon's that is known here. */
bool power_profile_is_known(const char *word);

#endif
