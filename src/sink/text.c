// SPDX-License-Identifier: GPL-2.0
/* Escaping and units. A thread may carry any bytes as its name; none of them may reach a terminal or a JSON reader
 * as anything but text. */
#include "text.h"

#include "../../core/plain.h"

/* What is not plain is escaped: a reader gets all of it, a terminal none of it. */
static void print_escaped(FILE *out, u32 code)
{
	if (code >= 0x10000)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
	else
		fprintf(out, "\\u%04x", code);
}

/* How many bytes at its beginning go into a JSON string as they are, and take no look at what they mean. */
static size_t simple_len(const char *text)
{
	size_t len = 0;

	while (text[len] >= ' ' && text[len] <= '~' && text[len] != '"' && text[len] != '\\')
		len++;
	return len;
}

void print_json_string(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (;;) {
		size_t simple = simple_len(text);
		struct utf8_char next;

		fwrite_unlocked(text, 1, simple, out);
		text += simple;
		if (!*text)
			break;
		next = utf8_read(text);
		if (next.length == 0)
			fputs("\\ufffd", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (!code_is_plain(next.code))
			print_escaped(out, next.code);
		else
			fwrite(text, 1, next.length, out);
		text += next.length ? next.length : 1;
	}
	putc_unlocked('"', out);
}

size_t format_plain(char *into, size_t size, const char *text)
{
	return (size_t)plain_copy(into, size, text);
}

void print_plain(FILE *out, const char *text)
{
	while (*text) {
		struct utf8_char next = utf8_read(text);
		char bytes[UTF8_LONGEST];
		u32 len = plain_put(bytes, text, next);

		fwrite(bytes, 1, len, out);
		text += next.length ? next.length : 1;
	}
}

void format_time(char *into, size_t size, u64 span_ns)
{
	static const struct {
		u64 ns;
		const char *name;
	} units[] = { { NSEC_PER_SEC, "s" }, { NSEC_PER_MSEC, "ms" }, { NSEC_PER_USEC, "us" }, { 1, "ns" } };

	if (span_ns == 0) {
		snprintf(into, size, "0");
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = (double)span_ns / (double)units[i].ns;
		/* By what the value is once it is rounded: 9.999 is 10.0, not 10.00. */
		int decimals = value >= 99.95 || units[i].ns == 1 ? 0 : value >= 9.995 ? 1 : 2;

		/* The same for the unit: 999.9 us is 1.00 ms. */
		if (value < 0.9995)
			continue;
		snprintf(into, size, "%.*f %s", decimals, value, units[i].name);
		return;
	}
}

void format_bytes(char *into, size_t size, u64 bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(into, size, "%.*f %s", unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, units[unit]);
}
