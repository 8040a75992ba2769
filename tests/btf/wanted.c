// SPDX-License-Identifier: GPL-2.0
/* See wanted.h. */
#include "wanted.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/sensor/sensor.h"

/* src/sched/scx_kernel.c asks. */
bool sensor_is_verbose(void)
{
	return false;
}

enum { LINE_MOST = 256 };

/* A local name may end in a flavour, the last ___ with what follows: see libbpf. */
static int essential_len(const char *name)
{
	int len = (int)strlen(name);

	for (int i = len - 4; i > 0; i--)
		if (!strncmp(name + i, "___", 3) && name[i - 1] != '_' && name[i + 3] != '_')
			return i;
	return len;
}

static void say_line(char *line, const char *what, const char *name, int len, const char *member)
{
	snprintf(line, LINE_MOST, "%s %.*s%s%s", what, len, name, member ? "." : "", member ? member : "");
}

static void add_line(struct wanted *wanted, const char *line)
{
	if (wanted->len == wanted->room) {
		wanted->room = wanted->room ? wanted->room * 2 : 256;
		wanted->lines = realloc(wanted->lines, wanted->room * sizeof(*wanted->lines));
		if (!wanted->lines)
			abort();
	}
	wanted->lines[wanted->len++] = strdup(line);
}

void wanted_add(struct wanted *wanted, const char *what, const char *name, const char *member)
{
	char line[LINE_MOST];

	say_line(line, what, name, essential_len(name), member);
	add_line(wanted, line);
}

void wanted_add_line(struct wanted *wanted, const char *what, const char *rest)
{
	char line[LINE_MOST];

	say_line(line, what, rest, (int)strlen(rest), NULL);
	add_line(wanted, line);
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

void wanted_sort(struct wanted *wanted)
{
	size_t kept = 0;

	qsort(wanted->lines, wanted->len, sizeof(*wanted->lines), compare);
	for (size_t i = 0; i < wanted->len; i++) {
		if (kept && !strcmp(wanted->lines[kept - 1], wanted->lines[i]))
			free(wanted->lines[i]);
		else
			wanted->lines[kept++] = wanted->lines[i];
	}
	wanted->len = kept;
}

bool wanted_has_line(const struct wanted *wanted, const char *line)
{
	return bsearch(&line, wanted->lines, wanted->len, sizeof(*wanted->lines), compare);
}

bool wanted_has(const struct wanted *wanted, const char *what, const char *name, const char *member)
{
	char line[LINE_MOST];

	say_line(line, what, name, (int)strlen(name), member);
	return wanted_has_line(wanted, line);
}

void wanted_free(struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->len; i++)
		free(wanted->lines[i]);
	free(wanted->lines);
	memset(wanted, 0, sizeof(*wanted));
}

