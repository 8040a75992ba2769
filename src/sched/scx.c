// SPDX-License-Identifier: GPL-2.0
/* Loads the scheduler, attaches it through a link, reads its counters and its last words.
 * Everything that decides is in bpf/scx.bpf.c and core/tier.h. */
#include "scx.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/system.h"
#include "../base/topology.h"
#include "../sensor/interrupts.h"
#include "../sensor/sched.h"
#include "../sensor/sensor.h"
#include "scx.skel.h"
#include "scx_kernel.h"
#include "scx_places.h"

enum { EXIT_INFO_WAIT_MS = 1000 };

struct scx {
	struct scx_bpf *skeleton;
	struct bpf_link *link;
	struct bpf_link *locks; /* where lock holders are found; NULL: they are not */
	bool is_held;		/* loaded, but not in charge for now */
	long held_online;	/* CPUs that were online when it was held */
	int cpus;
	struct load_losses losses;
};

LOADABLE(scx);

/* Each of these has one beside it that does not ask, or is what they ask for. */
#define LOSS_INTERRUPTS "whether a thread or an interrupt wakes another is guessed"
static const struct load_optional optional[] = {
	{ "tactus_select_cpu", LOSS_INTERRUPTS },
	{ "tactus_enqueue", LOSS_INTERRUPTS },
	{ "__preempt_count", LOSS_INTERRUPTS },
	{ "pcpu_hot", LOSS_INTERRUPTS },
	{ "tactus_futex_wait", "who holds a lock that an urgent thread waits for may wait behind others" },
	{ "turn_timers", "turns end with the tick, up to 4 ms late" },
	{ NULL, NULL },
};

static int refuse(struct reason *why, int error)
{
	struct sched_ext_state state = sched_ext_state();

	if (why->text[0])
		return error;
	if (error == -EBUSY && state.loaded[0])
		reason_set(why, "another sched_ext scheduler is in charge: %s", state.loaded);
	else
		sensor_explain(why, error);
	return error;
}

static void leave_out(struct bpf_program **operation)
{
	bpf_program__set_autoload(*operation, false);
	*operation = NULL;
}

/* Two operations ask whether they are in an interrupt: others stand in for both. */
static void do_without_interrupts(struct scx_bpf *skeleton)
{
	bpf_program__set_autoload(skeleton->progs.tactus_select_cpu, false);
	bpf_program__set_autoload(skeleton->progs.tactus_select_cpu_plain, true);
	skeleton->struct_ops.tactus_ops->select_cpu = skeleton->progs.tactus_select_cpu_plain;
	bpf_program__set_autoload(skeleton->progs.tactus_enqueue, false);
	bpf_program__set_autoload(skeleton->progs.tactus_enqueue_plain, true);
	skeleton->struct_ops.tactus_ops->enqueue = skeleton->progs.tactus_enqueue_plain;
}

static int configure(struct scx_bpf *skeleton, const struct scx_settings *settings, const struct btf *btf,
		     struct reason *why)
{
	struct scx_config config = { .slice_ns = settings->slice_ns ? settings->slice_ns : TIER_SLICE_NS,
				     .light_ns = settings->light_ns ? settings->light_ns : TIER_LIGHT_NS,
				     .credit = settings->credit ? settings->credit : TIER_URGENT_CREDIT,
				     .discount = settings->discount ? settings->discount : TIER_URGENT_DISCOUNT,
				     .kernel = scx_kernel_release(),
				     .cpus_len = settings->cpus_len < SCX_CPUS_MAX ? settings->cpus_len
										   : SCX_CPUS_MAX };
	/* Without this flag 6.12 takes control groups' weights for ignored and warns. */
	u64 flags = scx_kernel_value(btf, "scx_ops_flags", "SCX_OPS_HAS_CGROUP_WEIGHT");
	u64 partial = settings->is_partial ? scx_kernel_value(btf, "scx_ops_flags", "SCX_OPS_SWITCH_PARTIAL") : 0;
	u64 held;

