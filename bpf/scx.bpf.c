// SPDX-License-Identifier: GPL-2.0
/* The scheduler: who is urgent goes first when he wakes, and everybody gets what his weight is worth.
 *
 * There is a queue for each last-level cache, in the order of virtual deadlines (core/tier.h), and one for each CPU
 * with the threads that may run nowhere else. Each queue has a clock: the virtual time of the thread that started last.
 * A thread joins at its own virtual time, which grows by what it ran divided by its weight; a sleep saves up some, an
 * urgent thread's more, so that it is the first to run when it wakes. What an urgent thread runs costs it an eighth: a
 * batch thread gets an eighth of an urgent one's share at least. One that burns pays that back and loses the tier.
 *
 * An urgent thread that finds no idle CPU pushes a batch thread off, never another urgent one. Whoever wakes an urgent
 * thread is as urgent for a while, because that one waits for him. What a thread is comes from its role, which the
 * sensors keep with the thread; the decisions are core/tier.h's. */
#include "scx_join.h"
#include "scx_quota.h"
#include "scx_wake.h"

char LICENSE[] SEC("license") = "GPL";

enum { ENOMEM = 12, POLICY_IDLE = 5 };

/* How urgent the thread is at this moment. */
static __always_inline u32 tier_of(struct task_struct *p, struct kthread *thread, u64 now_ns, u32 *boost)
{
	u32 tier = thread->role.answer.tier;

	*boost = thread->role.answer.boost;
	/* The kernel's threads do what others wait for. */
	if (p->flags & PF_KTHREAD)
		tier = TIER_LATENCY_CRITICAL;
	if (p->policy == POLICY_IDLE) {
		*boost = 0;
		return TIER_BATCH;
	}
	if ((config.raise & RAISE_INPUT) && thread->turn.input_until_ns > now_ns) {
		tier = TIER_LATENCY_CRITICAL;
		*boost = *boost ? *boost : 1;
	}
	if ((config.raise & RAISE_FRAMES) && tier_frame_presses(thread->turn.frame_due_ns, now_ns)) {
		tier = TIER_LATENCY_CRITICAL;
		*boost += TIER_FRAME_BOOST;
	}
	if (tier != TIER_LATENCY_CRITICAL && thread->turn.lent_until_ns > now_ns) {
		tier = TIER_LATENCY_CRITICAL;
		*boost = thread->turn.lent_boost;
	}
	if (tier == TIER_LATENCY_CRITICAL && thread->turn.watch.barred_until_ns > now_ns)
		tier = TIER_INTERACTIVE;
	else if (tier_now(tier, thread->turn.burst_ns) == tier)
		return tier;
	*boost = 0;
	count(SCX_COUNT_BURNT);
	return tier_now(tier, thread->turn.burst_ns);
}

/* Charged is what the thread really ran, not what is gone of its slice: the kernel lengthens the slice of a thread that
 * has no rival, and yielding empties it. */
static __always_inline void charge(struct task_struct *p, struct kthread *thread)
{
	u64 ran_ns = p->se.sum_exec_runtime - thread->turn.charged_ns;
	u64 cost = tier_charge(ran_ns, thread->turn.worth, thread->turn.tier,
			       crowd_of(thread->turn.queue)->many_urgent);

	thread->turn.burst_ns += ran_ns;
	thread->turn.charged_ns = p->se.sum_exec_runtime;
	quota_ran(thread, ran_ns);
	if (thread->turn.is_late) {
		thread->turn.is_late = 0;
		return;
	}
	thread->turn.vtime += cost;
	/* The kernel's threads are not watched for burning: who waits long for a CPU looks like it, and all would wait
	 * for whatever they do. */
	if (thread->turn.tier == TIER_LATENCY_CRITICAL && !(p->flags & PF_KTHREAD))
		thread->turn.watch.spared += vtime_charge(ran_ns, thread->turn.worth) - cost;
}

