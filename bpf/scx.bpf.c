// SPDX-License-Identifier: GPL-2.0
/* The scheduler: who is urgent goes first when he wakes, and everybody gets what his weight is worth.
 *
 * There is a queue for each last-level cache, in the order of virtual deadlines (core/tier.h), and one for each CPU
 * with the threads that may run nowhere else. Each queue has a clock: the virtual time of the thread that started last.
 * A thread joins at its own virtual time, which grows by what it ran divided by its weight; a sleep saves up some, an
 * urgent thread's more, so that it is the first to run when it wakes. Being charged for all it runs, it gets no larger
 * share by that: no tier starves another, and a thread that claims to be urgent and burns gains nothing.
 *
 * An urgent thread that finds no idle CPU pushes a batch thread off, never another urgent one. Whoever wakes an urgent
 * thread is as urgent for a while, because that one waits for him. What a thread is comes from its role, which the
 * sensors keep with the thread; the decisions are core/tier.h's. */
#include "roles.h"
#include "scx.h"
#include "../core/scx_config.h"
#include "../core/scx_exit.h"

char LICENSE[] SEC("license") = "GPL";

enum { ENOMEM = 12, POLICY_IDLE = 5 };

const volatile struct scx_config settings = { .slice_ns = TIER_SLICE_NS, .cpus_len = 1, .caches_len = 1 };

/* By queue. CPUs race on a cache's; the clock is then off by less than a slice until the next thread starts. */
static u64 clocks[SCX_QUEUES];

/* What each CPU runs. Read by others without a lock: a stale answer costs a needless kick or a missed one. */
struct cpu_run {
	u64 since_ns;
	u64 burst_ns; /* of the thread, before this run */
	u32 tier;     /* TIERS: nothing that could be pushed off */
	u32 kicked;
};
static struct cpu_run runs[SCX_CPUS_MAX];

struct scx_farewell farewell = {};

/* Makes the compiler describe the type in full, which the kernel's functions that take it require. */
static struct cpumask described __attribute__((used));

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCX_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scx_waits);
} waits SEC(".maps");

static __always_inline void count(u32 which)
{
	u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		(*counter)++;
}

static __always_inline u64 *clock_of(u32 queue)
{
	u64 index = queue;

	barrier_var(index);
	return &clocks[index < SCX_QUEUES ? index : 0];
}

static __always_inline struct cpu_run *run_on(s32 cpu)
{
	u64 index = (u32)cpu;

	barrier_var(index);
	return &runs[index < SCX_CPUS_MAX ? index : 0];
}

static __always_inline u32 cache_of(s32 cpu)
{
	u64 index = (u32)cpu;

	barrier_var(index);
	return settings.cache_of[index < SCX_CPUS_MAX ? index : 0] % SCX_CACHES_MAX;
}

static __always_inline u32 queue_of_cpu(s32 cpu)
{
	return SCX_CACHES_MAX + (u32)cpu % SCX_CPUS_MAX;
}

/* How urgent the thread is at this moment. */
static __always_inline u32 tier_of(struct task_struct *p, struct kthread *thread, u64 now_ns, u32 *boost)
{
	u32 tier = thread->role.answer.tier;

	*boost = thread->role.answer.boost;
	if (p->policy == POLICY_IDLE) {
		*boost = 0;
		return TIER_BATCH;
	}
	if (tier != TIER_LATENCY_CRITICAL && thread->turn.lent_until_ns > now_ns) {
		tier = TIER_LATENCY_CRITICAL;
		*boost = thread->turn.lent_boost;
	}
	if (tier_now(tier, thread->turn.burst_ns) != tier) {
		*boost = 0;
		count(SCX_COUNT_BURNT);
	}
	return tier_now(tier, thread->turn.burst_ns);
}

