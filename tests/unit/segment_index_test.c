// SPDX-License-Identifier: GPL-2.0
/* model/segment_index.c: whose a segment is by its name, and which of a machine's segments is the oldest. */
#include "../../src/model/segment_index.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static void test_hosts(void)
{
	ok(segment_is_of("node-20261119T210000Z-0001.tactus", "node"), "a machine's segment is its own");
	ok(segment_is_of("node-1-20261119T210000Z-0001.tactus", "node-1"),
	   "a segment of a machine with a dash in its name is its own");
	ok(!segment_is_of("node-1-20261119T210000Z-0001.tactus", "node"),
	   "a segment of a machine whose name begins with another's is not the other's");
	ok(!segment_is_of("node-20261119T210000Z-0001.tactus", "node-1"),
	   "a segment of another machine is not one's own");
	ok(!segment_is_of("node-20261119T000000Z-0001-20261119T210000Z-0001.tactus", "node"),
	   "a machine that is called like a segment has segments of its own");
	ok(!segment_is_of("node-notes.tactus", "node"), "a file that is not called like a segment is nobody's");
	ok(!segment_is_of("node-20261119T210000Z-0001.txt", "node"), "a file of another kind is no segment");
	ok(!segment_is_of(".tactus", ""), "a file that has only the end of a name is no segment");
}

static void test_order(void)
{
	/* The clock was set back by an hour between 0002 and 0003; nobody wrote a line for 0004. */
	struct segment all[] = { { .name = "n-20261119T220000Z-0002.tactus", .place = 2 },
				 { .name = "n-20261119T210200Z-0005.tactus", .place = SEGMENT_NEWEST },
				 { .name = "n-20261119T215900Z-0001.tactus", .place = 1 },
				 { .name = "n-20261119T210000Z-0003.tactus", .place = 3 },
				 { .name = "n-20261119T210100Z-0004.tactus" } };
	enum { ALL = sizeof(all) / sizeof(all[0]) };
	char order[64] = "";

	segments_put_in_order(all, ALL);
	for (u32 i = 0; i < ALL; i++)
		snprintf(order + strlen(order), sizeof(order) - strlen(order), "%.4s ", strstr(all[i].name, "Z-") + 2);
	is_text(order, "0001 0002 0003 0004 0005 ",
		"after the clock was set back segments are in the order of the index");
}

static void test_order_without_index(void)
{
	struct segment all[] = { { .name = "n-20261119T220000Z-0002.tactus" },
				 { .name = "n-20261119T215900Z-0001.tactus" },
				 { .name = "n-20261119T220100Z-0003.tactus", .place = SEGMENT_NEWEST } };

	segments_put_in_order(all, 3);
	is_text(all[0].name, "n-20261119T215900Z-0001.tactus",
		"segment that is first by name is the oldest where there is no index");
	is_text(all[2].name, "n-20261119T220100Z-0003.tactus",
		"segment that has just ended is the newest where there is no index");
	segments_put_in_order(all, 0);
}

int main(void)
{
	test_hosts();
	test_order();
	test_order_without_index();
	return tap_end();
}
