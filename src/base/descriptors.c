// SPDX-License-Identifier: GPL-2.0
/* The hard limit is raised too where that is allowed, which it is to root outside of most containers. */
#include "descriptors.h"

#include <sys/resource.h>

enum { WANTED = 65536, USUAL = 1024 };

u64 descriptors_allow(void)
{
	struct rlimit limit, wanted;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return USUAL;
	if (limit.rlim_cur >= WANTED)
		return limit.rlim_cur;
	wanted = (struct rlimit){ WANTED, limit.rlim_max > WANTED ? limit.rlim_max : WANTED };
	if (!setrlimit(RLIMIT_NOFILE, &wanted))
		return WANTED;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}