	if (settings->is_partial && !partial) {
		reason_set(why, "this kernel's sched_ext cannot take only a part of the threads");
		return -EOPNOTSUPP;
	}
	config.has_quotas = scx_kernel_has_quotas(btf, config.kernel);
	config.at_once = scx_kernel_value(btf, "scx_enq_flags", "SCX_ENQ_IMMED");
	config.again = scx_kernel_value(btf, "scx_enq_flags", "SCX_ENQ_REENQ");
	/* Whoever runs when cpu_release does is held by that program: the kernel would not enqueue it again. */
	held = config.at_once ? 0 : scx_kernel_value(btf, "scx_ops_flags", "SCX_OPS_ENQ_MIGRATION_DISABLED");
	config.sees_held = held != 0;
	config.power = settings->power;
	config.own_pid = (u32)getpid();
	config.refuses_timers = sensor_hook_is_skipped("scheduler", "turn_timers");
	scx_places_fill(&config, settings->topology, SYSFS_ROOT);
	memcpy((void *)&skeleton->rodata->settings, &config, sizeof(config));
	flags |= partial | held;
	if (config.at_once)
		leave_out(&skeleton->struct_ops.tactus_ops->cpu_release);
	if (config.has_quotas) {
		flags |= scx_kernel_value(btf, "scx_ops_flags", "SCX_OPS_ENQ_LAST");
	} else {
		leave_out(&skeleton->struct_ops.tactus_ops->cgroup_set_bandwidth);
	}
	skeleton->struct_ops.tactus_ops->flags = flags;
	return scx_kernel_fit(btf, skeleton->obj, skeleton->struct_ops.tactus_ops, why);
}

/* Everything up to the load depends on what the running kernel knows. */
static int prepare(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct scx_settings *settings = data;
	struct scx_bpf *skeleton = opened;
	struct btf *btf = btf__load_vmlinux_btf();
	int error = btf ? scx_kernel_suffices(btf, why) : -errno;

	skeleton->struct_ops.tactus_ops = bpf_map__initial_value(skeleton->maps.tactus_ops, NULL);
	if (!error)
		error = sched_share(settings->sched, skeleton->obj);
	if (!error && (!interrupts_are_seen() || load_lacks_what(attempt, LOSS_INTERRUPTS)))
		do_without_interrupts(skeleton);
	if (!error && interrupts_are_not_described())
		load_left_out("tactus_enqueue", optional, INTERRUPTS_NOT_DESCRIBED);
	if (!error)
		error = configure(skeleton, settings, btf, why);
	btf__free(btf);
	return error;
}

/* One that is not there costs nothing else. */
static void attach_locks(struct scx *scx)
{
	struct bpf_program *program = scx->skeleton->progs.tactus_futex_wait;

	if (!bpf_program__autoload(program) || sensor_hook_is_skipped("scheduler", "locks"))
		return;
	scx->locks = bpf_program__attach(program);
	if (!scx->locks)
		load_note_absent("tactus_futex_wait", optional, -errno);
}

static int attach(struct scx *scx)
{
	scx->link = bpf_map__attach_struct_ops(scx->skeleton->maps.tactus_ops);
	if (!scx->link)
		return -errno;
	if (scx->skeleton->bss->untimed_cpus)
		load_note_absent("turn_timers", optional, scx->skeleton->bss->untimed_error);
	return 0;
}

int scx_start(struct scx **out, const struct scx_settings *settings, struct reason *why)
{
	const struct load_plan plan = { &scx_loadable, optional, prepare, (void *)settings };
	struct scx *scx = calloc(1, sizeof(*scx));
	int error;

	*out = NULL;
	why->text[0] = 0;
	load_log_clear();
	if (!scx)
		return refuse(why, -ENOMEM);
	scx->cpus = libbpf_num_possible_cpus();
	error = scx->cpus < 0 ? scx->cpus : 0;
	if (!error) {
		load_collect("scheduler", &scx->losses);
		scx->skeleton = load_programs(&plan, &error, why);
	}
	if (!error && !settings->is_trial) {
		attach_locks(scx);
		error = attach(scx);
	}
	load_collect(NULL, NULL);
	if (error) {
		refuse(why, error);
		bpf_link__destroy(scx->locks);
		scx_bpf__destroy(scx->skeleton);
		free(scx);
		return error;
	}
	*out = scx;
	return 0;
}

