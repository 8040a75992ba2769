// SPDX-License-Identifier: GPL-2.0
/* Over a local socket, as the user that this process is (SASL EXTERNAL), with descriptors.
 */
#include "dbus_bus.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000 };

size_t dbus_address(const char *address, char *into, size_t size)
{
	/* The first of several, up to a ';'. */
	size_t whole = strcspn(address, ";");
	const char *keys[] = { "path=", "abstract=" };

	if (strncmp(address, "unix:", 5) != 0)
		return 0;
	for (const char *at = address + 5; at < address + whole; at += strcspn(at, ",;") + 1) {
		for (int i = 0; i < 2; i++) {
			size_t key = strlen(keys[i]), len = strcspn(at, ",;");

			if (strncmp(at, keys[i], key) != 0 || len <= key || len - key + (size_t)i >= size)
				continue;
			/* An escaped character is nothing that any bus here has in its name. */
			if (memchr(at, '%', len))
				return 0;
			into[0] = '\0';
			memcpy(into + i, at + key, len - key);
			return len - key + (size_t)i;
		}
	}
	return 0;
}

static const char *address_of(bool is_system, char *usual, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *given = getenv(is_system ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS");

	if (given && *given)
		return given;
	if (is_system)
		return "unix:path=/run/dbus/system_bus_socket";
	if (runtime && *runtime)
		snprintf(usual, size, "unix:path=%s/bus", runtime);
	else
		snprintf(usual, size, "unix:path=/run/user/%u/bus", getuid());
	return usual;
}

static int call(const char *address)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = dbus_address(address, to.sun_path, sizeof(to.sun_path));
	int fd, error;

	if (!len)
		return -EPROTONOSUPPORT;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static bool is_readable(int fd)
{
	struct pollfd ready = { fd, POLLIN, 0 };

	return poll(&ready, 1, PATIENCE_MS) > 0;
}

/* Says a line, and hears one that must begin as it should. */
static int say_line(int fd, const char *line, const char *wanted)
{
	char heard[256];
	size_t len = 0;

	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		return -errno;
	while (wanted && len + 1 < sizeof(heard)) {
		/* A byte at a time: what follows a line belongs to others. */
		if (!is_readable(fd) || recv(fd, heard + len, 1, 0) != 1)
			return -ETIMEDOUT;
		if (heard[len++] == '\n')
			return !strncmp(heard, wanted, strlen(wanted)) ? 0 : -EACCES;
	}
	return wanted ? -EPROTO : 0;
}

static int get_in(int fd)
{
	char line[64] = "AUTH EXTERNAL ", number[16];
	size_t len = strlen(line);
	int error;

	snprintf(number, sizeof(number), "%u", geteuid());
	for (const char *at = number; *at; at++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%02x", *at);
	snprintf(line + len, sizeof(line) - len, "\r\n");
	if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	error = say_line(fd, line, "OK ");
	if (!error)
		error = say_line(fd, "NEGOTIATE_UNIX_FD\r\n", "AGREE_UNIX_FD");
	return error ? error : say_line(fd, "BEGIN\r\n", NULL);
}

static void drop_fds(struct dbus_bus *bus)
{
	while (bus->fds_len)
		close(bus->fds[--bus->fds_len]);
}

void dbus_close(struct dbus_bus *bus)
{
	drop_fds(bus);
	if (bus->fd >= 0)
		close(bus->fd);
	bus->fd = -1;
}

int dbus_open(struct dbus_bus *bus, bool is_system, struct reason *why)
{
	char usual[200];
	const char *address = address_of(is_system, usual, sizeof(usual));
	int error;

	bus->len = bus->handled = bus->unread = bus->fds_len = bus->serial = 0;
	bus->fd = call(address);
	error = bus->fd < 0 ? bus->fd : get_in(bus->fd);
	if (!error)
		error = dbus_ask_bus(bus, "Hello", NULL, NULL);
	if (error < 0) {
		reason_set(why, "no %s bus (%s): %s", is_system ? "system" : "session", address, strerror(-error));
		dbus_close(bus);
	}
	return error < 0 ? error : 0;
}

u32 dbus_next_serial(struct dbus_bus *bus)
{
	return ++bus->serial ? bus->serial : ++bus->serial;
}

int dbus_send(struct dbus_bus *bus, struct dbus_writer *writer)
{
	if (!dbus_end(writer))
		return -EMSGSIZE;
	for (size_t sent = 0; sent < writer->len;) {
		ssize_t got = send(bus->fd, writer->bytes + sent, writer->len - sent, MSG_NOSIGNAL);

		if (got < 0 && errno != EINTR)
			return -errno;
		sent += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* Bytes, and descriptors with them. Returns how many bytes, 0 for none now, or -errno. */
static ssize_t receive(struct dbus_bus *bus, size_t most)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(DBUS_FDS_MOST * sizeof(int))];
	} control;
	struct iovec bytes = { bus->bytes + bus->len, most };
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(bus->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
		size_t len = head->cmsg_type == SCM_RIGHTS && head->cmsg_level == SOL_SOCKET
				     ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int)
				     : 0;

		for (size_t i = 0; i < len; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
			if (bus->fds_len < DBUS_FDS_MOST)
				bus->fds[bus->fds_len++] = fd;
			else
				close(fd);
		}
	}
	return got ? got : -ECONNRESET;
}

