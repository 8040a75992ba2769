// SPDX-License-Identifier: GPL-2.0
/* model/later.c: programs that are to be looked at again, beside a user who starts them without end. */
#include "../../src/model/later.h"

#include "tap.h"

static struct later later;

int main(void)
{
	struct later_look look = { .user = 65534 };

	for (look.pid = 1; look.pid <= 2000; look.pid++)
		later_add(&later, &look);
	is(later.len, LATER_OF_USER, "a user's programs have a part of the room");
	is(later.refused, 2000 - LATER_OF_USER, "looks beyond it are counted");
	ok(later_add(&later, &(struct later_look){ .pid = 5000, .user = 1000 }),
	   "another user's program has room beside a user who starts two thousand");
	later_forget(&later, 5000);
	later_forget(&later, 6000);
	is(later.len, LATER_OF_USER, "a program that is forgotten has no place, and one that is not there takes none");
	for (look.user = 1; look.user <= 4; look.user++)
		for (look.pid = look.user * 10000; look.pid < look.user * 10000 + LATER_MAX; look.pid++)
			later_add(&later, &look);
	is(later.len, LATER_MAX, "all users together have the whole room, and no more");
	return tap_end();
}
