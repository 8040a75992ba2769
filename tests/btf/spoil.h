/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a kernel's BTF say something else of the kernel's variables, as a later kernel's might. */
#ifndef TACTUS_TESTS_BTF_SPOIL_H
#define TACTUS_TESTS_BTF_SPOIL_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>

/* The variable is a struct from here on; every type keeps its number. False: there is no such variable. */
static inline bool spoil_variable(struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	__u32 other = 1, len = btf__type_cnt(btf);

	if (id <= 0)
		return false;
	while (other < len && !(btf_is_struct(btf__type_by_id(btf, other)) && btf__type_by_id(btf, other)->name_off))
		other++;
	/* One that is a struct already becomes a number. */
	if (btf_is_struct(btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type)))
		for (other = 1; other < len && !btf_is_int(btf__type_by_id(btf, other));)
			other++;
	if (other == len)
		return false;
	((struct btf_type *)btf__type_by_id(btf, (__u32)id))->type = other;
	return true;
}

static inline bool spoil_write(const struct btf *btf, FILE *file)
{
	__u32 size;
	const void *bytes = btf__raw_data(btf, &size);

	return bytes && fwrite(bytes, 1, size, file) == size && !fflush(file);
}

#endif
