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
	{ "eevdf", "fifo", { 1.17, 2.62, 3 } },	  { "eevdf", "tactus", { 0.66, 0.96, 8 } },
	{ "eevdf", "vtime", { 0.56, 2.21, 8 } },  { "fifo", "eevdf", { 0.29, 0.47, 4 } },
	{ "fifo", "tactus", { 1.19, 1.20, 3 } },  { "fifo", "vtime", { 0.36, 1.73, 3 } },
	{ "tactus", "eevdf", { 0.26, 0.36, 8 } }, { "tactus", "fifo", { 2.04, 2.79, 3 } },
	{ "tactus", "vtime", { 0.61, 2.23, 8 } }, { "vtime", "eevdf", { 0.34, 0.50, 8 } },
	{ "vtime", "fifo", { 0.55, 1.77, 3 } },	  { "vtime", "tactus", { 0.60, 1.16, 8 } },
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
