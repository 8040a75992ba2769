// SPDX-License-Identifier: GPL-2.0
/* The cuda sensor's kernel half: calls into libcuda, each with its arguments, what came of it and how long it took, and
 * the ioctls of NVIDIA's drivers. A launch costs one probe; everything that needs its end costs two. */
#include "../core/detour.h"
#include "cuda_arguments.h"
#include "interrupt.h"
#include "threads.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct cuda_config cuda = { .sample = 1, .nvidia_major = MAJOR_NVIDIA };

/* Threads that got no storage, and calls deeper than is kept. */
u64 callers_refused = 0, too_deep = 0;

struct open_ioctl {
	u64 since_ns; /* 0: none is under way */
	u64 arg;
	u32 cmd;
	u32 detail;
	u32 inner_nr;
	u32 inner_bytes;
	u16 device;
	u16 minor;
	u32 unused;
};

/* A function of the driver that is under way. */
struct open_function {
	u64 since_ns;
	u64 waited_ns;
	u32 function;
	u32 context; /* enum driver_context */
	u64 arguments[3];
};

/* Who queued work, and when. */
struct queued_work {
	u64 function; /* 0: a thread was woken for it */
	u64 since_ns;
	u32 pid, tid;
};

struct caller {
	u64 depth;
	struct open_call calls[CUDA_OPEN_MAX];
	struct open_ioctl ioctl;
	u64 driver_depth;
	struct open_function functions[CUDA_OPEN_MAX];
	struct queued_work work; /* that a kernel thread does for a watched process */
	u64 work_at;		 /* where it lay, or WORK_WOKEN; 0: there is none */
	u64 work_since_ns;	 /* 0: not begun yet */
	u64 work_cpu_ns;	 /* of the kernel thread, as it was woken */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct caller);
} callers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CUDA_FUNCTIONS_MAX);
	__type(key, u32);
	__type(value, struct cuda_counts);
} counts SEC(".maps");

/* Where an event would go, if there is to be one: everything that is asked before anything is done. */
struct here {
	struct task_struct *current;
	struct task_ctx *thread;
	struct sched_cpu *cpu;
	struct cuda_counts *count; /* of the function, see is_called */
	u32 cpu_id;
};

static __always_inline bool is_here(struct here *here)
{
	here->current = bpf_get_current_task_btf();
	here->cpu_id = bpf_get_smp_processor_id();
	here->cpu = cpu_state(here->cpu_id);
	here->thread = thread_at(here->cpu, here->current);
	if (!here->thread || !here->thread->watched || here->thread->ended)
		return false;
	return here->cpu && here->cpu->window == WINDOW_OPEN && cpu_is_watched(here->cpu_id);
}

/* Whether somebody watches who calls the function here. */
static __always_inline bool is_called(struct here *here, u32 function)
{
	here->count = is_here(here) ? bpf_map_lookup_elem(&counts, &function) : NULL;
	return here->count != NULL;
}

static __always_inline u64 waited_ns(const struct task_ctx *thread)
{
	return thread->account.wake_wait_ns + thread->account.preempt_wait_ns;
}

static __always_inline void send_launch(struct here *here, struct pt_regs *ctx, u64 cookie, u64 now_ns)
{
	struct event_cuda_launch *event;

	emit_thread_info(here->cpu, here->cpu_id, here->current, here->thread, now_ns, 0, true);
	event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_LAUNCH, event_cuda_launch, now_ns, tid_of(here->current),
			    true);
	if (!event)
		return;
	if (cookie & CUDA_COOKIE_ENTRY_ONLY)
		event->head.flags = EVENT_FLAG_ENTRY;
	event->function = cookie & CUDA_COOKIE_FUNCTION;
	fill_launch(event, ctx, cuda_cookie_shape(cookie));
	event_send(here->cpu, event, sizeof(*event));
}

static __always_inline struct caller *caller_of(struct task_struct *current)
{
	struct caller *caller = bpf_task_storage_get(&callers, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!caller)
		__sync_fetch_and_add(&callers_refused, 1);
	return caller;
}

/* A call whose return was never seen lies deeper in the stack than the one that begins now, or just there and is one of
 * the same function; another one just there has jumped to this one and returns with it. */