/* Virtual time with what the thread has run since it was last charged. */
static __always_inline u64 vtime_now(struct task_struct *p, struct kthread *thread)
{
	return thread->turn.vtime + vtime_charge(p->se.sum_exec_runtime - thread->turn.charged_ns, p->scx.weight);
}

/* A thread that may run on one CPU only, or has moved so often that it had better stay. */
static __always_inline bool stays(struct task_struct *p, struct kthread *thread, u64 now_ns)
{
	if (p->nr_cpus_allowed == 1)
		return true;
	return thread->turn.moves > TIER_MOVES_PER_SEC && now_ns - thread->turn.moves_since_ns < NSEC_PER_SEC &&
	       bpf_cpumask_test_cpu(p->thread_info.cpu, p->cpus_ptr);
}

/* Brings the thread's virtual time to the clock of the queue that it joins. One that slept saves up only so much; one
 * that did not, a heavy thread behind a light one's clock say, keeps all that it is owed. */
static __always_inline void join(struct kthread *thread, u32 queue, u32 tier, bool slept)
{
	u64 *clock = clock_of(queue);

	if (thread->turn.queue != queue) {
		thread->turn.vtime = vtime_moved(thread->turn.vtime, *clock_of(thread->turn.queue), *clock);
		thread->turn.queue = queue;
	}
	if (slept)
		thread->turn.vtime = vtime_join(thread->turn.vtime, *clock, tier_credit_ns(tier, settings.slice_ns));
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(tactus_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct kthread *thread = thread_of(p);
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);
	u32 boost, tier;
	u64 now_ns;

	if (!is_idle)
		return cpu;
	count(SCX_COUNT_IDLE);
	if (thread) {
		now_ns = bpf_ktime_get_ns();
		tier = tier_of(p, thread, now_ns, &boost);
		join(thread, cache_of(cpu), tier, true);
		thread->turn.tier = tier;
		thread->turn.queued_at_ns = now_ns;
	}
	dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), settings.slice_ns, 0);
	return cpu;
}

/* A CPU whose thread an urgent one may push off: the one it ran on before, else any that shares the queue. -1: none. */
static __always_inline s32 find_victim(struct task_struct *p, s32 own_cpu, u32 tier, bool only_own, u64 now_ns)
{
	struct cpu_run *run = run_on(own_cpu);
	s32 cpu;

	if (!run->kicked && tier_preempts(tier, run->tier, run->burst_ns + now_ns - run->since_ns))
		return own_cpu;
	if (only_own)
		return -1;
	bpf_for(cpu, 0, (s32)settings.cpus_len)
	{
		run = run_on(cpu);
		if (run->kicked || cache_of(cpu) != cache_of(own_cpu) || !bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr))
			continue;
		if (tier_preempts(tier, run->tier, run->burst_ns + now_ns - run->since_ns))
			return cpu;
	}
	return -1;
}

SEC("struct_ops/enqueue")
void BPF_PROG(tactus_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct kthread *thread = thread_of(p);
	s32 cpu = (s32)p->thread_info.cpu, victim, idle;
	u64 now_ns = bpf_ktime_get_ns();
	u32 boost = 0, tier, queue;
	bool stay;

	/* The kernel's threads of one CPU do what that CPU needs done. */
	if (!thread || ((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1)) {
		count(SCX_COUNT_QUEUED);
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), settings.slice_ns,
			   enq_flags | scx_value(scx_enq_flags, SCX_ENQ_HEAD));
		return;
	}
	tier = tier_of(p, thread, now_ns, &boost);
	stay = stays(p, thread, now_ns);
	queue = stay ? queue_of_cpu(cpu) : cache_of(cpu);
	join(thread, queue, tier, enq_flags & scx_value(scx_enq_flags, SCX_ENQ_WAKEUP));
	thread->turn.tier = tier;
	thread->turn.queued_at_ns = now_ns;
	count(SCX_COUNT_QUEUED);
	dsq_insert_vtime(p, queue, tier_slice_ns(tier, settings.slice_ns),
			 tier_deadline(thread->turn.vtime, settings.slice_ns, p->scx.weight, boost), enq_flags);
	if (!stay) {
		/* A CPU that fell idle meanwhile would not look here by itself. */
		idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		if (idle >= 0) {
			scx_bpf_kick_cpu(idle, scx_value(scx_kick_flags, SCX_KICK_IDLE));
			return;
		}
	}
	victim = find_victim(p, cpu, tier, stay, now_ns);
	if (victim < 0)
		return;
	run_on(victim)->kicked = 1;
	count(SCX_COUNT_PREEMPTED);
	scx_bpf_kick_cpu(victim, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
}

