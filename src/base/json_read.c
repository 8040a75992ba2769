// SPDX-License-Identifier: GPL-2.0
/* One place in the text, which only goes forward.
 */
#include "json_read.h"

#include <string.h>

static void pass_space(struct json_at *json)
{
	while (json->at < json->end &&
	       (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
		json->at++;
}

static bool fail_here(struct json_at *json)
{
	json->failed = true;
	json->at = json->end;
	return false;
}

static bool take(struct json_at *json, char byte)
{
	pass_space(json);
	if (json->at == json->end || *json->at != byte)
		return false;
	json->at++;
	return true;
}

enum json_kind json_peek(struct json_at *json)
{
	pass_space(json);
	if (json->at == json->end)
		return fail_here(json), JSON_NULL;
	switch (*json->at) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
		return JSON_TRUE;
	case 'f':
		return JSON_FALSE;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

struct text {
	char *into;
	size_t size, len;
};

static void put(struct text *text, char byte)
{
	if (text->len + 1 < text->size)
		text->into[text->len++] = byte;
}

static void put_rune(struct text *text, unsigned int rune)
{
	if (rune < 0x80) {
		put(text, (char)rune);
	} else if (rune < 0x800) {
		put(text, (char)(0xc0 | rune >> 6));
		put(text, (char)(0x80 | (rune & 0x3f)));
	} else {
		put(text, (char)(0xe0 | rune >> 12));
		put(text, (char)(0x80 | (rune >> 6 & 0x3f)));
		put(text, (char)(0x80 | (rune & 0x3f)));
	}
}

/* Behind "\u". Halves of pairs stand for themselves: nothing here is shown as it came. */
static bool take_hex(struct json_at *json, unsigned int *rune)
{
	*rune = 0;
	if (json->end - json->at < 4)
		return fail_here(json);
	for (int i = 0; i < 4; i++) {
		char byte = *json->at++;
		unsigned int digit = byte >= '0' && byte <= '9'	  ? (unsigned int)(byte - '0')
				     : byte >= 'a' && byte <= 'f' ? (unsigned int)(byte - 'a') + 10
				     : byte >= 'A' && byte <= 'F' ? (unsigned int)(byte - 'A') + 10
								  : 16;

		if (digit > 15)
			return fail_here(json);
		*rune = *rune << 4 | digit;
	}
	return true;
}

static bool take_escape(struct json_at *json, struct text *text)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned int rune;

	if (json->at == json->end)
		return fail_here(json);
	if (*json->at == 'u') {
		json->at++;
		if (!take_hex(json, &rune))
			return false;
		put_rune(text, rune ? rune : '?');
		return true;
	}
	found = *json->at ? strchr(from, *json->at) : NULL;
	if (!found)
		return fail_here(json);
	json->at++;
	put(text, to[found - from]);
	return true;
}

static bool take_string(struct json_at *json, struct text *text)
{
	if (!take(json, '"'))
		return fail_here(json);
	while (json->at < json->end && *json->at != '"') {
		if (*json->at == '\\') {
			json->at++;
			if (!take_escape(json, text))
				return false;
		} else if ((unsigned char)*json->at < ' ') {
			return fail_here(json);
		} else {
			put(text, *json->at++);
		}
	}
	return json->at < json->end ? (json->at++, true) : fail_here(json);
}

/* Numbers and words. */
static bool take_word(struct json_at *json, struct text *text)
{
	const char *from = json->at;

	pass_space(json);
	from = json->at;
	while (json->at < json->end && *json->at && strchr("+-.0123456789eEaflnrstu", *json->at))
		put(text, *json->at++);
	return json->at > from ? true : fail_here(json);
}

bool json_text(struct json_at *json, char *into, size_t size)
{
	struct text text = { into, size, 0 };
	enum json_kind kind = json_peek(json);
	bool is_text = kind == JSON_STRING || kind == JSON_NUMBER;

	if (!is_text)
		json_skip(json);
	else if (kind == JSON_STRING)
		is_text = take_string(json, &text);
	else
		is_text = take_word(json, &text);
	if (size)
		into[text.len] = '\0';
	return is_text && !json->failed;
}

void json_skip(struct json_at *json)
{
	struct text nowhere = { NULL, 0, 0 };
	unsigned int depth = 0;

	do {
		enum json_kind kind = json_peek(json);

		if (json->failed)
			return;
		if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
			json->at++;
			if (++depth > JSON_DEPTH_MOST) {
				fail_here(json);
				return;
			}
		} else if (*json->at == '}' || *json->at == ']') {
			if (!depth) {
				fail_here(json);
				return;
			}
			json->at++;
			depth--;
		} else if (*json->at == ',' || *json->at == ':') {
			json->at++;
			if (!depth) {
				fail_here(json);
				return;
			}
		} else if (kind == JSON_STRING ? !take_string(json, &nowhere) : !take_word(json, &nowhere)) {
			return;
		}
	} while (depth);
}

bool json_enter(struct json_at *json, enum json_kind kind)
{
	if (json_peek(json) != kind) {
		json_skip(json);
		return false;
	}
	json->at++;
	return true;
}

bool json_item(struct json_at *json, bool *is_first)
{
	bool was_first = *is_first;

	*is_first = false;
	if (json->failed || take(json, ']'))
		return false;
	if (!was_first && !take(json, ','))
		return fail_here(json);
	return true;
}

bool json_key(struct json_at *json, bool *is_first, char *key, size_t size)
{
	struct text text = { key, size, 0 };
	bool was_first = *is_first;

	*is_first = false;
	if (json->failed || take(json, '}'))
		return false;
	if (!was_first && !take(json, ','))
		return fail_here(json);
	if (!take_string(json, &text))
		return false;
	key[text.len] = '\0';
	return take(json, ':') ? true : fail_here(json);
}