static __always_inline void drop_stale(struct caller *caller, u64 sp, u32 function)
{
	for (int i = 0; i < CUDA_OPEN_MAX; i++) {
		u64 top = caller->depth - 1;

		barrier_var(top);
		if (top >= CUDA_OPEN_MAX || caller->calls[top].sp > sp ||
		    (caller->calls[top].sp == sp && caller->calls[top].function != function))
			return;
		caller->depth = top;
	}
}

static __always_inline void open_call(struct here *here, struct pt_regs *ctx, u64 cookie, u64 now_ns)
{
	struct caller *caller = caller_of(here->current);
	u64 sp = PT_REGS_SP(ctx), at;
	struct open_call *call;

	if (!caller)
		return;
	drop_stale(caller, sp, cookie & CUDA_COOKIE_FUNCTION);
	at = caller->depth;
	barrier_var(at);
	if (at >= CUDA_OPEN_MAX) {
		__sync_fetch_and_add(&too_deep, 1);
		return;
	}
	call = &caller->calls[at];
	call->sp = sp;
	call->since_ns = now_ns;
	call->waited_ns = waited_ns(here->thread);
	call->first = PT_REGS_PARM1(ctx);
	call->second = PT_REGS_PARM2(ctx);
	call->third = PT_REGS_PARM3(ctx);
	call->fourth = PT_REGS_PARM4(ctx);
	if (shape_is_nccl(cuda_cookie_shape(cookie)))
		keep_nccl(call, ctx, cuda_cookie_shape(cookie));
	call->function = cookie & CUDA_COOKIE_FUNCTION;
	caller->depth = at + 1;
}

/* A range begins that the program itself names; one without a name says nothing. */
static __always_inline void send_range(struct here *here, struct pt_regs *ctx, u32 shape, u64 now_ns)
{
	u64 from = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx);
	struct event_cuda_name *event;
	u32 kind = 0;

	/* Else the compiler would choose an address in the context, which verifiers refuse. */
	barrier_var(from);
	barrier_var(second);
	if (shape == SHAPE_RANGE_DOMAIN)
		from = second;
	if (shape != SHAPE_RANGE) {
		read_user(&kind, sizeof(kind), from + NVTX_KIND_AT);
		if (kind != NVTX_KIND_TEXT && kind != NVTX_KIND_REGISTERED)
			return;
		from = read_word(from + NVTX_NAME_AT);
	}
	if (!from)
		return;
	emit_thread_info(here->cpu, here->cpu_id, here->current, here->thread, now_ns, 0, true);
	event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_NAME, event_cuda_name, now_ns, tid_of(here->current), true);
	if (!event)
		return;
	__builtin_memset(event->name.text, 0, sizeof(event->name.text));
	event->what = CUDA_NAMED_RANGE;
	event->pid = pid_of(here->current);
	event->handle = event->same_as = 0;
	if (bpf_probe_read_user_str(event->name.text, sizeof(event->name.text), (void *)from) < 0)
		__sync_fetch_and_add(&unread, 1);
	event_send(here->cpu, event, sizeof(*event));
}

/* Whether the traced program has counted this call itself. */
static __always_inline enum detour_mark mark_of(struct pt_regs *ctx)
{
#ifdef __TARGET_ARCH_x86
	return detour_mark_of(ctx->r11, PT_REGS_IP(ctx));
#else
	return DETOUR_NONE;
#endif
}

SEC("uprobe.multi")
int on_call(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx), now_ns;
	u32 function = cookie & CUDA_COOKIE_FUNCTION;
	enum detour_mark mark = mark_of(ctx);
	struct here here;

	if (!is_called(&here, function))
		return 0;
	if (mark == DETOUR_NONE && __sync_fetch_and_add(&here.count->entered, 1) % (cuda.sample ?: 1) &&
	    !(cookie & CUDA_COOKIE_ALWAYS))
		return 0;
	if (mark == DETOUR_COUNTED || cookie & CUDA_COOKIE_COUNT_ONLY)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (shape_is_launch(cuda_cookie_shape(cookie)))
		send_launch(&here, ctx, cookie, now_ns);
	else if (shape_is_range(cuda_cookie_shape(cookie)))
		send_range(&here, ctx, cuda_cookie_shape(cookie), now_ns);
	if (!(cookie & CUDA_COOKIE_ENTRY_ONLY))
		open_call(&here, ctx, cookie, now_ns);
	return 0;
}

