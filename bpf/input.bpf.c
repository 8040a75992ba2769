// SPDX-License-Identifier: GPL-2.0
/* The input sensor's kernel half: counts what each input device sends, and finds the threads that wait for it: those
 * that are woken from inside input_event, and those that read what is there without having slept. */
#include "roles.h"
#include "../core/input.h"

char LICENSE[] SEC("license") = "GPL";

enum {
	DEVICES_MAX = 256,
	/* Longer than any device's event takes, even where a virtual CPU stands still meanwhile. */
	MARK_LASTS_NS = NSEC_PER_SEC,
	/* Where the device's lock can't be looked at, so that the time must tell. */
	MARK_ALONE_LASTS_NS = 20 * NSEC_PER_USEC,
};

/* The suffix is cut off when types are matched; it keeps these apart from what other headers declare. */
struct kobject___input {
	const char *name;
} kernel_type;

struct device___input {
	struct kobject___input kobj;
} kernel_type;

struct atomic___input {
	int counter;
} kernel_type;

struct qspinlock___input {
	struct atomic___input val;
} kernel_type;

struct raw_spinlock___input {
	struct qspinlock___input raw_lock;
} kernel_type;

struct spinlock___input {
	struct raw_spinlock___input rlock;
} kernel_type;

struct input_id___input {
	u16 bustype;
	u16 vendor;
	u16 product;
} kernel_type;

struct input_dev {
	const char *name;
	struct input_id___input id;
	unsigned long evbit[1];
	unsigned long keybit[INPUT_KEY_WORDS];
	unsigned long relbit[1];
	unsigned long absbit[1];
	struct spinlock___input event_lock;
	struct device___input dev;
} kernel_type;

struct input_handle___input {
	struct input_dev *dev;
} kernel_type;

struct evdev___input {
	struct input_handle___input handle;
} kernel_type;

struct evdev_client {
	unsigned int tail;
	unsigned int packet_head;
	struct evdev___input *evdev;
} kernel_type;

struct file___input {
	void *private_data;
} kernel_type;

/* By the device's number. The program takes out those that have gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DEVICES_MAX);
	__type(key, u32);
	__type(value, struct input_count);
} devices SEC(".maps");

/* Events of devices for which there was no room. */
u64 devices_refused = 0;
/* Wake-ups by devices, and reads without one. */
u64 reads_seen = 0;

/* Which device's event this CPU is at, and on behalf of whom: the wake-ups that follow are its doing as long as that
 * thread, or whoever interrupted it there, is in input_event. */
struct mark {
	u64 task;
	u64 dev;
	u64 time_ns;
	u32 kind;
	u32 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mark);
} marks SEC(".maps");

static __always_inline u32 number_of(struct input_dev *dev)
{
	char name[INPUT_NAME_LEN] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dev, dev.kobj.name));
	return input_number_of(name);
}

/* Threads that a device has woken and that have not run since: while there is none, a switch is no matter. */
u64 wakes_pending = 0;

static __always_inline struct sched_cpu *open_cpu_here(u32 cpu_id)
{
	struct sched_cpu *cpu = (config.emit & EVENTS_INPUT) ? cpu_state(cpu_id) : NULL;

	return cpu && cpu->window == WINDOW_OPEN ? cpu : NULL;
}

static __always_inline void send_device(struct input_dev *dev, const struct input_count *count)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = open_cpu_here(cpu_id);
	struct event_device *event;

	if (!cpu)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, DEVICE, event_device, bpf_ktime_get_ns(), 0, true);
	if (!event)
		return;
	event->device = count->number;
	event->node = ~0u;
	event->device_kind = count->kind;
	event->bus = count->bus;
	event->vendor = count->vendor;
	event->product = count->product;
	__builtin_memset(&event->name, 0, sizeof(event->name));
	bpf_probe_read_kernel_str(event->name.text, TAIL_LEN, BPF_CORE_READ(dev, name));
	event_send(cpu, event, sizeof(*event));
}

static __always_inline void send_report(struct input_count *count, u64 now_ns)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = open_cpu_here(cpu_id);
	u64 events = count->events, reported = count->reported_events, last_ns = count->last_report_ns;
	struct event_input *event;

	count->reported_events = events;
	count->last_report_ns = now_ns;
	if (!cpu)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, INPUT, event_input, now_ns, 0, true);
	if (!event)
		return;
	event->interval_ns = last_ns ? span_between(last_ns, now_ns) : 0;
	event->device = count->number;
	event->events = (u32)(events - reported);
	event_send(cpu, event, sizeof(*event));
}