static __always_inline void weigh_thread(struct task_struct *p, struct kthread *thread, u64 now_ns)
{
	u64 worth = 1ULL << GROUP_WORTH_BITS;

	if (thread->turn.group)
		worth = group_worth_now(thread->turn.group, now_ns);
	worth = tier_worth(p->scx.weight, worth);
	thread->turn.vtime = vtime_reweighed(thread->turn.vtime, *clock_of(thread->turn.queue), thread->turn.worth,
					     worth);
	thread->turn.worth = worth;
}

/* A thread that may run on one of several CPUs only, or has moved so often that it had better stay. */
static __always_inline bool stays(struct task_struct *p, struct kthread *thread, u64 now_ns)
{
	if (settings.cpus_len == 1)
		return false;
	if (p->nr_cpus_allowed == 1)
		return true;
	return thread->turn.moves > TIER_MOVES_PER_SEC && now_ns - thread->turn.moves_since_ns < NSEC_PER_SEC &&
	       bpf_cpumask_test_cpu(p->thread_info.cpu, p->cpus_ptr);
}

/* Brings the thread's virtual time to the clock of the queue that it joins. One that slept saves up only so much, by
 * its tier; one that did not keeps what it is owed. */
static __always_inline void join(struct kthread *thread, u32 queue, u32 tier, bool slept)
{
	u64 *clock = clock_of(queue);

	if (thread->turn.queue != queue) {
		thread->turn.vtime = vtime_moved(thread->turn.vtime, *clock_of(thread->turn.queue), *clock);
		thread->turn.queue = queue;
	}
	if (slept)
		thread->turn.vtime =
			vtime_join(thread->turn.vtime, *clock,
				   tier_credit_among_ns(tier, settings.slice_ns, crowd_of(queue)->many_urgent));
	else
		thread->turn.vtime = vtime_owed(thread->turn.vtime, *clock, settings.slice_ns);
}

