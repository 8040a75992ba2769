// SPDX-License-Identifier: GPL-2.0
/* The display sensor's kernel half: when displays begin a period, who flips them by DRM itself, and in which period its
 * picture came up. Optional in all its parts. */
#include "present.h"
#include "../core/vblank.h"

char LICENSE[] SEC("license") = "GPL";

/* Flips whose file did not fit into the map below. */
u64 flippers_refused = 0;

enum { FLIPPERS_MAX = 256 };

struct flipper {
	u64 flip_ns; /* the last one */
	u32 tid;
	u32 unused;
};

/* Who flips by each open DRM file. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FLIPPERS_MAX);
	__type(key, u64);
	__type(value, struct flipper);
} flippers SEC(".maps");

enum { CLOCKS_MAX = 64 };

/* Each display's clock, by its number. A flip is told of before its period is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CLOCKS_MAX);
	__type(key, u32);
	__type(value, struct vblank_clock);
} clocks SEC(".maps");

/* Called in interrupts and in threads. */
static __always_inline void send_vblank(u32 tid, u32 display, u32 seq, u64 at_ns)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	u64 now_ns = bpf_ktime_get_ns();
	struct event_vblank *event;

	if (!(config.emit & EVENTS_FRAMES) || !cpu || cpu->window != WINDOW_OPEN)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, VBLANK, event_vblank, now_ns, tid, true);
	if (!event)
		return;
	event->at_ns = at_ns ? at_ns : now_ns;
	event->seq = seq;
	event->display = display;
	event_send(cpu, event, sizeof(*event));
}

SEC("tracepoint/drm/drm_vblank_event")
int on_vblank(struct tracepoint_drm_vblank_event *ctx)
{
	u32 display = (u32)ctx->crtc;
	struct vblank_clock *clock = bpf_map_lookup_elem(&clocks, &display);

	if (clock && ctx->time > 0)
		vblank_seen(clock, ctx->seq, (u64)ctx->time);
	send_vblank(0, display, ctx->seq, (u64)ctx->time);
	return 0;
}

SEC("tracepoint/drm/drm_vblank_event_delivered")
int on_delivered(struct tracepoint_drm_vblank_event_delivered *ctx)
{
	u64 file = ctx->file;
	struct flipper *flipper = bpf_map_lookup_elem(&flippers, &file);
	u32 display = (u32)ctx->crtc;
	struct vblank_clock *clock = bpf_map_lookup_elem(&clocks, &display);
	u64 at_ns = clock ? vblank_began(clock, ctx->seq, bpf_ktime_get_ns()) : 0;

	/* One that came while the display's interrupt was late was not up before it was asked for. */
	if (flipper)
		send_vblank(flipper->tid, display, ctx->seq,
			    at_ns && at_ns < flipper->flip_ns ? flipper->flip_ns : at_ns);
	return 0;
}

static __always_inline void flip(u64 file)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct presenter *presenter = thread ? presenter_of(current) : NULL;
	struct flipper flipper = { .flip_ns = bpf_ktime_get_ns(), .tid = tid_of(current) };
	struct role_facts *facts;

	if (!presenter || !emits_frames(thread))
		return;
	facts = &thread->role.facts;
	if (bpf_map_update_elem(&flippers, &file, &flipper, BPF_ANY))
		__sync_fetch_and_add(&flippers_refused, 1);
	if (!flip_counts(facts->present_api))
		return;
	facts->present_api = PRESENT_DRM;
	facts->presents++;
	send_frame(current, thread, presenter, flipper.flip_ns);
	if (present_is_news(facts->presents))
		role_is_told_anew(&thread->role);
	if (present_is_news(facts->presents) || facts->presents == 11)
		role_update(current, thread, flipper.flip_ns);
}

enum { FLIP_TELLS = 1, ATOMIC_TRIAL = 0x100 };

SEC("kprobe/drm_mode_page_flip_ioctl")
int BPF_KPROBE(on_page_flip, void *device, void *asked, u64 file)
{
	flip(file);
	return 0;
}

/* A trial shows nothing; what asks for no word when it is shown is a change of settings, or of the pointer. */
SEC("kprobe/drm_mode_atomic_ioctl")
int BPF_KPROBE(on_atomic, void *device, u32 *asked, u64 file)
{
	u32 flags = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), asked);
	if ((flags & FLIP_TELLS) && !(flags & ATOMIC_TRIAL))
		flip(file);
	return 0;
}
