/* SPDX-License-Identifier: GPL-2.0 */
/* What one thread did since it was last asked, for a view that looks once a second and wants no single switch: the
 * kernel half adds it up with each thread, the program takes it over. Counts, a histogram of waits, the longest of
 * them, and who was in the way. */
#ifndef TACTUS_CORE_SUMS_H
#define TACTUS_CORE_SUMS_H

#include "account.h"
#include "hist.h"

enum {
	SUMS_OCTAVES = 24, /* from 1 us to 17 s; the first and the last slot take what is less and more */
	SUMS_SLOTS = SUMS_OCTAVES * HIST_SUBS,
	SUMS_FIRST_SLOT = 8 * HIST_SUBS,    /* of core/hist.h: 1024 ns */
	SUMS_LONG_NS = 100 * NSEC_PER_USEC, /* a wait from which on somebody is looked for who was in the way */
	SUMS_OFTEN = 2000, /* who runs more often between two looks works by no timer: its switches are not sent */
	RECENT_RUNS = 8,
	RECENT_LEAST_NS = 20 * NSEC_PER_USEC, /* who ran for less is in nobody's way */
};

/* The last runs on a CPU that were long enough to be in somebody's way. */
struct recent_run {
	u64 from_ns, to_ns;
	u32 tid; /* 0: idle */
	u32 unused;
};

struct recent_runs {
	u64 since_ns; /* of the run that goes on; 0: not known */
	u64 taken;    /* the newest is at (taken - 1) % RECENT_RUNS */
	struct recent_run last[RECENT_RUNS];
};

/* A wait, and who had most of it. */
struct sums_wait {
	u64 wait_ns, to_ns;
	u32 kind; /* enum wait_kind */
	u32 cpu;
	u32 waker_tid;
	u32 behind_tid;
	u32 has_behind; /* 0: it is not known who that was */
	u32 unused;
};

struct thread_sums {
	/* Of the account, when they were last taken. */
	u64 cpu_ns, runs, wakeups, moves, wait_ns;
	u64 moved[DISTANCES];
	struct sums_wait longest;
	u64 behind_ns; /* who was in the way for most of the long waits, and how long, less what others were */
	u32 behind_tid;
	u32 waits;
	u32 counts[SUMS_SLOTS];
};

/* What has come since the last time, and of whom. */
struct sums_head {
	u64 start_ns;
	u64 cgroup; /* the kernel's number of the control group that it is in now */
	u64 cpu_ns, runs, wakeups, moves, wait_ns;
	u64 moved[DISTANCES];
	u32 tid, pid;
	u32 prio;
	u32 ended;
	u32 waker_tid;	 /* the last one; 0: an interrupt */
	u32 waker_known; /* 0: it may have been an interrupt that met this one */
	u32 unsent;	 /* whatever it is, its switches were not sent since the last time: see SUMS_OFTEN */
	u16 role, tier;	 /* now */
	struct comm comm;
};

/* As it is handed over. */
struct sums_row {
	struct sums_head head;
	struct thread_sums sums; /* its waits; the counts before them are the kernel half's own */
};

core_fn u32 sums_slot(u64 wait_ns)
{
	u32 slot = hist_slot(wait_ns);

	if (slot < SUMS_FIRST_SLOT)
		return 0;
	return slot - SUMS_FIRST_SLOT < SUMS_SLOTS ? slot - SUMS_FIRST_SLOT : SUMS_SLOTS - 1;
}

/* `tid` leaves the CPU. */
core_fn void recent_switch(struct recent_runs *runs, u32 tid, u64 now_ns)
{
	u64 from_ns = runs->since_ns;
	struct recent_run *run;

	runs->since_ns = now_ns;
	if (!from_ns || span_between(from_ns, now_ns) < RECENT_LEAST_NS)
		return;
	run = &runs->last[runs->taken++ % RECENT_RUNS];
	run->from_ns = from_ns;
	run->to_ns = now_ns;
	run->tid = tid;
}

/* Who had most of the span in one run, and for how long of it. Returns whether anybody had. */
core_fn int recent_behind(const struct recent_runs *runs, u64 from_ns, u64 to_ns, u32 *tid, u64 *most_ns)
{
	*tid = 0;
	*most_ns = 0;
	for (u32 i = 0; i < RECENT_RUNS; i++) {
		const struct recent_run *run = &runs->last[i];
		u64 ns = span_between(run->from_ns > from_ns ? run->from_ns : from_ns,
				      run->to_ns < to_ns ? run->to_ns : to_ns);

		if (ns > *most_ns) {
			*most_ns = ns;
			*tid = run->tid;
		}
	}
	return *most_ns > 0;
}

/* A thread was in the way for so long. Whoever is most of the time stays. */
core_fn void sums_behind(struct thread_sums *sums, u32 tid, u64 ns)
{
	if (sums->behind_tid == tid) {
		sums->behind_ns += ns;
	} else if (sums->behind_ns > ns) {
		sums->behind_ns -= ns;
	} else {
		sums->behind_tid = tid;
		sums->behind_ns = ns;
	}
}

/* A wait has ended. `runs`: of the CPU where the thread runs now. */
core_fn void sums_waited(struct thread_sums *sums, const struct recent_runs *runs, const struct sums_wait *wait)
{
	u32 slot = sums_slot(wait->wait_ns);
	u32 behind_tid = 0;
	u64 behind_ns = 0;

	if (slot < SUMS_SLOTS) /* never false; said for the kernel's verifier */
		sums->counts[slot]++;
	sums->waits++;
	if (wait->wait_ns >= SUMS_LONG_NS)
		recent_behind(runs, wait->to_ns - wait->wait_ns, wait->to_ns, &behind_tid, &behind_ns);
	if (behind_tid)
		sums_behind(sums, behind_tid, behind_ns);
	if (wait->wait_ns <= sums->longest.wait_ns && sums->longest.to_ns)
		return;
	sums->longest = *wait;
	sums->longest.has_behind = behind_ns > 0;
	sums->longest.behind_tid = behind_tid;
}

/* What has come since the last time. */
core_fn void sums_since(struct sums_head *head, const struct thread_sums *sums, const struct thread_account *account,
			u64 now_ns)
{
	u64 cpu_ns = account->cpu_ns + (account->run_since_ns ? span_between(account->charged_ns, now_ns) : 0);

	/* Its CPU may just have charged what was added here the last time: then there is nothing for a moment. */
	head->cpu_ns = span_between(sums->cpu_ns, cpu_ns);
	head->runs = span_between(sums->runs, account->runs);
	head->wakeups = span_between(sums->wakeups, account->wakeups);
	head->moves = span_between(sums->moves, thread_migrations(account));
	head->wait_ns = span_between(sums->wait_ns, thread_wait_ns(account));
	for (u32 far = 0; far < DISTANCES; far++)
		head->moved[far] = span_between(sums->moved[far], account->migrations[far]);
}

/* That was handed over: counting goes on from there. */
core_fn void sums_restart(struct thread_sums *sums, const struct sums_head *head)
{
	sums->cpu_ns += head->cpu_ns;
	sums->runs += head->runs;
	sums->wakeups += head->wakeups;
	sums->moves += head->moves;
	sums->wait_ns += head->wait_ns;
	for (u32 far = 0; far < DISTANCES; far++)
		sums->moved[far] += head->moved[far];
	__builtin_memset(&sums->longest, 0, sizeof(*sums) - __builtin_offsetof(struct thread_sums, longest));
}

#endif
