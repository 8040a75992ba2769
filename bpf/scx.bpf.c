// SPDX-License-Identifier: GPL-2.0
/* The scheduler: urgent threads run first when they wake, and each thread gets the share of its weight.
 *
 * There is a dispatch queue for each last-level cache, ordered by virtual deadlines (core/tier.h), and one for each CPU
 * with the threads that may run nowhere else. Each queue has a clock: the vtime of the thread that started last. A
 * thread is enqueued at its own vtime, which grows by its CPU time divided by its weight. A sleep gives it credit, an
 * urgent thread more, so that it runs first when it wakes. An urgent thread is charged an eighth of its CPU time: a
 * batch thread gets at least an eighth of an urgent one's share. An urgent thread that hardly sleeps pays that back and
 * loses the tier.
 *
 * An urgent thread that finds no idle CPU preempts a batch thread, and another urgent one only if it needs little
 * itself and that one has run for longer. The waker of an urgent thread inherits its urgency for a while, because that
 * one waited for it. What a thread is comes from its role, which the sensors keep with the thread; the decisions are
 * those of core/effective_tier.h and core/tier.h. */
#include "scx_cgroup_ops.h"
#include "scx_enqueue.h"
#include "scx_locks.h"
#include "scx_power.h"
#include "scx_running.h"
#include "scx_vtime.h"
#include "scx_wake.h"

char LICENSE[] SEC("license") = "GPL";

enum { ENOMEM = 12 };

/* Whether migration of the thread is disabled, where the kernel leaves that to the scheduler. A BPF program disables
 * migration of the thread it interrupts, and so does the one that had this thread enqueued again. */
static __always_inline bool is_held(struct task_struct *p, u64 enq_flags)
{
	u32 held = p->migration_disabled;

	if (!settings.sees_held)
		return false;
	if (p == bpf_get_current_task_btf())
		held -= 1 + ((enq_flags & settings.again) != 0);
	return (s32)held > 0;
}

/* A thread that may run on one CPU only, for now at least, or has migrated so often that it had better stay. */
static __always_inline bool stays_on_cpu(struct task_struct *p, struct task_ctx *thread, u64 enq_flags, u64 now_ns)
{
	if (settings.cpus_len == 1)
		return false;
	if (p->nr_cpus_allowed == 1 || is_held(p, enq_flags))
		return true;
	return move_rate_is_high(&thread->scx.move_rate, now_ns) &&
	       bpf_cpumask_test_cpu(p->thread_info.cpu, p->cpus_ptr);
}

/* An idle CPU takes the thread at once, by direct dispatch: it passes no queue, and the kernel does not call enqueue.
 */
static __always_inline s32 select_cpu(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool by_interrupt,
				      bool is_sure)
{
	struct task_ctx *thread;
	bool is_idle = false;
	s32 cpu = choose_cpu(p, prev_cpu, wake_flags, &is_idle);
	u64 now_ns, slice_ns = settings.slice_ns;
	u32 boost, tier;

	if (!is_idle)
		return cpu;
	run_on(cpu)->is_given = 1;
	count(SCX_COUNT_IDLE);
	thread = thread_of(p);
	if (thread) {
		now_ns = wake_flags & scx_value(scx_wake_flags, SCX_WAKE_TTWU)
				 ? on_wakeup(p, thread, by_interrupt, is_sure)
				 : bpf_ktime_get_ns();
		join_group(p, thread);
		tier = tier_of(p, thread, now_ns, &boost);
		join_queue(thread, cache_of(cpu), tier, true, 0);
		thread->scx.tier = tier;
		thread->scx.boost = boost;
		thread->scx.queued_at_ns = now_ns;
		slice_ns = slice_within_quota(thread, slice_ns, now_ns);
	}
	if (slice_ns)
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), slice_ns, settings.at_once);
	return cpu;
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(tactus_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_cpu(p, prev_cpu, wake_flags, in_interrupt(), true);
}

SEC("?struct_ops/select_cpu")
s32 BPF_PROG(tactus_select_cpu_plain, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_cpu(p, prev_cpu, wake_flags, seems_interrupted(p), false);
}

