// SPDX-License-Identifier: GPL-2.0
/* Digits that are put together without printf are the digits that printf has. */
#include <inttypes.h>

#include "../../src/sink/chars.h"
#include "tap.h"

enum { ROOM = 64 };

static void check(u64 value)
{
	char got[ROOM], want[ROOM];

	*chars_number(got, value) = '\0';
	snprintf(want, sizeof(want), "%" PRIu64, value);
	is_text(got, want, "number %" PRIu64, value);
	*chars_signed(got, (s64)value) = '\0';
	snprintf(want, sizeof(want), "%" PRId64, (s64)value);
	is_text(got, want, "signed number %" PRId64, (s64)value);
	*chars_us(got, value) = '\0';
	snprintf(want, sizeof(want), "%" PRIu64 ".%03u", value / 1000, (u32)(value % 1000));
	is_text(got, want, "%" PRIu64 " ns as microseconds", value);
}

int main(void)
{
	u64 power = 1;

	check(0);
	check(~0ULL);
	check(1ULL << 63);
	for (int digits = 1; digits < 20; digits++, power *= 10) {
		check(power);
		check(power * 10 - 1);
		check(power + power / 3);
	}
	return tap_end();
}
