// SPDX-License-Identifier: GPL-2.0
/* The gpu sensor: finds the drivers' functions that take ioctls and hooks each by the best way that works for it.
 * DRM, NVIDIA's main driver and its memory driver (UVM) are hooked apart; a driver that is loaded later is too. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/gpu_config.h"
#include "../../core/sched_config.h"
#include "sensor_set.h"
#include "gpu.skel.h"
#include "gpu_find.h"
#include "sched.h"

enum gpu_way { WAY_FENTRY, WAY_KPROBE, WAY_SYSCALL };
enum gpu_part { PART_DRM, PART_NVIDIA, PART_UVM, PART_SYSCALL, PARTS };

static const struct sensor_hook hooks[] = {
	[WAY_FENTRY] = { "fentry", NULL, probe_btf },
	[WAY_KPROBE] = { "kprobe", "each ioctl of a GPU costs a little more", probe_btf },
	[WAY_SYSCALL] = { "tracepoint/syscalls/sys_enter_ioctl",
			  "every system call gets slower, and 32-bit programs are not seen", probe_btf },
	{ 0 },
};

/* One hook to be set. */
struct gpu_plan {
	enum gpu_part part;
	enum gpu_way way;
	const char *function;
	struct gpu_config config;
};

struct gpu_hooked {
	struct gpu_bpf *skeleton;
	struct bpf_link *link;
	struct bpf_link *end_link; /* at the end of the same calls; NULL: there is none */
	u32 families;		   /* of PART_SYSCALL: those it serves */
	char name[100];		   /* "fentry/drm_ioctl" */
};

struct gpu_state {
	struct sensor *sched; /* NULL: only tried */
	struct gpu_found found;
	struct gpu_hooked parts[PARTS];
	u32 given_up; /* GPU_OF_*, reported once */
	int inotify_fd;
	u64 minors_refused;
};

static u32 family_of(enum gpu_part part)
{
	static const u32 families[PARTS] = { GPU_OF_DRM, GPU_OF_NVIDIA, GPU_OF_UVM, 0 };

	return families[part];
}

static void unhook(struct gpu_hooked *hooked)
{
	bpf_link__destroy(hooked->link);
	bpf_link__destroy(hooked->end_link);
	gpu_bpf__destroy(hooked->skeleton);
	*hooked = (struct gpu_hooked){ 0 };
}

struct minor_filler {
	struct gpu_state *state;
	struct bpf_map *map;
};

static void fill_minor(void *data, u32 minor, u32 driver)
{
	const struct minor_filler *filler = data;

	if (bpf_map__update_elem(filler->map, &minor, sizeof(minor), &driver, sizeof(driver), BPF_ANY))
		filler->state->minors_refused++;
}

static void fill_minors(struct gpu_state *state)
{
	for (int part = 0; part < PARTS; part++) {
		struct gpu_bpf *skeleton = state->parts[part].skeleton;

		if (skeleton)
			gpu_find_minors(fill_minor, &(struct minor_filler){ state, skeleton->maps.minors });
	}
}

static struct bpf_program *program_for(const struct gpu_bpf *skeleton, const struct gpu_plan *plan)
{
	if (plan->way == WAY_SYSCALL)
		return skeleton->progs.on_ioctl;
	if (plan->part == PART_DRM)
		return plan->way == WAY_FENTRY ? skeleton->progs.drm_fentry : skeleton->progs.drm_kprobe;
	return plan->way == WAY_FENTRY ? skeleton->progs.nvidia_fentry : skeleton->progs.nvidia_kprobe;
}

static struct bpf_program *end_program_for(const struct gpu_bpf *skeleton, const struct gpu_plan *plan)
{
	return plan->way == WAY_SYSCALL	 ? skeleton->progs.on_ioctl_end
	       : plan->way == WAY_KPROBE ? skeleton->progs.call_kretprobe
					 : skeleton->progs.call_fexit;
}

struct wishes {
	const struct gpu_state *state;
	const struct gpu_plan *plan;
};

/* An object with just the one program in it, or with its end: where one function is missing the others still work. */
static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct gpu_plan *plan = wishes->plan;
	struct gpu_bpf *skeleton = opened;
	struct bpf_program *wanted = program_for(skeleton, plan), *end = end_program_for(skeleton, plan), *program;
	bool with_end = plan->config.ends_seen;
	int error = 0;

	(void)attempt;
	(void)why;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, program == wanted || (with_end && program == end));
	skeleton->rodata->gpu = plan->config;
	skeleton->rodata->gpu.by_minor = sensor_hook_is_skipped("gpu", "driver_name");
	if (plan->way == WAY_FENTRY)
		error = bpf_program__set_attach_target(wanted, 0, plan->function);
	if (plan->way == WAY_FENTRY && !error && with_end)
		error = bpf_program__set_attach_target(end, 0, plan->function);
	if (!error)
		error = sched_share(wishes->state->sched, skeleton->obj);
	return error;
}

