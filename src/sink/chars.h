/* SPDX-License-Identifier: GPL-2.0 */
/* Text that is put together for every event of a recording: each call writes to where `at` points and returns where the
 * next begins. There is room for all of it: who calls knows how long a line gets. Nothing parses a format. */
#ifndef TACTUS_SINK_CHARS_H
#define TACTUS_SINK_CHARS_H

#include <string.h>

#include "../../core/types.h"

enum { CHARS_NUMBER = 20, CHARS_SIGNED = 20, CHARS_US = CHARS_NUMBER + 1 };

static inline char *chars_put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

/* Of a literal the compiler knows how long it is. */
static inline char *chars_text(char *at, const char *text)
{
	return chars_put(at, text, strlen(text));
}

static inline char *chars_number(char *at, u64 value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[CHARS_NUMBER], *from = digits + sizeof(digits);

	while (value >= 100) {
		from -= 2;
		memcpy(from, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		from -= 2;
		memcpy(from, pairs + 2 * value, 2);
	} else {
		*--from = (char)('0' + value);
	}
	return chars_put(at, from, (size_t)(digits + sizeof(digits) - from));
}

static inline char *chars_signed(char *at, s64 value)
{
	if (value < 0)
		*at++ = '-';
	return chars_number(at, value < 0 ? -(u64)value : (u64)value);
}

/* Nanoseconds as microseconds with three decimals. */
static inline char *chars_us(char *at, u64 ns)
{
	u32 rest = (u32)(ns % 1000);

	at = chars_number(at, ns / 1000);
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	return at;
}

#endif
