/* SPDX-License-Identifier: GPL-2.0 */
/* Several recordings in one call, -i A -i B: the command is done for each by itself, one after another. */
#ifndef TACTUS_BASE_SEVERAL_H
#define TACTUS_BASE_SEVERAL_H

#include <stdbool.h>

enum { SEVERAL_MOST = 64 };

struct several {
	const char *files[SEVERAL_MOST];
	int len;
};

/* Returns in a process of its own for each of them, in their order, with which one it is, and with a heading printed if
 * it `prints_headings`. The first process ends when all have, with the first status of theirs that is not 0. */
const char *several_each(const struct several *several, bool prints_headings);

/* The file that this process was made for; NULL: it is not one of several. */
const char *several_file(void);

#endif
