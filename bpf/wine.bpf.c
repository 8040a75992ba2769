// SPDX-License-Identifier: GPL-2.0
/* The wine sensor's kernel half: priorities and names that Windows code gives its threads, seen where it asks Wine for
 * them. Which Linux thread a Windows handle means is learned from how the handle came about. */
#include "roles.h"
#include "../core/wine.h"

char LICENSE[] SEC("license") = "GPL";

/* Whether to find other threads here, by the kernel's iterator, or to leave that to the program. */
const volatile bool walks = true;

/* Priorities for handles whose thread is not known, requests that Windows would refuse, and those whose memory could
 * not be read, neither as they were made nor when Wine had answered them. */
u64 unresolved = 0, invalid = 0, unread = 0;
/* Classes that one process gave another. */
u64 classes_unresolved = 0;
/* What a map or the ring refused. */
u64 handles_refused = 0, calls_refused = 0, reported_lost = 0;

/* Every ntdll.so that is watched, by the cookie of its probes; the first stands for those that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WINE_LIBRARIES_MAX);
	__type(key, u32);
	__type(value, struct wine_library);
} libraries SEC(".maps");

/* A call's arguments, by the convention that it was made by. */
struct arguments {
	struct wine_arguments are;
	u64 eleventh_at;
};

#ifdef __TARGET_ARCH_x86
#define BY_MICROSOFT(ctx)                                                        \
	{                                                                        \
		(u64)(ctx)->rcx, (u64)(ctx)->rdx, (u64)(ctx)->r8, (u64)(ctx)->r9 \
	}
#define BY_SYSTEM_V(ctx)                                                           \
	{                                                                          \
		(u64)(ctx)->rdi, (u64)(ctx)->rsi, (u64)(ctx)->rdx, (u64)(ctx)->rcx \
	}
/* Behind the return address and, with Microsoft's, the room that is kept for the first four. */
#define ELEVENTH_BY_MICROSOFT(ctx) ((u64)(ctx)->rsp + 0x28 + 6 * 8)
#define ELEVENTH_BY_SYSTEM_V(ctx) ((u64)(ctx)->rsp + 0x8 + 4 * 8)
#else
#define BY_MICROSOFT(ctx)              \
	{                              \
		0, ~0ull, ~0ull, ~0ull \
	}
#define BY_SYSTEM_V(ctx)                                                                                            \
	{                                                                                                           \
		(u64) PT_REGS_PARM1(ctx), (u64)PT_REGS_PARM2(ctx), (u64)PT_REGS_PARM3(ctx), (u64)PT_REGS_PARM4(ctx) \
	}
#define ELEVENTH_BY_MICROSOFT(ctx) 0
#define ELEVENTH_BY_SYSTEM_V(ctx) ((u64)PT_REGS_SP(ctx) + 2 * 8)
#endif

static __always_inline bool take_arguments(struct pt_regs *ctx, int (*fits)(const struct wine_arguments *),
					   struct arguments *arguments)
{
	struct wine_arguments microsoft = BY_MICROSOFT(ctx), system_v = BY_SYSTEM_V(ctx);
	u32 number = (u32)bpf_get_attach_cookie(ctx), convention;
	struct wine_library *library = bpf_map_lookup_elem(&libraries, &number);

	if (!library)
		return false;
	convention = wine_convention_of(library, fits(&microsoft), fits(&system_v));
	__sync_fetch_and_add(&library->calls[convention < WINE_CONVENTIONS ? convention : 0], 1);
	arguments->are = convention == WINE_MICROSOFT ? microsoft : system_v;
	arguments->eleventh_at = convention == WINE_MICROSOFT ? ELEVENTH_BY_MICROSOFT(ctx) : ELEVENTH_BY_SYSTEM_V(ctx);
	return convention != WINE_FITS_NEITHER;
}

struct bpf_iter_task {
	u64 opaque[3];
};
enum { ITERATE_THREADS_OF_PROCESS = 2 };

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task, unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;

/* A Linux thread. Tids are used again; the start time tells whether it is still the same one. */
struct target {
	u64 start_ns;
	u32 tid;
	u32 unused;
};

enum number_kind { NUMBER_HANDLE, NUMBER_THREAD_ID };

/* What a process calls a thread. */
struct target_key {
	u64 number;
	u32 pid;
	u32 kind; /* enum number_kind */
};