static const struct btf_type *without_modifiers(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static const char *member_name(const struct btf *btf, const struct btf_type *type, long index)
{
	if (index >= btf_vlen(type))
		return "";
	return btf__name_by_offset(btf, btf_is_enum(type)     ? btf_enum(type)[index].name_off
					: btf_is_enum64(type) ? btf_enum64(type)[index].name_off
							      : btf_members(type)[index].name_off);
}

/* One relocation: a type, and for a field the way to it, "0:3:1" being the second member of the fourth. */
static void add_access(struct wanted *wanted, const struct btf *btf, const struct bpf_core_relo *relo)
{
	const char *access = btf__name_by_offset(btf, relo->access_str_off), *owner;
	const struct btf_type *type = without_modifiers(btf, relo->type_id);
	bool is_enum = type && btf_is_any_enum(type);
	long index;

	for (bool first = !is_enum; type; first = false) {
		owner = btf__name_by_offset(btf, type->name_off);
		if (owner[0])
			wanted_add(wanted, "type", owner, NULL);
		if (first && (access = strchr(access, ':')))
			access++;
		if (!access || !access[0] || relo->kind == BPF_CORE_TYPE_EXISTS)
			return;
		index = strtol(access, NULL, 10);
		if (btf_is_array(type)) {
			type = without_modifiers(btf, btf_array(type)->type);
		} else if (is_enum || btf_is_composite(type)) {
			wanted_add(wanted, "member", owner, member_name(btf, type, index));
			type = is_enum ? NULL : without_modifiers(btf, btf_members(type)[index].type);
		} else {
			return;
		}
		access = strchr(access, ':');
		if (!access)
			return;
		access++;
	}
}

/* The relocations lie in .BTF.ext, section by section. */
static void add_accesses(struct wanted *wanted, const struct btf *btf, const struct btf_ext *ext)
{
	struct {
		__u16 magic;
		__u8 version, flags;
		__u32 header_len, func_off, func_len, line_off, line_len, relo_off, relo_len;
	} head;
	__u32 size, relo_bytes, section[2];
	const char *bytes = btf_ext__raw_data(ext, &size), *at, *end;

	memcpy(&head, bytes, sizeof(head));
	at = bytes + head.header_len + head.relo_off;
	end = at + head.relo_len;
	if (at + sizeof(relo_bytes) > end)
		return;
	memcpy(&relo_bytes, at, sizeof(relo_bytes));
	for (at += sizeof(relo_bytes); at + sizeof(section) <= end;) {
		memcpy(section, at, sizeof(section)); /* its name, and how many there are */
		at += sizeof(section);
		for (__u32 i = 0; i < section[1]; i++, at += relo_bytes)
			add_access(wanted, btf, (const struct bpf_core_relo *)at);
	}
}

/* Operations are matched member by member. */
static void add_operations(struct wanted *wanted, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	if (!type)
		return;
	wanted_add(wanted, "type", "sched_ext_ops", NULL);
	for (int i = 0; i < btf_vlen(type); i++)
		wanted_add(wanted, "member", "sched_ext_ops", member_name(btf, type, i));
	wanted_add(wanted, "type", "bpf_struct_ops_sched_ext_ops", NULL);
	wanted_add(wanted, "type", "bpf_struct_ops_common_value", NULL);
}

/* Kernel functions and variables are those of the section .ksyms. */
static void add_symbols(struct wanted *wanted, const struct btf *btf, const struct btf_type *section)
{
	for (int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, btf_var_secinfos(section)[i].type);

		wanted_add(wanted, btf_is_func(type) ? "func" : "var", btf__name_by_offset(btf, type->name_off), NULL);
	}
}

static const struct {
	const char *section; /* how a program's section begins */
	const char *what;
	const char *prefix; /* of what the kernel's BTF calls the target */
} targets[] = {
	{ "tp_btf/", "typedef", "btf_trace_" }, { "fentry/", "func", "" },	  { "fexit/", "func", "" },
	{ "lsm/", "func", "bpf_lsm_" },		{ "iter/", "func", "bpf_iter_" },
};

static void add_target(struct wanted *wanted, const char *section)
{
	char name[LINE_MOST];

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		size_t len = strlen(targets[i].section);

		if (strncmp(section, targets[i].section, len))
			continue;
		snprintf(name, sizeof(name), "%s%s", targets[i].prefix, section + len);
		wanted_add(wanted, targets[i].what, name, NULL);
	}
}

/* From the file, since an opened object's BTF has variables in place of the kernel's functions. */
static int add_types(struct wanted *wanted, const char *path)
{
	struct btf_ext *ext = NULL;
	struct btf *btf = btf__parse(path, &ext);

	if (!btf)
		return -errno;
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (btf_is_datasec(type) && !strcmp(btf__name_by_offset(btf, type->name_off), ".ksyms"))
			add_symbols(wanted, btf, type);
	}
	if (ext)
		add_accesses(wanted, btf, ext);
	add_operations(wanted, btf);
	btf_ext__free(ext);
	btf__free(btf);
	return 0;
}

int wanted_add_object(struct wanted *wanted, const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;
	int error = object ? add_types(wanted, path) : -errno;

	if (error)
		return error;
	bpf_object__for_each_program(program, object) add_target(wanted, bpf_program__section_name(program));
	bpf_object__close(object);
	return 0;
}
