// SPDX-License-Identifier: GPL-2.0
/* The launch sensor's kernel half: sees every program that starts, and reports those that are worth a look. The rest,
 * known by folder and name to be neither game nor what serves one, costs two look-ups and no event. */
#include "threads.h"
#include "../core/launch_config.h"

char LICENSE[] SEC("license") = "GPL";

enum { CHUNK_LEN = 64, CHUNKS_MAX = 66 /* times 63 bytes is more than the longest path */, WHOLE_PATH_LEN = 256 };

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LAUNCH_RULES_MAX);
	__type(key, struct folder_key);
	__type(value, u32);
} folders SEC(".maps");

/* Names of programs that are looked at wherever they lie. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LAUNCH_RULES_MAX);
	__type(key, struct name_key);
	__type(value, u32);
} programs SEC(".maps");

/* For the program, which is woken at once. The stream that everybody reads has its own. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} launches SEC(".maps");

u64 seen = 0, sent = 0, lost = 0;

static __always_inline bool is_worth_a_look(struct task_struct *p, struct folder_key *folder)
{
	/* By now the thread has its program's name. */
	struct name_key name = { .bits = COMM_LEN * 8 };
	u32 *look;

	bpf_probe_read_kernel(name.comm.text, COMM_LEN, p->comm);
	if (bpf_map_lookup_elem(&programs, &name))
		return true;
	folder->bits = FOLDER_LEN * 8;
	look = bpf_map_lookup_elem(&folders, folder);
	return !look || *look;
}

static __noinline u64 length_of(const char *text)
{
	char chunk[CHUNK_LEN];
	u64 len = 0;

	for (int i = 0; i < CHUNKS_MAX; i++) {
		long got = bpf_probe_read_kernel_str(chunk, sizeof(chunk), text + len);

		if (got <= 0)
			break;
		len += (u64)got - 1;
		if (got < CHUNK_LEN)
			break;
	}
	return len;
}

static __always_inline void send_to_stream(struct task_struct *p, const struct event_exec *launch)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_ctx *thread = thread_of(p);
	struct event_exec *event;

	if (!(config.emit & EVENTS_ROLES) || !thread || !thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	if (ring_refuses_new_thread(cpu, cpu_id, EVENT_EXEC))
		return;
	emit_thread_info(cpu, cpu_id, p, thread, launch->head.time_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, EXEC, event_exec, launch->head.time_ns, tid_of(p), true);
	if (!event)
		return;
	event->pid = launch->pid;
	event->parent_pid = launch->parent_pid;
	event->path = launch->path;
	event_send(cpu, event, sizeof(*event));
}

static __noinline int report(struct task_struct *p, const char *filename)
{
	struct event_exec *event = bpf_ringbuf_reserve(&launches, sizeof(*event), 0), copy = {};
	u64 len = length_of(filename);

	copy.head.time_ns = bpf_ktime_get_ns();
	copy.head.tid = tid_of(p);
	copy.head.cpu = (u16)bpf_get_smp_processor_id();
	copy.head.kind = EVENT_EXEC;
	copy.pid = pid_of(p);
	copy.parent_pid = (u32)BPF_CORE_READ(p, real_parent, tgid);
	bpf_probe_read_kernel_str(copy.path.text, TAIL_LEN, filename + (len < TAIL_LEN ? 0 : len - (TAIL_LEN - 1)));
	send_to_stream(p, &copy);
	if (!event) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&sent, 1);
	*event = copy;
	bpf_ringbuf_submit(event, BPF_RB_FORCE_WAKEUP);
	return 0;
}

static __always_inline int started(struct task_struct *p, const char *filename)
{
	struct folder_key folder = {};

	__sync_fetch_and_add(&seen, 1);
	bpf_probe_read_kernel_str(folder.path, FOLDER_LEN, filename);
	return is_worth_a_look(p, &folder) ? report(p, filename) : 0;
}

/* The path of a program that was called by a part of it. One that is too long stays as it is, and is looked at.
 * Not inlined, for the stack's sake. */
static __noinline int find_folder(struct linux_binprm *bprm, struct folder_key *folder)
{
	char whole[WHOLE_PATH_LEN] = {};

	if (bpf_d_path(&bprm->file->f_path, whole, sizeof(whole)) > 0)
		__builtin_memcpy(folder->path, whole, FOLDER_LEN);
	return 0;
}

SEC("lsm/bprm_committed_creds")
int BPF_PROG(on_committed_creds, struct linux_binprm *bprm)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const char *filename = bprm->filename;
	struct folder_key folder = {};

	__sync_fetch_and_add(&seen, 1);
	bpf_probe_read_kernel_str(folder.path, FOLDER_LEN, filename);
	if (folder.path[0] != '/')
		find_folder(bprm, &folder);
	return is_worth_a_look(p, &folder) ? report(p, filename) : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p, int old_tid, struct linux_binprm *bprm)
{
	return started(p, bprm->filename);
}

SEC("tracepoint/sched/sched_process_exec")
int on_exec_plain(struct tracepoint_sched_process_exec *args)
{
	return started(bpf_get_current_task_btf(), (const char *)args + (args->filename & 0xffff));
}
