// SPDX-License-Identifier: GPL-2.0
/* The wire format of D-Bus, little-endian as every machine here is. Every length is looked at before use, every text
 * must end, and nothing is copied but numbers. */
#include "dbus.h"

#include <string.h>

enum { FIELDS_MOST = 8 << 10, ENDIAN_LITTLE = 'l', ENDIAN_BIG = 'B', PROTOCOL = 1 };
enum { MESSAGE_OF_ANYBODY = 1 << 27 }; /* the protocol has none that is longer */

enum field {
	FIELD_PATH = 1,
	FIELD_INTERFACE,
	FIELD_MEMBER,
	FIELD_ERROR,
	FIELD_REPLY_SERIAL,
	FIELD_DESTINATION,
	FIELD_SENDER,
	FIELD_SIGNATURE,
	FIELD_FDS
};

static size_t aligned(size_t at, size_t to)
{
	return (at + to - 1) / to * to;
}

static u32 u32_at(const u8 *bytes)
{
	return (u32)bytes[0] | (u32)bytes[1] << 8 | (u32)bytes[2] << 16 | (u32)bytes[3] << 24;
}

long dbus_length(const u8 *bytes, size_t len)
{
	u32 fields, body;

	if (len < DBUS_HEAD_BYTES)
		return 0;
	body = u32_at(bytes + 4);
	fields = u32_at(bytes + 12);
	if (bytes[0] != ENDIAN_LITTLE || bytes[3] != PROTOCOL || fields > FIELDS_MOST || body > DBUS_MESSAGE_MOST)
		return -1;
	body += (u32)aligned(DBUS_HEAD_BYTES + fields, 8);
	return body <= DBUS_MESSAGE_MOST ? (long)body : -1;
}

static u32 u32_at_big(const u8 *bytes)
{
	return (u32)bytes[3] | (u32)bytes[2] << 8 | (u32)bytes[1] << 16 | (u32)bytes[0] << 24;
}

long dbus_unread_length(const u8 *bytes, size_t len)
{
	bool is_big = len && bytes[0] == ENDIAN_BIG;
	u64 fields, body;

	if (len < DBUS_HEAD_BYTES)
		return 0;
	if ((!is_big && bytes[0] != ENDIAN_LITTLE) || bytes[3] != PROTOCOL)
		return -1;
	body = is_big ? u32_at_big(bytes + 4) : u32_at(bytes + 4);
	fields = is_big ? u32_at_big(bytes + 12) : u32_at(bytes + 12);
	body += aligned(DBUS_HEAD_BYTES + fields, 8);
	return body <= MESSAGE_OF_ANYBODY ? (long)body : -1;
}

/* Leaves `at` behind so many bytes that begin where they are aligned; NULL: there are not so many. */
static const u8 *take(struct dbus_reader *reader, size_t to, size_t bytes)
{
	size_t at = aligned(reader->at, to);

	if (reader->failed || at > reader->len || bytes > reader->len - at) {
		reader->failed = true;
		return NULL;
	}
	reader->at = at + bytes;
	return reader->bytes + at;
}

u32 dbus_read_u32(struct dbus_reader *reader)
{
	const u8 *at = take(reader, 4, 4);

	return at ? u32_at(at) : 0;
}

/* With the NUL behind it, which is the only one. */
static const char *take_text(struct dbus_reader *reader, u32 len)
{
	const char *text = (const char *)take(reader, 1, (size_t)len + 1);

	if (!text)
		return "";
	if (text[len] || memchr(text, '\0', len)) {
		reader->failed = true;
		return "";
	}
	return text;
}

const char *dbus_read_string(struct dbus_reader *reader)
{
	u32 len = dbus_read_u32(reader);

	return reader->failed ? "" : take_text(reader, len);
}

const char *dbus_read_signature(struct dbus_reader *reader)
{
	const u8 *len = take(reader, 1, 1);

	return len ? take_text(reader, *len) : "";
}

struct dbus_reader dbus_body(const struct dbus_message *message)
{
	return (struct dbus_reader){ .bytes = message->body, .len = message->body_len };
}

static void take_field(struct dbus_reader *reader, struct dbus_message *message)
{
	const u8 *code = take(reader, 8, 1);
	const char *signature = dbus_read_signature(reader), *text = "";
	u32 number = 0;

	if (!strcmp(signature, "s") || !strcmp(signature, "o"))
		text = dbus_read_string(reader);
	else if (!strcmp(signature, "g"))
		text = dbus_read_signature(reader);
	else if (!strcmp(signature, "u"))
		number = dbus_read_u32(reader);
	else
		reader->failed = true;
	if (reader->failed)
		return;
	switch (*code) {
	case FIELD_PATH:
		message->path = text;
		break;
	case FIELD_INTERFACE:
		message->interface = text;
		break;
	case FIELD_MEMBER:
		message->member = text;
		break;
	case FIELD_ERROR:
		message->error = text;
		break;
	case FIELD_REPLY_SERIAL:
		message->reply_serial = number;
		break;
	case FIELD_DESTINATION:
		message->destination = text;
		break;
	case FIELD_SENDER:
		message->sender = text;
		break;
	case FIELD_SIGNATURE:
		message->signature = text;
		break;
	case FIELD_FDS:
		message->fds = number;
		break;
	default:
		/* Of later versions: of no interest. */
		break;
	}
}

