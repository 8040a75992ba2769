// SPDX-License-Identifier: GPL-2.0
/* What threads' names say, in the kernel half's map of names. */
#include <bpf/bpf.h>
#include <string.h>

#include "sched.h"

int sched_add_name(struct sensor *sensor, const struct name_rule *rule)
{
	size_t len = strnlen(rule->name, COMM_LEN - 1);
	/* An exact name includes the NUL after it. */
	struct name_key key = { .bits = (u32)(len + (rule->exact ? 1 : 0)) * 8 };
	u32 value = (u32)rule->role | (rule->by_user ? NAME_BY_USER : 0) | (rule->compiles ? NAME_COMPILES : 0);

	memcpy(key.comm.text, rule->name, len);
	return bpf_map_update_elem(sched_map_fd(sensor, "names"), &key, &value, 0);
}

void sched_forget_names(struct sensor *sensor)
{
	int fd = sched_map_fd(sensor, "names");
	struct name_key key;

	while (!bpf_map_get_next_key(fd, NULL, &key) && !bpf_map_delete_elem(fd, &key))
		;
}
