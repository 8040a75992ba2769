/* SPDX-License-Identifier: GPL-2.0 */
/* Protocol buffers as they are written: tags, varints, and messages within messages, whose length is put in when they
 * end. Nothing is read here. */
#ifndef TACTUS_SINK_PROTOBUF_H
#define TACTUS_SINK_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../../core/types.h"
#include "../base/vec.h"

/* All zeroes is an empty one. */
struct protobuf {
	u8 *bytes;
	size_t len, room;
	bool failed; /* for want of memory: what it holds is not whole */
};

enum {
	PROTOBUF_VARINT_MOST = 10,
	PROTOBUF_FIRST_ROOM = 512,
	PROTOBUF_LENGTH_MOST = 4, /* bytes of a message's length */
};

static inline void protobuf_free(struct protobuf *out)
{
	free(out->bytes);
	*out = (struct protobuf){ 0 };
}

static inline bool protobuf_reserve(struct protobuf *out, size_t more)
{
	if (out->room - out->len >= more)
		return true;
	if (!vec_reserve(out->bytes, out->room, out->len + more, PROTOBUF_FIRST_ROOM))
		out->failed = true;
	return out->room - out->len >= more;
}

static inline size_t varint_put(u8 *into, u64 value)
{
	size_t len = 0;

	while (value >= 0x80) {
		into[len++] = (u8)(value | 0x80);
		value >>= 7;
	}
	into[len++] = (u8)value;
	return len;
}

static inline void protobuf_varint(struct protobuf *out, u64 value)
{
	if (protobuf_reserve(out, PROTOBUF_VARINT_MOST))
		out->len += varint_put(out->bytes + out->len, value);
}

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static inline void protobuf_number(struct protobuf *out, u32 field, u64 value)
{
	protobuf_varint(out, (u64)field << 3 | WIRE_VARINT);
	protobuf_varint(out, value);
}

static inline void protobuf_fixed64(struct protobuf *out, u32 field, u64 value)
{
	protobuf_varint(out, (u64)field << 3 | WIRE_FIXED64);
	if (!protobuf_reserve(out, sizeof(value)))
		return;
	for (size_t i = 0; i < sizeof(value); i++)
		out->bytes[out->len++] = (u8)(value >> 8 * i);
}

static inline void protobuf_bytes(struct protobuf *out, u32 field, const void *from, size_t len)
{
	protobuf_varint(out, (u64)field << 3 | WIRE_BYTES);
	protobuf_varint(out, len);
	if (!len || !protobuf_reserve(out, len))
		return;
	memcpy(out->bytes + out->len, from, len);
	out->len += len;
}

static inline void protobuf_text(struct protobuf *out, u32 field, const char *text)
{
	protobuf_bytes(out, field, text, strlen(text));
}

/* A message within: what is put until the end is its. Returns where it begins, for the end. */
static inline size_t protobuf_begin(struct protobuf *out, u32 field)
{
	protobuf_varint(out, (u64)field << 3 | WIRE_BYTES);
	if (protobuf_reserve(out, PROTOBUF_LENGTH_MOST))
		out->len += PROTOBUF_LENGTH_MOST;
	return out->len;
}

static inline void protobuf_end(struct protobuf *out, size_t begun)
{
	size_t len = out->len - begun, used;
	u8 *at = out->bytes + begun - PROTOBUF_LENGTH_MOST;

	if (out->failed)
		return;
	if (len >= 1u << 7 * PROTOBUF_LENGTH_MOST) {
		out->failed = true;
		return;
	}
	used = varint_put(at, len);
	/* Most are short. */
	memmove(at + used, out->bytes + begun, len);
	out->len -= PROTOBUF_LENGTH_MOST - used;
}

#endif
