// SPDX-License-Identifier: GPL-2.0
/* Which GPU drivers this machine has right now and by which functions they take ioctls.
 * Reads /proc and /sys; opens no device, since that alone can wake a GPU that sleeps. */
#include "gpu_find.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static void find_families(struct gpu_found *found)
{
	FILE *file = fopen("/proc/devices", "re");
	char line[256];

	/* Block devices have numbers of their own, below. */
	while (file && fgets(line, sizeof(line), file) && strncmp(line, "Block", strlen("Block")))
		found->families |= gpu_families_of_device(line, &found->uvm_major);
	if (file)
		fclose(file);
}

static void find_functions(struct gpu_found *found)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		gpu_consider_symbol(&found->nvidia, GPU_OF_NVIDIA, line);
		gpu_consider_symbol(&found->uvm, GPU_OF_UVM, line);
	}
	if (file)
		fclose(file);
}

static void found_minor(void *data, u32 minor, u32 driver)
{
	struct gpu_found *found = data;

	(void)minor;
	(void)driver;
	found->devices |= GPU_OF_DRM;
}

void gpu_find(struct gpu_found *found)
{
	*found = (struct gpu_found){ 0 };
	find_families(found);
	if (found->families & (GPU_OF_NVIDIA | GPU_OF_UVM))
		find_functions(found);
	/* NVIDIA's driver shows no device in sysfs, but is loaded only where there is one. */
	found->devices = found->families & (GPU_OF_NVIDIA | GPU_OF_UVM);
	gpu_find_minors(found_minor, found);
}

/* The last part of what a link points to. */
static bool link_name(const char *link, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	const char *last;

	if (len <= 0)
		return false;
	target[len] = '\0';
	last = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	if (strlen(last) >= size)
		return false;
	memcpy(name, last, strlen(last) + 1);
	return true;
}

/* A device that exists in software alone has no driver there, and is called by its driver's name. */
static u32 driver_of_minor(const char *entry)
{
	char path[PATH_MAX], name[64];

	snprintf(path, sizeof(path), "/sys/dev/char/%s/device/driver", entry);
	if (!link_name(path, name, sizeof(name))) {
		snprintf(path, sizeof(path), "/sys/dev/char/%s/device", entry);
		if (!link_name(path, name, sizeof(name)))
			return GPU_OTHER;
	}
	return gpu_driver_of_text(name);
}

void gpu_find_minors(void (*take)(void *data, u32 minor, u32 driver), void *data)
{
	DIR *folder = opendir("/sys/dev/char");
	char prefix[16];
	struct dirent *entry;
	int len = snprintf(prefix, sizeof(prefix), "%d:", MAJOR_DRM);

	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, prefix, (size_t)len))
			take(data, (u32)strtoul(entry->d_name + len, NULL, 10), driver_of_minor(entry->d_name));
	if (folder)
		closedir(folder);
}

/* Nodes in /dev come when a driver is loaded, or when its first user asks for them. */
static void watch_folders(int fd)
{
	inotify_add_watch(fd, "/dev", IN_CREATE);
	inotify_add_watch(fd, "/dev/dri", IN_CREATE);
}

int gpu_watch_devices(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd >= 0)
		watch_folders(fd);
	return fd;
}

static bool is_of_gpu(const char *name)
{
	static const char *const prefixes[] = { "dri", "card", "renderD", "nvidia" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool gpu_device_came(int fd)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool came = false;
	ssize_t len;

	while (fd >= 0 && (len = read(fd, buffer, sizeof(buffer))) > 0)
		for (const char *at = buffer; at < buffer + len;) {
			const struct inotify_event *event = (const void *)at;

			came = came || (event->mask & IN_Q_OVERFLOW) || (event->len && is_of_gpu(event->name));
			at += sizeof(*event) + event->len;
		}
	if (came)
		watch_folders(fd);
	return came;
}
