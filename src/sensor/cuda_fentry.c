// SPDX-License-Identifier: GPL-2.0
/* A program is bound to its function when it is loaded. So the pair in bpf/cuda.bpf.c is loaded once, as a pattern
 * whose maps and types are in place, and its instructions are loaded again for each function. */
#include "cuda_fentry.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/cuda.h"
#include "../base/sort.h"
#include "interrupts.h"
#include "sched.h"
#include "sensor.h"
#include "cuda.skel.h"

enum { MODULES_MAX = 16, MODULE_NAME = 64 };

struct typed {
	const char *symbol;
	u32 type;
};

/* The functions that the BTF of the kernel or of a module has. */
struct types {
	char module[MODULE_NAME];
	struct btf *btf; /* NULL: it has none */
	int fd;		 /* 0: the kernel's own */
	struct typed *functions;
	size_t len;
};

struct all_types {
	struct btf *kernel;
	struct types modules[MODULES_MAX];
	size_t len;
};

/* One function's programs and links. */
struct hooked {
	int program, end_program;
	int link, end_link;
};

struct fentry {
	struct cuda_bpf *skeleton;
	struct hooked *all;
	size_t len;
};

static void free_types(struct all_types *types)
{
	for (size_t i = 0; i < types->len; i++) {
		if (types->modules[i].btf != types->kernel)
			btf__free(types->modules[i].btf);
		if (types->modules[i].fd > 0)
			close(types->modules[i].fd);
		free(types->modules[i].functions);
	}
	btf__free(types->kernel);
}

/* The kernel's own descriptor of a module's types. */
static int types_fd(const char *module)
{
	u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[MODULE_NAME] = "";
		struct bpf_btf_info info = { .name = (u64)(size_t)name, .name_len = sizeof(name) };
		u32 size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd >= 0 && !bpf_btf_get_info_by_fd(fd, &info, &size) && info.kernel_btf && !strcmp(name, module))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct typed *)a)->symbol, ((const struct typed *)b)->symbol);
}

static void take_functions(struct types *types, u32 from)
{
	u32 to = btf__type_cnt(types->btf);

	types->functions = calloc(to - from + 1, sizeof(*types->functions));
	for (u32 id = from; types->functions && id < to; id++) {
		const struct btf_type *type = btf__type_by_id(types->btf, id);

		if (btf_is_func(type))
			types->functions[types->len++] =
				(struct typed){ btf__name_by_offset(types->btf, type->name_off), id };
	}
	if (types->len)
		sort_rows(types->functions, types->len, sizeof(*types->functions), by_symbol);
}

static const struct types *types_of(struct all_types *types, const char *module)
{
	struct types *found;

	for (size_t i = 0; i < types->len; i++)
		if (!strcmp(types->modules[i].module, module))
			return &types->modules[i];
	if (types->len == MODULES_MAX || strlen(module) >= MODULE_NAME)
		return NULL;
	if (!types->kernel)
		types->kernel = btf__load_vmlinux_btf();
	found = &types->modules[types->len++];
	*found = (struct types){ 0 };
	memcpy(found->module, module, strlen(module));
	if (!types->kernel)
		return found;
	if (!strcmp(module, "vmlinux")) {
		found->btf = types->kernel;
		take_functions(found, 1);
		return found;
	}
	found->fd = types_fd(module);
	found->btf = found->fd >= 0 ? btf__load_module_btf(module, types->kernel) : NULL;
	if (found->btf)
		take_functions(found, btf__type_cnt(types->kernel));
	return found;
}

/* The number of a function's type, or -errno with the reason. */
static int type_of(const struct types *types, const char *symbol, struct reason *why)
{
	const struct typed *found, key = { .symbol = symbol };

	if (!types || !types->btf) {
		reason_set(why, "%s has no BTF", types ? types->module : "the module");
		return -ENOENT;
	}
	found = types->len ? bsearch(&key, types->functions, types->len, sizeof(key), by_symbol) : NULL;
	if (!found)
		reason_set(why, "%s's BTF has no function %s", types->module, symbol);
	return found ? (int)found->type : -ENOENT;
}

static int load_for(const struct bpf_insn *code, size_t len, enum bpf_attach_type where, const struct types *types,
		    int type)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = where, .attach_btf_id = (u32)type,
		    .attach_btf_obj_fd = (u32)types->fd);

	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "on_driver", "GPL", code, len, &options);
}

static void unhook(struct hooked *hooked)
{
	const int fds[] = { hooked->link, hooked->end_link, hooked->program, hooked->end_program };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Loads the program for a function and attaches it there. Returns 0 or -errno; what was made is in the two. */
static int hook_one(const struct bpf_program *pattern, enum bpf_attach_type where, const struct types *types, int type,
		    u64 cookie, int *program, int *link)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .tracing.cookie = cookie);

	*program = load_for(bpf_program__insns(pattern), bpf_program__insn_cnt(pattern), where, types, type);
	if (*program < 0)
		return *program;
	*link = bpf_link_create(*program, 0, where, &options);
	return *link < 0 ? *link : 0;
}

static struct bpf_program *entry_of(const struct cuda_bpf *skeleton)
{
	return interrupts_are_seen() ? skeleton->progs.on_driver_fentry : skeleton->progs.on_driver_fentry_blind;
}