const struct load_losses *scx_losses(const struct scx *scx)
{
	return &scx->losses;
}

int scx_try(struct load_losses *losses, struct reason *why)
{
	static const struct cpu_topology somewhere;
	const struct scx_settings settings = { .topology = &somewhere, .cpus_len = 1, .is_trial = true };
	struct scx *scx;
	int error = scx_start(&scx, &settings, why);

	if (error)
		return error;
	*losses = scx->losses;
	scx_bpf__destroy(scx->skeleton);
	free(scx);
	return 0;
}

bool scx_keeps_quotas(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool keeps = btf && scx_kernel_has_quotas(btf, scx_kernel_release());

	btf__free(btf);
	return keeps;
}

bool scx_is_out(const struct scx *scx)
{
	return !scx->is_held && __atomic_load_n(&scx->skeleton->bss->exit_info.kind, __ATOMIC_ACQUIRE) != 0;
}

u64 scx_groups_refused(const struct scx *scx)
{
	return scx->skeleton->bss->groups_refused;
}

u32 scx_untimed_cpus(const struct scx *scx)
{
	return scx->skeleton->bss->untimed_cpus;
}

void scx_read_counters(const struct scx *scx, u64 counters[SCX_COUNTERS])
{
	int map_fd = bpf_map__fd(scx->skeleton->maps.counters);
	u64 values[scx->cpus];

	for (u32 which = 0; which < SCX_COUNTERS; which++) {
		counters[which] = 0;
		if (bpf_map_lookup_elem(map_fd, &which, values))
			continue;
		for (int cpu = 0; cpu < scx->cpus; cpu++)
			counters[which] += values[cpu];
	}
}

/* The kernel takes a scheduler out beside the call that asked for it. */
static void take_out(struct scx *scx)
{
	struct timespec step = { .tv_nsec = NSEC_PER_MSEC };

	bpf_link__destroy(scx->link);
	scx->link = NULL;
	for (int waited_ms = 0; waited_ms < EXIT_INFO_WAIT_MS && !scx_is_out(scx); waited_ms++)
		nanosleep(&step, NULL);
}

static int hold_out(struct scx *scx)
{
	/* Somebody else put it out: that is not ours to undo. */
	if (scx_is_out(scx))
		return -ECANCELED;
	take_out(scx);
	/* It failed at that very moment: who looks next finds it out, with the reason. */
	if (scx->skeleton->bss->exit_info.kind >= SCX_KIND_ERROR)
		return -ECANCELED;
	scx->is_held = true;
	scx->held_online = sysconf(_SC_NPROCESSORS_ONLN);
	return 0;
}

static int put_in(struct scx *scx)
{
	/* What shares a cache is fixed at the load. */
	if (scx->held_online != sysconf(_SC_NPROCESSORS_ONLN))
		return -ESTALE;
	memset(&scx->skeleton->bss->exit_info, 0, sizeof(scx->skeleton->bss->exit_info));
	scx->link = bpf_map__attach_struct_ops(scx->skeleton->maps.tactus_ops);
	if (!scx->link)
		return -errno;
	scx->is_held = false;
	return 0;
}

int scx_hold(struct scx *scx, enum scx_standing standing)
{
	__atomic_store_n(&scx->skeleton->bss->is_neutral, standing == SCX_NEUTRAL, __ATOMIC_RELEASE);
	if (scx->is_held == (standing == SCX_OUT))
		return 0;
	return standing == SCX_OUT ? hold_out(scx) : put_in(scx);
}

enum scx_standing scx_standing(const struct scx *scx)
{
	return scx->is_held ? SCX_OUT : scx->skeleton->bss->is_neutral ? SCX_NEUTRAL : SCX_ACTS;
}

void scx_stop(struct scx *scx, struct scx_exit_record *last)
{
	scx->is_held = false;
	take_out(scx);
	*last = scx->skeleton->bss->exit_info;
	bpf_link__destroy(scx->locks);
	scx_bpf__destroy(scx->skeleton);
	free(scx);
}