/* Handles are seldom closed as long as their thread is there, and a closed one is overwritten when its number is used
 * again: those that nobody has used for longest go first. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct target_key);
	__type(value, struct target);
} targets SEC(".maps");

/* The arguments of NtSetInformationThread. */
struct set_call {
	u64 handle;
	u64 from; /* 0: in no such call */
	u32 class;
	u32 length;
};

/* The calls that a thread is in: one that gives it a handle of a thread, and one whose memory was not there as it
 * began, since a page can be away for a moment: not touched yet, being moved, reclaimed. A probe can't wait for it;
 * Wine does. */
struct call {
	u64 handle_at; /* where the handle will be; 0: in no such call */
	u64 id_at;     /* where the new thread's ids will be, or 0 */
	struct target target;
	struct set_call unread;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} reported SEC(".maps");

static __always_inline void report(u32 what, u32 pid, u32 tid, s32 priority)
{
	struct wine_message *message = bpf_ringbuf_reserve(&reported, sizeof(*message), 0);

	if (!message) {
		__sync_fetch_and_add(&reported_lost, 1);
		return;
	}
	message->what = what;
	message->pid = pid;
	message->tid = tid;
	message->priority = priority;
	bpf_ringbuf_submit(message, 0);
}

/* Whoever comes by here runs a Windows program. Threads that are there already learn it from the program, later ones
 * inherit it. */
static __always_inline void note_process(struct task_struct *current, struct task_ctx *thread)
{
	if (thread->role.facts.process & PROCESS_WINE)
		return;
	thread->role.facts.process |= PROCESS_WINE;
	report(WINE_REPORTS_PROCESS, pid_of(current), 0, 0);
}

static __always_inline void remember(u32 pid, u32 kind, u64 number, const struct target *target)
{
	struct target_key key = { .number = number, .pid = pid, .kind = kind };

	if (!target->tid) {
		/* The number is one of a thread that is not known; what it meant before, it means no longer. */
		bpf_map_delete_elem(&targets, &key);
		return;
	}
	if (bpf_map_update_elem(&targets, &key, target, BPF_ANY))
		__sync_fetch_and_add(&handles_refused, 1);
}

static __always_inline struct target recall(u32 pid, u32 kind, u64 number)
{
	struct target_key key = { .number = number, .pid = pid, .kind = kind };
	struct target *found = bpf_map_lookup_elem(&targets, &key), none = {};

	return found ? *found : none;
}

static __always_inline struct target target_of(struct task_struct *p)
{
	struct target target = { .start_ns = p->start_time, .tid = tid_of(p) };

	return target;
}

struct request {
	u32 class;
	s32 priority;
	struct comm name;
};

enum request_state { REQUEST_READ, REQUEST_INVALID, REQUEST_UNREAD };

static __always_inline enum request_state read_name(const struct set_call *set, struct comm *name)
{
	struct wine_string string = {};
	u16 wide[COMM_LEN] = {};
	u32 bytes;

	if (bpf_probe_read_user(&string, sizeof(string), (void *)set->from))
		return REQUEST_UNREAD;
	bytes = string.bytes > sizeof(wide) - 2 ? sizeof(wide) - 2 : string.bytes;
	barrier_var(bytes);
	if (bytes >= sizeof(wide) || bpf_probe_read_user(wide, bytes, (void *)string.text))
		return REQUEST_UNREAD;
	wine_name_narrow(name, wide, bytes / 2);
	return REQUEST_READ;
}

static __always_inline enum request_state read_request(const struct set_call *set, struct request *request)
{
	request->class = set->class;
	if (set->class == WINE_CLASS_NAME)
		return read_name(set, &request->name);
	if (set->length != sizeof(request->priority))
		return REQUEST_INVALID;
	if (bpf_probe_read_user(&request->priority, sizeof(request->priority), (void *)set->from))
		return REQUEST_UNREAD;
	return wine_priority_is_valid(request->priority) ? REQUEST_READ : REQUEST_INVALID;
}

static __noinline int carry_out(struct task_struct *p, struct task_ctx *thread, struct request *request)
{
	struct role_facts *facts = &thread->role.facts;

	if (request->class == WINE_CLASS_NAME) {
		/* Wine may tell Linux the name too, or not: here it counts either way. */
		role_name(thread, &request->name);
	} else {
		/* Some programs ask for the same over and over. */
		if ((facts->has & HAS_WINE_PRIORITY) && facts->wine_priority == request->priority)
			return 0;
		facts->wine_priority = (s16)request->priority;
		facts->has |= HAS_WINE_PRIORITY;
	}
	return role_update(p, thread, bpf_ktime_get_ns());
}