LOADABLE(gpu);

static struct bpf_link *attach_program(const struct gpu_plan *plan, const struct bpf_program *program)
{
	switch (plan->way) {
	case WAY_FENTRY:
		return bpf_program__attach(program);
	case WAY_KPROBE:
		return bpf_program__attach_kprobe(program, false, plan->function);
	default:
		return sensor_attach_tracepoint(program, "syscalls", "sys_enter_ioctl");
	}
}

static struct bpf_link *attach_end(const struct gpu_plan *plan, const struct bpf_program *program)
{
	switch (plan->way) {
	case WAY_FENTRY:
		return bpf_program__attach(program);
	case WAY_KPROBE:
		return bpf_program__attach_kprobe(program, true, plan->function);
	default:
		return sensor_attach_tracepoint(program, "syscalls", "sys_exit_ioctl");
	}
}

/* Loads and attaches. The end first, so that no call is seen to begin whose end then is not. */
static int hook_object(const struct gpu_state *state, const struct gpu_plan *plan, struct gpu_hooked *hooked)
{
	struct wishes wishes = { state, plan };
	const struct load_plan load = { &gpu_loadable, NULL, configure, &wishes };
	struct reason why = { "" };
	int error;

	hooked->skeleton = load_programs(&load, &error, &why);
	if (!error && plan->config.ends_seen) {
		hooked->end_link = attach_end(plan, end_program_for(hooked->skeleton, plan));
		error = hooked->end_link ? 0 : -errno;
	}
	if (!error) {
		hooked->link = attach_program(plan, program_for(hooked->skeleton, plan));
		error = hooked->link ? 0 : -errno;
	}
	return error;
}

/* With the end of the calls where somebody wants to know how long they took; without it where it can't be had. */
static int hook_with_end(const struct gpu_state *state, const struct gpu_plan *plan, struct gpu_hooked *hooked)
{
	char name[sizeof(hooked->name)];
	struct gpu_plan full = *plan;
	int error;

	full.config.ends_seen = (sched_emits(state->sched) & EVENTS_GPU) != 0 && !sensor_hook_is_skipped("gpu", "end");
	error = hook_object(state, &full, hooked);
	if (!error || !full.config.ends_seen)
		return error;
	memcpy(name, hooked->name, sizeof(name));
	unhook(hooked);
	memcpy(hooked->name, name, sizeof(name));
	error = hook_object(state, plan, hooked);
	if (!error)
		note("gpu: how long calls to the driver take can't be seen at %s", hooked->name);
	return error;
}

static int set_hook(struct gpu_state *state, const struct gpu_plan *plan, struct reason *why)
{
	struct gpu_hooked *hooked = &state->parts[plan->part];
	int error;

	if (plan->way == WAY_SYSCALL)
		snprintf(hooked->name, sizeof(hooked->name), "%s", hooks[plan->way].name);
	else
		snprintf(hooked->name, sizeof(hooked->name), "%s/%s", hooks[plan->way].name, plan->function);
	if (sensor_hook_is_skipped("gpu", hooked->name)) {
		reason_set(why, SENSOR_SKIPPED_WORDS);
		return -ENOTSUP;
	}
	error = hook_with_end(state, plan, hooked);
	if (!error) {
		hooked->families = plan->config.families;
		return 0;
	}
	if (plan->way == WAY_FENTRY && error == -ESRCH)
		reason_set(why, "the kernel has no BTF for it: not every driver's module brings one");
	else
		sensor_explain(why, error);
	unhook(hooked);
	return error;
}

/* Hooks a driver's own function, by no worse a way than `worst`. */
static int hook_function(struct gpu_state *state, enum gpu_part part, enum gpu_way worst, struct reason *why)
{
	static const struct gpu_function drm_function = { .name = "drm_ioctl", .rank = 1 };
	const struct gpu_function *function = part == PART_DRM	    ? &drm_function
					      : part == PART_NVIDIA ? &state->found.nvidia
								    : &state->found.uvm;
	struct gpu_plan plan = {
		.part = part,
		.function = function->name,
		.config = { .families = family_of(part), .with_inode = function->with_inode },
	};
	struct reason last = { "" };
	int error = -ENOENT;

	if (!function->rank) {
		reason_set(why, "no function of %s has a name that is known",
			   part == PART_UVM ? "nvidia-uvm" : "nvidia");
		return error;
	}
	for (plan.way = WAY_FENTRY; plan.way <= worst && plan.way < WAY_SYSCALL; plan.way++) {
		error = set_hook(state, &plan, &last);
		if (!error)
			return 0;
	}
	reason_set(why, "%s: %.200s", function->name, last.text);
	return error;
}

