// SPDX-License-Identifier: GPL-2.0
/* A program that answers each click with a frame, and says itself how long that took: click CLICKS MS [DRIVER]
 * It makes a mouse through /dev/uinput, whose clicks a thread sends 50 ms apart; the first thread sleeps until one
 * comes, works for MS ms and presents by eglSwapBuffers, or, with the DRIVER of a display, by flipping that to the
 * other picture. Prints its pid and, of each frame, when the click was sent that it answers, when it was presented and,
 * on a display, at which vblank that says that it came up. */
#include "display.h"

#include <dlfcn.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/uinput.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

enum { CLICKS_MOST = 1000, APART_MS = 50 };

static uint64_t sent_ns[CLICKS_MOST];
static int device_fd, clicks;
static char node[300];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_mouse(void)
{
	struct uinput_setup setup = { .id = { .bustype = BUS_USB, .vendor = 0x1209, .product = 0x7a01 },
				      .name = "Tactus test mouse" };
	char folder[64], pattern[160];
	glob_t found = { 0 };

	device_fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC);
	if (device_fd < 0)
		die("click: /dev/uinput");
	ioctl(device_fd, UI_SET_EVBIT, EV_KEY);
	ioctl(device_fd, UI_SET_KEYBIT, BTN_LEFT);
	ioctl(device_fd, UI_SET_EVBIT, EV_REL);
	ioctl(device_fd, UI_SET_RELBIT, REL_X);
	ioctl(device_fd, UI_SET_RELBIT, REL_Y);
	if (ioctl(device_fd, UI_DEV_SETUP, &setup) || ioctl(device_fd, UI_DEV_CREATE) ||
	    ioctl(device_fd, UI_GET_SYSNAME(sizeof(folder)), folder) < 0)
		die("click: no device");
	snprintf(pattern, sizeof(pattern), "/sys/devices/virtual/input/%s/event*", folder);
	if (glob(pattern, 0, NULL, &found) || found.gl_pathc != 1)
		die("click: no node");
	snprintf(node, sizeof(node), "/dev/input/%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
}

static void emit(uint16_t type, uint16_t code, int value)
{
	struct input_event event = { .type = type, .code = code, .value = value };

	if (write(device_fd, &event, sizeof(event)) != sizeof(event))
		die("click: write");
}

static void *send_clicks(void *unused)
{
	usleep(1000000);
	for (int i = 0; i < clicks; i++) {
		usleep(APART_MS * 1000);
		sent_ns[i] = now_ns();
		emit(EV_KEY, BTN_LEFT, (i + 1) % 2);
		emit(EV_SYN, SYN_REPORT, 0);
	}
	return unused;
}

static void work(int ms)
{
	uint64_t until_ns = now_ns() + (uint64_t)ms * 1000000;

	while (now_ns() < until_ns)
		;
}

static unsigned (*swap)(void *, void *); /* NULL: by the display */
static struct display display;

static void find_swap(void)
{
	void *library = dlopen("libEGL.so.1", RTLD_NOW);

	swap = library ? dlsym(library, "eglSwapBuffers") : NULL;
	if (!swap)
		die("click: no EGL");
}

/* Answers a click that was sent at that time. */
static void present(uint64_t click_ns)
{
	static int frames;
	uint64_t presented_ns = now_ns(), shown_ns = 0;
	struct flip_event event;

	if (swap) {
		swap(NULL, NULL);
	} else {
		display_flip(&display, ++frames);
		event = display_shown(&display);
		shown_ns = (uint64_t)event.seconds * 1000000000 + (uint64_t)event.microseconds * 1000;
	}
	printf("answered %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", click_ns, presented_ns, shown_ns);
}

int main(int argc, char **argv)
{
	struct input_event events[64];
	struct pollfd readable = { .events = POLLIN };
	pthread_t sender;
	int ms = argc > 2 ? atoi(argv[2]) : 0;

	clicks = argc > 1 ? atoi(argv[1]) : 0;
	if (clicks < 1 || clicks > CLICKS_MOST)
		die("click: usage");
	if (argc > 3)
		display = display_open(argv[3]);
	else
		find_swap();
	make_mouse();
	for (int tries = 0; tries < 100; tries++) {
		readable.fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (readable.fd >= 0)
			break;
		usleep(20000);
	}
	if (readable.fd < 0 || pthread_create(&sender, NULL, send_clicks, NULL))
		die(node);
	printf("clicks %d\n", getpid());
	/* One that came meanwhile is answered by the same frame. */
	for (int seen = 0, first; seen < clicks;) {
		ssize_t got;

		first = seen;
		poll(&readable, 1, -1);
		got = read(readable.fd, events, sizeof(events));
		for (ssize_t i = 0; i < got / (ssize_t)sizeof(*events); i++)
			seen += events[i].type == EV_KEY;
		if (got <= 0)
			die("click: read");
		if (seen == first)
			continue;
		work(ms);
		present(sent_ns[first]);
	}
	pthread_join(sender, NULL);
	ioctl(device_fd, UI_DEV_DESTROY);
	return 0;
}
