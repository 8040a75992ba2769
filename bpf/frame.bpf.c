// SPDX-License-Identifier: GPL-2.0
/* The frame sensor's kernel half: threads that present, seen in the libraries by which they do.
 * Functions that programs ask for by name are reported to the program, which puts the next probe there. */
#include "present.h"

char LICENSE[] SEC("license") = "GPL";

/* Messages that the ring had no room for. */
u64 reported_lost = 0;
/* Presents and submits that were counted. */
u64 presents_seen = 0, submits_seen = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} reported SEC(".maps");

enum { SURFACE_HAS_BUFFER = 1, SURFACE_IS_CURSOR = 2 };
enum { SURFACES_MAX = 4096 };

struct surface_key {
	u64 surface;
	u32 pid;
	u32 unused;
};

/* What clients of a Wayland server do with their surfaces. The ones that nobody has used for longest go first. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SURFACES_MAX);
	__type(key, struct surface_key);
	__type(value, u32);
} surfaces SEC(".maps");

static __always_inline void report(struct task_struct *current, u32 what, u32 rank, u64 address, u64 now_ns)
{
	struct frame_message *message = bpf_ringbuf_reserve(&reported, sizeof(*message), 0);

	if (!message) {
		__sync_fetch_and_add(&reported_lost, 1);
		return;
	}
	message->time_ns = now_ns;
	message->address = address;
	message->pid = pid_of(current);
	message->tid = tid_of(current);
	message->what = what;
	message->rank = rank;
	bpf_ringbuf_submit(message, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void count_present(u64 way)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct presenter *presenter = thread ? presenter_of(current) : NULL;
	struct role_facts *facts;
	u64 now_ns;

	if (!presenter)
		return;
	facts = &thread->role.facts;
	/* A new program begins anew. */
	if (!facts->presents)
		presenter->greatest = 0;
	if (!present_counts(&presenter->greatest, way)) {
		facts->present_api = (u8)way_api(presenter->greatest);
		return;
	}
	facts->present_api = (u8)way_api(way);
	facts->presents++;
	__sync_fetch_and_add(&presents_seen, 1);
	if (!(config.emit & EVENTS_FRAMES) && !(config.raise & RAISE_FRAMES) && facts->presents != 1 &&
	    facts->presents != 11)
		return;
	now_ns = bpf_ktime_get_ns();
	send_frame(current, thread, presenter, now_ns);
	if (facts->presents != 1 && facts->presents != 11)
		return;
	if (present_is_news(facts->presents))
		role_is_told_anew(&thread->role);
	role_update(current, thread, now_ns);
	if (facts->presents == 1)
		report(current, FRAME_REPORTS_PRESENTS, (u32)(way >> 32), 0, now_ns);
}

/* The cookie is the way. */
SEC("uprobe.multi")
int on_present(struct pt_regs *ctx)
{
	count_present(bpf_get_attach_cookie(ctx));
	return 0;
}

static __always_inline void send_submit(struct task_struct *current, struct task_ctx *thread, u64 last_ns, u64 now_ns)
{
	u32 cpu_id = bpf_get_smp_processor_id(), driver = thread->role.facts.gpu_driver;
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_submit *event;

	if (!(config.emit & EVENTS_GPU) || !thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, SUBMIT, event_submit, now_ns, tid_of(current), true);
	if (!event)
		return;
	event->took_ns = 0;
	event->interval_ns = last_ns ? span_between(last_ns, now_ns) : 0;
	event->cmd = 0;
	event->driver = (u8)driver;
	event->work = (u8)gpu_work_of(driver, 0);
	event->result = 0;
	event_send(cpu, event, sizeof(*event));
}

/* Commands are handed over by a library's function: to a driver that is asked by no ioctl that a hook knows, or that
 * hands them to a thread of its own. The cookie is the way. */