/* A CPU that has no other thread is about to go idle, whatever is in its local queue: it needs a kick. Where that can't
 * be had, dispatch has seen to it that nobody is left so, see goes_on. */
static __always_inline void insert_locally(struct task_struct *p, s32 cpu, u64 slice_ns, u64 enq_flags)
{
	dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), slice_ns, enq_flags);
	if (enq_flags & scx_value(scx_enq_flags, SCX_ENQ_LAST))
		kick(cpu, 0);
}

static __always_inline void enqueue(struct task_struct *p, u64 enq_flags, bool by_interrupt, bool is_sure)
{
	u64 wakeup = enq_flags & scx_value(scx_enq_flags, SCX_ENQ_WAKEUP);
	struct task_ctx *thread = thread_of(p);
	struct enqueue_plan plan = { 0 };
	s32 cpu = (s32)p->thread_info.cpu;
	u64 now_ns;

	count(SCX_COUNT_QUEUED);
	/* Valid for local dispatch queues alone. */
	enq_flags &= ~settings.at_once;
	if (!thread || is_bound(p, thread)) {
		if (thread)
			bound_joins(p, thread, cpu, wakeup != 0);
		insert_locally(p, cpu, settings.slice_ns, enq_flags | bound_flags(cpu, wakeup != 0));
		return;
	}
	now_ns = wakeup ? on_wakeup(p, thread, by_interrupt, is_sure) : bpf_ktime_get_ns();
	join_group(p, thread);
	plan.tier = tier_of(p, thread, now_ns, &plan.boost);
	plan.stay = stays_on_cpu(p, thread, enq_flags, now_ns);
	plan.queue = plan.stay ? queue_of_cpu(cpu) : cache_of(cpu);
	update_weight(p, thread, now_ns);
	join_queue(thread, plan.queue, plan.tier, wakeup, wakeup ? behind_ns(p, cpu) : 0);
	thread->scx.tier = plan.tier;
	thread->scx.boost = plan.boost;
	thread->scx.queued_at_ns = now_ns;
	plan.slice_ns = tier_slice_among_ns(plan.tier, settings.slice_ns, load_of(plan.queue)->per_cpu);
	plan.slice_ns = slice_within_quota(thread, plan.slice_ns, now_ns);
	if (!plan.slice_ns) {
		park(p, thread, enq_flags, now_ns);
		return;
	}
	if (enq_flags & scx_value(scx_enq_flags, SCX_ENQ_LAST)) {
		insert_locally(p, cpu, plan.slice_ns, enq_flags);
		return;
	}
	plan.owed = tier_is_owed(plan.tier, thread->scx.vtime, *clock_of(plan.queue), settings.slice_ns);
	if (tier_preempts_own_cpu(wakeup != 0, plan.owed, plan.tier, thread->scx.is_light) &&
	    can_preempt(thread, plan.tier, cpu, now_ns)) {
		note_preemption(p, thread, cpu, plan.boost, now_ns);
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), plan.slice_ns,
			   enq_flags | scx_value(scx_enq_flags, SCX_ENQ_PREEMPT));
		return;
	}
	if (!can_kick() && dispatch_directly(p, thread, &plan, enq_flags, now_ns))
		return;
	insert_and_kick(p, thread, &plan, enq_flags, now_ns);
}

SEC("struct_ops/enqueue")
void BPF_PROG(tactus_enqueue, struct task_struct *p, u64 enq_flags)
{
	enqueue(p, enq_flags, in_interrupt(), true);
}

SEC("?struct_ops/enqueue")
void BPF_PROG(tactus_enqueue_plain, struct task_struct *p, u64 enq_flags)
{
	enqueue(p, enq_flags, seems_interrupted(p), false);
}

/* The thread whose slice has ended goes on for another. False: its group has no quota left. */
static __noinline bool goes_on(struct task_struct *prev, s32 cpu)
{
	struct task_ctx *thread = thread_of(prev);
	u64 now_ns, slice_ns;

	if (!thread) {
		set_slice(prev, settings.slice_ns);
		return true;
	}
	now_ns = run_on(cpu)->looked_ns;
	slice_ns = tier_slice_among_ns(thread->scx.tier, settings.slice_ns, load_of(thread->scx.queue)->per_cpu);
	slice_ns = slice_within_quota(thread, slice_ns, now_ns);
	if (!slice_ns)
		return false;
	set_slice(prev, slice_ns);
	turn_begins(thread, cpu, now_ns);
	return true;
}

