// SPDX-License-Identifier: GPL-2.0
/* core/role.h: when sockets are what a thread wakes for, and when it only happens to use one. */
#include "../../core/role.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC };

static struct behaviour of(u64 wakeups, u64 cpu_ms, u64 net_wakes)
{
	struct behaviour seen = {
		.span_ns = 500ULL * MS,
		.cpu_ns = cpu_ms * MS,
		.wakeups = wakeups,
		.net_wakes = net_wakes,
		.gap_ns = wakeups ? 500ULL * MS / wakeups : 0,
		.gap_dev_ns = wakeups ? 300ULL * MS / wakeups : 0,
		.prio = 121,
	};

	return seen;
}

static struct behaviour by_a_clock(struct behaviour seen)
{
	seen.gap_dev_ns = seen.gap_ns / 50;
	return seen;
}

/* What comes out after some stretches of the same behaviour. */
static struct role_answer after(int times, struct behaviour seen, struct role_facts facts)
{
	struct pattern pattern = { 0 };

	for (int i = 0; i < times; i++) {
		pattern_learn(&pattern, role_of_behaviour(&seen));
		pattern_learn_net(&pattern, &seen);
	}
	return role_decide(&facts, &pattern);
}

static void test_share(void)
{
	struct role_facts none = { 0 };
	struct role_answer answer = after(2, of(5000, 100, 4900), none);

	is(answer.role, ROLE_NETWORK, "a server's thread is for the network");
	is(answer.evidence, EVIDENCE_IO, "network thread's evidence is what was seen of it");
	is(after(1, of(5000, 100, 4900), none).role, ROLE_NETWORK, "network thread is known after one stretch");
	is(after(1, of(5000, 100, 2500), none).role, ROLE_NETWORK,
	   "thread with half of its wake-ups for sockets is for the network");
	is(after(9, of(5000, 100, 2400), none).role, ROLE_UNKNOWN,
	   "thread with less than half of its wake-ups for sockets is not for the network");
	is(after(9, of(5000, 100, 0), none).role, ROLE_UNKNOWN, "thread without network wake-ups has no role by them");
	is(after(9, of(0, 0, 0), none).role == ROLE_NETWORK, 0, "a thread that sleeps on is not for the network");
	ok(after(9, of(5000, 100, 4900), none).confidence > after(1, of(5000, 100, 4900), none).confidence,
	   "agreement makes it surer");
}

static void test_paced(void)
{
	struct role_facts none = { 0 };

	is(after(2, by_a_clock(of(500, 20, 150)), none).role, ROLE_NETWORK,
	   "thread that sends in every third turn of a timer of 1 ms is for the network");
	is(after(9, by_a_clock(of(500, 20, 100)), none).role == ROLE_NETWORK, 0,
	   "thread that sends in every fifth turn of a timer of 1 ms is not for the network");
	is(after(9, by_a_clock(of(50, 20, 15)), none).role == ROLE_NETWORK, 0,
	   "thread that sends in every third turn of a timer of 10 ms is not for the network");
}

static void test_never_sleeps(void)
{
	struct role_facts none = { 0 };

	is(after(3, of(0, 500, 125), none).role, ROLE_NETWORK, "a server with too much to do: it never sleeps");
	is(after(3, of(0, 500, 50), none).role, ROLE_NETWORK,
	   "thread that serves sockets at 100 ticks a second is for the network");
	is(after(3, of(3, 490, 400), none).role, ROLE_NETWORK,
	   "thread that serves sockets and slept three times is for the network");
	is(after(3, of(0, 500, 1), none).role, ROLE_CPU_BOUND, "a hog that reports over the network now and then");
	is(after(3, of(0, 500, 0), none).role, ROLE_CPU_BOUND, "thread that never sleeps is CPU-bound");
	is(after(3, of(2, 490, 2), none).role, ROLE_CPU_BOUND, "a hog that fetches its work");
}

static void test_by_a_clock(void)
{
	struct role_facts none = { 0 }, submits = { .gpu_submits = 100 }, sound = { .audio_writes = 50 };

	is(after(3, by_a_clock(of(30, 200, 30)), none).role, ROLE_RENDER,
	   "a game's loop that sends each frame wakes for the frame");
	is(after(3, of(30, 200, 30), submits).role, ROLE_RENDER,
	   "thread that submits to a GPU and sends is for rendering");
	is(after(3, by_a_clock(of(25, 5, 25)), sound).role, ROLE_AUDIO,
	   "thread that feeds a sound card and sends is for sound");
	is(after(3, by_a_clock(of(25, 5, 25)), none).role, ROLE_NETWORK,
	   "thread that answers a peer that calls regularly is for the network");
}

static void test_change(void)
{
	struct behaviour serves = of(5000, 100, 4900), computes = of(2, 490, 0);
	struct role_facts none = { 0 };
	struct pattern pattern = { 0 };
	int stretches = 0;

	for (int i = 0; i < 5; i++)
		pattern_learn_net(&pattern, &serves);
	for (; role_decide(&none, &pattern).role == ROLE_NETWORK && stretches < 20; stretches++) {
		pattern_learn(&pattern, role_of_behaviour(&computes));
		pattern_learn_net(&pattern, &computes);
	}
	ok(stretches > 1, "network role survives one other stretch");
	ok(stretches <= 4, "network role is given up within two seconds: after %d stretches", stretches);
	is(role_decide(&none, &pattern).role, ROLE_CPU_BOUND,
	   "role that follows network is that of what the thread does now");
}

static void test_turn(void)
{
	is(net_turn(7, 100) == net_turn(7, 100), 1, "uses after one wake-up within a tick are one turn");
	is(net_turn(7, 100) == net_turn(8, 100), 0, "network use after another wake-up is another turn");
	is(net_turn(7, 100) == net_turn(7, 101), 0, "network use in another tick is another turn");
	is(net_turn(0, 0) == 0, 0, "first turn is none that was counted before");
	is(net_turn(7, 0x100000005ULL) == net_turn(7, 5), 1, "ticks that wrap stay in their half");
}

int main(void)
{
	test_share();
	test_paced();
	test_never_sleeps();
	test_by_a_clock();
	test_change();
	test_turn();
	return tap_end();
}