static __noinline int device_begin(struct input_dev *dev, u32 number)
{
	struct input_count count = {};
	struct input_bits bits = {};

	bpf_core_read(&bits.types, sizeof(bits.types), &dev->evbit);
	bpf_core_read(&bits.rel, sizeof(bits.rel), &dev->relbit);
	bpf_core_read(&bits.abs, sizeof(bits.abs), &dev->absbit);
	bpf_core_read(&bits.keys, sizeof(bits.keys), &dev->keybit);
	count.bus = BPF_CORE_READ(dev, id.bustype);
	count.vendor = BPF_CORE_READ(dev, id.vendor);
	count.product = BPF_CORE_READ(dev, id.product);
	count.kind = (u16)input_kind_of(&bits);
	count.number = number;
	send_device(dev, &count);
	bpf_map_update_elem(&devices, &number, &count, BPF_NOEXIST);
	return 0;
}

static __always_inline struct input_count *device_of(struct input_dev *dev)
{
	u32 number = number_of(dev);
	struct input_count *count = bpf_map_lookup_elem(&devices, &number);

	if (count || number == INPUT_NO_NUMBER)
		return count;
	device_begin(dev, number);
	return bpf_map_lookup_elem(&devices, &number);
}

static __always_inline struct mark *mark_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&marks, &zero);
}

static __always_inline void put_mark(struct input_dev *dev, const struct input_count *count, u64 now_ns)
{
	struct mark *mark = mark_here();

	if (!mark)
		return;
	mark->task = (u64)bpf_get_current_task_btf();
	mark->dev = (u64)dev;
	mark->time_ns = now_ns;
	mark->kind = count ? count->kind : INPUT_OTHER;
	mark->number = count ? count->number : INPUT_NO_NUMBER;
}

static __always_inline int event_sent(struct input_dev *dev, u32 type, u32 code)
{
	struct input_count *count = device_of(dev);
	u64 now_ns = bpf_ktime_get_ns();

	if (!count) {
		__sync_fetch_and_add(&devices_refused, 1);
	} else {
		if (type == INPUT_EV_SYN && code == INPUT_SYN_REPORT) {
			__sync_fetch_and_add(&count->reports, 1);
			send_report(count, now_ns);
		} else if (type != INPUT_EV_SYN) {
			__sync_fetch_and_add(&count->events, 1);
		}
		count->last_ns = now_ns;
	}
	put_mark(dev, count, now_ns);
	return 0;
}

SEC("fentry/input_event")
int BPF_PROG(on_input_event, struct input_dev *dev, unsigned int type, unsigned int code)
{
	return event_sent(dev, type, code);
}

SEC("kprobe/input_event")
int BPF_KPROBE(on_input_event_probed, struct input_dev *dev, unsigned int type, unsigned int code)
{
	return event_sent(dev, type, code);
}

static __always_inline int event_ends(void)
{
	struct mark *mark = mark_here();

	if (mark)
		mark->task = 0;
	return 0;
}

SEC("fexit/input_event")
int BPF_PROG(on_input_event_end)
{
	return event_ends();
}

SEC("kretprobe/input_event")
int BPF_KRETPROBE(on_input_event_probed_end)
{
	return event_ends();
}

/* Readers are woken under the device's lock, where nothing can come in between. An interrupt before it is taken may
 * wake somebody too, on behalf of the same thread: that is not the device's doing, and the lock tells them apart. The
 * mark of a thread that was moved to another CPU stays behind; it is believed for a while only. */
static __always_inline bool is_in_event(const struct mark *mark)
{
	struct input_dev *dev = (struct input_dev *)mark->dev;
	/* This clock may step back a little while it is being adjusted. */
	u64 age_ns = span_between(mark->time_ns, bpf_ktime_get_ns());

	if (!bpf_core_field_exists(dev->event_lock.rlock.raw_lock.val.counter))
		return age_ns < MARK_ALONE_LASTS_NS;
	return age_ns < MARK_LASTS_NS && BPF_CORE_READ(dev, event_lock.rlock.raw_lock.val.counter);
}

/* A thread that sends events may be moved to another CPU just before it takes the lock. Here it has it. */
static __always_inline int events_passed(struct input_handle___input *handle)
{
	struct input_dev *dev = BPF_CORE_READ(handle, dev);
	struct mark *mark = mark_here();

	if (!mark || (mark->dev == (u64)dev && mark->task == (u64)bpf_get_current_task_btf() && is_in_event(mark)))
		return 0;
	put_mark(dev, device_of(dev), bpf_ktime_get_ns());
	return 0;
}

