// SPDX-License-Identifier: GPL-2.0
/* core/plain.h, sink/text.c, sink/table.c, base/say.c and base/options.c's durations: what people type and what they
 * are shown. */
#include <errno.h>
#include <stdlib.h>

#include "../../core/plain.h"
#include "../../src/base/options.h"
#include "../../src/base/say.h"
#include "../../src/sink/table.h"
#include "../../src/sink/text.h"
#include "tap.h"

static void test_plain_text_is_harmless(void)
{
	char out[64], small[4];

	format_plain(out, sizeof(out), "a\033[31mb\x7f\xc2\x9b\xc3\xa9\xff");
	is_text(out, "a?[31mb??\xc3\xa9?", "escape, DEL, C1 and broken bytes become question marks");
	is(format_plain(small, sizeof(small), "abcdef"), 6, "text that is cut tells the length it needs");
	is_text(small, "abc", "text that is too long is cut, with a NUL");
	is(format_plain(small, sizeof(small), "ab\xc3\xa9"), 4, "a character that does not fit");
	is_text(small, "ab", "character that does not fit is left out whole");
	format_plain(out, sizeof(out), "\xed\xa0\x80|\xc0\xaf|\xf4\x90\x80\x80");
	is_text(out, "???|??|????", "surrogates, overlong forms and code points past the last are no text");
}

/* Everything but text, once: what each is, and what must be left of it. */
static const struct {
	const char *what, *text, *json;
} hostile[] = {
	{ "an escape sequence", "\033[2J", "\\u001b[2J" },
	{ "a bell", "\a", "\\u0007" },
	{ "a C1 control", "\xc2\x9b", "\\u009b" },
	{ "an override of direction", "\xe2\x80\xae", "\\u202e" },
	{ "an isolate of direction", "\xe2\x81\xa6", "\\u2066" },
	{ "an Arabic letter mark", "\xd8\x9c", "\\u061c" },
	{ "a zero-width space", "\xe2\x80\x8b", "\\u200b" },
	{ "a zero-width joiner", "\xe2\x80\x8d", "\\u200d" },
	{ "a byte order mark", "\xef\xbb\xbf", "\\ufeff" },
	{ "a soft hyphen", "\xc2\xad", "\\u00ad" },
	{ "a line separator", "\xe2\x80\xa8", "\\u2028" },
	{ "a variation selector", "\xef\xb8\x8f", "\\ufe0f" },
	{ "a filler without a picture", "\xe3\x85\xa4", "\\u3164" },
	{ "a tag", "\xf3\xa0\x81\xa1", "\\udb40\\udc61" },
	{ "a noncharacter", "\xf0\x9f\xbf\xbf", "\\ud83f\\udfff" },
};

static void test_hidden_characters(void)
{
	char text[32], out[64], wanted[64], *json;
	size_t size;

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		FILE *stream = open_memstream(&json, &size);

		snprintf(text, sizeof(text), "a%sb", hostile[i].text);
		format_plain(out, sizeof(out), text);
		snprintf(wanted, sizeof(wanted), "a?%sb", i ? "" : "[2J");
		is_text(out, wanted, "%s becomes a question mark in a table", hostile[i].what);
		print_json_string(stream, text);
		fclose(stream);
		snprintf(wanted, sizeof(wanted), "\"a%sb\"", hostile[i].json);
		is_text(json, wanted, "%s is escaped in JSON", hostile[i].what);
		free(json);
	}
	format_plain(out, sizeof(out), "\xc3\xa9\xe6\xbc\xa2\xd7\xa9\xf0\x9f\x8e\xae e\xcc\x81");
	is_text(out, "\xc3\xa9\xe6\xbc\xa2\xd7\xa9\xf0\x9f\x8e\xae e\xcc\x81",
		"letters of any script, pictures and accents stay as they are");
}

