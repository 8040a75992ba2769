// SPDX-License-Identifier: GPL-2.0
/* Loads bpf/sched.bpf.c, makes its rings, opens and closes its window, takes over the accounts it kept.
 * Open -> configure -> load -> attach, as for every sensor. */
#include "sched.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/system.h"
#include "cpus.h"
#include "interrupts.h"
#include "kernel_types.h"
#include "sched_programs.h"
#include "sched_rows.h"
#include "sensor_set.h"
#include "sched.skel.h"

enum sched_hook { HOOK_TP_BTF, HOOK_TRACEPOINT };

enum {
	ALL_RINGS_BYTES = 4 << 20,
	LEAST_RING_BYTES = 64 << 10,
	LOOKS_AT_RING = 16, /* as in bpf/ring.h */
	SUMS_ENDED_BYTES = 1 << 20,
	ENDING_WAIT_MS = 200,
	LEAVING_WAIT_MS = 10
};

struct sched_state {
	void *cpus_only; /* the fallback's, where threads can't be watched */
	struct sched_bpf *skeleton;
	struct sched_cpu *cpus; /* the kernel half's, mapped */
	u32 cpus_len;
	int *ring_fds;
	struct ring_buffer *ended;
	struct threads *threads; /* that take over the accounts of ended ones */
	u64 rows_lost;
};

static const struct sensor_hook hooks[] = {
	[HOOK_TP_BTF] = { "tp_btf/sched_switch", NULL, probe_btf },
	[HOOK_TRACEPOINT] = { "tracepoint/sched/sched_switch", "only 'tactus cpus' works, and each switch costs more",
			      probe_tracefs },
	{ 0 },
};

static u32 power_of_two_at_most(u32 value)
{
	u32 power = 1;

	while (power <= value / 2)
		power *= 2;
	return power;
}

static u32 ring_bytes(const struct sched_settings *settings)
{
	u32 share = ALL_RINGS_BYTES / settings->cpus_len, page = (u32)sysconf(_SC_PAGESIZE);

	/* Kernels of arm64 may have pages of 64 KB, and a ring has whole ones. */
	if (settings->ring_bytes)
		return settings->ring_bytes < page ? page : settings->ring_bytes;
	return share < LEAST_RING_BYTES ? LEAST_RING_BYTES : power_of_two_at_most(share);
}

static int set_filter(struct sched_config *config, const struct sched_settings *settings, struct reason *why)
{
	const struct filter *filter = &settings->filter;

	config->command_pid = settings->command_pid;
	config->filter |= (settings->command_pid ? FILTER_COMMAND : 0) | (filter->pids_len ? FILTER_PID : 0) |
			  (filter->comms_len ? FILTER_COMM : 0);
	config->pids_len = filter->pids_len;
	memcpy(config->pids, filter->pids, sizeof(config->pids));
	for (config->comms_len = 0; config->comms_len < filter->comms_len; config->comms_len++)
		name_pattern_make(&config->comms[config->comms_len], filter->comms[config->comms_len]);
	if (filter->has_cpus) {
		config->filter |= FILTER_CPUS;
		memcpy(config->cpus, filter->cpus, sizeof(config->cpus));
	}
	if (!filter->cgroups_len)
		return 0;
	config->filter |= FILTER_CGROUP;
	return sched_find_cgroups(filter, config, why);
}

/* Where the kernel does not say whether it is in an interrupt, wake-ups have a waker and no more; where it does not
 * report CPUs that go, moves away from them look like any other. */
static void set_optional(struct sched_bpf *skeleton, bool follows, bool counts_at_waking, bool keeps_roles,
			 const struct load_attempt *attempt)
{
	bool sees_interrupts = interrupts_are_seen() && !load_lacks_what(attempt, SCHED_LOSS_INTERRUPTS);

	if (follows && interrupts_are_not_described())
		load_left_out("on_sched_waking", sched_optional, INTERRUPTS_NOT_DESCRIBED);
	bpf_program__set_autoload(skeleton->progs.on_sched_waking, follows && sees_interrupts);
	bpf_program__set_autoload(skeleton->progs.on_sched_waking_blind, follows && !sees_interrupts);
	bpf_program__set_autoload(skeleton->progs.on_sched_switch, follows);
	bpf_program__set_autoload(skeleton->progs.on_sched_wakeup, follows && !counts_at_waking);
	bpf_program__set_autoload(skeleton->progs.on_sched_wakeup_new, follows);
	bpf_program__set_autoload(skeleton->progs.on_sched_migrate_task, follows);
	bpf_program__set_autoload(skeleton->progs.assign, keeps_roles);
	bpf_program__set_autoload(skeleton->progs.dump_roles, keeps_roles);
	bpf_program__set_autoload(skeleton->progs.take_waits, keeps_roles);
	bpf_program__set_autoload(skeleton->progs.ease, keeps_roles);
	if (!kernel_has_tracepoint("cpuhp_enter"))
		bpf_program__set_autoload(skeleton->progs.on_cpuhp_enter, false);
}

