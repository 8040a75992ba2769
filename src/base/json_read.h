/* SPDX-License-Identifier: GPL-2.0 */
/* Reads JSON that others wrote, value by value, without building anything: who reads says what is looked for. Depth and
 * lengths are bounded; whatever is no JSON ends the reading. */
#ifndef TACTUS_BASE_JSON_READ_H
#define TACTUS_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_DEPTH_MOST = 32 };

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* Where in the text the reading is. Begin with { text, text + len }. */
struct json_at {
	const char *at, *end;
	bool failed;
};

/* The kind of the value that comes next; it is not passed. */
enum json_kind json_peek(struct json_at *json);

/* Passes a value, whatever it is. */
void json_skip(struct json_at *json);

/* Passes a string, or a number as it stands there; false: it is neither. What does not fit is cut. Escapes become
 * UTF-8. */
bool json_text(struct json_at *json, char *into, size_t size);

/* Enters an array or object; false: the value is none, and is passed. */
bool json_enter(struct json_at *json, enum json_kind kind);
/* Whether another item follows in it; else it is left. Of an object *key gets its name, cut where it is too long. */
bool json_item(struct json_at *json, bool *is_first);
bool json_key(struct json_at *json, bool *is_first, char *key, size_t size);

#endif