/* How far the first in a queue is from its queue's clock; a queue without a first is infinitely far. */
static __always_inline s64 first_lag(u32 queue)
{
	struct task_struct *first;

	bpf_for_each(scx_dsq, first, queue, 0) return (s64)(first->scx.dsq_vtime - *clock_of(queue));
	return 0x7fffffffffffffffLL;
}

/* The thread whose slice is over is in no queue yet: it goes on if its deadline would still be the first. */
static __always_inline bool goes_on(struct task_struct *prev, s64 first)
{
	struct kthread *thread = thread_of(prev);
	u32 boost, tier;
	u64 deadline;

	if (!(prev->scx.flags & scx_value(scx_ent_flags, SCX_TASK_QUEUED)) || !thread)
		return false;
	tier = tier_of(prev, thread, bpf_ktime_get_ns(), &boost);
	deadline = tier_deadline(vtime_now(prev, thread), settings.slice_ns, prev->scx.weight, boost);
	if ((s64)(deadline - *clock_of(thread->turn.queue)) >= first)
		return false;
	prev->scx.slice = tier_slice_ns(tier, settings.slice_ns);
	return true;
}

SEC("struct_ops/dispatch")
void BPF_PROG(tactus_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 own = queue_of_cpu(cpu), shared = cache_of(cpu);
	s64 own_lag = first_lag(own), shared_lag = first_lag(shared);
	u32 cache;

	if (prev && goes_on(prev, own_lag < shared_lag ? own_lag : shared_lag))
		return;
	if (own_lag < shared_lag ? dsq_move_to_local(own) || dsq_move_to_local(shared)
				 : dsq_move_to_local(shared) || dsq_move_to_local(own))
		return;
	bpf_for(cache, 0, settings.caches_len)
	{
		if (cache != shared && dsq_move_to_local(cache)) {
			count(SCX_COUNT_STOLEN);
			return;
		}
	}
}

/* Who wakes an urgent thread is what that one waited for: he and, within bounds, who wakes him are as urgent. */
SEC("struct_ops/runnable")
void BPF_PROG(tactus_runnable, struct task_struct *p, u64 enq_flags)
{
	struct kthread *thread = thread_of(p), *waker;
	struct task_struct *current;
	u64 now_ns;
	u32 depth;

	if (!thread || !(enq_flags & scx_value(scx_enq_flags, SCX_ENQ_WAKEUP)))
		return;
	now_ns = bpf_ktime_get_ns();
	depth = thread->role.answer.tier == TIER_LATENCY_CRITICAL ? 0
		: thread->turn.lent_until_ns > now_ns		  ? thread->turn.lent_depth
								  : TIER_LENT_DEPTH;
	if (depth >= TIER_LENT_DEPTH)
		return;
	current = bpf_get_current_task_btf();
	waker = current->pid && current->pid != p->pid ? thread_of(current) : NULL;
	if (!waker || (waker->role.facts.has & HAS_KERNEL_THREAD) || waker->role.answer.tier == TIER_LATENCY_CRITICAL)
		return;
	waker->turn.lent_until_ns = now_ns + TIER_LENT_NS;
	waker->turn.lent_depth = depth + 1;
	waker->turn.lent_boost = depth ? thread->turn.lent_boost : thread->role.answer.boost;
	count(SCX_COUNT_LENT);
}

