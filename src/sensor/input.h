/* SPDX-License-Identifier: GPL-2.0 */
/* The input sensor: the devices that are there with what they sent, for views, and the parts it is made of.
 * Start it with sensor_start(&sensor, &input_kind, settings). */
#ifndef TACTUS_SENSOR_INPUT_H
#define TACTUS_SENSOR_INPUT_H

#include "../model/devices.h"
#include "kinds.h"

/* Every input device that is there now, with what was counted of it since the start. */
typedef void (*input_each)(void *data, const struct input_device *device, const struct input_count *count);
void input_devices(struct sensor *sensor, input_each each, void *data);

enum { INPUT_DEVICES_MAX = 256, INPUT_HOLDERS_MAX = 32 };

/* A device in the list below. */
struct listed_device {
	struct input_device device;
	struct input_count count;
	/* Only where the program reads the devices by itself: */
	int fd;	      /* -1: not open */
	u64 node;     /* the device's number in the file system */
	bool resting; /* it is read after a while, whether or not it is readable */
	bool opened;  /* by somebody since it was looked who has it open */
	u32 looks;
	u64 looked_ns;
	u32 holders[INPUT_HOLDERS_MAX]; /* processes that have it open */
	u32 holders_len;
};

/* The list of devices, kept up to date by the kernel's word on /dev/input. Folders and descriptors are -1 if they are
 * not there. */
struct device_list {
	struct listed_device *all[INPUT_DEVICES_MAX];
	u32 len;
	u64 refused; /* devices that the list had no room for */
	int inotify_fd;
	int folder_watch; /* of /dev/input */
	int parent_watch; /* of /dev, while there is no /dev/input */
	bool watch_opens;
	/* Called after a device has come, and before one goes. */
	void (*came)(void *data, struct listed_device *device);
	void (*goes)(void *data, struct listed_device *device);
	void *data;
};

/* Returns 0 or -errno. */
int device_list_open(struct device_list *list);
/* From here on the list has what is there. */
void device_list_start(struct device_list *list);
void device_list_close(struct device_list *list);
/* To be called when inotify_fd is readable. */
void device_list_work(struct device_list *list);

/* Reading devices where no hook can: counts their events and looks up which threads wait for them. */
struct input_readers;
struct input_readers *readers_new(struct sensor *sched, int list_fd);
void readers_free(struct input_readers *readers);
/* Readable when a device or list_fd is, or when a rest is over. */
int readers_fd(const struct input_readers *readers);
void readers_add(struct input_readers *readers, struct listed_device *listed);
void readers_remove(struct input_readers *readers, struct listed_device *listed);
void readers_work(struct input_readers *readers, struct device_list *list);
/* How often a thread was found waiting for a device. */
u64 readers_found(const struct input_readers *readers);
/* How often the kernel dropped events before they were read, processes past INPUT_HOLDERS_MAX, and those that have more
 * open than was looked at. */
u64 readers_lost(const struct input_readers *readers);

/* The processes that have a device open. Returns how many there are, which can be more than `max`. Adds to *cut those
 * that have more open than was looked at. */
u32 find_holders(u64 node, u32 *pids, u32 max, u64 *cut);
/* Tells of each thread of a process that sleeps until the device sends something. */
void find_waiters(u32 pid, u64 node, void (*waits)(void *data, u32 pid, u32 tid), void *data);

#endif
