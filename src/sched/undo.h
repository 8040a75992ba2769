/* SPDX-License-Identifier: GPL-2.0 */
/* Undoes everything that a run which is no more has left behind: hints, and the policy of --partial.
 */
#ifndef TACTUS_SCHED_UNDO_H
#define TACTUS_SCHED_UNDO_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/say.h"

struct undone {
	size_t put_back;
	size_t stuck; /* threads that could not be put back: the journal keeps them */
};

/* Returns 0, or -errno with a reason if nothing could be looked at; -EBUSY: a run is at work and undoes it itself. */
int undo_all(struct undone *undone, struct reason *why);

/* For keeper_start. */
bool undo_after_death(char *words, size_t size);
void undo_while_it_stands(char *words, size_t size);

#endif