static __always_inline void count_wait(struct kthread *thread, u64 now_ns)
{
	u32 zero = 0;
	struct scx_waits *here = bpf_map_lookup_elem(&waits, &zero);
	u64 tier = thread->turn.tier;

	barrier_var(tier);
	if (here && thread->turn.queued_at_ns && tier < TIERS)
		hist_add(&here->tiers[tier], span_between(thread->turn.queued_at_ns, now_ns));
	thread->turn.queued_at_ns = 0;
}

static __always_inline void count_move(struct kthread *thread, s32 cpu, u64 now_ns)
{
	if (now_ns - thread->turn.moves_since_ns >= NSEC_PER_SEC) {
		thread->turn.moves_since_ns = now_ns;
		thread->turn.moves = 0;
	}
	if (thread->turn.cpu != cpu) {
		thread->turn.moves++;
		count(SCX_COUNT_MOVED);
	}
	thread->turn.cpu = cpu;
}

SEC("struct_ops/running")
void BPF_PROG(tactus_running, struct task_struct *p)
{
	struct kthread *thread = thread_of(p);
	s32 cpu = (s32)bpf_get_smp_processor_id();
	struct cpu_run *run = run_on(cpu);
	u64 now_ns = bpf_ktime_get_ns(), *clock;

	run->since_ns = now_ns;
	run->kicked = 0;
	run->tier = TIERS;
	if (!thread)
		return;
	run->burst_ns = thread->turn.burst_ns;
	if (!((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1))
		run->tier = thread->turn.tier;
	count_wait(thread, now_ns);
	count_move(thread, cpu, now_ns);
	thread->turn.charged_ns = p->se.sum_exec_runtime;
	clock = clock_of(thread->turn.queue);
	if (vtime_before(*clock, thread->turn.vtime))
		*clock = thread->turn.vtime;
}

/* Charged is what the thread really ran, not what is gone of its slice: the kernel lengthens the slice of a thread that
 * has no rival, and yielding empties it. */
SEC("struct_ops/stopping")
void BPF_PROG(tactus_stopping, struct task_struct *p, bool runnable)
{
	struct kthread *thread = thread_of(p);

	if (!thread)
		return;
	thread->turn.burst_ns += p->se.sum_exec_runtime - thread->turn.charged_ns;
	thread->turn.vtime = vtime_now(p, thread);
	thread->turn.charged_ns = p->se.sum_exec_runtime;
}

SEC("struct_ops/quiescent")
void BPF_PROG(tactus_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct kthread *thread = thread_of(p);

	if (thread && (deq_flags & scx_value(scx_deq_flags, SCX_DEQ_SLEEP)))
		thread->turn.burst_ns = 0;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(tactus_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	return bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) ? 0 : -ENOMEM;
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
	return 0;
}

SEC("struct_ops/exit")
void BPF_PROG(tactus_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(farewell.reason, sizeof(farewell.reason), info->reason);
	bpf_probe_read_kernel_str(farewell.message, sizeof(farewell.message), info->msg);
	farewell.code = info->exit_code;
	/* Last, since it tells the program that the rest is there. */
	farewell.kind = info->kind;
}

SEC(".struct_ops.link")
struct sched_ext_ops tactus_ops = {
	.select_cpu = (void *)tactus_select_cpu,
	.enqueue = (void *)tactus_enqueue,
	.dispatch = (void *)tactus_dispatch,
	.runnable = (void *)tactus_runnable,
	.running = (void *)tactus_running,
	.stopping = (void *)tactus_stopping,
	.quiescent = (void *)tactus_quiescent,
	.enable = (void *)tactus_enable,
	.init_task = (void *)tactus_init_task,
	.init = (void *)tactus_init,
	.exit = (void *)tactus_exit,
	.timeout_ms = 5000,
	.name = "tactus",
};
