/* SPDX-License-Identifier: GPL-2.0 */
/* What becomes of threads is remembered by kind: a thread that has shown itself, or ends, leaves a vote in `observed`;
 * a new one, one that runs a new program or gets another name is looked up in `predicted`. For the sched sensor alone.
 */
#ifndef TACTUS_BPF_LEARN_H
#define TACTUS_BPF_LEARN_H

#include "roles.h"
#include "../core/procdb.h"

/* Emptied by the program once a second. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROCDB_KERNEL_KINDS);
	__type(key, struct kind_key);
	__type(value, struct kind_seen);
} observed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCDB_KERNEL_KINDS);
	__type(key, struct kind_key);
	__type(value, struct kind_guess);
} predicted SEC(".maps");

/* Who has a learned tier from now on, for whoever acts on it at once. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} tier_updates SEC(".maps");

/* Set by the program: LEARN_*. */
u32 learning = 0;

/* Counted: looks into `predicted`, how many found something; observations made, and those without room. */
u64 learn_looks = 0, learn_found = 0, learn_notes = 0, learn_refused = 0, learn_updates_lost = 0;

struct mm_struct {
	struct file *exe_file;
} kernel_type;

struct task_struct___learn {
	struct mm_struct *mm;
	unsigned int in_execve : 1;
} kernel_type;

struct qstr {
	union {
		struct {
			u32 hash;
			u32 len;
		};
		u64 hash_len;
	};
	const char *name;
} kernel_type;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} kernel_type;

struct vfsmount {
	struct dentry *mnt_root;
} kernel_type;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} kernel_type;

enum { PATH_ROOM = 512, PATH_NAME_MOST = 255, PATH_LEVELS = 16 };

/* A path is put together from its end. Behind it there are always zeros. */
struct path_room {
	char text[PATH_ROOM + PATH_NAME_MOST + 1]; /* the verifier reckons with a name at the very end */
};

/* One for hooks and one for iterators, which a hook may interrupt. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct path_room);
} paths SEC(".maps");

enum { ROOM_HOOKS, ROOM_ITERATORS };

/* A walk from a file to the root. */
struct path_walk {
	struct dentry *dentry;
	struct mount *mount;
	u64 at; /* where in the room the path begins so far */
	u32 which;
};

/* One step up; not 0 ends the walk. */
static long learn_step(u32 index, struct path_walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	u64 len = FIELD_PROBED(dentry, d_name.len), at = walk->at;
	struct path_room *room = bpf_map_lookup_elem(&paths, &walk->which);
	struct mount *mount = walk->mount;

	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		walk->mount = BPF_CORE_READ(mount, mnt_parent);
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		return walk->mount == mount;
	}
	if (!room || dentry == parent || len > PATH_NAME_MOST)
		return 1;
	/* Older verifiers forget a bound that the compiler has folded away. */
	barrier_var(len);
	len &= PATH_NAME_MOST;
	at = (at - len) & (PATH_ROOM - 1);
	bpf_probe_read_kernel(room->text + at, len, BPF_CORE_READ(dentry, d_name.name));
	at = (at - 1) & (PATH_ROOM - 1);
	room->text[at] = '/';
	walk->at = at;
	walk->dentry = parent;
	return at <= PATH_ROOM - TAIL_LEN;
}

/* The end of the path of the thread's program. The kernel has a helper for that, but not for these hooks. */
static __noinline int learn_find_exe(struct task_struct *p, struct tail *exe, u32 which)
{
	struct file *file = BPF_CORE_READ((struct task_struct___learn *)p, mm, exe_file);
	struct path_room *room = bpf_map_lookup_elem(&paths, &which);
	struct path_walk walk = { .at = PATH_ROOM - 1, .which = which };
	char *vfsmount = file ? BPF_CORE_READ(file, f_path.mnt) : NULL;
	u64 at;

	__builtin_memset(exe, 0, sizeof(*exe));
	if (!room || !vfsmount)
		return 0;
	walk.dentry = BPF_CORE_READ(file, f_path.dentry);
	walk.mount = (void *)(vfsmount - bpf_core_field_offset(struct mount, mnt));
	bpf_loop(PATH_LEVELS, learn_step, &walk, 0);
	at = walk.at & (PATH_ROOM - 1);
	if (at < PATH_ROOM - TAIL_LEN)
		at = PATH_ROOM - TAIL_LEN;
	bpf_probe_read_kernel(exe->text, TAIL_LEN - 1, room->text + at);
	return 0;
}