/* A name that one event does not hold. */
struct long_name_left {
	u64 from;
	u64 handle;
	u64 now_ns;
	u32 cpu_id, tid, pid, unused;
};

static int send_piece(u32 index, struct long_name_left *left)
{
	u32 behind_bytes = (index + 1) * CUDA_NAME_PIECE;
	struct sched_cpu *cpu = cpu_state(left->cpu_id);
	struct event_cuda_name *event;
	char first = 0;

	bpf_probe_read_user(&first, sizeof(first), (void *)(left->from + behind_bytes));
	if (!first || !cpu)
		return 1;
	event = EVENT_BEGIN(cpu, left->cpu_id, CUDA_NAME, event_cuda_name, left->now_ns, left->tid, true);
	if (!event)
		return 1;
	__builtin_memset(event->name.text, 0, sizeof(event->name.text));
	event->what = CUDA_NAMED_MORE;
	event->pid = 0;
	event->handle = left->handle;
	event->same_as = cuda_more_of(left->pid, behind_bytes);
	bpf_probe_read_user_str(event->name.text, sizeof(event->name.text), (void *)(left->from + behind_bytes));
	event_send(cpu, event, sizeof(*event));
	return 0;
}

static __always_inline void send_rest(const struct here *here, u64 from, u64 handle, u64 now_ns)
{
	struct long_name_left left = { .from = from,
				       .handle = handle,
				       .now_ns = now_ns,
				       .cpu_id = here->cpu_id,
				       .tid = tid_of(here->current),
				       .pid = pid_of(here->current) };

	bpf_loop(CUDA_NAME_PIECES, send_piece, &left, 0);
}

static __always_inline void send_name(struct here *here, const struct open_call *call, u32 shape, u64 now_ns)
{
	struct event_cuda_name *event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_NAME, event_cuda_name, now_ns,
						    tid_of(here->current), true);
	u64 from = call->third, handle;
	long len = 0;

	if (!event)
		return;
	__builtin_memset(event->name.text, 0, sizeof(event->name.text));
	event->what = shape == SHAPE_SAME ? CUDA_NAMED_SAME : CUDA_NAMED_KERNEL;
	event->pid = pid_of(here->current);
	handle = shape == SHAPE_NAME_OF ? call->second : read_word(call->first);
	event->handle = handle;
	event->same_as = shape == SHAPE_SAME ? call->second : 0;
	if (shape == SHAPE_NAME_OF)
		from = read_word(call->first);
	if (shape != SHAPE_SAME)
		len = bpf_probe_read_user_str(event->name.text, sizeof(event->name.text), (void *)from);
	event_send(here->cpu, event, sizeof(*event));
	if (len == sizeof(event->name.text))
		send_rest(here, from, handle, now_ns);
}

static __always_inline void close_call(struct here *here, const struct open_call *call, u64 cookie, u64 depth,
				       u32 result)
{
	u64 now_ns = bpf_ktime_get_ns();
	u32 shape = cuda_cookie_shape(cookie);
	struct event_cuda_call *event;

	emit_thread_info(here->cpu, here->cpu_id, here->current, here->thread, now_ns, 0, true);
	if (shape >= SHAPE_NAME && shape <= SHAPE_SAME && !result)
		send_name(here, call, shape, now_ns);
	event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_CALL, event_cuda_call, now_ns, tid_of(here->current), true);
	if (!event)
		return;
	event->head.flags = depth ? EVENT_FLAG_NESTED : 0;
	event->duration_ns = now_ns - call->since_ns;
	event->wait_ns = waited_ns(here->thread) - call->waited_ns;
	event->bytes = event->address = event->stream = 0;
	event->function = (u32)call->function;
	event->result = result;
	event->copy = 0;
	event->pid = pid_of(here->current);
	fill_arguments(event, call, cookie);
	event_send(here->cpu, event, sizeof(*event));
}

