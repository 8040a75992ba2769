// SPDX-License-Identifier: GPL-2.0
/* Reports each launch in a ring that tactus reads: when, by which thread, of what. A thread's first launch runs into
 * the probe, where the kernel half sends its thread info, and so does one for which there is no room. */
#include "detour.h"

#ifdef __x86_64__

#include <asm/unistd.h>
#include <link.h>
#include <linux/time_types.h>
#include <stddef.h>

#include "../core/cuda_launch.h"

enum { THREADS = 4096, PROBES = 16, CLOCK_MONOTONIC_NUMBER = 1, SYMBOLS_MAX = 64 };

/* glibc keeps a thread's number here, in what %fs leads to. It is no interface: each thread's is compared with the
 * kernel's. */
#define TID_AT "0x2d0"

static u32 known_tids[THREADS];
static u32 tid_is_elsewhere;
static int (*kernel_clock)(int clock, struct __kernel_timespec *now);

static u32 tid_here(void)
{
	u32 tid;

	__asm__ volatile("movl %%fs:" TID_AT ", %0" : "=r"(tid));
	return tid;
}

static u32 tid_by_kernel(void)
{
	return (u32)detour_call_kernel(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

int detour_may_report(void)
{
	return tid_here() == tid_by_kernel();
}

static int is_text(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

void detour_find_clock(const struct link_map *map)
{
	const Elf64_Sym *symbols = NULL;
	const char *names = NULL;

	if (kernel_clock || !map->l_name || !is_text(map->l_name, "linux-vdso.so.1"))
		return;
	for (const Elf64_Dyn *at = map->l_ld; at && at->d_tag != DT_NULL; at++) {
		/* Some loaders have made addresses of them, others not. */
		u64 address = at->d_un.d_ptr < map->l_addr ? at->d_un.d_ptr + map->l_addr : at->d_un.d_ptr;

		if (at->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)address;
		if (at->d_tag == DT_STRTAB)
			names = (const char *)address;
	}
	for (u32 i = 0; symbols && i < SYMBOLS_MAX && (const char *)&symbols[i + 1] <= names; i++)
		if (symbols[i].st_value && is_text(names + symbols[i].st_name, "__vdso_clock_gettime"))
			kernel_clock = (__typeof__(kernel_clock))(map->l_addr + symbols[i].st_value);
}

static u64 now_ns(void)
{
	struct __kernel_timespec now = { 0, 0 };

	if (!kernel_clock || kernel_clock(CLOCK_MONOTONIC_NUMBER, &now))
		detour_call_kernel(__NR_clock_gettime, CLOCK_MONOTONIC_NUMBER, (u64)&now, 0, 0, 0, 0);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* Whether this thread's first launch has been seen by the kernel half; if not, it is from now on. */
static int is_known(u32 tid)
{
	u32 at = tid * 2654435761u >> 20;

	for (u32 i = 0; i < PROBES; i++, at++) {
		u32 *slot = &known_tids[at % THREADS], empty = 0;

		if (__atomic_load_n(slot, __ATOMIC_RELAXED) == tid)
			return 1;
		if (*slot)
			continue;
		if (tid_by_kernel() != tid)
			__atomic_store_n(&tid_is_elsewhere, 1, __ATOMIC_RELAXED);
		else if (!__atomic_compare_exchange_n(slot, &empty, tid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		return 0;
	}
	return 0;
}

static void fill(struct event_cuda_launch *event, const struct detour_saved *saved, u32 shape)
{
	struct launch_arguments from = { .in_registers = { saved->rdi, saved->rsi, saved->rdx, saved->rcx, saved->r8,
							   saved->r9 } };

	if (shape == SHAPE_LAUNCH)
		from.rest = (struct launch_rest){ saved->stack[0], saved->stack[1], saved->stack[2] };
	else if (shape == SHAPE_LAUNCH_EX && saved->rdi)
		from.config = *(const struct launch_config *)saved->rdi;
	launch_decode(event, &from, shape);
}

u64 detour_note(const struct detour_saved *saved, const struct detour_stub *stub)
{
	struct detour_counts *counts = detour_page.counts;
	struct detour_launch *launch;
	struct detour_reports *reports;
	u32 tid = tid_here();
	u64 sequence;

	if (!counts || tid_is_elsewhere || !is_known(tid))
		return 0;
	reports = (struct detour_reports *)((char *)counts + DETOUR_COUNTS_BYTES);
	sequence = __atomic_load_n(&reports->begun, __ATOMIC_RELAXED);
	do {
		if (sequence - __atomic_load_n(&reports->taken, __ATOMIC_ACQUIRE) >= DETOUR_REPORTS_LEN)
			return 0;
	} while (!__atomic_compare_exchange_n(&reports->begun, &sequence, sequence + 1, 1, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	launch = &reports->launches[sequence % DETOUR_REPORTS_LEN];
	launch->event.head.time_ns = now_ns();
	launch->event.head.tid = tid;
	launch->event.head.cpu = 0;
	launch->event.head.kind = EVENT_CUDA_LAUNCH;
	launch->event.head.flags = EVENT_FLAG_ENTRY;
	launch->event.function = stub->function;
	fill(&launch->event, saved, stub->shape);
	__atomic_store_n(&launch->sequence, sequence + 1, __ATOMIC_RELEASE);
	return 1;
}

#endif