struct wishes {
	struct sched_state *state;
	const struct sched_settings *settings;
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct sched_settings *settings = wishes->settings;
	struct sched_state *state = wishes->state;
	struct sched_bpf *skeleton = opened;
	bool follows = !settings->no_sched_hooks || settings->filter.cgroups_len;
	struct sched_config config = {
		.cpus_len = state->cpus_len,
		.account = !follows							? 0
			   : settings->account						? ACCOUNT_HAND_OVER
			   : settings->role_wakeups || (settings->groups & EVENTS_CUDA) ? ACCOUNT_KEEP
											: 0,
		.emit = settings->groups | (settings->role_wakeups ? EVENTS_ROLES : 0),
		.look_bytes = ring_bytes(settings) / LOOKS_AT_RING,
		.prompt_kinds = settings->prompt ? event_rare_kinds() : 0,
		.prompt_urgency = settings->prompt_urgency,
		.raise = settings->raise,
		.role_wakeups = settings->role_wakeups,
	};
	u32 topology = settings->cpus_len < SCHED_CPUS_MAX ? settings->cpus_len : SCHED_CPUS_MAX;
	int error = set_filter(&config, settings, why);

	if (error)
		return error;
	config.counts_cpus = settings->counts_cpus || settings->keeps_sums;
	config.keeps_sums = settings->keeps_sums;
	config.no_paths = !load_may_read_memory();
	/* Who reads single wake-ups, or exact accounts, wants to know when they arrived. */
	config.counts_at_waking = follows && config.account == ACCOUNT_KEEP && !(config.emit & ~EVENTS_ROLES) &&
				  !(config.filter & FILTER_CPUS) && !load_lacks(attempt, "on_sched_waking_blind");
	memcpy((void *)&skeleton->rodata_config->config, &config, sizeof(config));
	if (settings->topology)
		memcpy((void *)skeleton->rodata->topology, settings->topology, topology * sizeof(*settings->topology));
	set_optional(skeleton, follows, config.counts_at_waking, config.role_wakeups != 0, attempt);
	bpf_program__set_autoload(skeleton->progs.take_sums, config.keeps_sums);
	if (config.keeps_sums)
		bpf_map__set_max_entries(skeleton->maps.sums_ended, SUMS_ENDED_BYTES);
	error = bpf_map__set_value_size(skeleton->maps.data_cpus, state->cpus_len * (u32)sizeof(struct sched_cpu));
	return error ? error : bpf_map__set_max_entries(skeleton->maps.rings, state->cpus_len);
}

static int make_rings(struct sched_state *state, u32 bytes)
{
	int rings_fd = bpf_map__fd(state->skeleton->maps.rings), error = 0;
	u32 *cpus = calloc(state->cpus_len, sizeof(*cpus)), len = state->cpus_len;

	state->ring_fds = calloc(state->cpus_len, sizeof(int));
	if (!state->ring_fds || !cpus)
		error = -ENOMEM;
	for (u32 cpu = 0; !error && cpu < state->cpus_len; cpu++) {
		cpus[cpu] = cpu;
		state->ring_fds[cpu] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tactus_ring", 0, 0, bytes, NULL);
		error = state->ring_fds[cpu] < 0 ? state->ring_fds[cpu] : 0;
	}
	/* All at once, since the kernel waits after each for as long as a program may run. */
	if (!error && bpf_map_update_batch(rings_fd, cpus, state->ring_fds, &len, NULL))
		for (u32 cpu = 0; !error && cpu < state->cpus_len; cpu++)
			error = bpf_map_update_elem(rings_fd, &cpu, &state->ring_fds[cpu], 0);
	free(cpus);
	return error;
}

static int add_thread(void *data, const void *bytes)
{
	const struct thread_row *row = bytes;
	struct threads *threads = data;
	struct thread *thread;

	if (!thread_was_active(&row->account))
		return 0;
	thread = threads_meet(threads, row->tid, row->start_ns);
	if (!thread)
		return -ENOMEM;
	thread->pid = row->pid;
	thread->parent_tid = row->parent_tid;
	thread->comm = row->comm;
	thread->ended = row->ended;
	thread->account = row->account;
	return 0;
}

