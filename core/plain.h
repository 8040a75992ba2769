/* SPDX-License-Identifier: GPL-2.0 */
/* The one door for text from outside: which characters may reach a terminal, and text with all others replaced.
 * Names, paths and what the kernel says of a scheduler's end may hold any bytes. */
#ifndef TACTUS_CORE_PLAIN_H
#define TACTUS_CORE_PLAIN_H

#include "types.h"

struct utf8_char {
	u32 code;
	u32 length; /* in bytes; 0: this is no UTF-8 */
};

/* Ends at the NUL: that continues nothing. */
core_fn struct utf8_char utf8_read(const char *text)
{
	static const struct {
		u8 mask, lead;
		u32 length, least;
	} shapes[] = {
		{ 0x80, 0x00, 1, 0 }, { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 }, { 0xf8, 0xf0, 4, 0x10000 }
	};
	const u8 *at = (const u8 *)text;
	struct utf8_char none = { 0, 0 };

	for (u32 i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		u32 code = at[0] & (u8)~shapes[i].mask;

		if ((at[0] & shapes[i].mask) != shapes[i].lead)
			continue;
		for (u32 k = 1; k < shapes[i].length; k++) {
			if ((at[k] & 0xc0) != 0x80)
				return none;
			code = code << 6 | (at[k] & 0x3f);
		}
		if (code < shapes[i].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return none;
		return (struct utf8_char){ code, shapes[i].length };
	}
	return none;
}

/* Whether a character shows as itself and nothing else. Those that don't: controls (escape sequences begin with one),
 * what turns the direction of the text around it, what has no width or no picture, and ends of lines that only Unicode
 * knows. After Unicode's Cc, Cf, Zl, Zp, Default_Ignorable_Code_Point and noncharacters. */
core_fn int code_is_plain(u32 code)
{
	static const struct {
		u32 from, to;
	} hidden[] = {
		{ 0x0, 0x1f },	       { 0x7f, 0x9f },	     { 0xad, 0xad },	   { 0x34f, 0x34f },
		{ 0x600, 0x605 },      { 0x61c, 0x61c },     { 0x6dd, 0x6dd },	   { 0x70f, 0x70f },
		{ 0x890, 0x891 },      { 0x8e2, 0x8e2 },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },    { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },
		{ 0x2800, 0x2800 },    { 0x3164, 0x3164 },   { 0xfdd0, 0xfdef },   { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd },  { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0x10ffff }, /* tags and selectors, then what is for private use */
	};

	for (u32 i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].from && code <= hidden[i].to)
			return 0;
	return (code & 0xfffe) != 0xfffe;
}

enum { UTF8_LONGEST = 4 };

/* Puts the character, if it is plain, or '?' in its place. Returns how many bytes that are. */
core_fn u32 plain_put(char *into, const char *text, struct utf8_char what)
{
	if (!what.length || !code_is_plain(what.code)) {
		*into = '?';
		return 1;
	}
	for (u32 i = 0; i < what.length; i++)
		into[i] = text[i];
	return what.length;
}

/* The text with each character that is not plain, and each byte that is no UTF-8, replaced by '?'. What does not fit is
 * left out by whole characters. Returns the length that all of it has. */
core_fn u64 plain_copy(char *into, u64 size, const char *text)
{
	u64 needed = 0, written = 0;

	/* Nearly all of nearly every name. */
	while (*text >= ' ' && *text <= '~' && written + 1 < size)
		into[written++] = *text++;
	needed = written;
	while (*text) {
		struct utf8_char next = utf8_read(text);
		char bytes[UTF8_LONGEST];
		u32 step = plain_put(bytes, text, next);

		/* The first character that does not fit ends the text: none after it may take its place. */
		if (written == needed && needed + step < size)
			for (u32 i = 0; i < step; i++)
				into[written++] = bytes[i];
		needed += step;
		text += next.length ? next.length : 1;
	}
	if (size)
		into[written] = '\0';
	return needed;
}

#endif
