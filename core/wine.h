/* SPDX-License-Identifier: GPL-2.0 */
/* What Windows code asks of Wine for its threads, and what the two halves of the wine sensor tell each other.
 * The numbers are Windows' own. */
#ifndef TACTUS_CORE_WINE_H
#define TACTUS_CORE_WINE_H

#include "types.h"

/* Handles that stand for whoever uses them. */
#define WINE_THIS_PROCESS 0xffffffffffffffffull
#define WINE_THIS_THREAD 0xfffffffffffffffeull

/* Classes of NtSetInformationThread, and one of NtSetInformationProcess. */
enum { WINE_CLASS_BASE_PRIORITY = 3, WINE_CLASS_NAME = 38, WINE_CLASS_PRIORITY_CLASS = 18 };

/* How a process's threads stand among those of others, as Windows code sets it. */
enum wine_priority_class {
	WINE_PRIORITY_CLASS_NONE, /* nobody asked: as NORMAL */
	WINE_IDLE_CLASS,
	WINE_NORMAL_CLASS,
	WINE_HIGH_CLASS,
	WINE_REALTIME_CLASS,
	WINE_BELOW_NORMAL_CLASS,
	WINE_ABOVE_NORMAL_CLASS,
	WINE_PRIORITY_CLASSES
};

/* As it lies in memory. */
struct wine_process_class {
	u8 foreground, class;
};

/* How an ntdll.so gets its arguments on x86-64: Wine 8's as Microsoft's compilers do, Wine 10's and later ones' as
 * Linux does. Elsewhere there is one way. */
enum wine_convention { WINE_FITS_NEITHER, WINE_MICROSOFT, WINE_SYSTEM_V, WINE_CONVENTIONS };

/* The first four arguments of a call, by one convention. */
struct wine_arguments {
	u64 first, second, third, fourth;
};

/* What is known of one ntdll.so: what its code looks like, and the calls that were seen by each convention. */
struct wine_library {
	u64 by_code; /* enum wine_convention; 0: its code does not tell */
	u64 calls[WINE_CONVENTIONS];
};

enum { WINE_LIBRARIES_MAX = 64, WINE_CLASSES_MAX = 2048, WINE_LENGTH_MAX = 4096 };

core_fn int wine_is_pointer(u64 value)
{
	return value >= 0x10000 && value < 1ull << 47;
}

/* One that Wine's server gave out has 32 bits; others stand for whoever uses them. */
core_fn int wine_is_handle(u64 value)
{
	return (value && value <= 0xffffffffull) || value >= WINE_THIS_THREAD - 6;
}

/* Whether these can be the arguments of: */

/* NtSetInformationThread and NtSetInformationProcess(HANDLE, class, const void *, ULONG length) */
core_fn int wine_fits_set(const struct wine_arguments *arguments)
{
	return wine_is_handle(arguments->first) && (u32)arguments->second < WINE_CLASSES_MAX &&
	       (!arguments->third || wine_is_pointer(arguments->third)) && (u32)arguments->fourth <= WINE_LENGTH_MAX;
}

/* NtCreateThreadEx(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, HANDLE process, ...) */
core_fn int wine_fits_create(const struct wine_arguments *arguments)
{
	return wine_is_pointer(arguments->first) && (!arguments->third || wine_is_pointer(arguments->third)) &&
	       wine_is_handle(arguments->fourth);
}

/* NtDuplicateObject(HANDLE source_process, HANDLE source, HANDLE dest_process, HANDLE *dest, ...) */
core_fn int wine_fits_duplicate(const struct wine_arguments *arguments)
{
	return wine_is_handle(arguments->first) && wine_is_handle(arguments->second) &&
	       (!arguments->third || wine_is_handle(arguments->third)) &&
	       (!arguments->fourth || wine_is_pointer(arguments->fourth));
}

/* NtOpenThread(HANDLE *, ACCESS_MASK, const OBJECT_ATTRIBUTES *, const CLIENT_ID *) */
core_fn int wine_fits_open(const struct wine_arguments *arguments)
{
	return wine_is_pointer(arguments->first) && (!arguments->third || wine_is_pointer(arguments->third)) &&
	       wine_is_pointer(arguments->fourth);
}

/* By which convention a call was made: the one that its registers fit; where they fit both, the one that the library
 * has by its code, else by its other calls. */
core_fn u32 wine_convention_of(const struct wine_library *library, int fits_microsoft, int fits_system_v)
{
	if (fits_microsoft && fits_system_v) {
		if (library->by_code)
			return (u32)library->by_code;
		return library->calls[WINE_SYSTEM_V] > library->calls[WINE_MICROSOFT] ? WINE_SYSTEM_V : WINE_MICROSOFT;
	}
	return fits_microsoft ? WINE_MICROSOFT : fits_system_v ? WINE_SYSTEM_V : WINE_FITS_NEITHER;
}

core_fn int wine_priority_class_is_valid(u32 class)
{
	return class > WINE_PRIORITY_CLASS_NONE && class < WINE_PRIORITY_CLASSES;
}

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
enum wine_reported { WINE_REPORTS_PROCESS, WINE_REPORTS_PRIORITY, WINE_REPORTS_CLASS };

struct wine_message {
	u32 what;
	u32 pid;
	u32 tid;
	s32 priority;
};

#endif
