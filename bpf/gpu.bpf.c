// SPDX-License-Identifier: GPL-2.0
/* Which threads submit to a GPU: ioctls seen at the drivers' own functions, or at the system call, judged by
 * core/ioc.h. An object is loaded once a hook, with one of these programs in it; src/sensor/gpu.c chooses. */
#include "roles.h"
#include "../core/gpu_config.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct gpu_config gpu = { .families = GPU_OF_DRM | GPU_OF_NVIDIA | GPU_OF_UVM };

struct drm_driver {
	char *name;
} kernel_type;

struct drm_device {
	struct drm_driver *driver;
} kernel_type;

struct drm_minor {
	struct drm_device *dev;
} kernel_type;

struct drm_file {
	struct drm_minor *minor;
} kernel_type;

/* DRM's drivers by minor number, from sysfs: for kernels that do not show how DRM's own records are laid out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPU_MINORS_MAX);
	__type(key, u32);
	__type(value, u32);
} minors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPU_DRIVERS);
	__type(key, u32);
	__type(value, struct gpu_count);
} counts SEC(".maps");

/* Arguments that could not be read, so that what they ask for is not known; submits whose end was not seen; threads
 * that got no storage. */
u64 unread = 0, unmatched_returns = 0, submitters_refused = 0;

/* A thread's submit that is under way. */
struct submitter {
	u64 since_ns; /* 0: none is */
	u64 last_ns;  /* when the one before began */
	u32 cmd;
	u32 driver;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct submitter);
} submitters SEC(".maps");

static __always_inline u32 driver_by_minor(struct file *file)
{
	u32 minor = FIELD_PROBED(BPF_CORE_READ(file, f_inode), i_rdev) & 0xfffff;
	u32 *driver = bpf_map_lookup_elem(&minors, &minor);

	return driver ? *driver : GPU_OTHER;
}

static __always_inline u32 driver_of(struct file *file)
{
	struct gpu_name name = {};
	struct drm_file *drm;

	if (gpu.by_minor || !bpf_core_field_exists(struct drm_file, minor) ||
	    !bpf_core_field_exists(struct drm_minor, dev) || !bpf_core_field_exists(struct drm_device, driver) ||
	    !bpf_core_field_exists(struct drm_driver, name))
		return driver_by_minor(file);
	drm = BPF_CORE_READ(file, private_data);
	bpf_probe_read_kernel_str(&name, sizeof(name), BPF_CORE_READ(drm, minor, dev, driver, name));
	return gpu_driver_of_name(name);
}

static __always_inline bool read_argument(void *into, u32 bytes, u64 from)
{
	if (!bpf_probe_read_user(into, bytes, (void *)from))
		return true;
	__sync_fetch_and_add(&unread, 1);
	return false;
}

static __always_inline void send_submit(struct task_struct *current, struct task_ctx *thread,
					struct submitter *submitter, u64 now_ns, u64 took_ns, s64 result)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	u64 since_ns = submitter->since_ns, last_ns = submitter->last_ns;
	struct event_submit *event;

	submitter->last_ns = since_ns;
	submitter->since_ns = 0;
	if (!thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, SUBMIT, event_submit, now_ns, tid_of(current), true);
	if (!event)
		return;
	event->took_ns = took_ns;
	event->interval_ns = last_ns ? span_between(last_ns, since_ns) : 0;
	event->cmd = submitter->cmd;
	event->driver = (u8)submitter->driver;
	event->work = (u8)gpu_work_of(submitter->driver, submitter->cmd);
	event->result = (s16)result;
	event_send(cpu, event, sizeof(*event));
}

static __always_inline void submit_begins(struct task_struct *current, struct task_ctx *thread, u32 driver, u32 cmd,
					  u64 now_ns)
{
	struct submitter *submitter = bpf_task_storage_get(&submitters, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!submitter) {
		__sync_fetch_and_add(&submitters_refused, 1);
		return;
	}
	if (submitter->since_ns)
		__sync_fetch_and_add(&unmatched_returns, 1);
	submitter->since_ns = now_ns;
	submitter->cmd = cmd;
	submitter->driver = driver;
	if (!gpu.ends_seen)
		send_submit(current, thread, submitter, now_ns, 0, 0);
}

/* An ioctl ends, whatever it was. */
static __always_inline void call_ends(s64 result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct submitter *submitter = bpf_task_storage_get(&submitters, current, NULL, 0);
	struct task_ctx *thread;
	u64 now_ns;

	if (!submitter || !submitter->since_ns)
		return;
	thread = role_here(current);
	if (!thread)
		return;
	now_ns = bpf_ktime_get_ns();
	send_submit(current, thread, submitter, now_ns, span_between(submitter->since_ns, now_ns), result);
}