/* The thread whose slice has ended is in no queue yet: it keeps running if its deadline would still be the first. Not
 * with what credit it has left after a turn that a timer ended, see tier_turn_vtime. */
static __always_inline bool keeps_running(struct task_struct *prev, s32 cpu, s64 first)
{
	struct task_ctx *thread = thread_of(prev);
	u64 now_ns = bpf_ktime_get_ns(), deadline;
	u32 boost;

	if (!thread)
		return false;
	run_on(cpu)->looked_ns = now_ns;
	charge(prev, thread);
	run_on(cpu)->may_burn = thread->scx.may_burn || thread->scx.lock_until_ns > now_ns;
	thread->scx.tier = tier_of(prev, thread, now_ns, &boost);
	thread->scx.boost = boost;
	if (run_on(cpu)->turn_over == run_on(cpu)->turn)
		return false;
	deadline = tier_deadline(thread->scx.vtime, settings.slice_ns, thread->scx.effective_weight, boost);
	return tier_keeps_cpu(deadline, *clock_of(thread->scx.queue), first) && goes_on(prev, cpu);
}

/* The nearest caches first. */
static __always_inline bool steal(u32 shared)
{
	u32 tries;

	bpf_for(tries, 0, settings.caches_len - 1)
	{
		if (dsq_move_to_local(cache_to_steal_from(shared, tries))) {
			count(SCX_COUNT_STOLEN);
			return true;
		}
	}
	return false;
}

SEC("struct_ops/dispatch")
void BPF_PROG(tactus_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 own = queue_of_cpu(cpu), shared = cache_of(cpu);
	bool own_first = own_waits(own, cpu);
	bool prev_wants = prev && prev->scx.flags & scx_value(scx_ent_flags, SCX_TASK_QUEUED);
	s64 own_lag, shared_lag;

	run_on(cpu)->kicked = run_on(cpu)->is_given = 0;
	if (dispatch_any_holder(own, shared, cpu) || dispatch_any_late(own, shared, cpu))
		return;
	/* Peeking at the first thread of a queue costs more than dispatching it: only where there is another to compare
	 * with. */
	if (prev_wants || (own_first && scx_bpf_dsq_nr_queued(shared) > 0)) {
		shared_lag = first_lag(shared);
		follow_shared(cpu, shared, shared_lag != NO_LAG || !run_on(cpu)->is_own);
		own_lag = own_first ? first_lag(own) : NO_LAG;
		own_first = own_lag < shared_lag;
		if (prev_wants && keeps_running(prev, cpu, own_first ? own_lag : shared_lag))
			return;
	}
	if ((own_first && dsq_move_to_local(own)) || dsq_move_to_local(shared) ||
	    (own_waits(own, cpu) && dsq_move_to_local(own)))
		return;
	if (settings.caches_len > 1 && steal(shared))
		return;
	/* Those that wait may not run here. Where groups have quotas the kernel would leave the CPU idle beside the
	 * thread. */
	if (prev_wants && goes_on(prev, cpu))
		return;
	if (settings.ranks_cpus)
		run_on(cpu)->is_idle = 1;
}

/* The CPU of a running thread, which need not be this one: another one changes its nice value or its class. */
static __always_inline s32 cpu_of(const struct task_struct *p)
{
	return (s32)p->thread_info.cpu;
}

/* Slices are long: a thread that needs little and could not preempt would wait for all of each. */
SEC("struct_ops/tick")
void BPF_PROG(tactus_tick, struct task_struct *p)
{
	s32 cpu = cpu_of(p);
	u32 own = queue_of_cpu(cpu), shared = cache_of(cpu);
	struct cpu_run *run = run_on(cpu);
	u64 now_ns = bpf_ktime_get_ns(), ran_ns = now_ns - run->since_ns;
	u64 until_ns = load_of(shared)->turns_until_ns;

	if (run->own_waits && load_of(own)->turns_until_ns > until_ns)
		until_ns = load_of(own)->turns_until_ns;
	power_on_tick(run, cpu, now_ns);
	if (tier_ends_turn(run->tier, ran_ns, until_ns, now_ns))
		set_slice(p, 0);
}

