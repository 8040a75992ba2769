// SPDX-License-Identifier: GPL-2.0
/* core/account.h and model/cpus.c: busy and idle time from switches, unseen switches, windows, sums. */
#include "../../core/account.h"
#include "../../src/model/cpus.h"
#include "tap.h"

enum { IDLE_TASK = 1, GAME = 2, BUILD = 3 };

/* What the kernel says of how long the thread that leaves has run. */
static u64 ran_before_ns = ~0ULL;

/* What the kernel half does at its hook. */
static void switch_at(struct cpu_account *cpu, u64 now_ns, u64 prev, u64 next)
{
	if (cpu_unseen_switch(cpu, prev))
		cpu_account_repair(cpu, now_ns, prev, prev == IDLE_TASK, ran_before_ns);
	cpu_account_switch(cpu, next);
	if (cpu_switch_turns(cpu, next == IDLE_TASK))
		cpu_account_turn(cpu, now_ns, next == IDLE_TASK);
}

static void test_busy_and_idle_fill_the_window(void)
{
	struct cpu_account cpu = { 0 };

	cpu_account_open(&cpu, 1000, IDLE_TASK, 1);
	switch_at(&cpu, 1300, IDLE_TASK, GAME);
	switch_at(&cpu, 1350, GAME, BUILD);
	switch_at(&cpu, 1500, BUILD, IDLE_TASK);
	cpu_account_snapshot(&cpu, 2000);
	is(cpu.switches, 3, "CPU account counts three switches");
	is(cpu.idle_ns, 300 + 500, "idle before the first and after the last");
	is(cpu.busy_ns, 200, "CPU is busy from the first switch to the last");
	is(cpu.lost, 0, "CPU account whose switches were all seen has no losses");
	cpu_account_snapshot(&cpu, 2500);
	is(cpu.idle_ns, 1300, "settling again adds only what is new");
}

static void test_no_clock_between_busy_threads(void)
{
	struct cpu_account cpu = { 0 };

	cpu_account_open(&cpu, 1000, GAME, 0);
	ok(!cpu_switch_turns(&cpu, 0), "busy to busy needs no clock");
	ok(cpu_switch_turns(&cpu, 1), "busy to idle needs the clock");
}

static void test_unseen_switches_are_noticed(void)
{
	struct cpu_account cpu = { 0 };

	cpu_account_open(&cpu, 1000, GAME, 0);
	switch_at(&cpu, 1100, BUILD, IDLE_TASK);
	is(cpu.lost, 1, "switch whose leaver is not who was known to run shows an unseen one");
	switch_at(&cpu, 1200, IDLE_TASK, GAME);
	is(cpu.lost, 1, "switch after an unseen one is no loss");
	/* From the game to idle and to the build, both unseen; the build has run 30 of the 300. */
	ran_before_ns = 30;
	cpu = (struct cpu_account){ 0 };
	cpu_account_open(&cpu, 1000, IDLE_TASK, 1);
	switch_at(&cpu, 1300, BUILD, IDLE_TASK);
	is(cpu.busy_ns, 30, "an unseen run counts as long as the kernel says");
	is(cpu.idle_ns, 270, "time before an unseen run counts as what the CPU did before");
	ran_before_ns = ~0ULL;
	cpu = (struct cpu_account){ 0 };
	cpu_account_open(&cpu, 1000, GAME, 0);
	switch_at(&cpu, 1300, IDLE_TASK, GAME);
	is(cpu.idle_ns, 300, "a CPU that was found idle counts as idle");
	is(cpu.busy_ns, 0, "CPU found idle is not busy with the thread that left unseen");
}

static void test_cpu_that_comes_late(void)
{
	struct cpu_account cpu = { 0 };

	cpu_account_snapshot(&cpu, 500);
	is(cpu.busy_ns + cpu.idle_ns, 0, "an account that is not open counts nothing");
	switch_at(&cpu, 700, IDLE_TASK, GAME);
	is(cpu.lost, 0, "first switch of a CPU that came online is no loss");
	cpu_account_snapshot(&cpu, 900);
	is(cpu.busy_ns, 200, "CPU that came online late counts its time from its first switch");
	is(cpu.idle_ns, 0, "CPU that came online late has no idle time from before");
}

static void test_clock_that_goes_back(void)
{
	struct cpu_account cpu = { 0 };

	cpu_account_open(&cpu, 1000, GAME, 0);
	cpu_account_snapshot(&cpu, 900);
	is(cpu.busy_ns, 0, "a clock that went back adds nothing");
}

static void test_window_is_the_difference_of_readings(void)
{
	struct cpus before, after;
	struct cpu_account sum;

	is(cpus_init(&before, 2) | cpus_init(&after, 2), 0, "accounts of two CPUs get their memory");
	before.accounts[0] = (struct cpu_account){ .switches = 10, .busy_ns = 100, .idle_ns = 7, .since_ns = 1 };
	after.accounts[0] =
		(struct cpu_account){ .switches = 15, .busy_ns = 160, .idle_ns = 9, .lost = 1, .since_ns = 2 };
	after.accounts[1] = (struct cpu_account){ .switches = 4, .idle_ns = 50, .since_ns = 2 };
	after.recursion_misses = 3;
	cpus_subtract(&after, &before);
	sum = cpus_sum(&after);
	is(after.accounts[0].switches, 5, "switches of one CPU in the window");
	is(sum.switches, 9, "switches of all CPUs add up over the window");
	is(sum.busy_ns, 60, "busy time of all CPUs adds up over the window");
	is(sum.idle_ns, 52, "idle time of all CPUs adds up over the window");
	is(sum.lost, 1, "losses of all CPUs add up over the window");
	is(after.recursion_misses, 3, "runs that the kernel skipped");
	ok(cpu_was_seen(&after.accounts[1]), "a CPU that came late is shown");
	ok(!cpu_was_seen(&before.accounts[1]), "CPU that was never there is not shown");
	cpus_free(&before);
	cpus_free(&after);
}

int main(void)
{
	test_busy_and_idle_fill_the_window();
	test_no_clock_between_busy_threads();
	test_unseen_switches_are_noticed();
	test_cpu_that_comes_late();
	test_clock_that_goes_back();
	test_window_is_the_difference_of_readings();
	return tap_end();
}
