/* SPDX-License-Identifier: GPL-2.0 */
/* Input devices as the kernel describes them in sysfs, and what a thread that sleeps in a system call waits for.
 * Everything that is read there passes through here as text, from whomever it comes. */
#ifndef TACTUS_MODEL_DEVICES_H
#define TACTUS_MODEL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/input.h"

enum { DEVICE_NAME_SIZE = 128, DEVICE_TEXT_SIZE = 512 };

struct input_device {
	u32 number; /* the kernel's, as in input5: never given twice */
	u32 event;  /* as in /dev/input/event3 */
	u16 bus;
	u16 vendor;
	u16 product;
	u16 kind;		     /* enum input_kind */
	char name[DEVICE_NAME_SIZE]; /* any bytes: whoever makes a device names it */
};

/* The attributes of a device, each a text of its own, so that a name can't pass for another attribute. */
enum device_text {
	DEVICE_FOLDER, /* where sysfs's link to the device leads; its last part is inputN */
	DEVICE_NAME,
	DEVICE_BUS,
	DEVICE_VENDOR,
	DEVICE_PRODUCT,
	DEVICE_TYPES,
	DEVICE_KEYS,
	DEVICE_REL,
	DEVICE_ABS,
	DEVICE_TEXTS
};

/* Returns whether the texts describe a device. Those that could not be read are empty; what they would say is then not
 * so. */
bool device_parse(struct input_device *device, char texts[DEVICE_TEXTS][DEVICE_TEXT_SIZE]);

/* "event3" is 3. Returns false for any other name. */
bool device_event_number(const char *name, u32 *number);

/* "mouse", "keyboard", ... */
const char *device_kind_name(u32 kind);

/* What a thread sleeps in, out of /proc/PID/task/TID/syscall. */
enum wait_call {
	WAIT_CALL_NONE,
	WAIT_CALL_READ,	  /* descriptor */
	WAIT_CALL_POLL,	  /* address of an array of struct pollfd, its length */
	WAIT_CALL_SELECT, /* number of descriptors, address of the set of those to read */
	WAIT_CALL_EPOLL	  /* descriptor of the epoll set */
};
enum { WAIT_CALL_ARGS = 2 };
enum wait_call wait_call_parse(const char *text, u64 args[WAIT_CALL_ARGS]);

/* The next descriptor that an epoll set watches, out of /proc/PID/fdinfo/FD; -1: there is none left. `*at` moves on
 * behind it. */
int epoll_next_target(const char **at);

#endif