SEC("struct_ops/running")
void BPF_PROG(tactus_running, struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);
	s32 cpu = cpu_of(p);
	struct cpu_run *run = run_on(cpu);
	u64 now_ns = bpf_ktime_get_ns(), follows, *clock;

	run->since_ns = run->looked_ns = now_ns;
	run->kicked = run->is_given = 0;
	run->is_idle = run->is_off = 0;
	run->tier = TIERS;
	run->before_tid = run->tid;
	run->tid = tid_of(p);
	if (!thread)
		return;
	run->burst_ns = thread->scx.burst_ns;
	run->may_burn = thread->scx.may_burn || thread->scx.lock_until_ns > now_ns;
	run->last_burst_ns = thread->scx.last_burst_ns;
	run->tier = thread->scx.tier;
	run->by_timer = thread->scx.by_timer;
	power_on_running(run, cpu, now_ns);
	give_way(p, thread, run, cpu);
	emit_deadline_miss(p, thread, run, cpu, now_ns);
	count_move(p, thread, cpu, now_ns);
	update_weight(p, thread, now_ns);
	thread->scx.charged_ns = p->se.sum_exec_runtime;
	asks_no_longer(thread);
	turn_begins(thread, cpu, now_ns);
	if (thread->scx.is_late)
		return;
	clock = clock_of(thread->scx.queue);
	run->is_own = thread->scx.queue == queue_of_cpu(cpu);
	/* The shared clock advances with the CPU's own one, see follow_shared. */
	if (run->is_own) {
		follows = clock_follows(*clock, thread->scx.vtime, settings.slice_ns, settings.credit);
		*clock_of(cache_of(cpu)) += follows;
		run->shared_seen += follows;
	}
	if (vtime_before(*clock, thread->scx.vtime))
		*clock = thread->scx.vtime;
}

/* A realtime thread takes the CPU: the threads in its local queue are enqueued again. From 7.1 on the kernel does that
 * by itself, see at_once. */
SEC("struct_ops/cpu_release")
void BPF_PROG(tactus_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	if (bpf_ksym_exists(scx_bpf_reenqueue_local))
		scx_bpf_reenqueue_local();
}

/* The thread goes to sleep, or is dequeued for a moment to be changed; then its state is still running. There are
 * operations for threads that become runnable and quiescent, but each costs a call and a look-up at every switch: their
 * work is done here and in enqueue. */
SEC("struct_ops/stopping")
void BPF_PROG(tactus_stopping, struct task_struct *p, bool runnable)
{
	struct task_ctx *thread = thread_of(p);
	bool may_burn;
	u64 now_ns;

	run_on(cpu_of(p))->is_off = 1;
	power_on_stopping(cpu_of(p));
	if (!thread)
		return;
	charge(p, thread);
	if (runnable)
		return;
	leave_group(thread);
	if (!p->__state)
		return;
	thread->scx.last_burst_ns = thread->scx.burst_ns;
	thread->scx.burst_ns = 0;
	thread->scx.may_burn = 0;
	if (!urgent_watch_is_on(&thread->scx.watch))
		return;
	now_ns = bpf_ktime_get_ns();
	thread->scx.watch.awake_ns += span_between(thread->scx.awake_since_ns, now_ns);
	/* Its user may have changed. */
	if (urgent_watch_is_over(&thread->scx.watch, now_ns))
		thread->scx.owner = owner_of(p);
	may_burn = settings.cpus_len >= URGENCY_BURN_CPUS && urgent_watch_burns(&thread->scx.watch, now_ns) &&
		   owner_may_burn(thread->scx.owner, urgent_watch_uncharged_ns(&thread->scx.watch), now_ns);
	thread->scx.vtime += urgent_watch_ends(&thread->scx.watch, now_ns, may_burn);
}

