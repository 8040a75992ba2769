// SPDX-License-Identifier: GPL-2.0
/* The sched sensor's kernel half: who ran, who waited, who was moved. Each hook takes the time once, brings the
 * threads' accounts up to date by core/account.h, and sends the event with that same time, so that a recording of the
 * events gives the same accounts again. Either half of that can be off. */
#include "interrupt.h"
#include "learn.h"
#include "moves.h"
#include "sums.h"
#include "waits.h"

char LICENSE[] SEC("license") = "GPL";

/* Set by the program before it opens the CPUs' windows and again before it closes them. */
u64 window = WINDOW_BEFORE;

const volatile struct cpu_topology topology[SCHED_CPUS_MAX] = {};

/* Accounts of threads that ended inside the window. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ended SEC(".maps");

u64 ended_lost = 0;
u64 ended_sent = 0;

/* The reader of the ended is woken once for so many. */
enum { ENDED_AT_ONCE = 512 };

static __always_inline struct cpu_topology place_of(u32 cpu)
{
	u64 index = cpu;

	barrier_var(index); /* for older verifiers, as above */
	index %= SCHED_CPUS_MAX;
	return topology[index];
}

/* This CPU's state if its window is open. A CPU that came online after the opening opens by itself. */
static __always_inline struct sched_cpu *open_cpu(u32 cpu_id)
{
	struct sched_cpu *cpu = cpu_state(cpu_id);

	if (!cpu || cpu->window == WINDOW_CLOSED)
		return NULL;
	if (cpu->window == WINDOW_BEFORE) {
		if (window != WINDOW_OPEN)
			return NULL;
		cpu->window = WINDOW_OPEN;
	}
	return cpu;
}

/* Moves a thread between sleeping, waiting for a CPU and running, and keeps the CPUs' counts of waiters. */
static __always_inline void now_does(struct task_ctx *thread, u32 doing, u32 queue_cpu)
{
	struct sched_cpu *cpu;

	if (!counts_waiters())
		return;
	if (thread->doing == DOING_WAIT) {
		cpu = cpu_state(thread->queue_cpu);
		if (cpu)
			__sync_fetch_and_add(&cpu->waiters, -1);
	}
	thread->doing = doing;
	thread->queue_cpu = queue_cpu;
	if (doing == DOING_WAIT) {
		cpu = cpu_state(queue_cpu);
		if (cpu)
			__sync_fetch_and_add(&cpu->waiters, 1);
	}
}

static __always_inline void fill_row(struct thread_row *row, struct task_struct *p, struct task_ctx *thread,
				     u32 has_ended)
{
	row->start_ns = p->start_time;
	row->tid = tid_of(p);
	row->pid = pid_of(p);
	row->parent_tid = tid_of(p->real_parent);
	row->ended = has_ended;
	comm_of(p, row->comm.text);
	barrier(); /* else one load serves two kinds of pointers, which the verifier refuses */
	if (thread->last_comm.text[0])
		row->comm = thread->last_comm;
	__builtin_memcpy(&row->account, &thread->account, sizeof(row->account));
}

/* A thread's storage goes with it: what was counted is handed over at its last switch. */
static __always_inline void hand_over(struct task_struct *p, struct task_ctx *thread, bool in_window)
{
	struct thread_row *row = NULL;

	if (thread->ended)
		return;
	thread->ended = 1;
	__sync_fetch_and_add(&threads_ended, 1);
	leaves_command(p, thread);
	if (config.account != ACCOUNT_HAND_OVER || !thread->watched)
		return;
	row = bpf_ringbuf_reserve(&ended, sizeof(*row), 0);
	if (!row) {
		__sync_fetch_and_add(&ended_lost, 1);
		return;
	}
	fill_row(row, p, thread, in_window);
	bpf_ringbuf_submit(row, __sync_fetch_and_add(&ended_sent, 1) % ENDED_AT_ONCE ? BPF_RB_NO_WAKEUP
										     : BPF_RB_FORCE_WAKEUP);
}

static __always_inline void send_switch(struct sched_cpu *cpu, u32 cpu_id, u64 now_ns, bool preempt,
					struct task_struct *prev, struct task_struct *next, u32 prev_state)
{
	struct event_switch *event = EVENT_BEGIN(cpu, cpu_id, SWITCH, event_switch, now_ns, tid_of(prev), false);

