// SPDX-License-Identifier: GPL-2.0
/* Every event of a stream may go through here: what is on the way of each value takes no lock and parses no format.
 * A document is written by one thread. */
#include "json.h"

#include <inttypes.h>

#include "../base/several.h"
#include "text.h"

static void begin_value(struct json *json, const char *key)
{
	if (json->follows)
		putc_unlocked(',', json->out);
	if (key) {
		putc_unlocked('"', json->out);
		fputs_unlocked(key, json->out);
		fputs_unlocked("\":", json->out);
	}
	json->follows = true;
}

static void print_digits(FILE *out, u64 value)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

static void begin(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	putc_unlocked(bracket, json->out);
	json->follows = false;
}

static void end(struct json *json, char bracket)
{
	putc_unlocked(bracket, json->out);
	json->follows = true;
}

void json_object(struct json *json, const char *key)
{
	begin(json, key, '{');
}

void json_record(struct json *json, const char *record, bool has_moments)
{
	json_object(json, NULL);
	json_string(json, "record", record);
	json_u64(json, "schema", JSON_SCHEMA);
	if (has_moments)
		json_string(json, "clock", "monotonic");
	if (several_file())
		json_string(json, "file", several_file());
}

void json_object_end(struct json *json)
{
	end(json, '}');
}

void json_array(struct json *json, const char *key)
{
	begin(json, key, '[');
}

void json_array_end(struct json *json)
{
	end(json, ']');
}

void json_line_end(struct json *json)
{
	fputc('\n', json->out);
	json->follows = false;
}

void json_next_line(struct json *json)
{
	if (json->follows)
		fputs(",\n", json->out);
	json->follows = false;
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_u64(struct json *json, const char *key, u64 value)
{
	begin_value(json, key);
	print_digits(json->out, value);
}

void json_u64_or_null(struct json *json, const char *key, bool is_known, u64 value)
{
	if (is_known)
		json_u64(json, key, value);
	else
		json_null(json, key);
}

void json_s64(struct json *json, const char *key, s64 value)
{
	begin_value(json, key);
	if (value < 0)
		putc_unlocked('-', json->out);
	print_digits(json->out, value < 0 ? -(u64)value : (u64)value);
}

void json_decimal(struct json *json, const char *key, u64 value, int decimals)
{
	u64 unit = 1;

	for (int i = 0; i < decimals; i++)
		unit *= 10;
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64 ".%0*" PRIu64, value / unit, decimals, value % unit);
}

void json_double(struct json *json, const char *key, double value, int decimals)
{
	begin_value(json, key);
	fprintf(json->out, "%.*f", decimals, value);
}

void json_hex(struct json *json, const char *key, u64 value)
{
	char digits[3 + 2 * sizeof(value)], *at = digits + sizeof(digits);

	begin_value(json, key);
	*--at = '"';
	do {
		*--at = "0123456789abcdef"[value & 0xf];
		value >>= 4;
	} while (value);
	fputs_unlocked("\"0x", json->out);
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), json->out);
}

void json_string(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	if (text)
		print_json_string(json->out, text);
	else
		fputs("null", json->out);
}
