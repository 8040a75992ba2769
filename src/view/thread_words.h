/* SPDX-License-Identifier: GPL-2.0 */
/* How every view names a thread: its name as a terminal may show it, or "name [tid]".
 * A process is named the same way, by its name and its pid. */
#ifndef TACTUS_VIEW_THREAD_WORDS_H
#define TACTUS_VIEW_THREAD_WORDS_H

#include "../model/threads.h"

enum {
	COMM_TEXT_SIZE = COMM_LEN + 1,
	THREAD_NAME_SIZE = COMM_LEN,
	THREAD_WORDS_SIZE = 2 * COMM_LEN + 16, /* "name [tid]", the name filled up with blanks */
};

enum thread_form {
	THREAD_TIGHT,
	THREAD_IN_COLUMN, /* as wide as any, for lines that stand below each other */
};

/* Without a thread: "idle" for tid 0, else "?". */
void thread_name(char into[THREAD_NAME_SIZE], const struct threads *threads, u32 tid);
void thread_words(char into[THREAD_WORDS_SIZE], const struct threads *threads, u32 tid, enum thread_form form);

/* The same of a name that is known otherwise. NULL: none is, and none is shown. */
void comm_name(char into[THREAD_NAME_SIZE], const struct comm *comm);
void comm_words(char into[THREAD_WORDS_SIZE], const struct comm *comm, u32 tid, enum thread_form form);

/* As it is, for a table's cell, which escapes it. NULL: "". */
void comm_text(char into[COMM_TEXT_SIZE], const struct comm *comm);

/* NULL: nothing is known of the thread, or there is none. */
const struct comm *thread_comm(const struct threads *threads, u32 tid);

#endif