	if (!event)
		return;
	event->head.flags = preempt ? EVENT_FLAG_PREEMPTED : 0;
	event->next_tid = tid_of(next);
	event->prev_state = (u16)prev_state;
	event->prev_prio = (u8)prio_of(prev);
	event->next_prio = (u8)prio_of(next);
	event_send(cpu, event, sizeof(*event));
}

/* Some kernels do not show every switch. That `p` runs here was such a one; since when it does, the fair class has kept
 * by itself. For other classes it is not known, and the run does not count. */
static __always_inline void repair(struct sched_cpu *cpu, u32 cpu_id, u64 now_ns, struct task_struct *p,
				   struct task_ctx *thread)
{
	struct event_unseen_switch *event;
	u64 since_ns;

	if (!keeps_own_time(p))
		return;
	since_ns = now_ns - own_time(p);
	if (prio_of(p) <= PRIO_REALTIME_LAST || since_ns > now_ns)
		return;
	if (config.account)
		thread_run_begins(&thread->account, since_ns, cpu_id, (u8)prio_of(p));
	if (!(config.emit & EVENTS_SCHED))
		return;
	event = EVENT_BEGIN(cpu, cpu_id, UNSEEN_SWITCH, event_unseen_switch, now_ns, tid_of(p), false);
	if (!event)
		return;
	event->since_ns = since_ns;
	event_send(cpu, event, sizeof(*event));
}

/* Only a CPU that turns idle or busy needs the time. */
static __always_inline void count_switch(struct sched_cpu *cpu, struct task_struct *prev, struct task_struct *next)
{
	u64 now_ns, since_ns;

	cpu->switches++;
	if ((tid_of(prev) && tid_of(next) && cpu->turned_ns) || cpu->goes)
		return;
	now_ns = bpf_ktime_get_ns();
	since_ns = cpu->turned_ns ? span_between(cpu->turned_ns, now_ns) : 0;
	if (tid_of(prev))
		cpu->busy_ns += since_ns;
	else
		cpu->idle_ns += since_ns;
	cpu->turned_ns = now_ns;
	cpu->is_idle = !tid_of(next);
}

