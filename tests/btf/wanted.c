// SPDX-License-Identifier: GPL-2.0
/* See wanted.h. */
#include "wanted.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_type(struct wanted *wanted, const struct btf *btf, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(btf, type->name_off);

	if (!name[0])
		return;
	if (btf_is_composite(type)) {
		wanted_add(wanted, "type", name, NULL);
		for (int i = 0; i < btf_vlen(type); i++)
			wanted_add(wanted, "member", name,
				   btf__name_by_offset(btf, btf_members(type)[i].name_off));
	} else if (btf_is_enum(type)) {
		wanted_add(wanted, "type", name, NULL);
		for (int i = 0; i < btf_vlen(type); i++)
			wanted_add(wanted, "member", name, btf__name_by_offset(btf, btf_enum(type)[i].name_off));
	}
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
	{ "tp_btf/", "typedef", "btf_trace_" }, { "fentry/", "func", "" },    { "fexit/", "func", "" },
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

void wanted_add_object(struct wanted *wanted, const struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	struct bpf_program *program;

	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (btf_is_datasec(type) && !strcmp(btf__name_by_offset(btf, type->name_off), ".ksyms"))
			add_symbols(wanted, btf, type);
		else
			add_type(wanted, btf, type);
	}
	bpf_object__for_each_program(program, object)
		add_target(wanted, bpf_program__section_name(program));
	wanted_add(wanted, "type", "bpf_struct_ops_sched_ext_ops", NULL);
	wanted_add(wanted, "type", "bpf_struct_ops_common_value", NULL);
}