SEC("fentry/evdev_events")
int BPF_PROG(on_events, struct input_handle___input *handle)
{
	return events_passed(handle);
}

SEC("kprobe/evdev_events")
int BPF_KPROBE(on_events_probed, struct input_handle___input *handle)
{
	return events_passed(handle);
}

static __always_inline void has_read(struct task_struct *p, struct task_ctx *thread, u32 kind)
{
	struct role_facts *facts = &thread->role.facts;

	__sync_fetch_and_add(&reads_seen, 1);
	facts->input_kind = (u8)kind;
	/* Only there can it change the answer. */
	if (++facts->input_reads == LEAST_WAKES)
		role_update(p, thread, bpf_ktime_get_ns());
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct mark *mark = mark_here();
	struct task_ctx *thread;

	if (!mark || mark->task != (u64)current || !keeps_roles())
		return 0;
	/* The kernel's own threads pass events on; they read none. */
	if (!is_in_event(mark) || (p->flags & PF_KTHREAD))
		return 0;
	thread = thread_of(p);
	if (!thread || thread->ended)
		return 0;
	/* What it was woken for it will read, which counts once. The wake-up itself may have been counted already: the
	 * sched sensor's hook comes before this one. */
	thread->role.input_wake = thread->account.wakeups +
				  (config.counts_at_waking && !thread->woken_early_ns ? 0 : 1);
	if (config.raise & RAISE_INPUT) {
		scx_task_note_input(&thread->scx, mark->time_ns + TIER_INPUT_NS);
		input_note_near(mark->time_ns + TIER_INPUT_NS);
	}
	/* One that was just about to sleep runs already. One that is past that, though still on its CPU, will be
	 * switched away from first. */
	if ((config.emit & EVENTS_INPUT) && thread->watched && (!thread->account.run_since_ns || has_left_queue(p))) {
		if (!thread->role.input_ns)
			__sync_fetch_and_add(&wakes_pending, 1);
		thread->role.input_ns = mark->time_ns;
		thread->role.input_device = mark->number;
	}
	has_read(p, thread, mark->kind);
	return 0;
}

static __always_inline void send_wake(struct task_struct *p, struct task_ctx *thread, u64 report_ns)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = open_cpu_here(cpu_id);
	u64 now_ns = bpf_ktime_get_ns();
	struct event_input_wake *event;

	if (!cpu)
		return;
	emit_thread_info(cpu, cpu_id, p, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, INPUT_WAKE, event_input_wake, now_ns, tid_of(p), true);
	if (!event)
		return;
	event->delay_ns = span_between(report_ns, now_ns);
	event->device = thread->role.input_device;
	event->device_kind = thread->role.facts.input_kind;
	event_send(cpu, event, sizeof(*event));
}

/* A thread that a device woke gets to run. If it was woken again since, a switch to it went unseen, and how long the
 * report took is not known. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct task_ctx *thread = wakes_pending && tid_of(next) ? thread_of(next) : NULL;
	u64 report_ns = thread ? thread->role.input_ns : 0;

	if (!report_ns)
		return 0;
	thread->role.input_ns = 0;
	__sync_fetch_and_add(&wakes_pending, -1);
	if (thread->account.wakeups == thread->role.input_wake)
		send_wake(next, thread, report_ns);
	return 0;
}

/* Threads that look for events now and then without sleeping for them. Counts once a run, and only if there was
 * something to read. */
static __always_inline int looked(struct file___input *file)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct evdev_client *client;
	struct input_count *count;
	u64 run;

	if (!bpf_core_type_exists(struct evdev_client) || !thread)
		return 0;
	client = BPF_CORE_READ(file, private_data);
	if (BPF_CORE_READ(client, packet_head) == BPF_CORE_READ(client, tail))
		return 0;
	run = thread->account.runs + 1;
	if (thread->role.input_run == run ||
	    (thread->role.input_wake && thread->role.input_wake >= thread->account.wakeups))
		return 0;
	thread->role.input_run = run;
	count = device_of(BPF_CORE_READ(client, evdev, handle.dev));
	has_read(current, thread, count ? count->kind : INPUT_OTHER);
	return 0;
}

SEC("fentry/evdev_read")
int BPF_PROG(on_read, struct file___input *file)
{
	return looked(file);
}

SEC("kprobe/evdev_read")
int BPF_KPROBE(on_read_probed, struct file___input *file)
{
	return looked(file);
}