static int take_ended(void *context, void *data, size_t size)
{
	struct sched_state *state = context;

	(void)size;
	if (!state->threads || add_thread(state->threads, data))
		state->rows_lost++;
	return 0;
}

LOADABLE(sched);

static int open_full(struct sched_state *state, const struct sched_settings *settings, struct reason *why)
{
	struct wishes wishes = { state, settings };
	const struct load_plan plan = { &sched_loadable, sched_optional, configure, &wishes };
	size_t size;
	int error;

	state->skeleton = load_programs(&plan, &error, why);
	if (!error && settings->role_wakeups && state->skeleton->rodata_config->config.no_paths)
		load_note_absent("learn_find_exe", sched_optional, -EPERM);
	if (!error && (settings->groups || settings->role_wakeups))
		error = make_rings(state, ring_bytes(settings));
	if (error)
		return error;
	state->cpus = bpf_map__initial_value(state->skeleton->maps.data_cpus, &size);
	state->ended = ring_buffer__new(bpf_map__fd(state->skeleton->maps.ended), take_ended, state, NULL);
	return state->cpus && state->ended ? 0 : -ENOMEM;
}

static int sched_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	/* Where it is only tried, all that any view asks for. */
	static const struct sched_settings trial = { .account = true,
						     .groups = EVENTS_SCHED,
						     .role_wakeups = ROLE_WAKEUPS_DEFAULT,
						     .keeps_sums = true,
						     .cpus_len = 1 };
	struct sched_state *state = calloc(1, sizeof(*state));

	*out = state;
	if (!state)
		return -ENOMEM;
	state->cpus_len = possible_cpus();
	if (hook == HOOK_TP_BTF)
		return open_full(state, settings ? settings->for_sched : &trial, why);
	if (settings) {
		reason_set(why, "it reports CPUs, not threads");
		return -ENOTSUP;
	}
	return cpus_kind.open(&state->cpus_only, hook, NULL, why);
}

static size_t one_byte(const void *row, size_t held)
{
	(void)row;
	return held ? 1 : 0;
}

static size_t thread_row_bytes(const void *row, size_t held)
{
	(void)row;
	(void)held;
	return sizeof(struct thread_row);
}

static int sched_attach(void *data, int hook, struct reason *why)
{
	struct row_reader nothing = { .row_bytes = one_byte };
	struct sched_state *state = data;
	struct sched_bpf *skeleton;
	int error;

	if (hook == HOOK_TRACEPOINT)
		return cpus_kind.attach(state->cpus_only, hook, why);
	skeleton = state->skeleton;
	/* These are not hooks: they are run by name. */
	bpf_program__set_autoattach(skeleton->progs.snapshot_cpu, false);
	bpf_program__set_autoattach(skeleton->progs.prepare, false);
	bpf_program__set_autoattach(skeleton->progs.dump, false);
	bpf_program__set_autoattach(skeleton->progs.assign, false);
	bpf_program__set_autoattach(skeleton->progs.dump_roles, false);
	bpf_program__set_autoattach(skeleton->progs.take_waits, false);
	bpf_program__set_autoattach(skeleton->progs.ease, false);
	bpf_program__set_autoattach(skeleton->progs.take_sums, false);
	error = load_attach(skeleton, sched_optional);
	return error ? error : run_iterator(skeleton->progs.prepare, 0, &nothing);
}

static void sched_close(void *data)
{
	struct sched_state *state = data;

	if (!state)
		return;
	if (state->cpus_only)
		cpus_kind.close(state->cpus_only);
	ring_buffer__free(state->ended);
	sched_bpf__destroy(state->skeleton);
	for (u32 cpu = 0; state->ring_fds && cpu < state->cpus_len; cpu++)
		if (state->ring_fds[cpu] > 0)
			close(state->ring_fds[cpu]);
	free(state->ring_fds);
	free(state);
}

const struct sensor_kind sched_kind = {
	.name = "sched",
	.subject = "context switches, wake-ups, moves",
	.hooks = hooks,
	.open = sched_open,
	.attach = sched_attach,
	.close = sched_close,
};

/* Runs the kernel half's snapshot_cpu on every CPU. One that is offline has nothing to snapshot. */
static int snapshot_cpus(struct sched_state *state, u64 question)
{
	int snapshot_fd = bpf_program__fd(state->skeleton->progs.snapshot_cpu);

	for (u32 cpu = 0; cpu < state->cpus_len; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu, .ctx_in = &question,
			    .ctx_size_in = sizeof(question));
		int error = bpf_prog_test_run_opts(snapshot_fd, &options);

		if (error && error != -ENXIO)
			return error;
		if (error && question == SNAPSHOT_OPEN)
			state->cpus[cpu].goes = 1;
	}
	return 0;
}

