// SPDX-License-Identifier: GPL-2.0
/* Two threads with a GPU's device: one asks it things all the time, one asks at first and then submits.
 * Usage: drm_submit vkms|vgem|virtio_gpu|virgl COUNT, or drm_submit nvidia COUNT /dev/NODE (the double of vm/module,
 * which takes anything), or drm_submit DRIVER COUNT NODE|"" PAUSE_MS, which pauses once before the last quarter. vkms:
 * page flips. vgem: fences. nvidia: makes channels, every other one wrapped as another ioctl. virtio_gpu: page flips;
 * virgl: command buffers of the same device, which do nothing and are refused where its host renders nothing. Prints
 * one JSON object: tids of both, the time (CLOCK_MONOTONIC) just before the first submit and right after it, calls
 * made, time spent in them. Exit status 2: bad usage, 3: there is no such device or it refuses. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libdrm/drm.h>
#include <libdrm/virtgpu_drm.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { QUESTIONS = 100, FLIP_US = 20000, WIDTH = 640, HEIGHT = 480, CHANNEL_CLASS = 0xc86f, DEVICE_CLASS = 0x80 };

/* vgem's own, from the kernel's vgem_drm.h, which libdrm does not carry. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};
struct vgem_signal {
	uint32_t fence, flags;
};
#define VGEM_ATTACH DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_attach)
#define VGEM_SIGNAL DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_signal)

/* NVIDIA's: what an object is made of, and the wrapper. */
struct nvidia_alloc {
	uint32_t root, parent, object, class;
	uint64_t more[4];
};
struct nvidia_wrapped {
	uint32_t nr, bytes;
	uint64_t address;
};
#define NVIDIA_ALLOC _IOWR('F', 0x2b, struct nvidia_alloc)
#define NVIDIA_CONTROL _IOWR('F', 0x2a, struct nvidia_alloc)
#define NVIDIA_WRAPPED _IOWR('F', 0xd3, struct nvidia_wrapped)

static const char *driver, *device_of; /* what is asked for, and the driver of its device */
static int is_flipping;
static int device, count, failed;
static int ready;
static uint32_t buffer, frame, crtc;
static pid_t tids[2];
static uint64_t before_ns, after_ns, spent_ns;
static useconds_t pause_us;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int is_driver(int fd)
{
	char name[32] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, device_of);
}

static int open_drm(void)
{
	DIR *folder = opendir("/dev/dri");
	struct dirent *entry;
	int fd = -1;

	while (folder && fd < 0 && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "card", 4))
			continue;
		fd = openat(dirfd(folder), entry->d_name, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && !is_driver(fd)) {
			close(fd);
			fd = -1;
		}
	}
	if (folder)
		closedir(folder);
	return fd;
}

