// SPDX-License-Identifier: GPL-2.0
/* Whose command it is that is started, and what the program gives up once everything is in place. */
#include "privileges.h"

#include <stdlib.h>
#include <unistd.h>

#include "options.h"

/* Only decimal digits, and not the number that means "none". */
static bool take_id(const char *name, u64 *id)
{
	const char *text = getenv(name);

	return text && !parse_number(text, 0xfffffffe, id);
}

bool sudo_caller(uid_t *uid, gid_t *gid)
{
	u64 user, group;

	if (geteuid() != 0 || !take_id("SUDO_UID", &user) || !take_id("SUDO_GID", &group) || !user)
		return false;
	*uid = (uid_t)user;
	*gid = (gid_t)group;
	return true;
}