static __always_inline bool learns_of(struct task_ctx *thread)
{
	return (learning & LEARN_OBSERVE) && thread->watched && !(thread->role.facts.has & HAS_KERNEL_THREAD);
}

static __always_inline void send_tier(u32 tid, u32 tier, u64 run_ns)
{
	struct learned_tier *event = bpf_ringbuf_reserve(&tier_updates, sizeof(*event), 0);

	if (!event) {
		__sync_fetch_and_add(&learn_updates_lost, 1);
		return;
	}
	event->tid = tid;
	event->tier = tier;
	event->run_ns = run_ns;
	event->time_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
}

/* Hints are for urgent threads: who is urgent, and who no longer is. */
static __always_inline void learn_emit_tier(struct task_ctx *thread, u32 tid)
{
	if (!(learning & LEARN_TIER_UPDATES))
		return;
	role_answers(&thread->role);
	if (role_changes_urgency(&thread->role))
		send_tier(tid, thread->role.answer.tier, thread->learner.expected_run_ns);
}

/* What is predicted of the thread becomes one of its facts; the caller decides its role afterwards. This and learn_note
 * are steps as in core/types.h. */
__noinline int learn_predict(struct task_ctx *thread, const struct comm *comm, u32 tid)
{
	struct role_facts *facts;
	struct kind_guess *guess;
	struct kind_key key;

	if (!thread || !comm)
		return 0;
	facts = &thread->role.facts;
	facts->has &= (u8)~HAS_LEARNED;
	facts->learned_role = ROLE_UNKNOWN;
	facts->learned_confidence = 0;
	thread->learner.expected_run_ns = 0;
	if (!(learning & LEARN_PREDICT) || (facts->has & HAS_KERNEL_THREAD))
		return 0;
	__builtin_memcpy(&key.comm, comm, sizeof(key.comm));
	__builtin_memcpy(&key.exe, &thread->learner.exe, sizeof(key.exe));
	__sync_fetch_and_add(&learn_looks, 1);
	guess = bpf_map_lookup_elem(&predicted, &key);
	if (!guess && (learning & LEARN_ANY_PROGRAM)) {
		__builtin_memset(&key.exe, 0, sizeof(key.exe));
		guess = bpf_map_lookup_elem(&predicted, &key);
	}
	if (!guess)
		return 0;
	__sync_fetch_and_add(&learn_found, 1);
	facts->has |= HAS_LEARNED;
	facts->learned_tier = guess->tier < TIERS ? guess->tier : TIER_INTERACTIVE;
	facts->learned_role = guess->role;
	facts->learned_confidence = guess->role ? guess->role_confidence : guess->confidence;
	thread->learner.expected_run_ns = guess->figures.avg_runtime_ns;
	learn_emit_tier(thread, tid);
	return 0;
}

static __always_inline void learn_begin(struct task_struct *p, struct task_ctx *thread, const struct comm *comm)
{
	learner_begin(&thread->learner, &thread->account, bpf_ktime_get_ns());
	learn_predict(thread, comm, tid_of(p));
}

static __always_inline void learn_begin_by_own_name(struct task_struct *p, struct task_ctx *thread)
{
	struct comm comm = {};

	comm_of(p, comm.text);
	learn_begin(p, thread, &comm);
	role_answers(&thread->role);
}

/* A new thread runs the program of who made it. */
static __always_inline void learn_forked(struct task_struct *child, struct task_ctx *thread, struct task_ctx *from)
{
	if (!learning || !keeps_roles())
		return;
	thread->learner.exe = from->learner.exe;
	learn_begin_by_own_name(child, thread);
}

/* A thread that was there before. */
static __always_inline void learn_met(struct task_struct *p, struct task_ctx *thread)
{
	if (!keeps_roles() || config.no_paths || (p->flags & PF_KTHREAD))
		return;
	learn_find_exe(p, &thread->learner.exe, ROOM_ITERATORS);
	learner_begin(&thread->learner, &thread->account, bpf_ktime_get_ns());
}