/* No text of any two bytes, or with any code, leaves anything but plain text. */
static void test_every_code(void)
{
	char text[8], out[16], again[16];
	int wrong = 0;

	for (u32 code = 1; code < 0x110000; code++) {
		char *at = text;

		if (code < 0x80) {
			*at++ = (char)code;
		} else {
			int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

			*at++ = (char)((tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0) | code >> (6 * tail));
			while (tail--)
				*at++ = (char)(0x80 | (code >> (6 * tail) & 0x3f));
		}
		*at = '\0';
		format_plain(out, sizeof(out), text);
		format_plain(again, sizeof(again), out);
		wrong += strcmp(out, again) != 0 || strlen(out) > strlen(text);
		for (const char *byte = out; *byte; byte++)
			wrong += (unsigned char)*byte < 0x20 || *byte == 0x7f;
	}
	is(wrong, 0, "text of every code point comes out plain, and no longer than it was");
	wrong = 0;
	for (u32 pair = 0; pair < 0x10000; pair++) {
		memcpy(text, (char[]){ (char)(pair >> 8), (char)pair, '\0' }, 3);
		format_plain(out, sizeof(out), text);
		for (const char *at = out; *at;) {
			struct utf8_char next = utf8_read(at);

			wrong += !next.length || !code_is_plain(next.code);
			at += next.length ? next.length : 1;
		}
	}
	is(wrong, 0, "text of any two bytes comes out as plain UTF-8");
}

static void test_messages_are_plain(void)
{
	struct reason why;
	FILE *real = stderr;
	char *text = NULL, *long_text = malloc(20001);
	size_t size = 0;

	reason_set(&why, "of '%s'", "x\033]0;title\a\xe2\x80\xae");
	is_text(why.text, "of 'x?]0;title?\?'", "reason with a name from outside is plain");
	stderr = open_memstream(&text, &size);
	fail("a\033[1mb", "%s\n%s", "c\nd", "\xff");
	note("%s", "\033c");
	say_lines("task \033[31mevil\t1\nsecond\xe2\x80\xae line");
	fclose(stderr);
	stderr = real;
	is_text(text, "tactus: a?[1mb: c?d?\?\ntactus: ?c\ntask ?[31mevil\t1\nsecond? line\n",
		"messages and a scheduler's dump reach stderr as plain text, a message as one line");
	free(text);
	for (int i = 0; i < 20000; i++)
		long_text[i] = "\xe6\xbc\xa2"[i % 3];
	long_text[20000] = '\0';
	stderr = open_memstream(&text, &size);
	say_lines(long_text);
	fclose(stderr);
	stderr = real;
	is(size, 20001, "long dump of characters of several bytes is said whole");
	ok(!strncmp(text, long_text, 19998), "long dump is cut in pieces between characters only");
	free(text);
	free(long_text);
}

static void test_times_have_fitting_units(void)
{
	static const struct {
		u64 ns;
		const char *text;
	} times[] = { { 0, "0" },
		      { 999, "999 ns" },
		      { 1500, "1.50 us" },
		      { 9999600, "10.0 ms" },
		      { 99960000, "100 ms" },
		      { 999900, "1.00 ms" },
		      { 31000000, "31.0 ms" },
		      { 999000000, "999 ms" },
		      { 12500000000, "12.5 s" } };
	char out[32];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		format_time(out, sizeof(out), times[i].ns);
		is_text(out, times[i].text, "%" PRIu64 " ns prints as wanted", times[i].ns);
	}
}

static void test_durations(void)
{
	static const struct {
		const char *text;
		int error;
		u64 ns;
	} durations[] = { { "2", 0, 2000000000 },     { "0.5", 0, 500000000 }, { ".25", 0, 250000000 },
			  { "250ms", 0, 250000000 },  { "3us", 0, 3000 },      { "2m", 0, 120000000000 },
			  { "1h", 0, 3600000000000 }, { "0", -ERANGE, 0 },     { "-1", -ERANGE, 0 },
			  { "+1", -ERANGE, 0 },	      { "1e99", -EINVAL, 0 },  { "99999999999999999999", -ERANGE, 0 },
			  { "", -EINVAL, 0 },	      { "x", -EINVAL, 0 },     { "1x", -EINVAL, 0 },
			  { "1 s", -EINVAL, 0 },      { "inf", -EINVAL, 0 },   { "nan", -EINVAL, 0 },
			  { "0x10", -EINVAL, 0 },     { ".", -EINVAL, 0 } };

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		u64 ns = 0;
		int error = parse_duration(durations[i].text, &ns);

		is(error, durations[i].error, "duration '%s' gives %d", durations[i].text, error);
		is(ns, durations[i].ns, "duration '%s' is %" PRIu64 " ns", durations[i].text, ns);
	}
}

