// SPDX-License-Identifier: GPL-2.0
/* One door to all journals. */
#include "undo.h"

#include <errno.h>
#include <stdio.h>

#include "hints.h"
#include "sched_ext_policy.h"

int undo_all(struct undone *undone, struct reason *why)
{
	struct reason of_policies = { "" };
	size_t stuck;
	int got = hints_undo(&stuck, why), error = got < 0 ? got : 0;

	*undone = (struct undone){ .put_back = got > 0 ? (size_t)got : 0, .stuck = stuck };
	got = sched_ext_policy_undo(&stuck, &of_policies);
	undone->put_back += got > 0 ? (size_t)got : 0;
	undone->stuck += stuck;
	if (got < 0 && !error)
		*why = of_policies;
	return error ? error : got < 0 ? got : 0;
}

bool undo_after_death(char *words, size_t size)
{
	static size_t put_back;
	struct undone undone;
	struct reason why = { "" };
	int error = undo_all(&undone, &why);

	put_back += undone.put_back;
	if (put_back || undone.stuck)
		snprintf(words, size, "the run was killed: %zu thread%s put back, %zu could not be", put_back,
			 put_back == 1 ? " was" : "s were", undone.stuck);
	return !error && !undone.stuck;
}

/* The policy of --partial stays: a scheduler in the kernel goes on without its program. */
void undo_while_it_stands(char *words, size_t size)
{
	size_t put_back = hints_relieve();

	if (put_back)
		snprintf(words, size,
			 "the run stands still: the hints of %zu thread%s were taken back until it goes on", put_back,
			 put_back == 1 ? "" : "s");
}