/* Predictions came after the thread. */
static __always_inline void learn_again(struct task_struct *p, struct task_ctx *thread)
{
	struct comm comm = {};

	comm_of(p, comm.text);
	learn_predict(thread, &comm, tid_of(p));
}

/* The name that exec gives comes before the program: that is looked up when both are there. */
static __always_inline bool is_in_exec(struct task_struct *p)
{
	struct task_struct___learn *learn = (void *)p;

	return bpf_core_field_exists(learn->in_execve) && FIELD(learn, in_execve);
}

static __always_inline void learn_renamed(struct task_struct *p, struct task_ctx *thread, const struct comm *comm)
{
	if (learning && keeps_roles() && !is_in_exec(p))
		learn_begin(p, thread, comm);
}

static __always_inline void learn_exec(struct task_struct *p, struct task_ctx *thread)
{
	struct comm comm = {};

	if (!learning || !keeps_roles() || config.no_paths)
		return;
	comm_of(p, comm.text);
	learn_find_exe(p, &thread->learner.exe, ROOM_HOOKS);
	learn_begin(p, thread, &comm);
}

/* After each run until the thread is observed: no more than a comparison later. */
static __always_inline void learn_ran(struct task_ctx *thread)
{
	if ((learning & LEARN_OBSERVE) && !thread->learner.observed)
		learner_ran(&thread->learner, &thread->account);
}

static __always_inline void learn_vote(struct kind_seen *seen, u64 tier, u64 role, s32 by)
{
	barrier_var(tier);
	barrier_var(role);
	if (tier < TIERS)
		__sync_fetch_and_add(&seen->tier_votes[tier], by);
	if (role < ROLES)
		__sync_fetch_and_add(&seen->role_votes[role], by);
}

/* Not on the stack, which is short where this is called. */
static const struct kind_seen unseen = {};

/* Leaves the thread's vote, or corrects it. */
__noinline int learn_note(struct task_ctx *thread, const struct comm *comm, u64 now_ns)
{
	struct role_answer answer = {};
	struct learner *learner;
	struct kind_seen *seen;
	struct kind_key key;

	if (!thread || !comm)
		return 0;
	learner = &thread->learner;
	learner_judge(learner, &thread->role, &thread->account, now_ns, &answer);
	if (learner->observed && learner->tier == answer.tier && learner->role == answer.role)
		return 0;
	__builtin_memcpy(&key.comm, comm, sizeof(key.comm));
	__builtin_memcpy(&key.exe, &learner->exe, sizeof(key.exe));
	seen = bpf_map_lookup_elem(&observed, &key);
	if (!seen) {
		bpf_map_update_elem(&observed, &key, &unseen, BPF_NOEXIST);
		seen = bpf_map_lookup_elem(&observed, &key);
	}
	if (!seen) {
		__sync_fetch_and_add(&learn_refused, 1);
		return 0;
	}
	if (learner->observed)
		learn_vote(seen, learner->tier, learner->role, -1);
	else
		__sync_fetch_and_add(&seen->threads, 1);
	learn_vote(seen, answer.tier, answer.role, 1);
	seen->figures = learner_figures(learner, &thread->account, now_ns);
	__sync_fetch_and_add(&seen->notes, 1);
	__sync_fetch_and_add(&learn_notes, 1);
	learner->observed = 1;
	learner->tier = answer.tier;
	learner->role = answer.role;
	return 0;
}

static __always_inline void learn_observe(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	struct comm comm = {};

	comm_of(p, comm.text);
	learn_note(thread, &comm, now_ns);
}

/* Its behaviour was judged just now. */
static __always_inline void learn_judged(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	if (learns_of(thread) && thread->learner.age >= LEARN_AGE)
		learn_observe(p, thread, now_ns);
}

/* The thread's last switch. Threads that live so shortly that they never mature are what this is for. */
static __always_inline void learn_end(struct task_struct *p, struct task_ctx *thread)
{
	if (keeps_roles() && learns_of(thread) && !thread->ended && thread->learner.age)
		learn_observe(p, thread, bpf_ktime_get_ns());
}

#endif