/* Its descriptors go with it. Returns 0 or -errno. */
static int pass_over(struct dbus_bus *bus)
{
	ssize_t got = receive(bus, bus->unread < sizeof(bus->bytes) ? bus->unread : sizeof(bus->bytes));

	drop_fds(bus);
	if (got > 0)
		bus->unread -= (size_t)got;
	return got < 0 ? (int)got : 0;
}

static bool begin_passing_over(struct dbus_bus *bus)
{
	long all = dbus_unread_length(bus->bytes, bus->len);

	if (all < (long)bus->len)
		return false;
	bus->unread = (size_t)all - bus->len;
	bus->len = 0;
	bus->passed_over++;
	drop_fds(bus);
	return true;
}

int dbus_next(struct dbus_bus *bus, struct dbus_message *message)
{
	ssize_t got;
	long whole;

	if (bus->handled) {
		bus->len = bus->handled = 0;
		drop_fds(bus);
	}
	for (;;) {
		/* A part at a time: who sends without end does not keep this from all else. */
		if (bus->unread)
			return pass_over(bus);
		whole = dbus_length(bus->bytes, bus->len);
		if (whole < 0 || (whole && bus->len == (size_t)whole && !dbus_parse(bus->bytes, bus->len, message))) {
			if (!begin_passing_over(bus))
				return -EPROTO;
			return 0;
		}
		if (whole && bus->len == (size_t)whole)
			break;
		/* No more than of this one, so that descriptors are its own. */
		got = receive(bus, (whole ? (size_t)whole : DBUS_HEAD_BYTES) - bus->len);
		if (got <= 0)
			return (int)got;
		bus->len += (size_t)got;
	}
	bus->handled = bus->len;
	return 1;
}

static int wait_for_reply(struct dbus_bus *bus, u32 serial)
{
	struct dbus_message message;
	struct dbus_reader body;
	int got;

	while ((got = dbus_next(bus, &message)) >= 0) {
		if (!got && !is_readable(bus->fd))
			return -ETIMEDOUT;
		if (!got || message.reply_serial != serial)
			continue;
		if (message.type == DBUS_ERROR)
			return -EACCES;
		body = dbus_body(&message);
		return !strcmp(message.signature, "u") ? (int)(dbus_read_u32(&body) & 0xffff) : 0;
	}
	return got;
}

int dbus_tell_bus(struct dbus_bus *bus, const char *member, const char *text, const u32 *number, u32 *serial_out)
{
	struct dbus_writer writer;
	u32 serial = *serial_out = dbus_next_serial(bus);

	dbus_begin(&writer, &(struct dbus_head){ .type = DBUS_CALL,
						 .serial = serial,
						 .path = "/org/freedesktop/DBus",
						 .interface = "org.freedesktop.DBus",
						 .member = member,
						 .destination = "org.freedesktop.DBus",
						 .signature = text && number ? "su"
							      : text	     ? "s"
									     : NULL });
	if (text)
		dbus_put_string(&writer, text);
	if (number)
		dbus_put_u32(&writer, *number);
	return dbus_send(bus, &writer);
}

int dbus_ask_bus(struct dbus_bus *bus, const char *member, const char *text, const u32 *number)
{
	u32 serial;
	int error = dbus_tell_bus(bus, member, text, number, &serial);

	return error ? error : wait_for_reply(bus, serial);
}