static int make_buffer(void)
{
	struct drm_mode_create_dumb dumb = { .width = WIDTH, .height = HEIGHT, .bpp = 32 };
	struct drm_mode_fb_cmd fb = { .width = WIDTH, .height = HEIGHT, .bpp = 32, .depth = 24 };

	if (ioctl(device, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
		return -1;
	buffer = dumb.handle;
	fb.pitch = dumb.pitch;
	fb.handle = dumb.handle;
	if (is_flipping && ioctl(device, DRM_IOCTL_MODE_ADDFB, &fb))
		return -1;
	frame = fb.fb_id;
	return 0;
}

/* Puts the buffer on the screen, in a mode made here. */
static int set_mode(void)
{
	uint32_t crtcs[8], connectors[8], encoders[8], fbs[8];
	struct drm_mode_card_res resources = { .crtc_id_ptr = (uintptr_t)crtcs,
					       .connector_id_ptr = (uintptr_t)connectors,
					       .encoder_id_ptr = (uintptr_t)encoders,
					       .fb_id_ptr = (uintptr_t)fbs,
					       .count_crtcs = 8,
					       .count_connectors = 8,
					       .count_encoders = 8,
					       .count_fbs = 8 };
	struct drm_mode_crtc set = { .set_connectors_ptr = (uintptr_t)connectors,
				     .count_connectors = 1,
				     .mode_valid = 1 };

	if (ioctl(device, DRM_IOCTL_MODE_GETRESOURCES, &resources) || !resources.count_crtcs ||
	    !resources.count_connectors)
		return -1;
	set.crtc_id = crtc = crtcs[0];
	set.fb_id = frame;
	set.mode = (struct drm_mode_modeinfo){ .clock = 25175,
					       .hdisplay = WIDTH,
					       .hsync_start = 656,
					       .hsync_end = 752,
					       .htotal = 800,
					       .vdisplay = HEIGHT,
					       .vsync_start = 490,
					       .vsync_end = 492,
					       .vtotal = 525,
					       .vrefresh = 60 };
	return ioctl(device, DRM_IOCTL_MODE_SETCRTC, &set);
}

static void ask(void)
{
	struct nvidia_alloc object = { .class = DEVICE_CLASS };
	struct nvidia_wrapped wrapped = { 0x2b, sizeof(object), (uintptr_t)&object };
	struct drm_mode_atomic try = { .flags = DRM_MODE_ATOMIC_TEST_ONLY };

	if (!strcmp(driver, "nvidia")) {
		ioctl(device, NVIDIA_CONTROL, &object);
		ioctl(device, NVIDIA_ALLOC, &object);
		ioctl(device, NVIDIA_WRAPPED, &wrapped);
		return;
	}
	is_driver(device);
	ioctl(device, DRM_IOCTL_MODE_ATOMIC, &try);
}

/* Without a buffer that waits for them, commands have a fence only if somebody asks for it. */
static int submit_commands(void)
{
	static const uint32_t nothing; /* a word which says that nothing is to be done */
	struct drm_virtgpu_execbuffer commands = { .flags = VIRTGPU_EXECBUF_FENCE_FD_OUT,
						   .size = sizeof(nothing),
						   .command = (uintptr_t)&nothing,
						   .fence_fd = -1 };
	int error = ioctl(device, DRM_IOCTL_VIRTGPU_EXECBUFFER, &commands);

	if (!error)
		close(commands.fence_fd);
	return error;
}

static int submit(int nth)
{
	struct drm_mode_crtc_page_flip flip = { .crtc_id = crtc, .fb_id = frame };
	static struct vgem_attach attach;
	struct nvidia_alloc object = { .class = CHANNEL_CLASS };
	struct nvidia_wrapped wrapped = { 0x2b, sizeof(object), (uintptr_t)&object };

	if (!strcmp(driver, "nvidia"))
		return nth % 2 ? ioctl(device, NVIDIA_WRAPPED, &wrapped) : ioctl(device, NVIDIA_ALLOC, &object);
	if (is_flipping)
		return ioctl(device, DRM_IOCTL_MODE_PAGE_FLIP, &flip);
	if (!strcmp(driver, "virgl"))
		return submit_commands();
	if (nth % 2)
		return ioctl(device, VGEM_SIGNAL, &(struct vgem_signal){ .fence = attach.fence });
	attach = (struct vgem_attach){ .handle = buffer, .flags = 1 };
	return ioctl(device, VGEM_ATTACH, &attach);
}

static void *asker(void *unused)
{
	pthread_setname_np(pthread_self(), "gpu-asks");
	tids[0] = gettid();
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < 2) {
		ask();
		usleep(1000);
	}
	return unused;
}

static void *submitter(void *unused)
{
	pthread_setname_np(pthread_self(), "gpu-submits");
	tids[1] = gettid();
	for (int i = 0; i < QUESTIONS; i++)
		ask();
	usleep(100000);
	for (int i = 0; i < count; i++) {
		uint64_t begin_ns, end_ns;

		if (pause_us && i == count - count / 4)
			usleep(pause_us);
		begin_ns = now_ns();
		failed += submit(i) != 0;
		end_ns = now_ns();
		spent_ns += end_ns - begin_ns;
		if (!i) {
			before_ns = begin_ns;
			after_ns = end_ns;
		}
		usleep(is_flipping ? FLIP_US : 1000);
	}
	__atomic_store_n(&ready, 2, __ATOMIC_RELEASE);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc < 3 || (count = atoi(argv[2])) <= 0)
		return 2;
	driver = argv[1];
	device_of = strcmp(driver, "virgl") ? driver : "virtio_gpu";
	is_flipping = !strcmp(driver, "vkms") || !strcmp(driver, "virtio_gpu");
	pause_us = argc > 4 ? (useconds_t)atoi(argv[4]) * 1000 : 0;
	device = argc > 3 && argv[3][0] ? open(argv[3], O_RDWR | O_CLOEXEC) : open_drm();
	if (device < 0 || (strcmp(driver, "nvidia") && make_buffer()) || (is_flipping && set_mode())) {
		fprintf(stderr, "%s: %s\n", driver, device < 0 ? "no such device" : strerror(errno));
		return 3;
	}
	pthread_create(&threads[0], NULL, asker, NULL);
	pthread_create(&threads[1], NULL, submitter, NULL);
	pthread_join(threads[1], NULL);
	pthread_join(threads[0], NULL);
	printf("{\"asker\":%d,\"submitter\":%d,\"before_ns\":%llu,\"after_ns\":%llu,\"calls\":%d,\"failed\":%d,\"spent_"
	       "ns\":%llu}\n",
	       tids[0], tids[1], (unsigned long long)before_ns, (unsigned long long)after_ns, count, failed,
	       (unsigned long long)spent_ns);
	return 0;
}