static __always_inline void account_ioctl(u32 driver, u32 cmd, bool is_submit)
{
	struct gpu_count *count = bpf_map_lookup_elem(&counts, &driver);
	struct task_struct *current;
	struct task_ctx *thread;
	u64 now_ns;

	if (count && !is_submit)
		count->others++;
	if (!is_submit)
		return;
	if (count)
		count->submits++;
	current = bpf_get_current_task_btf();
	thread = role_here(current);
	if (!thread || thread->role.facts.gpu_submits == ~0u)
		return;
	thread->role.facts.gpu_driver = (u8)driver;
	thread->role.facts.gpu_submits++;
	now_ns = bpf_ktime_get_ns();
	thread->role.submitted_ns = now_ns;
	if (config.emit & EVENTS_GPU)
		submit_begins(current, thread, driver, cmd, now_ns);
	/* Those at which the answer can change, see opinion_of_gpu. */
	if (thread->role.facts.gpu_submits == 1 || thread->role.facts.gpu_submits == 11)
		role_update(current, thread, now_ns);
}

static __always_inline void took_drm(struct file *file, u32 cmd, u64 arg)
{
	u32 driver = driver_of(file), flags = DRM_ATOMIC_TEST_ONLY;
	bool is_submit = drm_is_submit(driver, cmd);

	if (is_submit && drm_may_be_question(cmd))
		is_submit = read_argument(&flags, sizeof(flags), arg) && !(flags & DRM_ATOMIC_TEST_ONLY);
	account_ioctl(driver, cmd, is_submit);
}

/* Whether an ioctl of NVIDIA's main driver makes a channel. */
static __always_inline bool makes_channel(u32 cmd, u64 arg)
{
	struct {
		u32 nr;
		u32 bytes;
		u64 address;
	} wrapped = { .nr = ioc_nr(cmd), .address = arg };
	struct {
		u32 root;
		u32 parent;
		u32 object;
		u32 class;
	} alloc;

	if (ioc_type(cmd) != IOC_TYPE_NVIDIA)
		return false;
	if (ioc_nr(cmd) == NV_XFER && !read_argument(&wrapped, sizeof(wrapped), arg))
		return false;
	return nvidia_is_alloc(wrapped.nr) && read_argument(&alloc, sizeof(alloc), wrapped.address) &&
	       nvidia_class_is_channel(alloc.class);
}

static __always_inline void took_nvidia(u32 cmd, u64 arg)
{
	if (gpu.families == GPU_OF_UVM)
		account_ioctl(GPU_NVIDIA_UVM, cmd, uvm_is_submit(cmd));
	else
		account_ioctl(GPU_NVIDIA, cmd, makes_channel(cmd, arg));
}

SEC("fentry/drm_ioctl")
int BPF_PROG(drm_fentry, struct file *file, unsigned int cmd, unsigned long arg)
{
	took_drm(file, cmd, arg);
	return 0;
}

SEC("kprobe/drm_ioctl")
int BPF_KPROBE(drm_kprobe, struct file *file, unsigned int cmd, unsigned long arg)
{
	took_drm(file, cmd, arg);
	return 0;
}

/* The function is chosen when the object is loaded. */
SEC("fentry")
int nvidia_fentry(u64 *ctx)
{
	if (gpu.with_inode)
		took_nvidia((u32)ctx[2], ctx[3]);
	else
		took_nvidia((u32)ctx[1], ctx[2]);
	return 0;
}

SEC("kprobe")
int nvidia_kprobe(struct pt_regs *ctx)
{
	if (gpu.with_inode)
		took_nvidia((u32)PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx));
	else
		took_nvidia((u32)PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx));
	return 0;
}

static __always_inline struct file *file_of(u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(bpf_get_current_task_btf(), files, fdt);
	struct file *file = NULL;

	if (fd < FIELD_PROBED(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return file;
}

/* Every ioctl of the system comes by here: most are told apart by the device's number alone. */
SEC("tracepoint")
int on_ioctl(struct tracepoint_sys_enter_ioctl *call)
{
	struct file *file = file_of((u32)call->fd);
	u32 major = file ? FIELD_PROBED(BPF_CORE_READ(file, f_inode), i_rdev) >> 20 : 0;

	if (!major)
		return 0;
	if (major == MAJOR_DRM && (gpu.families & GPU_OF_DRM))
		took_drm(file, (u32)call->cmd, call->arg);
	else if (major == MAJOR_NVIDIA && (gpu.families & GPU_OF_NVIDIA))
		account_ioctl(GPU_NVIDIA, (u32)call->cmd, makes_channel((u32)call->cmd, call->arg));
	else if (major == gpu.uvm_major && (gpu.families & GPU_OF_UVM))
		account_ioctl(GPU_NVIDIA_UVM, (u32)call->cmd, uvm_is_submit((u32)call->cmd));
	return 0;
}

/* Ends of the same calls. What the function answers lies behind its arguments. */
SEC("fexit")
int call_fexit(u64 *ctx)
{
	if (gpu.with_inode)
		call_ends((s64)ctx[4]);
	else
		call_ends((s64)ctx[3]);
	return 0;
}

SEC("kretprobe")
int call_kretprobe(struct pt_regs *ctx)
{
	call_ends((s64)PT_REGS_RC(ctx));
	return 0;
}

SEC("tracepoint")
int on_ioctl_end(struct tracepoint_sys_exit_ioctl *call)
{
	call_ends(call->result);
	return 0;
}