int sched_open_window(struct sensor *sensor)
{
	struct sched_state *state = sensor->data;
	int error = snapshot_cpus(state, SNAPSHOT_OPEN);

	__atomic_store_n(&state->skeleton->bss->window, WINDOW_OPEN, __ATOMIC_RELEASE);
	return error;
}

int sched_close_window(struct sensor *sensor)
{
	struct sched_state *state = sensor->data;

	__atomic_store_n(&state->skeleton->bss->window, WINDOW_CLOSED, __ATOMIC_RELEASE);
	return snapshot_cpus(state, SNAPSHOT_CLOSE);
}

void sched_await_command(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;
	const volatile struct sched_bpf__bss *now = state->skeleton->bss;
	struct timespec step = { .tv_nsec = NSEC_PER_MSEC };

	/* What a command leaves behind in the background is not waited for, but threads that are on their way out. */
	for (int left_ms = ENDING_WAIT_MS; left_ms > 0 && now->command_threads > 0; left_ms--) {
		if (now->command_has_left && left_ms > LEAVING_WAIT_MS)
			left_ms = LEAVING_WAIT_MS;
		nanosleep(&step, NULL);
	}
}

void sched_collect_ended(struct sensor *sensor, struct threads *threads)
{
	struct sched_state *state = sensor->data;

	state->threads = threads;
	ring_buffer__consume(state->ended);
}

int sched_ended_fd(const struct sensor *sensor)
{
	return ring_buffer__epoll_fd(((const struct sched_state *)sensor->data)->ended);
}

/* Threads that are neither met by the iterator nor seen at their last switch. */
static bool threads_ending(const struct sched_state *state)
{
	const volatile struct sched_bpf__bss *counts = state->skeleton->bss;

	return counts->threads_made > counts->threads_ended + counts->threads_met;
}

int sched_read_threads(struct sensor *sensor, struct threads *threads)
{
	struct timespec step = { .tv_nsec = NSEC_PER_MSEC };
	struct row_reader rows = { thread_row_bytes, add_thread, threads };
	struct sched_state *state = sensor->data;
	int error;

	sched_collect_ended(sensor, threads);
	error = run_iterator(state->skeleton->progs.dump, 0, &rows);
	/* Threads that ended while the others were read, or are just about to. */
	for (int waited_ms = 0; waited_ms < ENDING_WAIT_MS && threads_ending(state); waited_ms++)
		nanosleep(&step, NULL);
	sched_collect_ended(sensor, threads);
	return error;
}

struct sched_losses sched_losses(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;
	struct sched_losses losses = { 0 };

	for (u32 cpu = 0; cpu < state->cpus_len; cpu++) {
		losses.unseen_switches += state->cpus[cpu].unseen_switches;
		losses.unreached += state->cpus[cpu].unreached;
		losses.events += state->cpus[cpu].lost;
		for (u32 kind = 0; kind < EVENT_KINDS; kind++)
			losses.of_kind[kind] += state->cpus[cpu].lost_kinds[kind];
	}
	losses.threads = state->skeleton->bss->refused + state->skeleton->bss->ended_lost + state->rows_lost;
	return losses;
}

int sched_read_tally(const struct sensor *sensor, struct sched_tally *tally)
{
	const struct sched_state *state = sensor->data;
	int cpus_len = libbpf_num_possible_cpus(), error = 0;
	struct sched_tally *each = cpus_len > 0 ? calloc((size_t)cpus_len, sizeof(*each)) : NULL;
	u32 zero = 0;

	memset(tally, 0, sizeof(*tally));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(state->skeleton->maps.tallies), &zero, each))
		error = -errno;
	for (int cpu = 0; !error && cpu < cpus_len; cpu++)
		tally_merge(tally, &each[cpu]);
	free(each);
	return error;
}

void sched_read_cpus(const struct sensor *sensor, u64 now_ns, struct cpu_account *sum)
{
	const struct sched_state *state = sensor->data;

	memset(sum, 0, sizeof(*sum));
	for (u32 i = 0; i < state->cpus_len; i++) {
		const volatile struct sched_cpu *cpu = &state->cpus[i];
		u64 turned_ns = cpu->turned_ns,
		    since_ns = turned_ns && !cpu->goes ? span_between(turned_ns, now_ns) : 0;

		sum->switches += cpu->switches;
		sum->lost += cpu->unseen_switches;
		sum->busy_ns += cpu->busy_ns + (cpu->is_idle ? 0 : since_ns);
		sum->idle_ns += cpu->idle_ns + (cpu->is_idle ? since_ns : 0);
	}
}

