// SPDX-License-Identifier: GPL-2.0
/* core/stall.h: streams of submits as programs make them, with spans in them that stand out. */
#include "../../core/stall.h"
#include "tap.h"

#define US(n) ((u64)(n)*NSEC_PER_USEC)

/* So many frames, each of `each` submits a tenth of a millisecond apart and then a wait. Returns how many stood out. */
static u32 frames(struct stall_window *window, u32 count, u32 each, u64 wait_ns)
{
	u32 out = 0;

	for (u32 frame = 0; frame < count; frame++)
		for (u32 i = 0; i < each; i++)
			out += stall_judge(window, i + 1 < each ? US(100) : wait_ns, STALL_GAP_LEAST_NS) != 0;
	return out;
}

static void test_steady(void)
{
	for (u32 each = 1; each <= 64; each *= 4) {
		struct stall_window window = { 0 };

		frames(&window, 4 + 64 / each, each, US(14000));
		is(frames(&window, 200, each, US(15000)), 0, "a wait for the next frame is no stall");
		is(frames(&window, 1, each, US(90000)), 1, "wait six times as long as usual is a stall");
		is(frames(&window, 3, each, US(15000)), 0, "frames after a stall are none");
		is(frames(&window, 1, each, US(90000)), 1, "a second one is found beside the first");
	}
}

static void test_limits(void)
{
	struct stall_window window = { 0 };

	is(stall_judge(&window, NSEC_PER_SEC, STALL_GAP_LEAST_NS), 0, "first span is no stall");
	window = (struct stall_window){ 0 };
	for (int i = 0; i < STALL_ENOUGH; i++)
		is(stall_judge(&window, US(20), STALL_IOCTL_LEAST_NS), 0, "calls that are alike are no stall");
	is(stall_judge(&window, US(900), STALL_IOCTL_LEAST_NS), 0, "many times as long, and still short");
	is(stall_judge(&window, US(1000), STALL_IOCTL_LEAST_NS), US(20), "long: and what is usual is told");
	is(stall_judge(&window, 0, STALL_IOCTL_LEAST_NS), 0, "call that takes no time is no stall");
	for (int i = 0; i < 10; i++)
		stall_judge(&window, US(5000), STALL_IOCTL_LEAST_NS);
	is(stall_judge(&window, US(5000), STALL_IOCTL_LEAST_NS), 0, "span that goes on and on is usual");
	is(stall_judge(&window, ~0ull, STALL_IOCTL_LEAST_NS), US(5000), "longest span there can be is a stall");
}

int main(void)
{
	test_steady();
	test_limits();
	return tap_end();
}