SEC("uretprobe.multi")
int on_return(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx), sp = PT_REGS_SP(ctx), at;
	u32 function = cookie & CUDA_COOKIE_FUNCTION, result = (u32)PT_REGS_RC(ctx);
	struct caller *caller;
	struct here here;

	if (!is_called(&here, function))
		return 0;
	__sync_fetch_and_add(&here.count->returned, 1);
	if (result)
		__sync_fetch_and_add(&here.count->failed, 1);
	caller = bpf_task_storage_get(&callers, here.current, NULL, 0);
	if (!caller)
		return 0;
	at = caller->depth;
	for (int i = 0; i < CUDA_OPEN_MAX; i++) {
		struct open_call *call;

		at--;
		barrier_var(at);
		if (at >= CUDA_OPEN_MAX)
			return 0;
		call = &caller->calls[at];
		/* What lies further out is not what returns: that was not kept. */
		if (call->sp > sp)
			return 0;
		/* The stack is the same as at its beginning, but for the return address that was taken off. */
		if (sp - call->sp <= 8 && call->function == function) {
			caller->depth = at;
			close_call(&here, call, cookie, at, result);
			return 0;
		}
	}
	return 0;
}

static __always_inline struct file *file_of(struct task_struct *current, u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(current, files, fdt);
	struct file *file = NULL;

	if (fd < FIELD_PROBED(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return file;
}

/* The number and structure that count: of the wrapped one, if it is wrapped. */
static __always_inline void unwrap(struct open_ioctl *ioctl)
{
	struct {
		u32 nr;
		u32 bytes;
		u64 address;
	} wrapped = {};

	ioctl->inner_nr = ioc_nr(ioctl->cmd);
	ioctl->inner_bytes = ioc_size(ioctl->cmd);
	if (ioctl->inner_nr != NV_XFER || !read_user(&wrapped, sizeof(wrapped), ioctl->arg))
		return;
	ioctl->inner_nr = wrapped.nr;
	ioctl->inner_bytes = wrapped.bytes;
	ioctl->arg = wrapped.address;
}

SEC("tracepoint")
int on_ioctl(struct tracepoint_sys_enter_ioctl *call)
{
	struct open_ioctl *ioctl;
	struct caller *caller;
	struct here here;
	struct file *file;
	u32 device, offset;

	if (!is_here(&here))
		return 0;
	file = file_of(here.current, (u32)call->fd);
	device = file ? FIELD_PROBED(BPF_CORE_READ(file, f_inode), i_rdev) : 0;
	if (!device || (device >> 20 != cuda.nvidia_major && device >> 20 != cuda.uvm_major))
		return 0;
	caller = caller_of(here.current);
	if (!caller)
		return 0;
	ioctl = &caller->ioctl;
	ioctl->cmd = (u32)call->cmd;
	ioctl->arg = call->arg;
	ioctl->device = device >> 20 == cuda.nvidia_major ? NVIDIA_RM : NVIDIA_UVM;
	ioctl->minor = (u16)device;
	ioctl->detail = ioctl->inner_nr = ioctl->inner_bytes = 0;
	if (ioctl->device == NVIDIA_RM) {
		unwrap(ioctl);
		offset = nvidia_detail_offset(ioctl->inner_nr);
		if (offset != NO_OFFSET)
			read_user(&ioctl->detail, sizeof(ioctl->detail), ioctl->arg + offset);
	}
	ioctl->since_ns = bpf_ktime_get_ns();
	return 0;
}

/* Memory that came or an object that went, once that has happened. */
static __always_inline void send_memory(struct here *here, const struct open_ioctl *ioctl, u64 now_ns)
{
	bool is_free = ioctl->inner_nr == NV_RM_FREE, is_old = ioctl->inner_nr == NV_RM_ALLOC_MEMORY;
	struct event_cuda_call *event;
	u64 bytes = 0;
	u32 client = 0, object = 0;

	if (!is_free && !((is_old || ioctl->inner_nr == NV_RM_ALLOC) && nvidia_class_is_memory(ioctl->detail)))
		return;
	if (!read_user(&client, sizeof(client), ioctl->arg + NVIDIA_CLIENT_AT) ||
	    !read_user(&object, sizeof(object), ioctl->arg + NVIDIA_OBJECT_AT))
		return;
	if (is_old)
		bytes = read_word(ioctl->arg + NVIDIA_LIMIT_AT) + 1;
	else if (!is_free)
		bytes = read_word(read_word(ioctl->arg + NVIDIA_PARAMETERS_AT) + NVIDIA_MEMORY_SIZE_AT);
	event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_CALL, event_cuda_call, now_ns, tid_of(here->current), true);
	if (!event)
		return;
	__builtin_memset(&event->duration_ns, 0, sizeof(*event) - sizeof(event->head));
	event->function = CUDA_FUNCTION_OF_DRIVER;
	event->bytes = bytes;
	event->address = (u64)client << 32 | object;
	event->copy = is_free ? 0 : ioctl->detail;
	event->pid = pid_of(here->current);
	event_send(here->cpu, event, sizeof(*event));
}

SEC("tracepoint")
int on_ioctl_end(struct tracepoint_sys_exit_ioctl *call)
{
	struct event_cuda_ioctl *event;
	struct open_ioctl *ioctl;
	struct caller *caller;
	u32 offset, status = 0;
	struct here here;
	u64 now_ns;

	if (!is_here(&here))
		return 0;
	caller = bpf_task_storage_get(&callers, here.current, NULL, 0);
	if (!caller || !caller->ioctl.since_ns)
		return 0;
	ioctl = &caller->ioctl;
	now_ns = bpf_ktime_get_ns();
	emit_thread_info(here.cpu, here.cpu_id, here.current, here.thread, now_ns, 0, true);
	event = EVENT_BEGIN(here.cpu, here.cpu_id, CUDA_IOCTL, event_cuda_ioctl, now_ns, tid_of(here.current), true);
	if (event) {
		event->duration_ns = now_ns - ioctl->since_ns;
		event->cmd = ioctl->cmd;
		event->detail = ioctl->detail;
		event->result = (s32)call->result;
		event->device = ioctl->device;
		event->minor = ioctl->minor;
		event->inner_nr = ioctl->inner_nr;
		event->status = 0;
		offset = nvidia_status_offset(ioctl->inner_nr, ioctl->inner_bytes);
		if (ioctl->device == NVIDIA_RM && offset != NO_OFFSET)
			read_user(&event->status, sizeof(event->status), ioctl->arg + offset);
		status = event->status;
		event_send(here.cpu, event, sizeof(*event));
	}
	if (ioctl->device == NVIDIA_RM && !status && (!call->result || cuda.stand_in))
		send_memory(&here, ioctl, now_ns);
	ioctl->since_ns = 0;
	return 0;
}

#include "cuda_work.h"
#include "cuda_driver.h"
#include "cuda_xid.h"

static __always_inline int open_probed(struct pt_regs *ctx, bool is_interrupt)
{
	u64 arguments[3] = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx) };

	return open_function(ctx, arguments, is_interrupt);
}

