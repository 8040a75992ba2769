// SPDX-License-Identifier: GPL-2.0
/* model/submits.c: rows by thread, driver and kind from a made stream of submits, fences and memory. */
#include "../../core/gpu_config.h"
#include "../../src/model/submits.h"
#include "tap.h"

#define US(n) ((u64)(n)*NSEC_PER_USEC)

static struct threads threads;
static struct submits submits;

static void meet(u32 tid, u64 start_ns, const char *comm)
{
	struct event_thread event = { .head = { .tid = tid, .kind = EVENT_THREAD }, .start_ns = start_ns, .pid = 7 };
	struct wait ended;

	strncpy(event.comm.text, comm, COMM_LEN - 1);
	threads_handle(&threads, &event.head, &ended);
}

static bool submit(u64 at_ns, u32 tid, u8 driver, u8 work, u64 took_ns, s16 result, struct stall *stall)
{
	struct event_submit event = { .head = { .time_ns = at_ns, .tid = tid, .kind = EVENT_SUBMIT },
				      .took_ns = took_ns,
				      .driver = driver,
				      .work = work,
				      .result = result };

	return submits_handle(&submits, &threads, &event.head, stall);
}

static void test_rows(void)
{
	struct stall stall;
	u32 stalls = 0;
	u64 now_ns = NSEC_PER_SEC;

	meet(10, 1, "render");
	for (int i = 0; i < 100; i++, now_ns += US(10000)) {
		stalls += submit(now_ns + US(50), 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), i == 3 ? -12 : 0, &stall);
		stalls += submit(now_ns + US(200), 10, GPU_AMDGPU, GPU_WORK_FLIP, US(90), 0, &stall);
	}
	is(stalls, 0, "a steady stream has no stall");
	ok(submits.rows, "submits have a row");
	ok(submits.rows->next, "submits of two kinds have two rows");
	ok(!submits.rows->next->next, "submits of two kinds have no third row");
	is(submits.rows->submits, 100, "row of submits counts them all");
	is(submits.rows->refused, 1, "row of submits counts what the driver refused");
	is(submit_rate(submits.rows), 10000, "row of a hundred submits a second has that rate");
	is(submits.rows->interval_ns.max, US(10000), "row of submits has its kind's own interval");
	is(submits.rows->took_ns.max, US(50), "row of submits has its time in the call");
	is_text(submits.rows->comm.text, "render", "row of submits has the thread's name");
	ok(submit(now_ns + US(31000), 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(31000), 0, &stall),
	   "call that hangs is a stall");
	is(stall.kind, STALL_IOCTL, "call that hangs is told as a call");
	is(stall.span_ns, US(31000), "call that hangs is told with its length");
	is(stall.usual_ns, US(50), "call that hangs is told with what is usual");
	now_ns += US(100000);
	ok(submit(now_ns + US(50), 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), 0, &stall),
	   "gap between submits is a stall");
	is(stall.kind, STALL_GAP, "gap between submits is told as a gap");
	is(stall.span_ns, US(100000), "gap between submits counts from beginning to beginning");
	now_ns += 3ull * NSEC_PER_SEC;
	ok(!submit(now_ns, 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), 0, &stall), "pause between submits is no stall");
	ok(!submit(now_ns - US(500000), 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), 0, &stall),
	   "clock that steps back makes no stall");
	meet(10, 2, "another");
	submit(now_ns, 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), 0, &stall);
	is(submits.rows->next->next->submits, 1, "a reused tid is another thread");
	submit(now_ns, 99, GPU_AMDGPU, GPU_WORK_COMMANDS, 0, 0, &stall);
	is(submits.rows->next->next->next->took_ns.total, 0, "a time that is not known does not count");
}

static void test_others(void)
{
	struct event_fence fence = { .head = { .kind = EVENT_FENCE }, .took_ns = US(300), .driver = { "drm_sched" } };
	struct event_gpu_memory memory = { .head = { .kind = EVENT_GPU_MEMORY }, .bytes = 5000, .pid = 3 };
	struct stall stall;

	memcpy(fence.timeline.text, "gfx_0.0.0_and_mo", COMM_LEN);
	submits_handle(&submits, &threads, &fence.head, &stall);
	submits_handle(&submits, &threads, &fence.head, &stall);
	fence.timeline.text[0] = 's';
	submits_handle(&submits, &threads, &fence.head, &stall);
	is(submits.fences->took_ns.total, 2, "fences by timeline, also of a name that fills its field");
	is(submits.fences->next->took_ns.total, 1, "fences of another timeline have their own row");
	submits_handle(&submits, &threads, &memory.head, &stall);
	memory.bytes = 2000;
	submits_handle(&submits, &threads, &memory.head, &stall);
	is(submits.memories->bytes, 2000, "memory of a GPU is what it is now");
	is(submits.memories->most_bytes, 5000, "memory of a GPU keeps its most");
}

