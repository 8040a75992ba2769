/* SPDX-License-Identifier: GPL-2.0 */
/* A display of a driver of choice, which programs flip by DRM itself, as a compositor does. For programs of one file.
 */
#ifndef TACTUS_WORKLOADS_DISPLAY_H
#define TACTUS_WORKLOADS_DISPLAY_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What the kernel promises programs of DRM, as far as it is used here: their headers need not be installed. */
struct version {
	int number[3];
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t words_len;
	char *words;
};

struct resources {
	uint64_t framebuffers, crtcs, connectors, encoders;
	uint32_t framebuffers_len, crtcs_len, connectors_len, encoders_len;
	uint32_t size[4];
};

struct mode {
	uint32_t clock;
	uint16_t width, horizontal[4], height, vertical[4];
	uint32_t rest[3];
	char name[32];
};

struct connector {
	uint64_t encoders, modes, properties, values;
	uint32_t modes_len, properties_len, encoders_len, encoder, id, rest[7];
};

struct crtc {
	uint64_t connectors;
	uint32_t connectors_len, id, framebuffer, x, y, gamma, has_mode;
	struct mode mode;
};

struct plain_buffer {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct framebuffer {
	uint32_t id, width, height, pitch, bpp, depth, handle;
};

struct flip {
	uint32_t crtc, framebuffer, flags, reserved;
	uint64_t data;
};

struct flip_event {
	uint32_t type, length;
	uint64_t data;
	uint32_t seconds, microseconds, sequence, crtc;
};

#define ASK_VERSION _IOWR('d', 0x00, struct version)
#define ASK_RESOURCES _IOWR('d', 0xA0, struct resources)
#define ASK_SETCRTC _IOWR('d', 0xA2, struct crtc)
#define ASK_CONNECTOR _IOWR('d', 0xA7, struct connector)
#define ASK_ADDFB _IOWR('d', 0xAE, struct framebuffer)
#define ASK_FLIP _IOWR('d', 0xB0, struct flip)
#define ASK_BUFFER _IOWR('d', 0xB2, struct plain_buffer)

enum { FLIP_TELLS = 1 };

static int open_card(const char *driver)
{
	for (int card = 0; card < 8; card++) {
		struct version version = { 0 };
		char path[32], name[32] = "";
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", card);
		fd = open(path, O_RDWR | O_CLOEXEC);
		version.name = name;
		version.name_len = sizeof(name) - 1;
		if (fd >= 0 && !ioctl(fd, ASK_VERSION, &version) && !strcmp(name, driver))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fprintf(stderr, "display: there is no %s here\n", driver);
	exit(1);
}

static void ask(int fd, unsigned long what, void *with, const char *words)
{
	if (ioctl(fd, what, with)) {
		perror(words);
		exit(1);
	}
}

static unsigned int make_framebuffer(int fd, unsigned int width, unsigned int height)
{
	struct plain_buffer dumb = { .width = width, .height = height, .bpp = 32 };
	struct framebuffer buffer = { .width = width, .height = height, .bpp = 32, .depth = 24 };

	ask(fd, ASK_BUFFER, &dumb, "display: buffer");
	buffer.pitch = dumb.pitch;
	buffer.handle = dumb.handle;
	ask(fd, ASK_ADDFB, &buffer, "display: framebuffer");
	return buffer.id;
}

struct display {
	int fd;
	unsigned int crtc, buffers[2];
};

static struct display display_open(const char *driver)
{
	struct display display = { .fd = open_card(driver) };
	struct mode modes[64];
	unsigned int connectors[8], crtcs[8];
	struct resources resources = { .connectors_len = 8, .crtcs_len = 8 };
	struct connector connector = { 0 };
	struct crtc crtc = { .connectors_len = 1, .has_mode = 1 };

	resources.connectors = (unsigned long)connectors;
	resources.crtcs = (unsigned long)crtcs;
	ask(display.fd, ASK_RESOURCES, &resources, "display: resources");
	connector.id = connectors[0];
	/* Asked for none, the driver finds out which there are. */
	ask(display.fd, ASK_CONNECTOR, &connector, "display: connector");
	connector = (struct connector){ .id = connectors[0], .modes_len = 64, .modes = (unsigned long)modes };
	ask(display.fd, ASK_CONNECTOR, &connector, "display: modes");
	for (int i = 0; i < 2; i++)
		display.buffers[i] = make_framebuffer(display.fd, modes[0].width, modes[0].height);
	display.crtc = crtcs[0];
	crtc.connectors = (unsigned long)connectors;
	crtc.id = crtcs[0];
	crtc.framebuffer = display.buffers[0];
	crtc.mode = modes[0];
	ask(display.fd, ASK_SETCRTC, &crtc, "display: mode");
	return display;
}

/* Shows the one picture or the other, by turns. */
static void display_flip(const struct display *display, int number)
{
	struct flip flip = { .crtc = display->crtc, .framebuffer = display->buffers[number % 2], .flags = FLIP_TELLS };

	ask(display->fd, ASK_FLIP, &flip, "display: flip");
}

/* Sleeps until the flip has come up, and returns what the display says of that. */
static struct flip_event display_shown(const struct display *display)
{
	char bytes[1024];
	ssize_t got = read(display->fd, bytes, sizeof(bytes));
	struct flip_event event;

	if (got < (ssize_t)sizeof(event)) {
		perror("display: event");
		exit(1);
	}
	memcpy(&event, bytes, sizeof(event));
	return event;
}

#endif
