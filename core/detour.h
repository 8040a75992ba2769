/* SPDX-License-Identifier: GPL-2.0 */
/* What the library in a traced program (detour/) and tactus agree on: which functions it may lead past the probe at
 * their entry, where it counts, and how the kernel half knows a call that it has counted. Pure: the tests ask with real
 * bytes. */
#ifndef TACTUS_CORE_DETOUR_H
#define TACTUS_CORE_DETOUR_H

#include "cuda.h"
#include "event.h"

enum {
	DETOUR_VERSION = 3,
	DETOUR_ROWS = 1024, /* functions of one process that can be led past */
	DETOUR_PLAN_MAX = 4096,
	DETOUR_PLANS = 64, /* libraries with a plan */
	DETOUR_FOLDER_BYTES = 128,
	DETOUR_STACK_WORDS = 16, /* of arguments on the stack; NVIDIA's functions have nine at most */
};

#define DETOUR_PLAN_MAGIC 0x6e616c7072756f64ULL
#define DETOUR_COUNTS_MAGIC 0x746e6f6372756f64ULL
/* Stands in the library where tactus writes the folder, behind it. */
#define DETOUR_FOLDER_MARK "tactus' folder: "
/* The folder's socket, by which a program asks for memory to count in. */
#define DETOUR_ASK_NAME "/ask"

/* r11, which no call hands anything over in, is this xor the probe's address where the library lets a call run into the
 * probe: so what is left in r11 means nothing to another function's probe. */
#define DETOUR_MARK 0x5adf00d7ac705c11ULL
#define DETOUR_MARK_COUNTED_BIT 62

enum detour_mark {
	DETOUR_NONE,	/* the call came by itself */
	DETOUR_SENT,	/* it is the one in N, and counted */
	DETOUR_COUNTED, /* it is counted, and not to be sent */
};

core_fn enum detour_mark detour_mark_of(u64 r11, u64 probe_address)
{
	u64 mark = r11 ^ probe_address;

	if (mark == DETOUR_MARK)
		return DETOUR_SENT;
	return mark == (DETOUR_MARK ^ 1ULL << DETOUR_MARK_COUNTED_BIT) ? DETOUR_COUNTED : DETOUR_NONE;
}

enum detour_kind {
	DETOUR_ENTRY = 1,    /* nobody asks for its end */
	DETOUR_WHOLE,	     /* whether it failed is counted too */
	DETOUR_REPORT,	     /* a launch: the library reports each, and none runs into the probe */
	DETOUR_PROC_ADDRESS, /* hands out functions: what it hands out is replaced */
};

struct detour_place {
	u64 address; /* of the function, from where the library is loaded */
	u64 offset;  /* the same in its file */
	u8 kind;
	u8 reg;	   /* which register the function pushes first, as instructions count them */
	u8 shift;  /* from its beginning to the probe */
	u8 behind; /* from its beginning to what follows the push */
	u16 shape;
	u16 function; /* its number */
};

/* A file of the folder for each libcuda that was probed, called plan-DEVICE-INODE: written by tactus, read by the
 * library. */
struct detour_plan {
	u64 magic;
	u32 version;
	u32 len;
	u64 every;   /* let one call in so many run into the probe */
	u64 reports; /* 0: no place is of kind DETOUR_REPORT */
	struct detour_place places[];
};

/* One function in one process. */
struct detour_row {
	u64 calls;		   /* made; those sent, trapped and failed are among them */
	u64 sent;		   /* ran into the probe as the one in N */
	u64 trapped;		   /* ran into it because nothing else was safe */
	u64 failed;		   /* of those that did neither: returned other than 0 */
	u64 device, inode, offset; /* the function */
	u64 used;		   /* 0: there is nothing in this row yet */
};

/* The answer to who asks, beside the memory: tactus makes that, and seals its size, so that nobody's file is trusted
 * and nothing can be cut short. */
struct detour_answer {
	u64 magic; /* DETOUR_COUNTS_MAGIC */
	u32 version;
	u32 pid; /* who asks, as tactus sees it: in another pid namespace it is not what the program sees */
};

/* At the beginning of that memory, one for each process that maps a libcuda: written by the library, read by tactus.
 */
struct detour_counts {
	u64 magic;
	u32 version;
	u32 len; /* DETOUR_ROWS */
	u32 pid;
	u32 reports; /* a struct detour_reports follows the rows */
	u32 unused[10];
	struct detour_row rows[];
};

enum { DETOUR_COUNTS_BYTES = sizeof(struct detour_counts) + DETOUR_ROWS * sizeof(struct detour_row) };

/* A launch that was reported. */
struct detour_launch {
	u64 sequence; /* its number among all, counted from 1: written last */
	struct event_cuda_launch event;
};

enum { DETOUR_REPORTS_LEN = 1 << 16 };

/* A ring behind the rows: programs add at `begun`, tactus takes at `taken`. Where it is full, launches run into the
 * probe. */
struct detour_reports {
	u64 begun, unused[7];
	u64 taken, unused_too[7];
	struct detour_launch launches[DETOUR_REPORTS_LEN];
};

enum { DETOUR_REPORTING_BYTES = DETOUR_COUNTS_BYTES + sizeof(struct detour_reports) };

/* Fills in how a function that begins with this code is led past its probe. Returns 0 if it can't be: only a push can
 * be done elsewhere as well as here. Not one of r10 and r11, which the way there takes. */
core_fn int detour_place_of(struct detour_place *place, const u8 *code)
{
	u32 shift = cuda_probe_shift(code);
	const u8 *at = code + shift;
	u32 is_high = at[0] == 0x41;
	u32 reg = (at[is_high] & 7u) | is_high << 3;

	if ((at[is_high] & 0xf8) != 0x50 || reg == 10 || reg == 11)
		return 0;
	place->reg = (u8)reg;
	place->shift = (u8)shift;
	place->behind = (u8)(shift + 1 + is_high);
	return 1;
}

#endif