/* A thread that waits in a queue may become a realtime thread. */
SEC("struct_ops/disable")
void BPF_PROG(tactus_disable, struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);

	if (!thread)
		return;
	asks_no_longer(thread);
	leave_group(thread);
	if (thread->scx.granted_ns)
		quota_ran(thread, 0);
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(tactus_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_ctx *thread = bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		return -ENOMEM;
	__sync_fetch_and_add(&threads_joined, 1);
	thread->scx.group = bpf_core_field_exists(args->cgroup) ? group_id(args->cgroup) : 0;
	thread->scx.group_weight = 0;
	thread->scx.owner = owner_of(p);
	return 0;
}

SEC("struct_ops/exit_task")
void BPF_PROG(tactus_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	__sync_fetch_and_add(&threads_left, 1);
}

SEC("struct_ops/enable")
void BPF_PROG(tactus_enable, struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);

	if (!thread)
		return;
	thread->scx.queue = cache_of((s32)p->thread_info.cpu);
	thread->scx.vtime = *clock_of(thread->scx.queue);
	thread->scx.charged_ns = p->se.sum_exec_runtime;
	thread->scx.cpu = (s32)p->thread_info.cpu;
	thread->scx.tier = TIER_INTERACTIVE;
	thread->scx.is_late = 0;
	thread->scx.asks_in = 0;
	thread->scx.effective_weight = 0;
	update_weight(p, thread, bpf_ktime_get_ns());
}

SEC("struct_ops.s/init")
s32 BPF_PROG(tactus_init)
{
	s32 error = 0;
	u32 i;

	untimed_cpus = 0;
	bpf_for(i, 0, settings.caches_len)
	{
		load_of(i)->asking = load_of(i)->asking_timed = 0;
		error = scx_bpf_create_dsq(i, -1);
		if (error)
			return error;
	}
	bpf_for(i, 0, settings.cpus_len)
	{
		/* What the kernel begins with. */
		run_on((s32)i)->power.target = POWER_FULL;
		run_on((s32)i)->is_idle = run_on((s32)i)->is_off = 1;
		error = scx_bpf_create_dsq(SCX_CACHES_MAX + i, -1);
		if (error)
			return error;
		load_of(SCX_CACHES_MAX + i)->asking = load_of(SCX_CACHES_MAX + i)->asking_timed = 0;
		init_turn_timer((s32)i);
	}
	if (!settings.has_quotas)
		return 0;
	error = scx_bpf_create_dsq(SCX_PARKED, -1);
	return error ? error : init_quota_timer();
}

/* Which CPUs share a cache is fixed at the start. There are no operations for CPU hotplug: without them the kernel ends
 * the scheduler with an exit code that asks for a restart. */
SEC(".struct_ops.link")
struct sched_ext_ops tactus_ops = {
	.select_cpu = (void *)tactus_select_cpu,
	.enqueue = (void *)tactus_enqueue,
	.dispatch = (void *)tactus_dispatch,
	.tick = (void *)tactus_tick,
	.running = (void *)tactus_running,
	.stopping = (void *)tactus_stopping,
	.cpu_release = (void *)tactus_cpu_release,
	.enable = (void *)tactus_enable,
	.disable = (void *)tactus_disable,
	.init_task = (void *)tactus_init_task,
	.exit_task = (void *)tactus_exit_task,
	.cgroup_init = (void *)tactus_cgroup_init,
	.cgroup_exit = (void *)tactus_cgroup_exit,
	.cgroup_move = (void *)tactus_cgroup_move,
	.cgroup_set_weight = (void *)tactus_cgroup_set_weight,
	.cgroup_set_bandwidth = (void *)tactus_cgroup_set_bandwidth,
	.dump = (void *)tactus_dump,
	.dump_cpu = (void *)tactus_dump_cpu,
	.dump_task = (void *)tactus_dump_task,
	.init = (void *)tactus_init,
	.exit = (void *)tactus_exit,
	.timeout_ms = 10000,
	.exit_dump_len = SCX_DUMP_BYTES,
	.name = "tactus",
};
