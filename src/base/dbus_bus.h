/* SPDX-License-Identifier: GPL-2.0 */
/* A connection to a message bus: its address, how one gets in, messages to and from it.
 */
#ifndef TACTUS_BASE_DBUS_BUS_H
#define TACTUS_BASE_DBUS_BUS_H

#include "dbus.h"
#include "say.h"

enum { DBUS_FDS_MOST = 8 };

struct dbus_bus {
	int fd;
	u32 serial; /* of the last message sent */
	u8 bytes[DBUS_MESSAGE_MOST];
	size_t len;	/* that have come of the next */
	size_t handled; /* of these: the message that was handed out last */
	size_t unread;	/* that are still to come of one that is passed over */
	u64 passed_over;
	int fds[DBUS_FDS_MOST];
	u32 fds_len;
};

/* $DBUS_SYSTEM_BUS_ADDRESS or $DBUS_SESSION_BUS_ADDRESS, else the usual place. Connects, gets in and says hello.
 * Returns 0 or -errno with the reason. */
int dbus_open(struct dbus_bus *bus, bool is_system, struct reason *why);
void dbus_close(struct dbus_bus *bus);

/* The path or name of an address like "unix:path=/run/user/1000/bus,guid=..." into `into`, with a NUL before a name
 * that is no file's. Returns its length, 0: there is none of a kind that is known here. */
size_t dbus_address(const char *address, char *into, size_t size);

/* 0 or -errno. */
int dbus_send(struct dbus_bus *bus, struct dbus_writer *writer);
u32 dbus_next_serial(struct dbus_bus *bus);

/* The next message, if a whole one is there: 1, 0: none for now, or -errno: the bus has gone, or what came is no
 * message. Anybody on a bus may send anything to anybody: what is too long, of the other byte order, or has fields that
 * are not known here is passed over. What it points to, and its descriptors in bus->fds, are there until the next call.
 */
int dbus_next(struct dbus_bus *bus, struct dbus_message *message);

/* Calls a method of the bus itself with a string and a number (NULL: none). Returns 0 or -errno; *serial is the call's.
 */
int dbus_tell_bus(struct dbus_bus *bus, const char *member, const char *text, const u32 *number, u32 *serial);
/* The same, and waits for the answer, for some seconds; other messages that come meanwhile are lost. Returns the number
 * that it answered with, 0 where it is none, or -errno. */
int dbus_ask_bus(struct dbus_bus *bus, const char *member, const char *text, const u32 *number);

#endif