SEC("uprobe.multi")
int on_submit(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u64 way = bpf_get_attach_cookie(ctx), now_ns, last_ns;
	struct task_ctx *thread = role_here(current);
	struct presenter *presenter = thread ? presenter_of(current) : NULL;
	struct role_facts *facts;

	if (!presenter)
		return 0;
	facts = &thread->role.facts;
	/* A new program begins anew. */
	if (!facts->gpu_submits)
		presenter->greatest_submit = 0;
	if (!present_counts(&presenter->greatest_submit, way) || facts->gpu_submits == ~0u)
		return 0;
	facts->gpu_submits++;
	__sync_fetch_and_add(&submits_seen, 1);
	facts->gpu_driver = (u8)way_gpu_driver(way);
	now_ns = bpf_ktime_get_ns();
	last_ns = presenter->submitted_ns;
	presenter->submitted_ns = now_ns;
	thread->role.submitted_ns = now_ns;
	send_submit(current, thread, last_ns, now_ns);
	if (facts->gpu_submits == 1 || facts->gpu_submits == 11)
		role_update(current, thread, now_ns);
	return 0;
}

/* Argument 1 or 2 of a function of a 64-bit library, or of a 32-bit one, where they are on the stack. */
static __always_inline u64 argument(struct pt_regs *ctx, u64 cookie)
{
	u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx);
	u32 narrow = 0, number = cookie & FRAME_ARGUMENT_MASK;

	/* Else the compiler would choose an address in the context, which verifiers refuse. */
	barrier_var(first);
	barrier_var(second);
	if (!(cookie & FRAME_32_BIT))
		return number == 1 ? first : second;
	bpf_probe_read_user(&narrow, sizeof(narrow), (void *)(PT_REGS_SP(ctx) + number * 4));
	return narrow;
}

enum { NAME_LEN = 32 };

static __always_inline bool name_is(const char *name, const char *wanted, int len)
{
	for (int i = 0; i < len; i++)
		if (name[i] != wanted[i])
			return false;
	return true;
}

#define NAME_IS(name, text) name_is(name, text, sizeof(text))

/* The cookie says which argument is the name. */
SEC("uprobe.multi")
int on_ask(struct pt_regs *ctx)
{
	struct presenter *presenter;
	char name[NAME_LEN] = {};
	u32 rank;

	if (bpf_probe_read_user_str(name, sizeof(name), (void *)argument(ctx, bpf_get_attach_cookie(ctx))) <= 0)
		return 0;
	if (NAME_IS(name, "vkQueuePresentKHR"))
		rank = WAY_VULKAN;
	else if (NAME_IS(name, "eglSwapBuffersWithDamageKHR") || NAME_IS(name, "eglSwapBuffersWithDamageEXT"))
		rank = WAY_EGL;
	else if (NAME_IS(name, "vkQueueSubmit"))
		rank = WAY_SUBMIT;
	else if (NAME_IS(name, "vkQueueSubmit2") || NAME_IS(name, "vkQueueSubmit2KHR"))
		rank = WAY_SUBMIT2;
	else
		return 0;
	presenter = presenter_of(bpf_get_current_task_btf());
	if (!presenter)
		return 0;
	presenter->asked_sp = PT_REGS_SP(ctx);
	presenter->asked_rank = rank;
	return 0;
}

SEC("uretprobe.multi")
int on_answer(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct presenter *presenter = bpf_task_storage_get(&presenters, current, NULL, 0);
	u64 address = PT_REGS_RC(ctx), now_ns;

	/* Calls can be nested. The one that returns is the one that asked if its stack is the same, but for the return
	 * address that it took off. */
	if (!presenter || !presenter->asked_sp || PT_REGS_SP(ctx) - presenter->asked_sp > 8)
		return 0;
	presenter->asked_sp = 0;
	if (bpf_get_attach_cookie(ctx) & FRAME_32_BIT)
		address = (u32)address;
	if (!address)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (may_report(&presenter->report_rate, now_ns))
		report(current, FRAME_REPORTS_ADDRESS, (u32)presenter->asked_rank, address, now_ns);
	else
		__sync_fetch_and_add(&reported_lost, 1);
	return 0;
}