/* Looks for the thread among those of the caller's process. False: it has ended. */
static __always_inline bool carry_out_there(struct task_struct *current, const struct target *target,
					    struct request *request)
{
	struct bpf_iter_task it;
	struct task_struct *p;
	struct task_ctx *thread;
	bool found = false;

	bpf_iter_task_new(&it, current, ITERATE_THREADS_OF_PROCESS);
	while ((p = bpf_iter_task_next(&it))) {
		if (tid_of(p) != target->tid || p->start_time != target->start_ns)
			continue;
		found = true;
		thread = thread_of(p);
		if (thread && !thread->ended)
			carry_out(p, thread, request);
		break;
	}
	bpf_iter_task_destroy(&it);
	return found;
}

static __always_inline void carry_out_by_handle(struct task_struct *current, u64 handle, struct request *request)
{
	struct target target = recall(pid_of(current), NUMBER_HANDLE, handle);

	if (!target.tid) {
		if (request->class == WINE_CLASS_BASE_PRIORITY)
			__sync_fetch_and_add(&unresolved, 1);
	} else if (walks && bpf_ksym_exists(bpf_iter_task_new)) {
		carry_out_there(current, &target, request);
	} else if (request->class == WINE_CLASS_BASE_PRIORITY) {
		report(WINE_REPORTS_PRIORITY, pid_of(current), target.tid, request->priority);
	}
}

static __always_inline enum request_state set_information(struct task_struct *current, struct task_ctx *thread,
							  const struct set_call *set)
{
	struct request request = {};
	enum request_state state = read_request(set, &request);

	if (state == REQUEST_INVALID)
		__sync_fetch_and_add(&invalid, 1);
	if (state != REQUEST_READ)
		return state;
	if (set->handle == WINE_THIS_THREAD)
		carry_out(current, thread, &request);
	else
		carry_out_by_handle(current, set->handle, &request);
	return state;
}

/* NTSTATUS NtSetInformationThread(HANDLE, THREADINFOCLASS, const void *, ULONG) */
SEC("uprobe")
int on_set_information(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct arguments with;
	struct set_call set;
	struct call *call;

	if (!thread)
		return 0;
	note_process(current, thread);
	if (!take_arguments(ctx, wine_fits_set, &with))
		return 0;
	set = (struct set_call){ with.are.first, with.are.third, (u32)with.are.second, (u32)with.are.fourth };
	if (set.class != WINE_CLASS_BASE_PRIORITY && set.class != WINE_CLASS_NAME)
		return 0;
	if (set_information(current, thread, &set) != REQUEST_UNREAD)
		return 0;
	__sync_fetch_and_add(&unread, 1);
	call = bpf_task_storage_get(&calls, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (call)
		call->unread = set;
	else
		__sync_fetch_and_add(&calls_refused, 1);
	return 0;
}

/* NTSTATUS NtSetInformationProcess(HANDLE, PROCESSINFOCLASS, void *, ULONG): the caller knows its class here, the
 * others of its process by way of the program, and those that come inherit it. */
SEC("uprobe")
int on_set_process(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct wine_process_class asked = {};
	struct arguments with;

	if (!thread)
		return 0;
	note_process(current, thread);
	if (!take_arguments(ctx, wine_fits_set, &with) || (u32)with.are.second != WINE_CLASS_PRIORITY_CLASS)
		return 0;
	if (with.are.first != WINE_THIS_PROCESS) {
		__sync_fetch_and_add(&classes_unresolved, 1);
		return 0;
	}
	if (bpf_probe_read_user(&asked, sizeof(asked), (void *)with.are.third)) {
		__sync_fetch_and_add(&unread, 1);
		return 0;
	}
	if ((u32)with.are.fourth != sizeof(asked) || !wine_priority_class_is_valid(asked.class)) {
		__sync_fetch_and_add(&invalid, 1);
		return 0;
	}
	if (thread->role.facts.wine_class == asked.class)
		return 0;
	role_has_class(&thread->role, asked.class);
	report(WINE_REPORTS_CLASS, pid_of(current), 0, asked.class);
	return role_update(current, thread, bpf_ktime_get_ns());
}

SEC("uretprobe")
int on_information_set(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct call *call = bpf_task_storage_get(&calls, current, NULL, 0);
	struct task_ctx *thread;
	struct set_call set;

	if (!call || !call->unread.from)
		return 0;
	set = call->unread;
	call->unread.from = 0;
	thread = role_here(current);
	if (thread && set_information(current, thread, &set) != REQUEST_UNREAD)
		__sync_fetch_and_add(&unread, -1);
	return 0;
}

/* The program starts, or a thread of it does something that only Windows programs do. */
SEC("uprobe")
int on_start(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);

	if (thread)
		note_process(current, thread);
	return 0;
}