static bool gpu_did(u64 at_ns, u32 tid, u64 took_ns, u8 flags, struct stall *stall)
{
	struct event_fence event = { .head = { .time_ns = at_ns, .tid = tid, .kind = EVENT_FENCE, .flags = flags },
				     .took_ns = took_ns,
				     .driver = { "pci:3" },
				     .timeline = { "gfx" } };

	return submits_handle(&submits, &threads, &event.head, stall);
}

/* Each job is queued for 2 ms and given to the ring with another: 3 ms alone, or behind it. 4 ms are idle. */
static void test_rings(void)
{
	const struct ring_row *row;
	struct stall stall;
	u64 now_ns = 20ull * NSEC_PER_SEC;
	u32 stalls = 0;

	submits_free(&submits);
	submit(now_ns, 10, GPU_AMDGPU, GPU_WORK_COMMANDS, US(50), 0, &stall);
	submit(now_ns, 10, GPU_NVIDIA, GPU_WORK_CHANNEL, US(50), 0, &stall);
	for (int i = 0; i < 20; i++, now_ns += US(10000)) {
		stalls += gpu_did(now_ns, 10, US(2000), EVENT_FLAG_QUEUED, &stall);
		stalls += gpu_did(now_ns, 10, US(2000), EVENT_FLAG_QUEUED, &stall);
		stalls += gpu_did(now_ns + US(3000), 10, US(3000), EVENT_FLAG_RAN, &stall);
		stalls += gpu_did(now_ns + US(6000), 10, US(6000), EVENT_FLAG_RAN, &stall);
	}
	row = submits.rings;
	if (ok(row, "jobs have a row"))
		ok(!row->next, "jobs of a ring have one row");
	ok(!submits.fences, "jobs are no fences");
	is(row->run_ns.total, 40, "row of a ring counts its jobs");
	is(row->queue_ns.max, US(2000), "row of a ring has the time in the queue");
	is(row->run_ns.max, US(3000), "a job behind another on its ring runs from when that one is done");
	is(row->behind_ns.max, US(3000), "a job behind another on its ring has the time behind it told apart");
	is(row->use.idle_ns.total, 19, "periods between jobs are idle");
	is(row->use.idle_ns.max, US(4000), "idle periods have their length");
	is(gpu_use_percent(&row->use) / 100, 61, "a ring's use is of the time from its first job to its last");
	is(stalls, 0, "jobs that take as long as always are no stalls");
	ok(gpu_did(now_ns, 10, US(30000), EVENT_FLAG_QUEUED, &stall), "a job that was long in the queue is a stall");
	is(stall.kind, STALL_QUEUE, "a job that was long in the queue is a stall of the queue");
	ok(gpu_did(now_ns + US(50000), 10, US(50000), EVENT_FLAG_RAN, &stall),
	   "a job that was long on its ring is a stall");
	is(stall.kind, STALL_RUN, "a job that was long on its ring is a stall of the ring");
	is(stall.tid, 10, "a stall of the GPU has who submitted");
	is(submits.rings->stalls, 2, "a ring counts its stalls");
	ok(!submits_unreported(&submits, GPU_AMDGPU), "a driver whose thread has jobs tells of its work");
	ok(!submits_unreported(&submits, GPU_I915), "a driver that nobody submits to is not named");
	submit(now_ns, 11, GPU_NVIDIA, GPU_WORK_CHANNEL, US(50), 0, &stall);
	submits_free(&submits);
	submit(now_ns, 11, GPU_NVIDIA, GPU_WORK_CHANNEL, US(50), 0, &stall);
	ok(submits_unreported(&submits, GPU_NVIDIA), "a driver without fences and jobs tells nothing of its work");
	for (int i = 0; i < 20; i++, now_ns += US(10000))
		gpu_did(now_ns, 12, US(1000), 0, &stall);
	ok(gpu_did(now_ns, 12, US(9000), 0, &stall), "a fence that took long is a stall");
	is(stall.kind, STALL_FENCE, "a fence that took long is a stall of the GPU");
	is(submits.fences->use.idle_ns.total, 20, "periods between fences of a timeline are idle");
	submits_free(&submits);
}

int main(void)
{
	struct stall stall;
	struct cpu_topology place = { 0 };

	threads_init(&threads, &place, 1);
	test_rows();
	test_others();
	for (u32 i = 0; i < 2 * SUBMIT_ROWS_MAX; i++)
		submit(500, 1000 + i, GPU_AMDGPU, GPU_WORK_COMMANDS, 0, 0, &stall);
	is(submits.len, SUBMIT_ROWS_MAX, "submits have no more rows than can be shown");
	is(submits.refused, SUBMIT_ROWS_MAX + 7, "submits without a row are counted");
	test_rings();
	threads_free(&threads);
	return tap_end();
}