bool dbus_parse(const u8 *bytes, size_t len, struct dbus_message *message)
{
	struct dbus_reader fields = { .bytes = bytes, .at = DBUS_HEAD_BYTES };

	*message = (struct dbus_message){
		.path = "", .interface = "", .member = "", .error = "", .sender = "", .destination = "", .signature = ""
	};
	if (dbus_length(bytes, len) != (long)len || !len)
		return false;
	message->type = bytes[1];
	message->flags = bytes[2];
	message->body_len = u32_at(bytes + 4);
	message->serial = u32_at(bytes + 8);
	message->body = bytes + len - message->body_len;
	fields.len = DBUS_HEAD_BYTES + u32_at(bytes + 12);
	while (fields.at < fields.len && !fields.failed)
		take_field(&fields, message);
	return !fields.failed && message->type > DBUS_NONE && message->type < DBUS_TYPES && message->serial;
}

static u8 *room(struct dbus_writer *writer, size_t to, size_t bytes)
{
	size_t at = aligned(writer->len, to);

	if (writer->failed || bytes > sizeof(writer->bytes) || at > sizeof(writer->bytes) - bytes) {
		writer->failed = true;
		return NULL;
	}
	memset(writer->bytes + writer->len, 0, at - writer->len);
	writer->len = at + bytes;
	return writer->bytes + at;
}

static void set_u32(u8 *at, u32 value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (u8)(value >> 8 * i);
}

void dbus_put_u32(struct dbus_writer *writer, u32 value)
{
	u8 *at = room(writer, 4, 4);

	if (at)
		set_u32(at, value);
}

void dbus_put_string(struct dbus_writer *writer, const char *text)
{
	size_t len = strlen(text);
	u8 *at;

	dbus_put_u32(writer, (u32)len);
	at = room(writer, 1, len + 1);
	if (at)
		memcpy(at, text, len + 1);
}

void dbus_put_signature(struct dbus_writer *writer, const char *text)
{
	size_t len = strlen(text);
	u8 *at = len < 256 ? room(writer, 1, len + 2) : NULL;

	if (!at)
		return;
	at[0] = (u8)len;
	memcpy(at + 1, text, len + 1);
}

void dbus_align(struct dbus_writer *writer, size_t to)
{
	room(writer, to, 0);
}

size_t dbus_begin_array(struct dbus_writer *writer, size_t to)
{
	size_t at;

	dbus_put_u32(writer, 0);
	at = writer->len;
	dbus_align(writer, to);
	return at;
}

void dbus_end_array(struct dbus_writer *writer, size_t began, size_t to)
{
	if (!writer->failed)
		set_u32(writer->bytes + began - 4, (u32)(writer->len - aligned(began, to)));
}

static void put_field(struct dbus_writer *writer, u8 code, const char *signature, const char *text, u32 number)
{
	u8 *at = room(writer, 8, 1);

	if (at)
		*at = code;
	dbus_put_signature(writer, signature);
	if (signature[0] == 'u')
		dbus_put_u32(writer, number);
	else if (signature[0] == 'g')
		dbus_put_signature(writer, text);
	else
		dbus_put_string(writer, text);
}

void dbus_begin(struct dbus_writer *writer, const struct dbus_head *head)
{
	u8 *at;

	*writer = (struct dbus_writer){ .len = 0 };
	at = room(writer, 1, 12);
	at[0] = ENDIAN_LITTLE;
	at[1] = (u8)head->type;
	at[2] = (u8)head->flags;
	at[3] = PROTOCOL;
	set_u32(at + 8, head->serial);
	writer->fields_at = dbus_begin_array(writer, 8);
	if (head->path)
		put_field(writer, FIELD_PATH, "o", head->path, 0);
	if (head->interface)
		put_field(writer, FIELD_INTERFACE, "s", head->interface, 0);
	if (head->member)
		put_field(writer, FIELD_MEMBER, "s", head->member, 0);
	if (head->error)
		put_field(writer, FIELD_ERROR, "s", head->error, 0);
	if (head->reply_serial)
		put_field(writer, FIELD_REPLY_SERIAL, "u", NULL, head->reply_serial);
	if (head->destination)
		put_field(writer, FIELD_DESTINATION, "s", head->destination, 0);
	if (head->signature)
		put_field(writer, FIELD_SIGNATURE, "g", head->signature, 0);
	dbus_end_array(writer, writer->fields_at, 8);
	dbus_align(writer, 8);
	writer->body_at = writer->len;
}

bool dbus_end(struct dbus_writer *writer)
{
	if (!writer->failed)
		set_u32(writer->bytes + 4, (u32)(writer->len - writer->body_at));
	return !writer->failed;
}
