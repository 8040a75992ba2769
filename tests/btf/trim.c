// SPDX-License-Identifier: GPL-2.0
/* Makes a small BTF out of a kernel's: only what the BPF objects ask for.
 * Usage: btf_trim KERNEL-BTF OUTPUT OBJECT...   or: btf_trim --wanted OBJECT...
 * Members that nobody asks for are left out, so offsets and sizes stay what they are; a type that is only pointed at,
 * or only lies inside another, keeps its name and size. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wanted.h"

struct trim {
	const struct wanted *wanted;
	const struct btf *from;
	struct btf *to;
	__u32 *new_ids; /* by the kernel's id; 0: not taken */
	__u32 *taken;	/* the kernel's ids, in the order of the new ones */
	__u32 taken_len;
};

static const char *name_of(const struct trim *trim, __u32 offset)
{
	return btf__name_by_offset(trim->from, offset);
}

static __u32 take(struct trim *trim, __u32 id)
{
	if (id && !trim->new_ids[id]) {
		trim->taken[trim->taken_len++] = id;
		trim->new_ids[id] = trim->taken_len;
	}
	return trim->new_ids[id];
}

/* A struct without a name belongs to the one around it. What the kernel wraps operations in libbpf reads whole. */
static bool keeps_member(const struct trim *trim, const struct btf_type *type, __u32 name_off)
{
	const char *owner = name_of(trim, type->name_off), *name = name_of(trim, name_off);

	if (!owner[0] || !strncmp(owner, "bpf_struct_ops_", strlen("bpf_struct_ops_")))
		return true;
	return wanted_has(trim->wanted, "type", owner, NULL) &&
	       (!name[0] || wanted_has(trim->wanted, "member", owner, name));
}

static void take_children(struct trim *trim, const struct btf_type *type)
{
	if (btf_is_composite(type)) {
		for (int i = 0; i < btf_vlen(type); i++)
			if (keeps_member(trim, type, btf_members(type)[i].name_off))
				take(trim, btf_members(type)[i].type);
	} else if (btf_is_array(type)) {
		take(trim, btf_array(type)->type);
		take(trim, btf_array(type)->index_type);
	} else if (btf_is_func_proto(type)) {
		take(trim, type->type);
		for (int i = 0; i < btf_vlen(type); i++)
			take(trim, btf_params(type)[i].type);
	} else if (btf_is_mod(type) || btf_is_ptr(type) || btf_is_typedef(type) || btf_is_func(type) ||
		   btf_is_var(type) || btf_is_type_tag(type)) {
		take(trim, type->type);
	}
}

static int add_composite(struct trim *trim, const struct btf_type *type)
{
	const char *name = name_of(trim, type->name_off);
	int id = btf_is_struct(type) ? btf__add_struct(trim->to, name, type->size)
				     : btf__add_union(trim->to, name, type->size);

	for (int i = 0; id > 0 && i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];

		if (keeps_member(trim, type, member->name_off) &&
		    btf__add_field(trim->to, name_of(trim, member->name_off), (int)trim->new_ids[member->type],
				   btf_member_bit_offset(type, (__u32)i), btf_member_bitfield_size(type, (__u32)i)))
			return -1;
	}
	return id;
}

static int add_enum(struct trim *trim, const struct btf_type *type)
{
	const char *name = name_of(trim, type->name_off);
	int id;

	if (btf_is_enum64(type)) {
		id = btf__add_enum64(trim->to, name, type->size, btf_kflag(type));
		for (int i = 0; id > 0 && i < btf_vlen(type); i++)
			if (keeps_member(trim, type, btf_enum64(type)[i].name_off))
				btf__add_enum64_value(trim->to, name_of(trim, btf_enum64(type)[i].name_off),
						      btf_enum64_value(&btf_enum64(type)[i]));
		return id;
	}
	id = btf__add_enum(trim->to, name, type->size);
	for (int i = 0; id > 0 && i < btf_vlen(type); i++)
		if (keeps_member(trim, type, btf_enum(type)[i].name_off))
			btf__add_enum_value(trim->to, name_of(trim, btf_enum(type)[i].name_off), btf_enum(type)[i].val);
	return id;
}

static int add_func_proto(struct trim *trim, const struct btf_type *type)
{
	int id = btf__add_func_proto(trim->to, (int)trim->new_ids[type->type]);

	for (int i = 0; id > 0 && i < btf_vlen(type); i++) {
		const struct btf_param *param = &btf_params(type)[i];

		if (btf__add_func_param(trim->to, name_of(trim, param->name_off), (int)trim->new_ids[param->type]))
			return -1;
	}
	return id;
}

