// SPDX-License-Identifier: GPL-2.0
/* "name [tid]".
 * A name may hold any bytes, and in a recording it need not end within its room. */
#include "thread_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../sink/columns.h"
#include "../sink/text.h"

enum { TID_WIDTH = 6 };

const struct comm *thread_comm(const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	return thread ? &thread->comm : NULL;
}

void comm_text(char into[COMM_TEXT_SIZE], const struct comm *comm)
{
	memset(into, 0, COMM_TEXT_SIZE);
	if (comm)
		memcpy(into, comm->text, COMM_LEN);
}

void comm_name(char into[THREAD_NAME_SIZE], const struct comm *comm)
{
	char text[COMM_TEXT_SIZE];

	comm_text(text, comm);
	format_plain(into, THREAD_NAME_SIZE, text);
}

void thread_name(char into[THREAD_NAME_SIZE], const struct threads *threads, u32 tid)
{
	const struct comm *comm = thread_comm(threads, tid);

	if (comm)
		comm_name(into, comm);
	else
		strcpy(into, tid ? "?" : "idle");
}

static void add_tid(char into[THREAD_WORDS_SIZE], const char *name, u32 tid, enum thread_form form)
{
	bool in_column = form == THREAD_IN_COLUMN;
	char padded[2 * THREAD_NAME_SIZE];

	text_in_columns(padded, sizeof(padded), name, in_column ? THREAD_NAME_SIZE - 1 : text_columns(name));
	snprintf(into, THREAD_WORDS_SIZE, "%s [%*" PRIu32 "]", padded, in_column ? TID_WIDTH : 0, tid);
}

void comm_words(char into[THREAD_WORDS_SIZE], const struct comm *comm, u32 tid, enum thread_form form)
{
	char name[THREAD_NAME_SIZE];

	comm_name(name, comm);
	add_tid(into, name, tid, form);
}

void thread_words(char into[THREAD_WORDS_SIZE], const struct threads *threads, u32 tid, enum thread_form form)
{
	char name[THREAD_NAME_SIZE];

	thread_name(name, threads, tid);
	add_tid(into, name, tid, form);
}
