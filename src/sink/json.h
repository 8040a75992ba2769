/* SPDX-License-Identifier: GPL-2.0 */
/* Writes JSON as it comes, with its commas; nothing is kept. Values have a key in an object and NULL in an array.
 * Keys are the program's own words and go out as they are; texts are escaped by text.h. */
#ifndef TACTUS_SINK_JSON_H
#define TACTUS_SINK_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/types.h"

/* Begin with { .out = ... }. */
struct json {
	FILE *out;
	bool follows; /* something stands before in this object or array */
};

void json_object(struct json *json, const char *key);
/* An object that says what it is: a record of that kind, as docs/json.md describes them. `has_moments`: it has points
 * in time of CLOCK_MONOTONIC. */
enum { JSON_SCHEMA = 1 };
void json_record(struct json *json, const char *record, bool has_moments);
void json_object_end(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_end(struct json *json);

/* Ends a document that is a line of its own; another may follow. */
void json_line_end(struct json *json);
/* What comes next in an array begins on a line of its own, unless it is the first. */
void json_next_line(struct json *json);

void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_u64(struct json *json, const char *key, u64 value);
/* null unless it is known. */
void json_u64_or_null(struct json *json, const char *key, bool is_known, u64 value);
void json_s64(struct json *json, const char *key, s64 value);
/* 1234 with 2 decimals is 12.34. */
void json_decimal(struct json *json, const char *key, u64 value, int decimals);
void json_double(struct json *json, const char *key, double value, int decimals);
/* As text, since JSON has no hexadecimal numbers. */
void json_hex(struct json *json, const char *key, u64 value);
/* null for NULL. */
void json_string(struct json *json, const char *key, const char *text);

#endif
