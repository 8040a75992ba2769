/* SPDX-License-Identifier: GPL-2.0 */
/* Thrift's compact protocol as it is written, as much of it as Parquet's own structures take: numbers, text, lists and
 * structs, fields by their numbers. */
#ifndef TACTUS_SINK_THRIFT_H
#define TACTUS_SINK_THRIFT_H

#include "protobuf.h"

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

static inline void thrift_byte(struct protobuf *out, u8 byte)
{
	if (protobuf_reserve(out, 1))
		out->bytes[out->len++] = byte;
}

/* Where a struct's next field counts from: 0 at its beginning. */
static inline void thrift_field(struct protobuf *out, u8 *last, u8 number, enum thrift_type type)
{
	thrift_byte(out, (u8)((number - *last) << 4 | type));
	*last = number;
}

static inline void thrift_number(struct protobuf *out, s64 value)
{
	protobuf_varint(out, (u64)value << 1 ^ (u64)(value >> 63));
}

static inline void thrift_i32(struct protobuf *out, u8 *last, u8 number, s32 value)
{
	thrift_field(out, last, number, THRIFT_I32);
	thrift_number(out, value);
}

static inline void thrift_i64(struct protobuf *out, u8 *last, u8 number, u64 value)
{
	thrift_field(out, last, number, THRIFT_I64);
	thrift_number(out, (s64)value);
}

static inline void thrift_text(struct protobuf *out, const char *text)
{
	size_t len = strlen(text);

	protobuf_varint(out, len);
	if (!protobuf_reserve(out, len))
		return;
	memcpy(out->bytes + out->len, text, len);
	out->len += len;
}

static inline void thrift_list(struct protobuf *out, u8 *last, u8 number, enum thrift_type of, u32 len)
{
	enum { LEN_SHORT = 15 };

	thrift_field(out, last, number, THRIFT_LIST);
	thrift_byte(out, (u8)((len < LEN_SHORT ? len : LEN_SHORT) << 4 | of));
	if (len >= LEN_SHORT)
		protobuf_varint(out, len);
}

static inline void thrift_end(struct protobuf *out)
{
	thrift_byte(out, 0);
}

#endif
