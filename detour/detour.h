/* SPDX-License-Identifier: GPL-2.0 */
/* What the library's code for functions that are asked for (detour.c) and its code for calls (stubs.c) share. */
#ifndef TACTUS_DETOUR_DETOUR_H
#define TACTUS_DETOUR_DETOUR_H

#include "../core/detour.h"

enum {
	DETOUR_CODE_BYTES = 16, /* from one stub's code to the next one's */
	DETOUR_PROC_NAMES = 2,	/* cuGetProcAddress and cuGetProcAddress_v2 */
	DETOUR_PROC_STUBS = 16,
};

/* Memory that a forked child finds empty (MADV_WIPEONFORK): its calls go straight to the probe. */
struct detour_page {
	struct detour_counts *counts;
	u64 unused[511];
};

/* What a stub knows of its function. Its counts are in the row of the same number. */
struct detour_stub {
	void *real;   /* the function, where the probe is */
	u64 mark;     /* see DETOUR_MARK */
	void *push;   /* code that does the function's push and goes on behind it */
	void *behind; /* its second instruction */
	void *go;     /* where a call goes that is only counted */
	u64 next;     /* the call that is sent next, counted from 0 */
	u16 shape;    /* of one that is reported */
	u16 function;
	u32 unused[3];
};

extern struct detour_page detour_page __attribute__((visibility("hidden")));
extern struct detour_stub detour_stubs[DETOUR_ROWS] __attribute__((visibility("hidden")));
extern u64 detour_every __attribute__((visibility("hidden")));

/* Code: arrays of DETOUR_CODE_BYTES each, for a row, a register, a library's cuGetProcAddress. */
extern const u8 detour_code[] __attribute__((visibility("hidden")));
extern const u8 detour_push_code[] __attribute__((visibility("hidden")));
extern const u8 detour_proc_code[] __attribute__((visibility("hidden")));
extern const u8 detour_whole[] __attribute__((visibility("hidden")));
extern const u8 detour_report[] __attribute__((visibility("hidden")));

/* The arguments of a call, as detour_report has saved them. */
struct detour_saved {
	u64 r11, r10, r9, r8, rcx, rdx, rsi, rdi;
	u64 back;    /* the return address */
	u64 stack[]; /* arguments from the seventh */
};

/* Reports a launch. Returns 0 if it is to run into the probe. report.c has it. */
u64 detour_note(const struct detour_saved *saved, const struct detour_stub *stub) __attribute__((visibility("hidden")));
/* Whether launches can be reported at all here. */
int detour_may_report(void) __attribute__((visibility("hidden")));
/* Looks for the clock in the kernel's own library. */
struct link_map;
void detour_find_clock(const struct link_map *map) __attribute__((visibility("hidden")));
/* Whether what is open is of this kind (S_IFREG, S_IFDIR), root's or this user's own, and nobody else may write to it.
 * ask.c has it. */
int detour_trusts(int fd, u32 kind, u64 *bytes) __attribute__((visibility("hidden")));
/* The memory that tactus gives who asks by this socket, and the pid that tactus knows him by; -1: it gives none. */
int detour_ask(const char *path, u32 *pid) __attribute__((visibility("hidden")));
long detour_call_kernel(long number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) __attribute__((visibility("hidden")));

int detour_proc_address(const char *name, void **function, int version, u64 flags, void *status, u32 which)
	__attribute__((visibility("hidden")));

#endif
