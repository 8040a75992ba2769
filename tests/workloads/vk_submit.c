// SPDX-License-Identifier: GPL-2.0
/* Hands a known number of submits to a GPU by Vulkan, from a thread that presents nothing:
 *   vk_submit loader|loader2|driver|driver2 SUBMITS
 * by the loader's own vkQueueSubmit or vkQueueSubmit2, or by those that vkGetDeviceProcAddr gave. Waits for a newline
 * on standard input when the library is mapped, when the function is known, and after the submits. The little of Vulkan
 * that is needed is here, so that it takes no headers. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAYS_INSTANCE = 1, SAYS_QUEUE = 2, SAYS_DEVICE = 3, SAYS_APPLICATION = 0, SAYS_SYNCHRONIZATION2 = 1000314007 };

struct application_info {
	int says;
	const void *next;
	const char *name;
	uint32_t version;
	const char *engine;
	uint32_t engine_version, api;
};

struct instance_info {
	int says;
	const void *next;
	uint32_t flags;
	const struct application_info *application;
	uint32_t layers_len;
	const char *const *layers;
	uint32_t extensions_len;
	const char *const *extensions;
};

struct queue_info {
	int says;
	const void *next;
	uint32_t flags, family, len;
	const float *priorities;
};

struct synchronization2 {
	int says;
	void *next;
	uint32_t on;
};

struct device_info {
	int says;
	const void *next;
	uint32_t flags, queues_len;
	const struct queue_info *queues;
	uint32_t layers_len;
	const char *const *layers;
	uint32_t extensions_len;
	const char *const *extensions;
	const void *features;
};

typedef int (*submit_function)(void *queue, uint32_t len, const void *submits, void *fence);

static struct {
	int (*create_instance)(const struct instance_info *, const void *, void **);
	int (*devices)(void *, uint32_t *, void **);
	int (*create_device)(void *, const struct device_info *, const void *, void **);
	void *(*device_function)(void *, const char *);
	void (*get_queue)(void *, uint32_t, uint32_t, void **);
	int (*wait)(void *);
} vk;

static void *queue;
static submit_function submit;
static int submits;

static void die(const char *what)
{
	fprintf(stderr, "vk_submit: %s\n", what);
	exit(1);
}

static void wait_for_line(const char *say)
{
	puts(say);
	fflush(stdout);
	if (getchar() == EOF)
		exit(1);
}

static void load(void *to, void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		die(name);
	memcpy(to, &found, sizeof(found));
}

static void *make_device(void)
{
	static const float priority = 1;
	const struct application_info application = { .says = SAYS_APPLICATION, .api = 1u << 22 | 3u << 12 };
	const struct instance_info instance_info = { .says = SAYS_INSTANCE, .application = &application };
	const struct queue_info queue_info = { .says = SAYS_QUEUE, .len = 1, .priorities = &priority };
	struct synchronization2 synchronization2 = { .says = SAYS_SYNCHRONIZATION2, .on = 1 };
	const struct device_info device_info = {
		.says = SAYS_DEVICE, .next = &synchronization2, .queues_len = 1, .queues = &queue_info
	};
	void *instance = NULL, *physical = NULL, *device = NULL;
	uint32_t one = 1;

	if (vk.create_instance(&instance_info, NULL, &instance))
		die("no instance");
	if (vk.devices(instance, &one, &physical) < 0 || !one)
		die("no device that Vulkan knows");
	if (vk.create_device(physical, &device_info, NULL, &device))
		die("no device");
	vk.get_queue(device, 0, 0, &queue);
	return device;
}

/* Submits of nothing are submits. */
static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "vk-submits");
	for (int i = 0; i < submits; i++)
		if (submit(queue, 0, NULL, NULL))
			die("a submit failed");
	wait_for_line("done");
	return unused;
}

int main(int argc, char **argv)
{
	void *library = dlopen("libvulkan.so.1", RTLD_NOW), *device, *found;
	const char *by = argc > 1 ? argv[1] : "loader", *name;
	pthread_t thread;

	submits = argc > 2 ? atoi(argv[2]) : 1;
	if (!library)
		die("no libvulkan.so.1");
	load(&vk.create_instance, library, "vkCreateInstance");
	load(&vk.devices, library, "vkEnumeratePhysicalDevices");
	load(&vk.create_device, library, "vkCreateDevice");
	load(&vk.device_function, library, "vkGetDeviceProcAddr");
	load(&vk.get_queue, library, "vkGetDeviceQueue");
	/* Probes are there only once it is mapped. */
	wait_for_line("mapped");
	device = make_device();
	name = strchr(by, '2') ? "vkQueueSubmit2" : "vkQueueSubmit";
	if (!strncmp(by, "loader", strlen("loader"))) {
		load(&submit, library, name);
	} else {
		found = vk.device_function(device, name);
		if (!found)
			die("the driver has no such function");
		memcpy(&submit, &found, sizeof(found));
	}
	wait_for_line("ready");
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		die("no thread");
	return 0;
}
