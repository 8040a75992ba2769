// SPDX-License-Identifier: GPL-2.0
/* base/say.c: messages as the journal takes them, and the unit that they are of. */
#include "../../src/base/say.h"

#include <string.h>

#include "tap.h"

static void test_unit(void)
{
	static const struct {
		const char *cgroup, *unit; /* NULL: none */
	} rows[] = {
		{ "0::/system.slice/tactus.service\n", "tactus.service" },
		{ "0::/tactus.service", "tactus.service" },
		{ "12:cpuset:/docker/a.service\n1:name=systemd:/b.service\n0::/c.service\n", "c.service" },
		{ "0::/system.slice/system-x.slice/x@1.service\n", "x@1.service" },
		{ "0::/user.slice/user-0.slice/session-1.scope\n", NULL },
		{ "0::/system.slice/tactus.service/below\n", NULL },
		{ "0::/.service\n", NULL },
		{ "0::/\n", NULL },
		{ "0::", NULL },
		{ "0::tactus.service\n", NULL },
		{ "1:cpu:/tactus.service\n", NULL },
		{ "", NULL },
	};
	char unit[32], small[14];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool found = say_unit_of(rows[i].cgroup, unit, sizeof(unit));

		if (!rows[i].unit)
			ok(!found, "a cgroup without a service of its own names no unit");
		else
			is_text(found ? unit : "none", rows[i].unit, "a service's cgroup names its unit");
	}
	ok(!say_unit_of("0::/tactus.service\n", small, sizeof(small)), "a unit's name that does not fit is left out");
	ok(say_unit_of("0::/actus.service\n", small, sizeof(small)), "a unit's name that just fits is taken");
}

static void test_text(void)
{
	const struct say_about about = { .topic = "effect", .pid = 7, .comm = "cc1" };
	char text[256], cut[40];
	size_t len = say_journal_text(text, sizeof(text), 6, "tactus.service", &about, "hello");

	is_text(text,
		"PRIORITY=6\nSYSLOG_IDENTIFIER=tactus\nMESSAGE=hello\nOBJECT_SYSTEMD_UNIT=tactus.service\n"
		"TACTUS_TOPIC=effect\nTACTUS_PID=7\nTACTUS_COMM=cc1\n",
		"a message for the journal has its unit and all of its fields");
	is(len, strlen(text), "the length of a message for the journal is that of its text");
	say_journal_text(text, sizeof(text), 3, "", NULL, "hello");
	is_text(text, "PRIORITY=3\nSYSLOG_IDENTIFIER=tactus\nMESSAGE=hello\n",
		"a message without a unit and a topic has neither field");
	is(say_journal_text(cut, sizeof(cut), 6, "tactus.service", &about, "hello"), sizeof(cut) - 1,
	   "a message for the journal that does not fit is cut to the size");
}

int main(void)
{
	test_unit();
	test_text();
	return tap_end();
}