static int add(struct trim *trim, const struct btf_type *type)
{
	const char *name = name_of(trim, type->name_off);
	int target = (int)(type->type < btf__type_cnt(trim->from) ? trim->new_ids[type->type] : 0);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return btf__add_int(trim->to, name, type->size, btf_int_encoding(type));
	case BTF_KIND_FLOAT:
		return btf__add_float(trim->to, name, type->size);
	case BTF_KIND_PTR:
		return btf__add_ptr(trim->to, target);
	case BTF_KIND_TYPEDEF:
		return btf__add_typedef(trim->to, name, target);
	case BTF_KIND_CONST:
		return btf__add_const(trim->to, target);
	case BTF_KIND_VOLATILE:
		return btf__add_volatile(trim->to, target);
	case BTF_KIND_RESTRICT:
		return btf__add_restrict(trim->to, target);
	case BTF_KIND_TYPE_TAG:
		return btf__add_type_tag(trim->to, name, target);
	case BTF_KIND_ARRAY:
		return btf__add_array(trim->to, (int)trim->new_ids[btf_array(type)->index_type],
				      (int)trim->new_ids[btf_array(type)->type], btf_array(type)->nelems);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return add_composite(trim, type);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return add_enum(trim, type);
	case BTF_KIND_FWD:
		return btf__add_fwd(trim->to, name, btf_kflag(type) ? BTF_FWD_UNION : BTF_FWD_STRUCT);
	case BTF_KIND_FUNC:
		return btf__add_func(trim->to, name, BTF_FUNC_STATIC, target);
	case BTF_KIND_FUNC_PROTO:
		return add_func_proto(trim, type);
	case BTF_KIND_VAR:
		return btf__add_var(trim->to, name, (int)btf_var(type)->linkage, target);
	default:
		return -1;
	}
}

static bool is_wanted(const struct trim *trim, const struct btf_type *type)
{
	const char *name = name_of(trim, type->name_off);

	if (!name[0])
		return false;
	if (btf_is_composite(type) || btf_is_enum(type) || btf_is_enum64(type))
		return wanted_has(trim->wanted, "type", name, NULL);
	if (btf_is_typedef(type))
		return wanted_has(trim->wanted, "typedef", name, NULL);
	if (btf_is_func(type))
		return wanted_has(trim->wanted, "func", name, NULL);
	return btf_is_var(type) && wanted_has(trim->wanted, "var", name, NULL);
}

static int trim_all(struct trim *trim)
{
	__u32 len = btf__type_cnt(trim->from);

	trim->new_ids = calloc(len, sizeof(*trim->new_ids));
	trim->taken = calloc(len, sizeof(*trim->taken));
	trim->to = btf__new_empty();
	if (!trim->new_ids || !trim->taken || !trim->to)
		return -1;
	for (__u32 id = 1; id < len; id++)
		if (is_wanted(trim, btf__type_by_id(trim->from, id)))
			take(trim, id);
	for (__u32 i = 0; i < trim->taken_len; i++)
		take_children(trim, btf__type_by_id(trim->from, trim->taken[i]));
	for (__u32 i = 0; i < trim->taken_len; i++)
		if (add(trim, btf__type_by_id(trim->from, trim->taken[i])) != (int)i + 1)
			return -1;
	return 0;
}

static int gather(struct wanted *wanted, char **paths)
{
	for (; *paths; paths++) {
		int error = wanted_add_object(wanted, *paths);

		if (error) {
			fprintf(stderr, "btf_trim: %s: %s\n", *paths, strerror(-error));
			return -1;
		}
	}
	wanted_sort(wanted);
	return 0;
}

static int write_btf(const struct btf *btf, const char *path)
{
	__u32 size;
	const void *bytes = btf__raw_data(btf, &size);
	FILE *file = fopen(path, "wb");

	if (!file || !bytes || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		fprintf(stderr, "btf_trim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct wanted wanted = { 0 };
	struct trim trim = { .wanted = &wanted };

	if (argc < 3 || (strcmp(argv[1], "--wanted") && argc < 4)) {
		fprintf(stderr, "usage: btf_trim KERNEL-BTF OUTPUT OBJECT... | btf_trim --wanted OBJECT...\n");
		return 2;
	}
	if (!strcmp(argv[1], "--wanted")) {
		if (gather(&wanted, argv + 2))
			return 1;
		for (size_t i = 0; i < wanted.len; i++)
			puts(wanted.lines[i]);
		return 0;
	}
	if (gather(&wanted, argv + 3))
		return 1;
	trim.from = btf__parse(argv[1], NULL);
	if (!trim.from || trim_all(&trim)) {
		fprintf(stderr, "btf_trim: %s: %s\n", argv[1], trim.from ? "can't be trimmed" : strerror(errno));
		return 1;
	}
	return write_btf(trim.to, argv[2]);
}