static __always_inline struct call *call_begins(struct task_struct *current, u64 handle_at)
{
	struct call *call = bpf_task_storage_get(&calls, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct target none = {};

	if (!call) {
		__sync_fetch_and_add(&calls_refused, 1);
		return NULL;
	}
	call->handle_at = handle_at;
	call->id_at = 0;
	call->target = none;
	return call;
}

/* Where a list of attributes says that the new thread's ids shall go. */
static __always_inline u64 client_id_at(u64 list)
{
	struct wine_attribute entry;
	u64 bytes = 0;

	bpf_probe_read_user(&bytes, sizeof(bytes), (void *)list);
	for (u32 i = 0; i < WINE_ATTRIBUTES_MAX; i++) {
		u64 at = sizeof(bytes) + i * sizeof(entry);

		if (at + sizeof(entry) > bytes || bpf_probe_read_user(&entry, sizeof(entry), (void *)(list + at)))
			return 0;
		if ((u32)entry.attribute == WINE_ATTRIBUTE_CLIENT_ID && entry.size >= sizeof(struct wine_client_id))
			return entry.value;
	}
	return 0;
}

/* NTSTATUS NtCreateThreadEx(HANDLE *, ..., PS_ATTRIBUTE_LIST *): Linux makes the thread while this call lasts. */
SEC("uprobe")
int on_create(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct arguments with;
	struct call *call;
	u64 list = 0;

	if (!thread)
		return 0;
	note_process(current, thread);
	if (!take_arguments(ctx, wine_fits_create, &with))
		return 0;
	call = call_begins(current, with.are.first);
	if (!call || bpf_probe_read_user(&list, sizeof(list), (void *)with.eleventh_at) || !list)
		return 0;
	call->id_at = client_id_at(list);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct call *call = bpf_task_storage_get(&calls, parent, NULL, 0);

	if (call && call->handle_at && !call->target.tid && pid_of(child) == pid_of(parent))
		call->target = target_of(child);
	return 0;
}

/* NTSTATUS NtDuplicateObject(HANDLE source_process, HANDLE source, HANDLE dest_process, HANDLE *dest, ...) */
SEC("uprobe")
int on_duplicate(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct target target = {};
	struct arguments with;
	struct call *call;

	if (!role_here(current) || !take_arguments(ctx, wine_fits_duplicate, &with))
		return 0;
	if (with.are.third != WINE_THIS_PROCESS || !with.are.fourth)
		return 0;
	if (with.are.first == WINE_THIS_PROCESS)
		target = with.are.second == WINE_THIS_THREAD ? target_of(current)
							     : recall(pid_of(current), NUMBER_HANDLE, with.are.second);
	call = call_begins(current, with.are.fourth);
	if (call)
		call->target = target;
	return 0;
}

/* NTSTATUS NtOpenThread(HANDLE *, ACCESS_MASK, const OBJECT_ATTRIBUTES *, const CLIENT_ID *) */
SEC("uprobe")
int on_open(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct wine_client_id id = {};
	struct arguments with;
	struct call *call;

	if (!role_here(current) || !take_arguments(ctx, wine_fits_open, &with))
		return 0;
	call = call_begins(current, with.are.first);
	if (call && !bpf_probe_read_user(&id, sizeof(id), (void *)with.are.fourth))
		call->target = recall(pid_of(current), NUMBER_THREAD_ID, id.thread);
	return 0;
}

/* Each of the three calls above has stored a handle by now, if it went well. */
SEC("uretprobe")
int on_handle(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct call *call = bpf_task_storage_get(&calls, current, NULL, 0);
	struct wine_client_id id = {};
	u64 handle = 0, handle_at;

	if (!call || !call->handle_at)
		return 0;
	handle_at = call->handle_at;
	call->handle_at = 0;
	if ((u32)PT_REGS_RC(ctx))
		return 0;
	if (bpf_probe_read_user(&handle, sizeof(handle), (void *)handle_at)) {
		__sync_fetch_and_add(&unread, 1);
		return 0;
	}
	remember(pid_of(current), NUMBER_HANDLE, handle, &call->target);
	if (call->id_at && !bpf_probe_read_user(&id, sizeof(id), (void *)call->id_at))
		remember(pid_of(current), NUMBER_THREAD_ID, id.thread, &call->target);
	return 0;
}
