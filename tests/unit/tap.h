/* SPDX-License-Identifier: GPL-2.0 */
/* A small TAP harness: each check prints a line, the plan comes last, and the exit status tells if all held.
 * A failed check says where it is and what it saw. */
#ifndef TACTUS_TESTS_TAP_H
#define TACTUS_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

static int tap_checks, tap_failures;

static inline int __attribute__((format(printf, 4, 5)))
tap_result(int held, const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", held ? "" : "not ", ++tap_checks);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (!held) {
		printf("# at %s:%d\n", file, line);
		tap_failures++;
	}
	return held;
}

#define ok(condition, ...) tap_result(!!(condition), __FILE__, __LINE__, __VA_ARGS__)

#define is(got, want, ...)                                                                  \
	do {                                                                                \
		uint64_t tap_got = (uint64_t)(got), tap_want = (uint64_t)(want);            \
		if (!tap_result(tap_got == tap_want, __FILE__, __LINE__, __VA_ARGS__))      \
			printf("# got %" PRIu64 ", want %" PRIu64 "\n", tap_got, tap_want); \
	} while (0)

/* Both ends included. */
#define is_between(low, got, high, ...)                                                                             \
	do {                                                                                                        \
		uint64_t tap_low = (uint64_t)(low), tap_got = (uint64_t)(got), tap_high = (uint64_t)(high);         \
		int tap_held = tap_low <= tap_got && tap_got <= tap_high;                                           \
		if (!tap_result(tap_held, __FILE__, __LINE__, __VA_ARGS__))                                         \
			printf("# got %" PRIu64 ", want %" PRIu64 " to %" PRIu64 "\n", tap_got, tap_low, tap_high); \
	} while (0)

#define is_text(got, want, ...)                                                                   \
	do {                                                                                      \
		const char *tap_got = (got), *tap_want = (want);                                  \
		if (!tap_result(strcmp(tap_got, tap_want) == 0, __FILE__, __LINE__, __VA_ARGS__)) \
			printf("# got \"%s\", want \"%s\"\n", tap_got, tap_want);                 \
	} while (0)

static inline int tap_end(void)
{
	printf("1..%d\n", tap_checks);
	return tap_failures != 0;
}

#endif