/* Requests of the Wayland protocol, by their numbers. */
enum { SURFACE_DESTROY = 0, SURFACE_ATTACH = 1, SURFACE_COMMIT = 6, POINTER_SET_CURSOR = 0 };

static __always_inline void mark_surface(const struct surface_key *key, u32 mark)
{
	u32 *flags = bpf_map_lookup_elem(&surfaces, key);

	if (flags)
		*flags |= mark;
	else
		bpf_map_update_elem(&surfaces, key, &mark, BPF_ANY);
}

static __always_inline u64 object_in(u64 arguments, u32 index)
{
	u64 object = 0;

	bpf_probe_read_user(&object, sizeof(object), (void *)(arguments + index * 8));
	return object;
}

/* Inside a greater way to present it is no frame of its own, but this is when the server gets the picture. */
static __always_inline void send_commit(void)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct event_commit *event;
	u64 now_ns;

	if (!(config.emit & EVENTS_FRAMES) || !thread || !thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	now_ns = bpf_ktime_get_ns();
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, COMMIT, event_commit, now_ns, tid_of(current), true);
	if (!event)
		return;
	event->number = thread->role.facts.presents;
	event_send(cpu, event, sizeof(*event));
}

/* A frame is a commit after a new buffer was attached; of anything but the pointer's image. */
static __always_inline void surface_requested(u64 proxy, u32 opcode, u64 arguments)
{
	struct surface_key key = { .surface = proxy, .pid = bpf_get_current_pid_tgid() >> 32 };
	u32 *flags;

	if (opcode == SURFACE_DESTROY)
		bpf_map_delete_elem(&surfaces, &key);
	if (opcode == SURFACE_ATTACH && object_in(arguments, 0))
		mark_surface(&key, SURFACE_HAS_BUFFER);
	if (opcode != SURFACE_COMMIT)
		return;
	flags = bpf_map_lookup_elem(&surfaces, &key);
	if (!flags || !(*flags & SURFACE_HAS_BUFFER))
		return;
	*flags &= ~SURFACE_HAS_BUFFER;
	if (*flags & SURFACE_IS_CURSOR)
		return;
	count_present(way_of(WAY_WAYLAND, 0));
	send_commit();
}

/* The cookie says which argument is the array of arguments. */
SEC("uprobe.multi")
int on_wayland(struct pt_regs *ctx)
{
	u64 proxy = PT_REGS_PARM1(ctx), interface = 0, name_at = 0;
	u64 third = PT_REGS_PARM3(ctx), sixth = PT_REGS_PARM6(ctx), arguments;
	u32 opcode = (u32)PT_REGS_PARM2(ctx);
	char name[12] = {};

	barrier_var(third);
	barrier_var(sixth);
	arguments = bpf_get_attach_cookie(ctx) == 3 ? third : sixth;
	if (opcode != SURFACE_COMMIT && opcode != SURFACE_ATTACH && opcode != SURFACE_DESTROY)
		return 0;
	/* A proxy begins with its interface, which begins with its name. */
	if (bpf_probe_read_user(&interface, sizeof(interface), (void *)proxy) ||
	    bpf_probe_read_user(&name_at, sizeof(name_at), (void *)interface) ||
	    bpf_probe_read_user_str(name, sizeof(name), (void *)name_at) <= 0)
		return 0;
	if (NAME_IS(name, "wl_surface")) {
		surface_requested(proxy, opcode, arguments);
	} else if (opcode == POINTER_SET_CURSOR && NAME_IS(name, "wl_pointer")) {
		struct surface_key key = { .surface = object_in(arguments, 1),
					   .pid = bpf_get_current_pid_tgid() >> 32 };

		if (key.surface)
			mark_surface(&key, SURFACE_IS_CURSOR);
	}
	return 0;
}
