/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a kernel's BTF say something else of the kernel's variables, structs, functions and constants, as a later
 * kernel's might. Every type keeps its number. */
#ifndef TACTUS_TESTS_BTF_SPOIL_H
#define TACTUS_TESTS_BTF_SPOIL_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The variable is a struct from here on. False: there is no such variable. */
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

/* The member is a signed number of 8 bytes from here on. False: there is no such member. */
static inline bool spoil_member(struct btf *btf, const char *of, const char *name)
{
	int id = btf__find_by_name_kind(btf, of, BTF_KIND_STRUCT);
	struct btf_type *type = id > 0 ? (struct btf_type *)btf__type_by_id(btf, (__u32)id) : NULL;
	int other = btf__find_by_name_kind(btf, "spoilt", BTF_KIND_INT);

	if (other <= 0)
		other = btf__add_int(btf, "spoilt", 8, BTF_INT_SIGNED);
	/* What was added may have moved them all. */
	type = type ? (struct btf_type *)btf__type_by_id(btf, (__u32)id) : NULL;
	for (__u16 i = 0; type && other > 0 && i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			continue;
		btf_members(type)[i].type = (__u32)other;
		return true;
	}
	return false;
}

/* The function has another number of arguments from here on. False: there is no such function. */
static inline bool spoil_prototype(struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	struct btf_type *function = id > 0 ? (struct btf_type *)btf__type_by_id(btf, (__u32)id) : NULL;
	__u16 arguments = function ? btf_vlen(btf__type_by_id(btf, function->type)) : 0;

	for (__u32 other = 1; function && other < btf__type_cnt(btf); other++) {
		const struct btf_type *type = btf__type_by_id(btf, other);

		if (!btf_is_func_proto(type) || btf_vlen(type) == arguments)
			continue;
		function->type = other;
		return true;
	}
	return false;
}

/* The same BTF as a kernel's that was built by tools that know no 64-bit constants: of each it has the low half. NULL:
 * there are none, or there is no memory. */
static inline struct btf *spoil_constants(const struct btf *btf)
{
	struct btf *halved = btf__new_empty();
	bool found = false;
	int error = 0;

	for (__u32 id = 1; halved && error >= 0 && id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (!btf_is_enum64(type)) {
			error = btf__add_type(halved, btf, type);
			continue;
		}
		found = true;
		error = btf__add_enum(halved, btf__name_by_offset(btf, type->name_off), type->size);
		for (__u16 i = 0; error >= 0 && i < btf_vlen(type); i++)
			error = btf__add_enum_value(halved, btf__name_by_offset(btf, btf_enum64(type)[i].name_off),
						    (__s32)btf_enum64(type)[i].val_lo32);
	}
	if (found && error >= 0)
		return halved;
	btf__free(halved);
	return NULL;
}

static inline bool spoil_write(const struct btf *btf, FILE *file)
{
	__u32 size;
	const void *bytes = btf__raw_data(btf, &size);

	return bytes && fwrite(bytes, 1, size, file) == size && !fflush(file);
}

#endif