/* An idle CPU takes the thread at once: then it passes no queue, and the kernel does not ask again where it goes. */
static __always_inline s32 select_cpu(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool by_interrupt,
				      bool is_sure)
{
	struct kthread *thread;
	bool is_idle = false;
	s32 cpu = choose_cpu(p, prev_cpu, wake_flags, &is_idle);
	u64 now_ns, slice_ns = settings.slice_ns;
	u32 boost, tier;

	if (!is_idle)
		return cpu;
	count(SCX_COUNT_IDLE);
	thread = thread_of(p);
	if (thread) {
		now_ns = wake_flags & scx_value(scx_wake_flags, SCX_WAKE_TTWU) ? woken(p, thread, by_interrupt, is_sure)
									       : bpf_ktime_get_ns();
		join_group(p, thread);
		tier = tier_of(p, thread, now_ns, &boost);
		join(thread, cache_of(cpu), tier, true);
		thread->turn.tier = tier;
		thread->turn.queued_at_ns = now_ns;
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

/* Whether the thread may not leave its CPU now, where the kernel leaves that to the scheduler. A program holds whom it
 * interrupts itself, and so does the one that had this thread enqueued again. */
static __always_inline bool is_held(struct task_struct *p, u64 enq_flags)
{
	u32 held = p->migration_disabled;

	if (!settings.sees_held)
		return false;
	if (p == bpf_get_current_task_btf())
		held -= 1 + ((enq_flags & settings.again) != 0);
	return (s32)held > 0;
}

static __always_inline void enqueue(struct task_struct *p, u64 enq_flags, bool by_interrupt, bool is_sure)
{
	u64 wakeup = enq_flags & scx_value(scx_enq_flags, SCX_ENQ_WAKEUP);
	struct kthread *thread = thread_of(p);
	struct joining joining = { 0 };
	s32 cpu = (s32)p->thread_info.cpu;
	u32 other_tier;
	u64 now_ns;

	count(SCX_COUNT_QUEUED);
	/* Meant for a CPU's own queue alone. */
	enq_flags &= ~settings.at_once;
	/* The kernel's threads of one CPU do what that CPU needs done. */
	if (!thread || ((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1) || is_held(p, enq_flags)) {
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), settings.slice_ns,
			   enq_flags | scx_value(scx_enq_flags, SCX_ENQ_HEAD));
		return;
	}
	now_ns = wakeup ? woken(p, thread, by_interrupt, is_sure) : bpf_ktime_get_ns();
	join_group(p, thread);
	joining.tier = tier_of(p, thread, now_ns, &joining.boost);
	joining.stay = stays(p, thread, now_ns);
	joining.queue = joining.stay ? queue_of_cpu(cpu) : cache_of(cpu);
	weigh_thread(p, thread, now_ns);
	join(thread, joining.queue, joining.tier, wakeup);
	thread->turn.tier = joining.tier;
	thread->turn.queued_at_ns = now_ns;
	joining.slice_ns = tier_slice_among_ns(joining.tier, settings.slice_ns, crowd_of(joining.queue)->per_cpu);
	joining.slice_ns = slice_within_quota(thread, joining.slice_ns, now_ns);
	if (!joining.slice_ns) {
		park(p, thread, enq_flags, now_ns);
		return;
	}
	/* Nobody else is there for this CPU, which is about to fall idle: it has to be told that somebody is. */
	if (enq_flags & scx_value(scx_enq_flags, SCX_ENQ_LAST)) {
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), joining.slice_ns, enq_flags);
		kick(cpu, 0);
		return;
	}
	joining.owed = tier_is_owed(joining.tier, thread->turn.vtime, *clock_of(joining.queue), settings.slice_ns);
	/* When a thread wakes, idle CPUs have been looked for. Pushing off who runs here takes neither a queue nor an
	 * interrupt. */
	if (wakeup && joining.owed && (joining.tier == TIER_LATENCY_CRITICAL || thread->turn.is_light) &&
	    pushes_off(thread, joining.tier, cpu, now_ns, &other_tier)) {
		note_preemption(p, thread, cpu, other_tier, joining.boost, now_ns);
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), joining.slice_ns,
			   enq_flags | scx_value(scx_enq_flags, SCX_ENQ_PREEMPT));
		return;
	}
	if (!can_kick() && hand_over(p, thread, &joining, enq_flags, now_ns))
		return;
	queue_up(p, thread, &joining, enq_flags, now_ns);
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

/* The thread whose slice is over is in no queue yet: it goes on if its deadline would still be the first. */
static __always_inline bool goes_on(struct task_struct *prev, s32 cpu, s64 first)
{
	struct kthread *thread = thread_of(prev);
	u64 now_ns = bpf_ktime_get_ns();
	u64 deadline, slice_ns;
	u32 boost, tier;

	if (!thread)
		return false;
	run_on(cpu)->looked_ns = now_ns;
	charge(prev, thread);
	tier = tier_of(prev, thread, now_ns, &boost);
	deadline = tier_deadline(thread->turn.vtime, settings.slice_ns, thread->turn.worth, boost);
	if ((s64)(deadline - *clock_of(thread->turn.queue)) >= first)
		return false;
	slice_ns = slice_within_quota(
		thread, tier_slice_among_ns(tier, settings.slice_ns, crowd_of(thread->turn.queue)->per_cpu), now_ns);
	if (!slice_ns)
		return false;
	thread->turn.tier = tier;
	set_slice(prev, slice_ns);
	return true;
}