/* First where the function ends, so that what begins is seen whole. */
static int hook_function(const struct fentry *fentry, const struct types *types, int type, u64 cookie, bool with_end,
			 struct hooked *hooked)
{
	int error = 0;

	*hooked = (struct hooked){ -1, -1, -1, -1 };
	if (with_end)
		error = hook_one(fentry->skeleton->progs.on_driver_fexit, BPF_TRACE_FEXIT, types, type, cookie,
				 &hooked->end_program, &hooked->end_link);
	if (!error)
		error = hook_one(entry_of(fentry->skeleton), BPF_TRACE_FENTRY, types, type, cookie, &hooked->program,
				 &hooked->link);
	if (error)
		unhook(hooked);
	return error;
}

static int configure_pattern(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct fentry_plan *plan = data;
	struct cuda_bpf *skeleton = opened;
	struct bpf_program *program;
	int error;

	(void)attempt;
	(void)why;
	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(
		program, program == entry_of(skeleton) || program == skeleton->progs.on_driver_fexit);
	memcpy((void *)&skeleton->rodata->cuda, (const void *)&plan->with->rodata->cuda,
	       sizeof(skeleton->rodata->cuda));
	error = bpf_map__reuse_fd(skeleton->maps.callers, bpf_map__fd(plan->with->maps.callers));
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.counts, bpf_map__fd(plan->with->maps.counts));
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.bss, bpf_map__fd(plan->with->maps.bss));
	if (!error)
		error = sched_share(plan->sched, skeleton->obj);
	return error;
}

LOADABLE(cuda);

/* Hooks the function at `at`. Returns 0 or -errno with the reason. */
static int take_place(struct fentry *fentry, struct all_types *types, const struct fentry_plan *plan,
		      const struct driver_places *places, size_t at, struct reason *why)
{
	const struct types *of = types_of(types, places->modules[at]);
	int type = type_of(of, places->symbols[at], why), error;

	if (type < 0)
		return type;
	if (!fentry->skeleton) {
		const struct load_plan load = { &cuda_loadable, NULL, configure_pattern, (void *)plan };

		fentry->skeleton = load_programs(&load, &error, why);
		if (error && !why->text[0])
			sensor_explain(why, error);
		if (error)
			return error;
	}
	error = hook_function(fentry, of, type, places->cookies[at], plan->with_end, &fentry->all[fentry->len]);
	if (error)
		reason_set(why, "%s is refused: %s", places->symbols[at], strerror(-error));
	else
		fentry->len++;
	return error;
}

size_t fentry_attach(struct fentry **out, const struct fentry_plan *plan, struct driver_places *places,
		     struct reason *why)
{
	struct fentry *fentry = calloc(1, sizeof(*fentry));
	struct all_types types = { 0 };
	size_t left = 0, most = plan->most < places->len ? plan->most : places->len;
	bool given_up = false;

	*out = NULL;
	if (fentry)
		fentry->all = calloc(most + 1, sizeof(*fentry->all));
	if (!fentry || !fentry->all || !probe_btf(why)) {
		free(fentry ? fentry->all : NULL);
		free(fentry);
		return 0;
	}
	for (size_t i = 0; i < places->len; i++) {
		struct reason one = { "" };
		int error = fentry->len < most && !given_up ? take_place(fentry, &types, plan, places, i, &one)
							    : -E2BIG;

		if (!error)
			continue;
		/* What refuses the pattern refuses them all. */
		given_up |= fentry->skeleton && !fentry->len && error == -EPERM;
		if (one.text[0] && !why->text[0])
			*why = one;
		places->symbols[left] = places->symbols[i];
		places->modules[left] = places->modules[i];
		places->cookies[left++] = places->cookies[i];
	}
	places->len = left;
	free_types(&types);
	if (fentry->len) {
		*out = fentry;
		return fentry->len;
	}
	fentry_free(fentry);
	return 0;
}

u64 fentry_recursion_misses(const struct fentry *fentry)
{
	u64 misses = 0;

	for (size_t i = 0; fentry && i < fentry->len; i++)
		misses += sensor_recursion_misses_of(fentry->all[i].program) +
			  sensor_recursion_misses_of(fentry->all[i].end_program);
	return misses;
}

void fentry_free(struct fentry *fentry)
{
	if (!fentry)
		return;
	for (size_t i = 0; i < fentry->len; i++)
		unhook(&fentry->all[i]);
	cuda_bpf__destroy(fentry->skeleton);
	free(fentry->all);
	free(fentry);
}

struct fentry_trial {
	struct all_types types;
};

struct fentry_trial *fentry_trial_begin(void)
{
	return calloc(1, sizeof(struct fentry_trial));
}

bool fentry_would_take(struct fentry_trial *trial, const char *module, const char *symbol, struct reason *why)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct types *of = types_of(&trial->types, module);
	int type = type_of(of, symbol, why), fd;

	if (type < 0)
		return false;
	fd = load_for(nothing, sizeof(nothing) / sizeof(nothing[0]), BPF_TRACE_FENTRY, of, type);
	if (fd < 0)
		sensor_explain(why, fd);
	else
		close(fd);
	return fd >= 0;
}

void fentry_trial_end(struct fentry_trial *trial)
{
	free_types(&trial->types);
	free(trial);
}
