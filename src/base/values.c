// SPDX-License-Identifier: GPL-2.0
/* How the values of options are read: spans of time, numbers, lists of CPUs. Declared in options.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { LONGEST_DURATION_S = 366 * 24 * 3600 };

/* One part of a duration, such as the 30s of 1m30s. False: it is none. */
static bool parse_part(const char **text, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "us", 1e-6 }, { "s", 1 }, { "m", 60 }, { "h", 3600 } };
	size_t digits = strspn(*text, "0123456789.");
	char *end;
	double value;

	/* strtod also takes "inf", "nan", hexadecimal and exponents; a duration has none of these. */
	if (!digits)
		return false;
	value = strtod(*text, &end);
	if (end != *text + digits)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(end, units[i].name, strlen(units[i].name)) != 0)
			continue;
		*seconds = value * units[i].seconds;
		*text = end + strlen(units[i].name);
		return true;
	}
	return false;
}

int parse_duration(const char *text, u64 *duration_ns)
{
	bool is_bare = text[0] && !text[strspn(text, "0123456789.")];
	double sum = is_bare ? strtod(text, NULL) : 0, part;

	if (text[0] == '-' || text[0] == '+')
		return -ERANGE;
	if (is_bare && (!strpbrk(text, "0123456789") || strchr(text, '.') != strrchr(text, '.')))
		return -EINVAL;
	while (!is_bare) {
		if (!parse_part(&text, &part))
			return -EINVAL;
		sum += part;
		is_bare = !*text;
	}
	if (!(sum >= 1e-6 && sum <= LONGEST_DURATION_S))
		return -ERANGE;
	*duration_ns = (u64)(sum * NSEC_PER_SEC + 0.5);
	return 0;
}

const char *parse_span(const char *text, u64 *span_ns)
{
	static char hint[96];

	if (parse_duration(text, span_ns))
		return "is not a span of time such as 5ms";
	if (!text[strspn(text, "0123456789.")]) {
		snprintf(hint, sizeof(hint), "has no unit: %.16sms, %.16sus or %.16ss?", text, text, text);
		return hint;
	}
	return NULL;
}

int parse_number(const char *text, u64 most, u64 *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	return errno || *number > most ? -ERANGE : 0;
}

int parse_cpu_list(const char *text, u64 *cpus, u32 len)
{
	const char *at = text;

	for (;;) {
		char *end;
		unsigned long from, to;

		if (*at < '0' || *at > '9')
			return -EINVAL;
		from = to = strtoul(at, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return -EINVAL;
			to = strtoul(end + 1, &end, 10);
		}
		if (from > to || to >= len)
			return -ERANGE;
		for (; from <= to; from++)
			cpus[from / 64] |= 1ULL << (from % 64);
		if (!*end)
			return 0;
		if (*end != ',')
			return -EINVAL;
		at = end + 1;
	}
}