const int *sched_ring_fds(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;

	return state->ring_fds;
}

const struct sched_cpu *sched_cpus(const struct sensor *sensor, u32 *len)
{
	const struct sched_state *state = sensor->data;

	*len = state->cpus_len;
	return state->cpus;
}

/* The role and the thread before it, as events. */
static size_t role_row_bytes(const void *row, size_t held)
{
	const struct event_header *event = row;

	if (held < sizeof(*event))
		return 0;
	return event->kind == EVENT_ROLE ? sizeof(struct event_role) : sizeof(struct event_thread);
}

int sched_read_roles(struct sensor *sensor, u32 pid, int (*take)(void *data, const void *event), void *data)
{
	struct row_reader rows = { role_row_bytes, take, data };
	struct sched_state *state = sensor->data;

	return run_iterator(state->skeleton->progs.dump_roles, pid, &rows);
}

static size_t wait_row_bytes(const void *row, size_t held)
{
	(void)row;
	(void)held;
	return sizeof(struct wait_row);
}

int sched_take_waits(struct sensor *sensor, int (*take)(void *data, const void *row), void *data)
{
	struct row_reader rows = { wait_row_bytes, take, data };
	struct sched_state *state = sensor->data;

	return run_iterator(state->skeleton->progs.take_waits, 0, &rows);
}

int sched_ease(struct sensor *sensor, u32 pid, u64 until_ns)
{
	struct row_reader nothing = { .row_bytes = one_byte };
	struct sched_state *state = sensor->data;

	state->skeleton->bss->ease_until_ns = until_ns;
	return run_iterator(state->skeleton->progs.ease, pid, &nothing);
}

int sched_assign(struct sensor *sensor, u32 pid, u32 tid, enum role_order_what what, s32 value)
{
	struct row_reader nothing = { .row_bytes = one_byte };
	struct sched_state *state = sensor->data;
	volatile struct role_order *order = &state->skeleton->bss->order;
	int error;

	order->what = what;
	order->tid = tid;
	order->value = value;
	order->applied = 0;
	error = run_iterator(state->skeleton->progs.assign, pid, &nothing);
	/* A process that has ended meanwhile has no threads. */
	return error == -ESRCH ? 0 : error ? error : (int)order->applied;
}

int sched_map_fd(const struct sensor *sensor, const char *name)
{
	const struct sched_state *state = sensor->data;

	return bpf_object__find_map_fd_by_name(state->skeleton->obj, name);
}

struct bpf_object *sched_object(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;

	return state->skeleton->obj;
}

const struct btf *sched_types(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;

	return bpf_object__btf(state->skeleton->obj);
}

void sched_set_learning(struct sensor *sensor, u32 flags)
{
	struct sched_state *state = sensor->data;

	/* What is kept of kinds of threads is found by their program's path. */
	if (!state->skeleton->rodata_config->config.no_paths)
		__atomic_store_n(&state->skeleton->bss->learning, flags, __ATOMIC_RELEASE);
}

struct sched_learned sched_learned(const struct sensor *sensor)
{
	const struct sched_state *state = sensor->data;
	const struct sched_bpf__bss *counts = state->skeleton->bss;
	struct sched_learned learned = { counts->learn_looks, counts->learn_found, counts->learn_notes,
					 counts->learn_refused + counts->learn_updates_lost };

	return learned;
}

u32 sched_emits(const struct sensor *sensor)
{
	const struct sched_state *state = sensor ? sensor->data : NULL;

	return state ? state->skeleton->rodata_config->config.emit : ~0u;
}

int sched_share(const struct sensor *sensor, struct bpf_object *object)
{
	static const char *const shared[] = {
		"threads", "rings", "names", ".data.cpus", ".data.near", ".rodata.config"
	};
	const struct sched_state *state = sensor ? sensor->data : NULL;

	for (size_t i = 0; state && i < sizeof(shared) / sizeof(shared[0]); i++) {
		struct bpf_map *ours = bpf_object__find_map_by_name(state->skeleton->obj, shared[i]);
		struct bpf_map *theirs = bpf_object__find_map_by_name(object, shared[i]);
		int error;

		if (!ours || !theirs)
			continue;
		/* The object's own view of it must be as large before it is mapped over. */
		error = bpf_map__value_size(theirs) != bpf_map__value_size(ours)
				? bpf_map__set_value_size(theirs, bpf_map__value_size(ours))
				: 0;
		if (!error)
			error = bpf_map__reuse_fd(theirs, bpf_map__fd(ours));
		if (error)
			return error;
	}
	return 0;
}