static void test_lists_of_cpus(void)
{
	static const struct {
		const char *text;
		int error;
		u64 cpus;
	} lists[] = { { "0", 0, 1 },	    { "0-3,8", 0, 0x10f }, { "63", 0, 1ULL << 63 },
		      { "64", -ERANGE, 0 }, { "3-1", -ERANGE, 0 }, { "99999999999999999999", -ERANGE, 0 },
		      { "", -EINVAL, 0 },   { "1-", -EINVAL, 0 },  { "1,", -EINVAL, 0 },
		      { "-1", -EINVAL, 0 }, { "a", -EINVAL, 0 },   { "1;2", -EINVAL, 0 } };
	u64 number;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		u64 cpus = 0;
		int error = parse_cpu_list(lists[i].text, &cpus, 64);

		is(error, lists[i].error, "CPU list '%s' gives %d", lists[i].text, error);
		is(error ? 0 : cpus, error ? 0 : lists[i].cpus, "CPU list '%s' is %" PRIx64, lists[i].text, cpus);
	}
	is(parse_number("42", 100, &number), 0, "number within its limit is parsed");
	ok(parse_number("101", 100, &number) == -ERANGE, "number above its limit is refused");
	ok(parse_number("99999999999999999999999", ~0ULL, &number) == -ERANGE,
	   "number that no integer holds is refused");
	is(parse_number("4x", 100, &number), -EINVAL, "number with a letter behind it is refused");
	is(parse_number(" 4", 100, &number), -EINVAL, "number with a space before it is refused");
	is(parse_number("-4", 100, &number), -EINVAL, "number below zero is refused");
	is(parse_number("", 100, &number), -EINVAL, "empty text is refused as a number");
}

#define ROW_TABLE(COLUMN, SHOWN)                 \
	COLUMN(ROW, name, "NAME", CELL_TEXT)     \
	COLUMN(ROW, wait_ns, "WAIT", CELL_TIME)  \
	SHOWN(ROW, share, "SHARE", CELL_PERCENT) \
	COLUMN(ROW, count, NULL, CELL_NUMBER)
TABLE_OF(columns, ROW);

static char *table_of(bool json)
{
	union cell cells[ROW_CELLS] = {
		[ROW_name] = { .text = "a\"b" },
		[ROW_wait_ns] = { .number = 1500 },
		[ROW_share] = { .number = 1234 },
		[ROW_count] = { .number = 7 },
	};
	struct table table;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	table_open(&table, out, json, "thing", columns, ROW_CELLS);
	for (int i = 0; i < 20; i++)
		table_row(&table, cells);
	table_sum(&table, "all", cells);
	ok(table_close(&table) == 0, "table of rows closes");
	fclose(out);
	return text;
}

static int lines_in(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void test_one_table_two_forms(void)
{
	char *json = table_of(true), *table = table_of(false);

	is(lines_in(json), 20, "JSON has a line a row and no sum");
	ok(!strncmp(json, "{\"record\":\"thing\",\"schema\":1,\"name\":\"a\\\"b\",\"wait_ns\":1500,\"count\":7}\n", 69),
	   "row prints as JSON: %.69s", json);
	is(lines_in(table), 22, "table has a head, the rows and the sum");
	ok(!strncmp(table, "NAME     WAIT    SHARE\na\"b   1.50 us  12.34 %\n", 46),
	   "the table's columns fit:\n# %.22s\n# %.22s", table, table + 23);
	free(json);
	free(table);
}

int main(void)
{
	test_plain_text_is_harmless();
	test_hidden_characters();
	test_every_code();
	test_messages_are_plain();
	test_times_have_fitting_units();
	test_durations();
	test_lists_of_cpus();
	test_one_table_two_forms();
	return tap_end();
}