/* Not every function has three. */
static __always_inline int open_entered(void *ctx, bool is_interrupt)
{
	u64 arguments[3] = {};

	for (u32 i = 0; i < 3; i++)
		bpf_get_func_arg(ctx, i, (__u64 *)&arguments[i]);
	return open_function(ctx, arguments, is_interrupt);
}

/* Those called blind are for kernels that do not say whether they are in an interrupt. */
SEC("kprobe.multi")
int on_driver(struct pt_regs *ctx)
{
	return open_probed(ctx, in_interrupt());
}

SEC("kprobe.multi")
int on_driver_blind(struct pt_regs *ctx)
{
	return open_probed(ctx, false);
}

SEC("kretprobe.multi")
int on_driver_end(struct pt_regs *ctx)
{
	return end_function(ctx);
}

/* For kernels that can't put one program on many functions. */
SEC("kprobe")
int on_driver_single(struct pt_regs *ctx)
{
	return open_probed(ctx, in_interrupt());
}

SEC("kprobe")
int on_driver_single_blind(struct pt_regs *ctx)
{
	return open_probed(ctx, false);
}

SEC("kretprobe")
int on_driver_single_end(struct pt_regs *ctx)
{
	return end_function(ctx);
}

/* The pattern of what is loaded for each function, by src/sensor/cuda_fentry.c; itself it is attached nowhere. The
 * function in its name is one that every kernel has. */
SEC("fentry/vfs_read")
int on_driver_fentry(void *ctx)
{
	return open_entered(ctx, in_interrupt());
}

SEC("fentry/vfs_read")
int on_driver_fentry_blind(void *ctx)
{
	return open_entered(ctx, false);
}

SEC("fexit/vfs_read")
int on_driver_fexit(void *ctx)
{
	return end_function(ctx);
}
