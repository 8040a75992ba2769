// SPDX-License-Identifier: GPL-2.0
/* Asks the running kernel's BTF what its sched_ext offers, before anything is loaded. */
#include "scx_kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../core/scx_config.h"
#include "../sensor/sensor.h"

u64 scx_kernel_value(const struct btf *btf, const char *enumeration, const char *name)
{
	int id = btf__find_by_name_kind(btf, enumeration, BTF_KIND_ENUM64);
	const struct btf_type *type;

	if (id > 0) {
		type = btf__type_by_id(btf, (u32)id);
		for (u32 i = 0; i < btf_vlen(type); i++)
			if (!strcmp(btf__name_by_offset(btf, btf_enum64(type)[i].name_off), name))
				return btf_enum64_value(&btf_enum64(type)[i]);
		return 0;
	}
	id = btf__find_by_name_kind(btf, enumeration, BTF_KIND_ENUM);
	type = id > 0 ? btf__type_by_id(btf, (u32)id) : NULL;
	for (u32 i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			return (u32)btf_enum(type)[i].val;
	return 0;
}

/* What the scheduler can't do without, each in the forms that bpf/scx_calls.h knows, with their numbers of arguments.
 * Everything else that it calls costs a feature at most. */
static const struct need {
	struct form {
		const char *name;
		u16 arguments;
	} forms[4];
} needs[] = {
	{ { { "scx_bpf_create_dsq", 2 } } },
	{ { { "scx_bpf_dsq_nr_queued", 1 } } },
	{ { { "scx_bpf_test_and_clear_cpu_idle", 1 } } },
	{ { { "bpf_cpumask_test_cpu", 2 } } },
	{ { { "scx_bpf_dsq_insert___v2", 4 }, { "scx_bpf_dsq_insert", 4 }, { "scx_bpf_dispatch", 4 } } },
	{ { { "__scx_bpf_dsq_insert_vtime", 2 }, { "scx_bpf_dsq_insert_vtime", 5 }, { "scx_bpf_dispatch_vtime", 5 } } },
	{ { { "scx_bpf_dsq_move_to_local___v2", 2 }, { "scx_bpf_dsq_move_to_local", 1 }, { "scx_bpf_consume", 1 } } },
};

/* -1: there is no such function. */
static int arguments_of(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (u32)id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	return type && btf_is_func_proto(type) ? btf_vlen(type) : -1;
}

static bool is_met(const struct btf *btf, const struct need *need)
{
	for (const struct form *form = need->forms; form->name; form++)
		if (arguments_of(btf, form->name) == form->arguments)
			return true;
	return false;
}

int scx_kernel_suffices(const struct btf *btf, struct reason *why)
{
	/* A BTF without 64-bit enumerations has the low halves of its values only; this one's uppermost bit is set. */
	if (!(scx_kernel_value(btf, "scx_dsq_id_flags", "SCX_DSQ_LOCAL") >> 63)) {
		reason_set(why, "the kernel's BTF has no 64-bit constants: SCX_DSQ_LOCAL lacks its high half in it");
		return -EOPNOTSUPP;
	}
	for (u32 i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		const char *name = needs[i].forms[0].name;

		if (is_met(btf, &needs[i]))
			continue;
		reason_set(why, "the kernel's BTF %s %s",
			   arguments_of(btf, name) < 0 ? "has no" : "gives other arguments to", name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (u32 i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return true;
	return false;
}

bool scx_kernel_has_quotas(const struct btf *btf, u32 release)
{
	static const struct form calls[] = { { "scx_bpf_dsq_move", 4 },
					     { "scx_bpf_dsq_move_vtime", 4 },
					     { "scx_bpf_dsq_move_set_slice", 2 },
					     { "scx_bpf_dsq_move_set_vtime", 2 },
					     { "bpf_iter_scx_dsq_new", 3 } };
	int id = btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT);

	if (id <= 0 || !has_member(btf, btf__type_by_id(btf, (u32)id), "cgroup_set_bandwidth"))
		return false;
	for (u32 i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (arguments_of(btf, calls[i].name) != calls[i].arguments) {
			if (sensor_is_verbose())
				note("scheduler: cpu.max has no effect: the kernel's BTF lacks %s", calls[i].name);
			return false;
		}
	/* Who may go on must be given a slice, or nobody would ever be stopped. */
	return release < SCX_KERNEL(7, 3) || arguments_of(btf, "scx_bpf_task_set_slice") == 2;
}

static bool is_vital(const char *operation)
{
	static const char *const vital[] = { "select_cpu", "enqueue", "dispatch",  "running",
					     "stopping",   "enable",  "init_task", "init" };

	for (u32 i = 0; i < sizeof(vital) / sizeof(vital[0]); i++)
		if (!strcmp(operation, vital[i]))
			return true;
	return false;
}

int scx_kernel_fit(const struct btf *btf, struct bpf_object *object, void *ops, struct reason *why)
{
	const struct btf *own = bpf_object__btf(object);
	int own_id = btf__find_by_name_kind(own, "sched_ext_ops", BTF_KIND_STRUCT);
	int id = btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT);
	const struct btf_type *type = own_id > 0 ? btf__type_by_id(own, (u32)own_id) : NULL;

	if (!type || id <= 0) {
		reason_set(why, "the kernel's BTF has no sched_ext_ops");
		return -EOPNOTSUPP;
	}
	for (u32 i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = btf__name_by_offset(own, member->name_off);
		struct bpf_program **program = (struct bpf_program **)((char *)ops + member->offset / 8);

		if (!btf_is_ptr(btf__type_by_id(own, member->type)) || !*program ||
		    has_member(btf, btf__type_by_id(btf, (u32)id), name))
			continue;
		if (is_vital(name)) {
			reason_set(why, "this kernel's sched_ext has no operation %s", name);
			return -EOPNOTSUPP;
		}
		if (sensor_is_verbose())
			note("scheduler: this kernel's sched_ext has no operation %s", name);
		bpf_program__set_autoload(*program, false);
		*program = NULL;
	}
	return 0;
}

u32 scx_kernel_release(void)
{
	struct utsname name;
	unsigned int major, minor;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return SCX_KERNEL(major, minor);
}
