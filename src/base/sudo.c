// SPDX-License-Identifier: GPL-2.0
/* Who called sudo, as it says in the environment. */
#include "privileges.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/* Only decimal digits, and not the number that means "none". */
static bool take_id(const char *name, u64 *id)
{
	const char *text = getenv(name);

	*id = 0;
	for (const char *at = text; at && *at; at++) {
		if (!isdigit((unsigned char)*at) || *id > 0xffffffff)
			return false;
		*id = *id * 10 + (u64)(*at - '0');
	}
	return text && *text && *id <= 0xfffffffe;
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

bool is_trusted_user(uid_t uid)
{
	uid_t caller;
	gid_t group;

	return uid == 0 || uid == geteuid() || (sudo_caller(&caller, &group) && uid == caller);
}
