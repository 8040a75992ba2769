/* SPDX-License-Identifier: GPL-2.0 */
/* What Windows code asks of Wine for its threads, and what the two halves of the wine sensor tell each other.
 * The numbers are Windows' own. */
#ifndef TACTUS_CORE_WINE_H
#define TACTUS_CORE_WINE_H

#include "types.h"

/* Handles that stand for whoever uses them. */
#define WINE_THIS_PROCESS 0xffffffffffffffffull
#define WINE_THIS_THREAD 0xfffffffffffffffeull

/* Classes of NtSetInformationThread. */
enum { WINE_CLASS_BASE_PRIORITY = 3, WINE_CLASS_NAME = 38 };

/* A list of attributes of a new thread: its length, then entries. */
enum {
	WINE_ATTRIBUTE_CLIENT_ID = 0x10003, /* the entry's value is where the new thread's ids go */
	WINE_ATTRIBUTES_MAX = 8,
};

struct wine_attribute {
	u64 attribute, size, value, returned;
};

struct wine_client_id {
	u64 process, thread;
};

struct wine_string {
	u16 bytes, room;
	u32 unused;
	u64 text; /* of u16 */
};

/* From -16 (idle) to 15 or 16 (time critical); 16 to 31 are the realtime class's own numbers. Anything else Windows
 * refuses. */
core_fn int wine_priority_is_valid(s32 priority)
{
	return priority >= -16 && priority <= 31;
}

/* A thread's Windows name as Linux would have it. */
core_fn void wine_name_narrow(struct comm *to, const u16 *from, u32 len)
{
	for (u32 i = 0; i < COMM_LEN; i++) {
		u16 letter = i < len && i < COMM_LEN - 1 ? from[i] : 0;

		to->text[i] = letter < 0x80 ? (char)letter : '?';
	}
}

/* What the kernel half asks its program to do, where it can't reach the threads by itself. */
enum wine_reported { WINE_REPORTS_PROCESS, WINE_REPORTS_PRIORITY };

struct wine_message {
	u32 what;
	u32 pid;
	u32 tid;
	s32 priority;
};

#endif
