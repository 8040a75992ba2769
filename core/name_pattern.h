/* SPDX-License-Identifier: GPL-2.0 */
/* A shell pattern for threads' names (* ? [a-z] [!a-z] \x), made into a table once so that the kernel half needs one
 * look-up a byte and no way back: bit n of the state means that n of the pattern's parts have matched. */
#ifndef TACTUS_CORE_NAME_PATTERN_H
#define TACTUS_CORE_NAME_PATTERN_H

#include "types.h"

enum { NAME_PATTERN_PARTS = COMM_LEN - 1, NAME_PATTERN_LEN = 64 };

struct name_pattern {
	u16 fits[256]; /* by byte: which parts it can be */
	u16 stays;     /* states in which any byte may come, by a * */
	u16 end;       /* the state that says yes */
};

/* Bytes that a set in brackets means, from behind its '['. Returns its length with the ']', or 0: it has no end. */
core_fn u32 name_pattern_set(const char *set, u16 part, struct name_pattern *made)
{
	u32 at = set[0] == '!' || set[0] == '^', first = at;
	u64 has[4] = { 0 };

	for (; at < NAME_PATTERN_LEN && set[at] && (set[at] != ']' || at == first); at++) {
		u8 from = (u8)set[at], to = from;

		if (set[at + 1] == '-' && set[at + 2] && set[at + 2] != ']') {
			to = (u8)set[at + 2];
			at += 2;
		}
		for (u32 byte = from; byte <= to; byte++)
			has[byte / 64] |= 1ULL << (byte % 64);
	}
	if (at >= NAME_PATTERN_LEN || set[at] != ']')
		return 0;
	for (u32 byte = 1; byte < 256; byte++)
		if ((has[byte / 64] >> (byte % 64) & 1) != first)
			made->fits[byte] |= part;
	return at + 1;
}

/* 0: no name can match it, since it has more parts than a name has bytes, or is longer than NAME_PATTERN_LEN. */
core_fn int name_pattern_make(struct name_pattern *made, const char *text)
{
	u32 parts = 0, left = NAME_PATTERN_LEN, set;

	*made = (struct name_pattern){ 0 };
	for (u32 at = 0; text[at]; at++) {
		u16 part = (u16)(1u << parts);

		if (!left--)
			return 0;
		if (text[at] == '*') {
			made->stays |= part;
			continue;
		}
		if (parts == NAME_PATTERN_PARTS)
			return 0;
		set = text[at] == '[' ? name_pattern_set(text + at + 1, part, made) : 0;
		if (set) {
			at += set;
		} else if (text[at] == '?') {
			for (u32 byte = 1; byte < 256; byte++)
				made->fits[byte] |= part;
		} else {
			at += text[at] == '\\' && text[at + 1];
			made->fits[(u8)text[at]] |= part;
		}
		parts++;
	}
	made->end = (u16)(1u << parts);
	return 1;
}

/* Whether the name, which ends with a NUL or is full, matches. */
core_fn int name_pattern_fits(const struct name_pattern *pattern, const char *name)
{
	u32 state = 1;

	for (u32 i = 0; i < NAME_PATTERN_PARTS; i++) {
		u8 byte = (u8)name[i];

		if (!byte)
			break;
		state = (state & pattern->fits[byte]) << 1 | (state & pattern->stays);
	}
	return (state & pattern->end) != 0;
}

#endif
