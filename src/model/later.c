// SPDX-License-Identifier: GPL-2.0
/* In no order: they are few, and all are gone through whenever one is due. */
#include "later.h"

bool later_add(struct later *later, const struct later_look *look)
{
	u32 own = 0;

	for (u32 i = 0; i < later->len; i++)
		own += later->all[i].user == look->user;
	if (later->len == LATER_MAX || own >= LATER_OF_USER) {
		later->refused++;
		return false;
	}
	later->all[later->len++] = *look;
	return true;
}

void later_forget(struct later *later, u32 pid)
{
	for (u32 i = 0; i < later->len; i++)
		if (later->all[i].pid == pid) {
			later->all[i] = later->all[--later->len];
			return;
		}
}
