// SPDX-License-Identifier: GPL-2.0
/* Keeps the list of input devices: what is there at the start, and what comes and goes in /dev/input, by inotify.
 * What a device is stands in sysfs. */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static const char folder[] = "/dev/input";

/* Reads all of a small attribute, newlines in it included, but the last one. */
static void read_text(int dir_fd, const char *path, char *text)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, DEVICE_TEXT_SIZE - 1);

	if (fd >= 0)
		close(fd);
	if (got > 0 && text[got - 1] == '\n')
		got--;
	text[got > 0 ? got : 0] = '\0';
}

static bool read_device(struct input_device *device, u32 event)
{
	static const char *const paths[DEVICE_TEXTS] = {
		[DEVICE_NAME] = "name",
		[DEVICE_BUS] = "id/bustype",
		[DEVICE_VENDOR] = "id/vendor",
		[DEVICE_PRODUCT] = "id/product",
		[DEVICE_TYPES] = "capabilities/ev",
		[DEVICE_KEYS] = "capabilities/key",
		[DEVICE_REL] = "capabilities/rel",
		[DEVICE_ABS] = "capabilities/abs",
	};
	char texts[DEVICE_TEXTS][DEVICE_TEXT_SIZE] = { { 0 } }, path[64];
	ssize_t len;
	int dir_fd;

	snprintf(path, sizeof(path), "/sys/class/input/event%u/device", event);
	len = readlink(path, texts[DEVICE_FOLDER], DEVICE_TEXT_SIZE - 1);
	texts[DEVICE_FOLDER][len > 0 ? len : 0] = '\0';
	dir_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return false;
	for (int i = 0; i < DEVICE_TEXTS; i++)
		if (paths[i])
			read_text(dir_fd, paths[i], texts[i]);
	close(dir_fd);
	device->event = event;
	return device_parse(device, texts);
}

static void add_device(struct device_list *list, u32 event)
{
	struct input_device device;
	struct listed_device *listed;

	for (u32 i = 0; i < list->len; i++)
		if (list->all[i]->device.event == event)
			return;
	if (!read_device(&device, event))
		return;
	listed = list->len < INPUT_DEVICES_MAX ? calloc(1, sizeof(*listed)) : NULL;
	if (!listed) {
		list->refused++;
		return;
	}
	listed->device = device;
	listed->fd = -1;
	listed->count = (struct input_count){
		.bus = device.bus, .vendor = device.vendor, .product = device.product, .kind = device.kind
	};
	list->all[list->len++] = listed;
	list->came(list->data, listed);
}

static void remove_at(struct device_list *list, u32 index)
{
	struct listed_device *listed = list->all[index];

	list->goes(list->data, listed);
	list->all[index] = list->all[--list->len];
	free(listed);
}

static void remove_device(struct device_list *list, u32 event)
{
	for (u32 i = 0; i < list->len; i++)
		if (list->all[i]->device.event == event) {
			remove_at(list, i);
			return;
		}
}

static void add_all(struct device_list *list)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	u32 event;

	while (dir && (entry = readdir(dir)))
		if (device_event_number(entry->d_name, &event))
			add_device(list, event);
	if (dir)
		closedir(dir);
}

/* The folder is there as long as a device is. While it is not, its parent shows when it comes. */
static void watch(struct device_list *list)
{
	u32 mask = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_ONLYDIR | (list->watch_opens ? IN_OPEN : 0);

	if (list->folder_watch < 0)
		list->folder_watch = inotify_add_watch(list->inotify_fd, folder, mask);
	if (list->folder_watch < 0 && list->parent_watch < 0) {
		list->parent_watch = inotify_add_watch(list->inotify_fd, "/dev", IN_CREATE | IN_ONLYDIR);
		/* It may have come between the two. */
		list->folder_watch = inotify_add_watch(list->inotify_fd, folder, mask);
	}
	if (list->folder_watch >= 0 && list->parent_watch >= 0) {
		inotify_rm_watch(list->inotify_fd, list->parent_watch);
		list->parent_watch = -1;
	}
	if (list->folder_watch >= 0)
		add_all(list);
}

static void forget_all(struct device_list *list)
{
	while (list->len)
		remove_at(list, list->len - 1);
}

static void take_change(struct device_list *list, const struct inotify_event *change)
{
	u32 event;

	if (change->mask & IN_Q_OVERFLOW) {
		forget_all(list);
		add_all(list);
		return;
	}
	if (change->wd == list->folder_watch && (change->mask & IN_IGNORED)) {
		list->folder_watch = -1;
		forget_all(list);
		watch(list);
		return;
	}
	if (change->wd == list->parent_watch && change->len && !strcmp(change->name, "input"))
		watch(list);
	if (change->wd != list->folder_watch || !change->len || !device_event_number(change->name, &event))
		return;
	if (change->mask & IN_DELETE)
		remove_device(list, event);
	else if (change->mask & (IN_CREATE | IN_MOVED_TO))
		add_device(list, event);
	for (u32 i = 0; (change->mask & IN_OPEN) && i < list->len; i++)
		if (list->all[i]->device.event == event)
			list->all[i]->opened = true;
}

void device_list_work(struct device_list *list)
{
	char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got;

	while ((got = read(list->inotify_fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *change = (const void *)(bytes + at);

			take_change(list, change);
			at += (ssize_t)(sizeof(*change) + change->len);
		}
}

int device_list_open(struct device_list *list)
{
	list->folder_watch = list->parent_watch = -1;
	list->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return list->inotify_fd < 0 ? -errno : 0;
}

void device_list_start(struct device_list *list)
{
	watch(list);
}

void device_list_close(struct device_list *list)
{
	forget_all(list);
	if (list->inotify_fd >= 0)
		close(list->inotify_fd);
}
