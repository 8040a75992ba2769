/* SPDX-License-Identifier: GPL-2.0 */
/* D-Bus messages: read from bytes that anybody may have sent, and written. Only what tactus needs of it, by hand: no
 * library for it can be linked statically here (Debian's libsystemd has no archive, and libdbus's needs libsystemd),
 * and a program that has to start on any distribution can't load one. Pure: bytes in, fields out. */
#ifndef TACTUS_BASE_DBUS_H
#define TACTUS_BASE_DBUS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

enum {
	DBUS_MESSAGE_MOST = 32 << 10, /* longer ones are nothing that is asked for here */
	DBUS_HEAD_BYTES = 16,	      /* before the fields of a header */
};

enum dbus_type { DBUS_NONE, DBUS_CALL, DBUS_RETURN, DBUS_ERROR, DBUS_SIGNAL, DBUS_TYPES };
enum { DBUS_NO_REPLY = 1, DBUS_NO_START = 2 };

struct dbus_message {
	u32 type, flags, serial;
	u32 reply_serial; /* 0: none */
	u32 fds;	  /* that came along */
	/* Within the bytes that were read; "": none. */
	const char *path, *interface, *member, *error, *sender, *destination, *signature;
	const u8 *body;
	u32 body_len;
};

/* How long the message is that begins with these bytes; 0: not known yet (fewer than DBUS_HEAD_BYTES); -1: it is none
 * that can be read here. */
long dbus_length(const u8 *bytes, size_t len);
/* The same of any message that the protocol has, whatever its length and byte order: so many bytes are passed over. */
long dbus_unread_length(const u8 *bytes, size_t len);

/* Of a whole message. False: it is not sound. */
bool dbus_parse(const u8 *bytes, size_t len, struct dbus_message *message);

/* What a message has in its body, one after another. After a failure all is 0 and "". */
struct dbus_reader {
	const u8 *bytes;
	size_t len, at;
	bool failed;
};
struct dbus_reader dbus_body(const struct dbus_message *message);
u32 dbus_read_u32(struct dbus_reader *reader);
const char *dbus_read_string(struct dbus_reader *reader);
/* The signature of what follows, as in a variant. */
const char *dbus_read_signature(struct dbus_reader *reader);

struct dbus_writer {
	u8 bytes[4096];
	size_t len;
	size_t body_at, fields_at; /* while it is written */
	bool failed;
};

/* A message without a body but for what is put behind it. NULL: it has no such field. `signature`: of the body. */
struct dbus_head {
	u32 type, flags, serial, reply_serial;
	const char *path, *interface, *member, *error, *destination, *signature;
};
void dbus_begin(struct dbus_writer *writer, const struct dbus_head *head);
void dbus_put_u32(struct dbus_writer *writer, u32 value);
void dbus_put_string(struct dbus_writer *writer, const char *text);
void dbus_put_signature(struct dbus_writer *writer, const char *text);
void dbus_align(struct dbus_writer *writer, size_t to);
/* An array: begin it where its elements are aligned to `to`, and end it with what that returned. */
size_t dbus_begin_array(struct dbus_writer *writer, size_t to);
void dbus_end_array(struct dbus_writer *writer, size_t began, size_t to);
/* False: it did not fit. */
bool dbus_end(struct dbus_writer *writer);

#endif
