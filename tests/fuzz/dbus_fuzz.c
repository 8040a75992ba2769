// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of D-Bus messages and addresses: any bytes. What is found lies within them and ends; a message
 * that is written from it can be read again. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../src/base/dbus_bus.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int held)
{
	if (!held)
		abort();
}

static void read_body(const struct dbus_message *message)
{
	struct dbus_reader body = dbus_body(message);
	size_t at = 0;

	for (const char *sign = message->signature; *sign && !body.failed; sign++) {
		if (*sign == 's' || *sign == 'o')
			at += strlen(dbus_read_string(&body));
		else if (*sign == 'g' || *sign == 'v')
			at += strlen(dbus_read_signature(&body));
		else
			at += dbus_read_u32(&body) & 1;
	}
	require(body.at <= body.len && at <= (size_t)body.len + 1);
}

/* As they come over a socket: message after message, those that are passed over too, until there are no more. */
static void read_stream(const unsigned char *data, size_t size)
{
	static struct dbus_bus bus;
	struct dbus_message message;
	size_t calls = 0;
	int ends[2], got;

	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
	bus.fd = ends[0];
	bus.len = bus.handled = bus.unread = bus.fds_len = 0;
	require(!size || write(ends[1], data, size) >= 0);
	close(ends[1]);
	while ((got = dbus_next(&bus, &message)) >= 0) {
		require(calls++ <= size);
		require(bus.len <= sizeof(bus.bytes));
		if (got)
			read_body(&message);
	}
	dbus_close(&bus);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	u8 *bytes = malloc(size + 1);
	struct dbus_message message, again;
	struct dbus_writer writer;
	char path[108];
	long len;

	require(bytes != NULL);
	memcpy(bytes, data, size);
	bytes[size] = 0;
	require(dbus_address((const char *)bytes, path, sizeof(path)) < sizeof(path));
	read_stream(data, size);
	len = dbus_length(bytes, size);
	require(len >= -1 && len <= DBUS_MESSAGE_MOST);
	if (len > 0 && (size_t)len <= size && dbus_parse(bytes, (size_t)len, &message)) {
		read_body(&message);
		dbus_begin(&writer, &(struct dbus_head){ .type = message.type,
							 .serial = message.serial,
							 .reply_serial = message.reply_serial,
							 .path = message.path,
							 .member = message.member,
							 .signature = message.signature });
		if (dbus_end(&writer))
			require(dbus_parse(writer.bytes, writer.len, &again) && !strcmp(again.member, message.member));
	}
	free(bytes);
	return 0;
}
