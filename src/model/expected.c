// SPDX-License-Identifier: GPL-2.0
/* The errors of docs/simulate.md's tables, by pairs of policies; a test holds this table against those.
 */
#include "expected.h"

#include <stddef.h>
#include <string.h>

/* Of all wake-ups, those by threads: 94 % in a loop of workers, 11 % at most in what else was recorded. */
enum { EDGES_DOMINATE_PERCENT = 50 };

static const struct {
	const char *recorded, *policy;
	struct expected_error error;
} known[] = {
	/* expected rows begin */
	{ "eevdf", "fifo", { 1.17, 2.62, 3 } },	  { "eevdf", "tactus", { 0.82, 0.97, 6 } },
	{ "eevdf", "vtime", { 0.80, 2.21, 4 } },  { "fifo", "eevdf", { 0.46, 1.16, 4 } },
	{ "fifo", "tactus", { 1.19, 1.30, 3 } },  { "fifo", "vtime", { 0.86, 1.73, 3 } },
	{ "tactus", "eevdf", { 0.28, 0.70, 6 } }, { "tactus", "fifo", { 2.04, 2.79, 3 } },
	{ "tactus", "vtime", { 0.54, 2.23, 3 } }, { "vtime", "eevdf", { 0.47, 0.73, 4 } },
	{ "vtime", "fifo", { 0.55, 1.77, 3 } },	  { "vtime", "tactus", { 0.68, 1.16, 3 } },
	/* expected rows end */
};

struct expected_error expected_error_of(const char *recorded, const char *policy)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].recorded, recorded) && !strcmp(known[i].policy, policy))
			return known[i].error;
	return (struct expected_error){ 0 };
}

static bool has_one_queue(const char *policy)
{
	return !strcmp(policy, "fifo") || !strcmp(policy, "vtime");
}

bool expected_is_hopeless(const char *recorded, const char *policy, u64 edges, u64 external)
{
	return has_one_queue(policy) && !has_one_queue(recorded) &&
	       edges * 100 > (edges + external) * EDGES_DOMINATE_PERCENT;
}
