// SPDX-License-Identifier: GPL-2.0
/* A program may call its threads whatever it likes, each otherwise: of too many, the last ones share a number.
 */
#include "report_names.h"

#include "../base/hash.h"

void report_names_free(struct report_names *names)
{
	map_free(&names->by_text);
}

u16 report_name(struct report_names *names, const struct comm *comm)
{
	u64 hash = hash_keyed(comm->text, strnlen(comm->text, COMM_LEN));
	u32 place = map_get(&names->by_text, hash);

	if (place)
		return strncmp(names->all[place].text, comm->text, COMM_LEN) ? REPORT_NAME_OTHERS : (u16)place;
	if (names->len < REPORT_NAMES_FIRST)
		names->len = REPORT_NAMES_FIRST;
	if (names->len == REPORT_NAMES)
		return REPORT_NAME_OTHERS;
	if (!map_set(&names->by_text, hash, names->len)) {
		names->failed = true;
		return REPORT_NAME_OTHERS;
	}
	names->all[names->len] = *comm;
	return (u16)names->len++;
}

u16 report_name_of(struct report_names *names, const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	if (!tid)
		return REPORT_NAME_IDLE;
	return thread ? report_name(names, &thread->comm) : REPORT_NAME_UNKNOWN;
}
