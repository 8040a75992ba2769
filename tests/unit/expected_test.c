// SPDX-License-Identifier: GPL-2.0
/* src/model/expected.c: what is stated of predictions, and where none is made.
 */
#include "../../src/model/expected.h"
#include "tap.h"

int main(void)
{
	struct expected_error known = expected_error_of("eevdf", "tactus"),
			      not_known = expected_error_of("eevdf", "hints");

	printf("# tactus from eevdf: %.2f octaves, at worst %.2f, %u predictions\n", known.median, known.worst,
	       known.predictions);
	ok(known.predictions >= 4, "tactus predicted from eevdf was held against real runs");
	ok(known.median > 0, "tactus predicted from eevdf was off by something");
	ok(known.worst >= known.median, "the worst prediction is no better than the median");
	is(not_known.predictions, 0, "of a pair of policies that was never held against a real run no error is known");
	ok(expected_is_hopeless("eevdf", "vtime", 94, 6),
	   "from eevdf, work in which threads wake each other is not predicted for one queue by virtual time");
	ok(expected_is_hopeless("tactus", "fifo", 94, 6),
	   "from tactus, work in which threads wake each other is not predicted for one queue by order");
	ok(!expected_is_hopeless("eevdf", "vtime", 11, 89),
	   "from eevdf, work that timers and devices wake is predicted for one queue");
	ok(!expected_is_hopeless("fifo", "vtime", 94, 6),
	   "from one queue by order, one queue by virtual time is predicted for any work");
	ok(!expected_is_hopeless("eevdf", "tactus", 94, 6), "from eevdf, tactus is predicted for any work");
	ok(!expected_is_hopeless("eevdf", "fifo", 0, 0), "work without a wake-up is predicted");
	return tap_end();
}
