/* SPDX-License-Identifier: GPL-2.0 */
/* Names of C++ functions in words, whole and short. The names are whatever a program says they are: no name takes more
 * than a bounded amount of memory, stack and time. */
#ifndef TACTUS_SINK_DEMANGLE_H
#define TACTUS_SINK_DEMANGLE_H

#include <stddef.h>

enum {
	DEMANGLED_MAX = 32768, /* longer words are none: a name of 4 KiB can be made to stand for gigabytes */
	SHORT_NAME_MOST = 120,
};

/* A mangled name in words, to be freed; NULL if it is no such name, or stands for too much. */
char *demangle(const char *name);

/* What tells a function from others at a glance: of one that is longer than SHORT_NAME_MOST, without `void`, its
 * parameters as (...), and its template arguments as deep as there is room for, with <...> for what lies deeper; cut,
 * if nothing else helps. Returns whether anything was left out. */
int shorten_name(char *into, size_t size, const char *name);

#endif