/* For families that nothing else works for. Those it serves already stay with it. */
static int hook_syscall(struct gpu_state *state, u32 families, struct reason *why)
{
	struct gpu_hooked *hooked = &state->parts[PART_SYSCALL];
	struct gpu_plan plan = {
		.part = PART_SYSCALL,
		.way = WAY_SYSCALL,
		.config = { .families = families | hooked->families, .uvm_major = state->found.uvm_major },
	};

	/* Two of them would count everything twice. */
	unhook(hooked);
	return set_hook(state, &plan, why);
}

/* Hooks what is there and not hooked yet. The tracepoint costs every system call of the machine something, so it waits
 * until there is a device to be seen by it. */
static int hook_all(struct gpu_state *state, enum gpu_way worst, struct reason *why)
{
	u32 left = 0;

	for (enum gpu_part part = PART_DRM; part < PART_SYSCALL; part++) {
		u32 family = family_of(part);
		int error;

		if (!(state->found.families & family) || state->parts[part].link ||
		    (state->parts[PART_SYSCALL].families & family))
			continue;
		error = hook_function(state, part, worst, why);
		if (error && worst < WAY_SYSCALL)
			return error;
		if (error)
			left |= family;
	}
	left &= state->found.devices & ~state->given_up;
	return left ? hook_syscall(state, left, why) : 0;
}

static int gpu_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct gpu_state *state = calloc(1, sizeof(*state));

	(void)hook;
	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = settings ? settings->sched : NULL;
	state->inotify_fd = gpu_watch_devices();
	gpu_find(&state->found);
	return 0;
}

static int gpu_attach(void *data, int hook, struct reason *why)
{
	struct gpu_state *state = data;
	int error = hook_all(state, (enum gpu_way)hook, why);

	if (!error)
		fill_minors(state);
	return error;
}

static void gpu_close(void *data)
{
	struct gpu_state *state = data;

	if (!state)
		return;
	for (int part = 0; part < PARTS; part++)
		unhook(&state->parts[part]);
	if (state->inotify_fd >= 0)
		close(state->inotify_fd);
	free(state);
}

static int gpu_fd(const void *data)
{
	const struct gpu_state *state = data;

	return state->inotify_fd;
}

static void gpu_work(void *data)
{
	struct gpu_state *state = data;
	struct reason why = { "" };

	if (!gpu_device_came(state->inotify_fd))
		return;
	gpu_find(&state->found);
	if (hook_all(state, WAY_SYSCALL, &why)) {
		note("gpu: a driver that was loaded now can't be watched: %s", why.text);
		state->given_up |= state->found.families;
	}
	fill_minors(state);
}

/* Of all CPUs. */
static void add_counts(const struct gpu_bpf *skeleton, u64 hits[HITS])
{
	int cpus = libbpf_num_possible_cpus();
	struct gpu_count *count = cpus > 0 ? calloc((size_t)cpus, sizeof(*count)) : NULL;

	for (u32 driver = 0; count && driver < GPU_DRIVERS; driver++) {
		if (bpf_map__lookup_elem(skeleton->maps.counts, &driver, sizeof(driver), count,
					 (size_t)cpus * sizeof(*count), 0))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++) {
			hits[HIT_GPU_SUBMITS] += count[cpu].submits;
			hits[HIT_GPU_OTHERS] += count[cpu].others;
		}
	}
	free(count);
}

static void gpu_hits(const void *data, u64 hits[HITS])
{
	const struct gpu_state *state = data;

	for (int part = 0; part < PARTS; part++)
		if (state->parts[part].skeleton)
			add_counts(state->parts[part].skeleton, hits);
}

static u64 gpu_lost(const void *data)
{
	const struct gpu_state *state = data;
	u64 lost = state->minors_refused;

	for (int part = 0; part < PARTS; part++)
		if (state->parts[part].skeleton)
			lost += state->parts[part].skeleton->bss->unread +
				state->parts[part].skeleton->bss->unmatched_returns +
				state->parts[part].skeleton->bss->submitters_refused +
				sensor_recursion_misses(state->parts[part].skeleton->obj);
	return lost;
}

static const char *gpu_hook_name(const void *data)
{
	static char text[PARTS * sizeof(((struct gpu_hooked *)0)->name)];
	const struct gpu_state *state = data;
	size_t used = 0;

	for (int part = 0; part < PARTS; part++)
		if (state->parts[part].link)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
						 state->parts[part].name);
	return used ? text : SENSOR_WAITS;
}

const struct sensor_kind gpu_kind = {
	.name = "gpu",
	.subject = "threads that submit to the GPU",
	.hooks = hooks,
	.open = gpu_open,
	.attach = gpu_attach,
	.close = gpu_close,
	.hook_name = gpu_hook_name,
	.groups = EVENTS_ROLES | EVENTS_GPU,
	.fd = gpu_fd,
	.work = gpu_work,
	.lost = gpu_lost,
	.hits = gpu_hits,
};