SEC("struct_ops/dispatch")
void BPF_PROG(tactus_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 own = queue_of_cpu(cpu), shared = cache_of(cpu), cache;
	bool own_first = own_waits(own, cpu);
	bool prev_wants = prev && prev->scx.flags & scx_value(scx_ent_flags, SCX_TASK_QUEUED);
	s64 own_lag, shared_lag;

	run_on(cpu)->kicked = 0;
	if (serves_late(own, shared, cpu))
		return;
	/* Looking at who is first costs more than taking him: only where there is somebody to compare with. */
	if (prev_wants || (own_first && scx_bpf_dsq_nr_queued(shared) > 0)) {
		shared_lag = first_lag(shared);
		follow_shared(cpu, shared, shared_lag != NO_LAG || !run_on(cpu)->is_own);
		own_lag = own_first ? first_lag(own) : NO_LAG;
		own_first = own_lag < shared_lag;
		if (prev_wants && goes_on(prev, cpu, own_first ? own_lag : shared_lag))
			return;
	}
	if ((own_first && dsq_move_to_local(own)) || dsq_move_to_local(shared) ||
	    (own_waits(own, cpu) && dsq_move_to_local(own)) || settings.caches_len == 1)
		return;
	bpf_for(cache, 0, settings.caches_len)
	{
		if (cache != shared && dsq_move_to_local(cache)) {
			count(SCX_COUNT_STOLEN);
			return;
		}
	}
}

static __always_inline void tell_miss(struct task_struct *p, struct kthread *thread, struct cpu_run *run, s32 cpu,
				      u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_MISS, .from_cpu = (u16)cpu, .to_cpu = (u16)cpu };

	decision.wait_ns = thread->turn.queued_at_ns ? span_between(thread->turn.queued_at_ns, now_ns) : 0;
	thread->turn.queued_at_ns = 0;
	if (!tier_is_missed(thread->turn.tier, decision.wait_ns))
		return;
	count(SCX_COUNT_MISSED);
	decision.other_tid = run->before_tid;
	send_decision(p, thread, now_ns, &decision);
}

static __always_inline void count_move(struct task_struct *p, struct kthread *thread, s32 cpu, u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_MOVE };

	if (now_ns - thread->turn.moves_since_ns >= NSEC_PER_SEC) {
		thread->turn.moves_since_ns = now_ns;
		thread->turn.moves = 0;
	}
	if (thread->turn.cpu != cpu) {
		thread->turn.moves++;
		count(SCX_COUNT_MOVED);
		decision.from_cpu = (u16)thread->turn.cpu;
		decision.to_cpu = (u16)cpu;
		send_decision(p, thread, now_ns, &decision);
	}
	thread->turn.cpu = cpu;
}

/* Whom a realtime thread pushes off the kernel lets go on after it, without a word to the scheduler; so it would before
 * an urgent thread that came meanwhile. */