static __always_inline void count_run(struct task_struct *next, struct task_ctx *coming, u64 now_ns, u32 cpu_id)
{
	u32 kind = coming->account.wait_kind;
	u64 waited_ns = thread_run_begins(&coming->account, now_ns, cpu_id, (u8)prio_of(next));

	count_wait(coming, waited_ns);
	if (config.keeps_sums && kind != WAIT_NONE)
		sums_ran(next, coming, kind, waited_ns, now_ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = open_cpu(cpu_id);
	struct task_ctx *leaving = tid_of(prev) ? thread_at(cpu, prev) : NULL;
	struct task_ctx *coming = tid_of(next) ? thread_at(cpu, next) : NULL;
	bool prev_watched, next_watched, unseen, sends;
	u64 now_ns;

	if (config.counts_cpus && cpu)
		count_switch(cpu, prev, next);
	if (config.filter & FILTER_CGROUP)
		refresh(next, coming);
	prev_watched = leaving && leaving->watched;
	next_watched = coming && coming->watched;
	if (cpu && cpu_is_watched(cpu_id)) {
		unseen = cpu->running != (u64)prev && cpu->running;
		cpu->unseen_switches += unseen;
		cpu->running = (u64)next;
		if (prev_watched || next_watched || (counts_waiters() && cpu->waiters)) {
			now_ns = bpf_ktime_get_ns();
			sends = (config.emit & EVENTS_SCHED) &&
				(!sums_only() || is_urgent(leaving) || is_urgent(coming) || (prev_state & STATE_DEAD));
			if (config.keeps_sums)
				sums_switch(cpu, prev, next, now_ns);
			if (config.emit & EVENTS_SCHED) {
				if (leaving)
					emit_thread_info(cpu, cpu_id, prev, leaving, now_ns, 0, false);
				if (coming)
					emit_thread_info(cpu, cpu_id, next, coming, now_ns, 0, false);
			}
			if (unseen && prev_watched)
				repair(cpu, cpu_id, now_ns, prev, leaving);
			if (sends)
				send_switch(cpu, cpu_id, now_ns, preempt, prev, next, prev_state);
			if (prev_watched)
				now_does(leaving, preempt || !prev_state ? DOING_WAIT : DOING_SLEEP, cpu_id);
			if (next_watched)
				now_does(coming, DOING_RUN, cpu_id);
			if (config.account && prev_watched) {
				thread_run_ends(&leaving->account, now_ns, (u16)prev_state, preempt, (u8)prio_of(prev));
				count_turn(leaving);
				if (config.counts_at_waking && leaving->woken_early_ns)
					thread_woken(&leaving->account, leaving->woken_early_ns, leaving->waker_tid,
						     (u8)prio_of(prev));
				learn_ran(leaving);
			}
			if (prev_watched && role_tick(prev, leaving, now_ns))
				learn_judged(prev, leaving, now_ns);
			if (config.account && next_watched) {
				count_run(next, coming, now_ns, cpu_id);
				coming->woken_early_ns = 0;
			}
		}
	}
	if ((prev_state & STATE_DEAD) && leaving) {
		role_end(prev, leaving);
		learn_end(prev, leaving);
		if (config.keeps_sums)
			sums_end(prev, leaving);
		hand_over(prev, leaving, cpu && cpu_is_watched(cpu_id));
	}
	return 0;
}

/* Counts a wake-up where it is made. Who is past its decision to sleep, but has not left its CPU, is woken when it has:
 * before that its account would take it for one that runs. */
static __always_inline void count_waking(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	if (!open_cpu(bpf_get_smp_processor_id()))
		return;
	if (thread->account.run_since_ns && has_left_queue(p)) {
		thread->woken_early_ns = now_ns;
		return;
	}
	thread_woken(&thread->account, now_ns, thread->waker_tid, (u8)prio_of(p));
	if (role_tick(p, thread, now_ns))
		learn_judged(p, thread, now_ns);
}

/* Who wakes is known here and not at sched_wakeup, which runs on the woken thread's CPU when that one is another. */
static __always_inline void waking(struct task_struct *p, u32 by)
{
	struct task_ctx *thread = thread_of(p);
	struct task_struct *current;
	u64 now_ns;

	if (!thread || !thread->watched)
		return;
	current = bpf_get_current_task_btf();
	thread->waker_tid = tid_of(current);
	thread->woken_by = by;
	if (!keeps_roles())
		return;
	now_ns = bpf_ktime_get_ns();
	role_woken(p, thread, current, by, now_ns);
	if (config.counts_at_waking)
		count_waking(p, thread, now_ns);
}

/* One of these two is loaded: not every kernel lets programs see whether they are in an interrupt. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	waking(p, in_interrupt() ? EVENT_FLAG_BY_INTERRUPT : EVENT_FLAG_BY_THREAD);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking_blind, struct task_struct *p)
{
	waking(p, 0);
	return 0;
}

/* A CPU takes one more step on its way online or offline. */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(on_cpuhp_enter, unsigned int cpu_id, int target)
{
	struct sched_cpu *cpu = cpu_state(cpu_id);

	if (!cpu)
		return 0;
	cpu->goes = target != (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_ONLINE);
	/* Neither busy nor idle until it is back. */
	if (cpu->goes)
		cpu->turned_ns = 0;
	return 0;
}

static __always_inline int on_wakeup(struct task_struct *p, bool is_new)
{
	u32 cpu_id = bpf_get_smp_processor_id(), target = p->thread_info.cpu;
	struct sched_cpu *cpu = open_cpu(cpu_id);
	struct task_ctx *thread = thread_at(cpu, p);
	struct event_wakeup *event;
	u32 waker_tid;
	u64 now_ns;

	if (!thread || !thread->watched || !cpu || !cpu_is_watched(target))
		return 0;
	now_ns = bpf_ktime_get_ns();
	waker_tid = is_new ? (u32)bpf_get_current_pid_tgid() : thread->waker_tid;
	if (config.account)
		thread_woken(&thread->account, now_ns, waker_tid, (u8)prio_of(p));
	if (thread->doing == DOING_SLEEP)
		now_does(thread, DOING_WAIT, target);
	if (role_tick(p, thread, now_ns))
		learn_judged(p, thread, now_ns);
	if (!(config.emit & EVENTS_SCHED) || (sums_only() && !is_urgent(thread)))
		return 0;
	emit_thread_info(cpu, cpu_id, p, thread, now_ns, 0, false);
	event = EVENT_BEGIN(cpu, cpu_id, WAKEUP, event_wakeup, now_ns, tid_of(p), false);
	if (!event)
		return 0;
	event->head.flags = is_new ? EVENT_FLAG_NEW | EVENT_FLAG_BY_THREAD : (u8)thread->woken_by;
	event->waker_tid = waker_tid;
	event->target_cpu = (u16)target;
	event->prio = (u8)prio_of(p);
	event_send(cpu, event, sizeof(*event));
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *p)
{
	return on_wakeup(p, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *p)
{
	return on_wakeup(p, true);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *p, int to)
{
	u32 cpu_id = bpf_get_smp_processor_id(), from = p->thread_info.cpu;
	struct sched_cpu *cpu = open_cpu(cpu_id);
	struct task_ctx *thread = thread_at(cpu, p);
	struct event_migrate *event;
	u64 now_ns;

	if (!thread || !thread->watched || !cpu || (!cpu_is_watched(from) && !cpu_is_watched((u32)to)))
		return 0;
	if (config.account) {
		struct cpu_topology here = place_of(from), there = place_of((u32)to);

		thread_moved(&thread->account, cpu_distance(&here, &there));
	}
	if (keeps_roles()) {
		u32 zero = 0;
		struct sched_tally *tally = bpf_map_lookup_elem(&tallies, &zero);

		if (tally)
			tally->moves++;
	}
	if (!(config.emit & EVENTS_SCHED) || (sums_only() && !is_urgent(thread)))
		return 0;
	if (thread->doing == DOING_WAIT)
		now_does(thread, DOING_WAIT, (u32)to);
	now_ns = bpf_ktime_get_ns();
	emit_thread_info(cpu, cpu_id, p, thread, now_ns, 0, false);
	event = EVENT_BEGIN(cpu, cpu_id, MIGRATE, event_migrate, now_ns, tid_of(p), false);
	if (!event)
		return 0;
	event->head.flags = move_facts(p, from);
	event->by_tid = (u32)bpf_get_current_pid_tgid();
	event->from_cpu = (u16)from;
	event->to_cpu = (u16)to;
	event_send(cpu, event, sizeof(*event));
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct task_ctx *from = thread_of(parent), *thread = thread_make(child, from && from->of_command);
	struct sched_cpu *cpu = open_cpu(cpu_id);

	sums_make(child);
	if (from && thread) {
		role_inherit(child, thread, parent, from);
		learn_forked(child, thread, from);
	}
	if ((config.emit & EVENTS_SCHED) && cpu && thread && thread->watched &&
	    !ring_refuses_new_thread(cpu, cpu_id, EVENT_THREAD))
		emit_thread_info(cpu, cpu_id, child, thread, bpf_ktime_get_ns(), EVENT_FLAG_NEW, true);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *p, const char *comm)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct task_ctx *thread = thread_of(p);
	struct sched_cpu *cpu = open_cpu(cpu_id);
	struct event_rename *event;
	struct comm name = {};

	if (!thread)
		return 0;
	bpf_probe_read_kernel_str(name.text, COMM_LEN, comm);
	if (cpu)
		thread->last_comm = name; /* the thread bears it a moment later, and may be looked at before */
	else if (window == WINDOW_CLOSED && !thread->last_comm.text[0])
		comm_of(p, thread->last_comm.text);
	if (config.filter & FILTER_COMM)
		thread->watched = is_wanted(p, thread, name.text);
	if (keeps_roles()) {
		role_name(thread, &name);
		learn_renamed(p, thread, &name);
		role_update(p, thread, bpf_ktime_get_ns());
	}
	if (!config.emit || !cpu || (!thread->info_sent && !thread->watched))
		return 0;
	if (ring_refuses_new_thread(cpu, cpu_id, EVENT_RENAME))
		return 0;
	/* Another CPU may be about to send it, with the old name. */
	emit_thread_info(cpu, cpu_id, p, thread, bpf_ktime_get_ns(), 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, RENAME, event_rename, bpf_ktime_get_ns(), tid_of(p), true);
	if (!event)
		return 0;
	/* A thread that comes into view, or leaves it, by its new name. */
	event->head.flags = thread->watched ? 0 : EVENT_FLAG_BYSTANDER;
	event->comm = name;
	event_send(cpu, event, sizeof(*event));
	return 0;
}

/* An exec by a thread that is not its process's first takes over the first one's tid. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *p, int old_tid)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct task_ctx *thread = thread_of(p);
	struct sched_cpu *cpu = open_cpu(cpu_id);
	struct event_tid_change *event;

	if (thread && keeps_roles()) {
		role_exec(p, thread);
		learn_exec(p, thread);
		role_update(p, thread, thread->role.first_ns);
	}
	if (!config.emit || !cpu || !thread || !thread->info_sent || (u32)old_tid == tid_of(p))
		return 0;
	event = EVENT_BEGIN(cpu, cpu_id, TID_CHANGE, event_tid_change, bpf_ktime_get_ns(), tid_of(p), true);
	if (!event)
		return 0;
	event->old_tid = (u32)old_tid;
	event->pid = pid_of(p);
	event_send(cpu, event, sizeof(*event));
	return 0;
}

/* Run by the program on each CPU in turn (BPF_PROG_TEST_RUN), at the start of the window and at its end, with the
 * question in its first argument. Preemption is off, so no switch comes in between. */
SEC("raw_tp")
int snapshot_cpu(u64 *args)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = tid_of(current) ? thread_of(current) : NULL;
	bool closing = args[0] == SNAPSHOT_CLOSE, counts;
	u64 now_ns = bpf_ktime_get_ns();
	struct event_sample *event;

	if (!cpu)
		return 0;
	counts = closing ? cpu->window == WINDOW_OPEN : cpu->window == WINDOW_BEFORE;
	cpu->running = (u64)current;
	cpu->window = closing ? WINDOW_CLOSED : WINDOW_OPEN;
	if (config.counts_cpus && !closing) {
		cpu->turned_ns = now_ns;
		cpu->is_idle = !tid_of(current);
	}
	if (!counts || !thread || !thread->watched || !cpu_is_watched(cpu_id))
		return 0;
	if (config.account && closing)
		thread_charge(&thread->account, now_ns);
	if (!closing)
		now_does(thread, DOING_RUN, cpu_id);
	if (config.account && !closing)
		thread_run_found(&thread->account, now_ns, cpu_id, (u8)prio_of(current));
	if (!(config.emit & EVENTS_SCHED))
		return 0;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, SAMPLE, event_sample, now_ns, tid_of(current), true);
	if (!event)
		return 0;
	event->head.flags = closing ? EVENT_FLAG_CLOSING : 0;
	event->prio = (u8)prio_of(current);
	event_send(cpu, event, sizeof(*event));
	return 0;
}

