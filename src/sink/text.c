// SPDX-License-Identifier: GPL-2.0
/* Escaping and units. A thread may carry any bytes as its name; none of them may reach a terminal or a JSON reader
 * as anything but text. */
#include "text.h"

#include <string.h>

/* The length of the UTF-8 sequence that starts here, 0 if it is none that may stand in text. */
static size_t utf8_length(const unsigned char *at)
{
	static const struct {
		unsigned char mask, lead;
		size_t length;
		u32 least;
	} shapes[] = {
		{ 0x80, 0x00, 1, 0 }, { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 }, { 0xf8, 0xf0, 4, 0x10000 }
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		u32 code;

		if ((at[0] & shapes[i].mask) != shapes[i].lead)
			continue;
		code = at[0] & (unsigned char)~shapes[i].mask;
		for (size_t k = 1; k < shapes[i].length; k++) {
			if ((at[k] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (at[k] & 0x3f);
		}
		if (code < shapes[i].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
		return shapes[i].length;
	}
	return 0;
}

static int is_control(const unsigned char *at, size_t length)
{
	/* C0, DEL, and C1, which is two bytes in UTF-8. */
	return (length == 1 && (at[0] < 0x20 || at[0] == 0x7f)) || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

void print_json_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		size_t length = utf8_length(at);

		if (length == 0) {
			fputs("\\ufffd", out);
			at++;
			continue;
		}
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (is_control(at, length))
			fprintf(out, "\\u%04x", length == 1 ? at[0] : at[1]);
		else
			fwrite(at, 1, length, out);
		at += length;
	}
	fputc('"', out);
}

size_t format_plain(char *into, size_t size, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t needed = 0, written = 0;

	while (*at) {
		size_t length = utf8_length(at);
		int harmless = length && !is_control(at, length);
		size_t step = harmless ? length : 1;

		/* The first character that does not fit ends the text: none after it may take its place. */
		if (written == needed && needed + step < size) {
			memcpy(into + written, harmless ? (const char *)at : "?", step);
			written += step;
		}
		needed += step;
		at += length ? length : 1;
	}
	if (size)
		into[written] = '\0';
	return needed;
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