static __always_inline void make_way(struct task_struct *p, struct kthread *thread, struct cpu_run *run, s32 cpu)
{
	struct crowd *crowd = crowd_of(cache_of(cpu));

	if (thread->turn.counted_urgent) {
		thread->turn.counted_urgent = 0;
		crowd = crowd_of(thread->turn.queue);
		if (crowd->urgent)
			__sync_fetch_and_sub(&crowd->urgent, 1);
		return;
	}
	if (run->tier >= TIER_LATENCY_CRITICAL)
		return;
	if (!crowd->urgent)
		crowd = crowd_of(queue_of_cpu(cpu));
	if (!crowd->urgent)
		return;
	crowd->urgent = 0;
	if (!can_kick()) {
		/* It ends with the next tick; until then an urgent one that wakes may push it off. */
		set_slice(p, 0);
		return;
	}
	run->kicked = 1;
	kick(cpu, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
}

SEC("struct_ops/running")
void BPF_PROG(tactus_running, struct task_struct *p)
{
	struct kthread *thread = thread_of(p);
	s32 cpu = (s32)bpf_get_smp_processor_id();
	struct cpu_run *run = run_on(cpu);
	u64 now_ns = bpf_ktime_get_ns(), follows, *clock;

	run->since_ns = run->looked_ns = now_ns;
	run->kicked = 0;
	run->tier = TIERS;
	run->before_tid = run->tid;
	run->tid = tid_of(p);
	if (!thread)
		return;
	run->burst_ns = thread->turn.burst_ns;
	if (!((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1))
		run->tier = thread->turn.tier;
	make_way(p, thread, run, cpu);
	tell_miss(p, thread, run, cpu, now_ns);
	count_move(p, thread, cpu, now_ns);
	weigh_thread(p, thread, now_ns);
	thread->turn.charged_ns = p->se.sum_exec_runtime;
	if (thread->turn.is_late)
		return;
	clock = clock_of(thread->turn.queue);
	run->is_own = thread->turn.queue == queue_of_cpu(cpu);
	/* The shared clock follows an own one's steps for the same reason, see follow_shared. */
	if (run->is_own) {
		follows = clock_follows(*clock, thread->turn.vtime, settings.slice_ns);
		*clock_of(cache_of(cpu)) += follows;
		run->shared_seen += follows;
	}
	if (vtime_before(*clock, thread->turn.vtime))
		*clock = thread->turn.vtime;
}

/* A realtime thread takes the CPU: whoever ran there or was about to looks for another one. From 7.1 on the kernel sees
 * to that by itself, see at_once. */
SEC("struct_ops/cpu_release")
void BPF_PROG(tactus_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	if (bpf_ksym_exists(scx_bpf_reenqueue_local))
		scx_bpf_reenqueue_local();
}

/* A sleep begins, or the thread is taken out for a moment to be changed; then its state is that of one that runs. There
 * are operations for those who become able to run and for those who no longer are, but each costs a call and a look-up
 * at every switch: what they would do is done here and where a thread is queued. */
SEC("struct_ops/stopping")
void BPF_PROG(tactus_stopping, struct task_struct *p, bool runnable)
{
	struct kthread *thread = thread_of(p);
	u64 now_ns;

	if (!thread)
		return;
	charge(p, thread);
	if (runnable)
		return;
	leave_group(thread);
	if (!p->__state)
		return;
	thread->turn.last_burst_ns = thread->turn.burst_ns;
	thread->turn.burst_ns = 0;
	if (!thread->turn.watch.spared)
		return;
	now_ns = bpf_ktime_get_ns();
	thread->turn.watch.awake_ns += span_between(thread->turn.awake_since_ns, now_ns);
	thread->turn.vtime += urgent_watch_ends(&thread->turn.watch, now_ns);
}

/* A thread that waits in a queue may become a realtime one. */
SEC("struct_ops/disable")
void BPF_PROG(tactus_disable, struct task_struct *p)
{
	struct kthread *thread = thread_of(p);

	if (!thread)
		return;
	leave_group(thread);
	if (thread->turn.granted_ns)
		quota_ran(thread, 0);
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(tactus_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct kthread *thread = bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		return -ENOMEM;
	__sync_fetch_and_add(&threads_joined, 1);
	thread->turn.group = bpf_core_field_exists(args->cgroup) ? group_id(args->cgroup) : 0;
	thread->turn.group_weight = 0;
	return 0;
}

SEC("struct_ops/exit_task")
void BPF_PROG(tactus_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	__sync_fetch_and_add(&threads_left, 1);
}

SEC("struct_ops.s/cgroup_init")
s32 BPF_PROG(tactus_cgroup_init, struct cgroup *cgroup, struct scx_cgroup_init_args *args)
{
	struct quota quota = {};

	if (settings.has_quotas && bpf_core_field_exists(args->bw_quota_us))
		quota_set(&quota, args->bw_period_us, args->bw_quota_us, args->bw_burst_us, bpf_ktime_get_ns());
	group_add(cgroup, args->weight, &quota);
	if (settings.has_quotas && quota.quota_ns) {
		limit_counts(0, quota.quota_ns);
		start_looking(quota.period_ns);
	}
	return 0;
}

SEC("struct_ops.s/cgroup_exit")
void BPF_PROG(tactus_cgroup_exit, struct cgroup *cgroup)
{
	u64 id = group_id(cgroup);
	struct group *group = bpf_map_lookup_elem(&groups, &id);

	if (group)
		limit_counts(group->quota.quota_ns, 0);
	bpf_map_delete_elem(&groups, &id);
}

/* The thread wants to run in neither group while it moves: the kernel takes it out before and puts it back after. */
SEC("struct_ops/cgroup_move")
void BPF_PROG(tactus_cgroup_move, struct task_struct *p, struct cgroup *from, struct cgroup *to)
{
	struct kthread *thread = thread_of(p);

	if (!thread)
		return;
	if (thread->turn.granted_ns)
		quota_ran(thread, 0);
	if (thread->turn.group_weight)
		group_thread_leaves(thread->turn.group, thread->turn.group_weight);
	thread->turn.group = group_id(to);
	if (thread->turn.group_weight)
		group_thread_joins(thread->turn.group, thread->turn.group_weight);
}

SEC("struct_ops/cgroup_set_weight")
void BPF_PROG(tactus_cgroup_set_weight, struct cgroup *cgroup, u32 weight)
{
	group_reweigh(group_id(cgroup), weight);
}

/* From 6.17 on; before, the scheduler hears of no quota. */
SEC("struct_ops/cgroup_set_bandwidth")
void BPF_PROG(tactus_cgroup_set_bandwidth, struct cgroup *cgroup, u64 period_us, u64 quota_us, u64 burst_us)
{
	u64 id = group_id(cgroup), now_ns = bpf_ktime_get_ns(), was_ns, is_ns;
	struct group *group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;

	if (!group)
		return;
	bpf_spin_lock(&group->lock);
	was_ns = group->quota.quota_ns;
	quota_set(&group->quota, period_us, quota_us, burst_us, now_ns);
	is_ns = group->quota.quota_ns;
	bpf_spin_unlock(&group->lock);
	limit_counts(was_ns, is_ns);
	start_looking(is_ns ? group->quota.period_ns : NSEC_PER_SEC);
}

SEC("struct_ops/enable")
void BPF_PROG(tactus_enable, struct task_struct *p)
{
	struct kthread *thread = thread_of(p);

	if (!thread)
		return;
	thread->turn.queue = cache_of((s32)p->thread_info.cpu);
	thread->turn.vtime = *clock_of(thread->turn.queue);
	thread->turn.charged_ns = p->se.sum_exec_runtime;
	thread->turn.cpu = (s32)p->thread_info.cpu;
	thread->turn.tier = TIER_INTERACTIVE;
	thread->turn.is_late = 0;
	thread->turn.worth = 0;
	weigh_thread(p, thread, bpf_ktime_get_ns());
}

SEC("struct_ops.s/init")
s32 BPF_PROG(tactus_init)
{
	s32 error = 0;
	u32 i;

	bpf_for(i, 0, settings.caches_len)
	{
		error = scx_bpf_create_dsq(i, -1);
		if (error)
			return error;
	}
	bpf_for(i, 0, settings.cpus_len)
	{
		error = scx_bpf_create_dsq(SCX_CACHES_MAX + i, -1);
		if (error)
			return error;
	}
	if (!settings.has_quotas)
		return 0;
	error = scx_bpf_create_dsq(SCX_PARKED, -1);
	return error ? error : prepare_look();
}

/* Which CPUs share what is fixed at the start. There are no operations for CPUs that come and go: without them the
 * kernel takes the scheduler out, with a code that asks for a new start. */
SEC(".struct_ops.link")
struct sched_ext_ops tactus_ops = {
	.select_cpu = (void *)tactus_select_cpu,
	.enqueue = (void *)tactus_enqueue,
	.dispatch = (void *)tactus_dispatch,
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