/* Gives every thread that is there already its storage. */
SEC("iter/task")
int prepare(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread;

	if (p && !thread_of(p) && (thread = thread_make(p, false))) {
		sums_make(p);
		role_begin(p, thread);
		learn_met(p, thread);
	}
	return 0;
}

/* Hands over the accounts of the threads that are still there, after the window has closed. */
SEC("iter/task")
int dump(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;
	struct thread_row row = {};

	if (!thread || thread->ended)
		return 0;
	__sync_fetch_and_add(&threads_met, 1);
	if (!thread->watched)
		return 0;
	fill_row(&row, p, thread, 0);
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/* What the program knows of threads, or asks of all: see struct role_order. */
struct role_order order = {};

SEC("iter/task")
int assign(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;
	u64 now_ns = bpf_ktime_get_ns();

	if (!thread || thread->ended || (order.tid && tid_of(p) != order.tid))
		return 0;
	order.applied++;
	if (order.what == ORDER_PREDICT)
		learn_again(p, thread);
	role_ordered(p, thread, &order, now_ns);
	if (order.what == ORDER_JUDGE && thread->role.pattern.calls)
		learn_judged(p, thread, now_ns);
	return 0;
}

/* Every thread's role as it is now, in the form of events, after the window has closed. */
SEC("iter/task")
int dump_roles(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;
	struct event_thread who = {};
	struct event_role event = {};

	if (!thread || thread->ended || !thread->watched || !role_matters(thread))
		return 0;
	if (!thread->info_sent) {
		who.head.time_ns = bpf_ktime_get_ns();
		who.head.tid = tid_of(p);
		who.head.kind = EVENT_THREAD;
		fill_thread(&who, p);
		bpf_seq_write(ctx->meta->seq, &who, sizeof(who));
	}
	event.head.time_ns = bpf_ktime_get_ns();
	event.head.tid = tid_of(p);
	event.head.kind = EVENT_ROLE;
	event.head.flags = EVENT_FLAG_CLOSING;
	fill_role(&event, p, thread, event.head.time_ns);
	/* Where the kernel's buffer ends between the two, it takes both back and comes here again. */
	if (!bpf_seq_write(ctx->meta->seq, &event, sizeof(event)))
		thread->info_sent = 1;
	return 0;
}
