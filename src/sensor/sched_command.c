// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel half whether it follows a process as one of the command's. It has followed every fork since before
 * the command began, so that nobody can say so of himself. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "sched.h"

/* Where `of_command` is in what is kept of a thread; the size of that. -1: it is not there. */
static int find_member(const struct btf *btf, size_t *bytes)
{
	int id = btf ? btf__find_by_name_kind(btf, "task_ctx", BTF_KIND_STRUCT) : -1;
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (u32)id);

	for (u32 i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];

		if (strcmp(btf__name_by_offset(btf, member->name_off), "of_command") != 0)
			continue;
		*bytes = type->size;
		return (int)(btf_member_bit_offset(type, i) / 8);
	}
	return -1;
}

bool sched_is_of_command(const struct sensor *sensor, int pidfd)
{
	static const struct btf *of;
	static size_t bytes;
	static int at = -1;
	char *thread;
	u32 of_command = 0;

	/* Whoever asks, the types are the same. */
	if (of != sched_types(sensor)) {
		of = sched_types(sensor);
		at = find_member(of, &bytes);
	}
	thread = at < 0 ? NULL : malloc(bytes);
	if (thread && !bpf_map_lookup_elem(sched_map_fd(sensor, "threads"), &pidfd, thread))
		memcpy(&of_command, thread + at, sizeof(of_command));
	free(thread);
	return of_command;
}
