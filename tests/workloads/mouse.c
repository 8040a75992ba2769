// SPDX-License-Identifier: GPL-2.0
/* Makes an input device through /dev/uinput and lets it send, and threads that read it in each way there is.
 * Usage: mouse KIND REPORTS RATE [WAIT_S [READER]]     KIND: mouse, keyboard, pad; waits WAIT_S before the first
 * report; READER: only the one of that name Prints on stdout: one line for the device, one a thread with what it saw.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/uinput.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum way { WAY_READ, WAY_POLL, WAY_SELECT, WAY_EPOLL, WAY_NESTED, WAY_LOOK, WAY_NONE, WAYS };

static const char *const way_names[WAYS] = {
	[WAY_READ] = "by-read",	    [WAY_POLL] = "by-poll", [WAY_SELECT] = "by-select", [WAY_EPOLL] = "by-epoll",
	[WAY_NESTED] = "by-nested", [WAY_LOOK] = "by-look", [WAY_NONE] = "unrelated",
};

struct reader {
	pthread_t thread;
	enum way way;
	int tid;
	long slept;
	long reports; /* that it read */
};

static char node[300];
static atomic_int ready, over;

static void pause_ns(long span_ns)
{
	struct timespec span = { span_ns / 1000000000, span_ns % 1000000000 };

	nanosleep(&span, NULL);
}

static long slept_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static int make_epoll(int target)
{
	struct epoll_event readable = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(fd, EPOLL_CTL_ADD, target, &readable);
	return fd;
}

static void wait_for_events(enum way way, int fd, int epoll_fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct epoll_event ready_one;
	fd_set set;

	if (way == WAY_POLL)
		poll(&one, 1, -1);
	if (way == WAY_EPOLL || way == WAY_NESTED)
		epoll_wait(epoll_fd, &ready_one, 1, -1);
	if (way == WAY_SELECT) {
		FD_ZERO(&set);
		FD_SET(fd, &set);
		select(fd + 1, &set, NULL, NULL, NULL);
	}
	if (way == WAY_LOOK || way == WAY_NONE)
		pause_ns(2000000);
}

/* Reads what there is. Returns false when the device has gone. */
static int read_events(struct reader *self, int fd)
{
	struct input_event events[64];
	ssize_t got = read(fd, events, sizeof(events));

	for (ssize_t i = 0; got > 0 && i < got / (ssize_t)sizeof(events[0]); i++)
		self->reports += events[i].type == EV_SYN && events[i].code == SYN_REPORT;
	return got > 0 || (got < 0 && errno == EAGAIN);
}

static void *read_device(void *data)
{
	struct reader *self = data;
	int fd = self->way == WAY_NONE ? -1 : open(node, O_RDONLY | (self->way == WAY_READ ? 0 : O_NONBLOCK));
	int epoll_fd = self->way == WAY_EPOLL || self->way == WAY_NESTED ? make_epoll(fd) : -1;
	long before;

	if (self->way == WAY_NESTED)
		epoll_fd = make_epoll(epoll_fd);
	self->tid = (int)syscall(SYS_gettid);
	prctl(PR_SET_NAME, way_names[self->way]);
	atomic_fetch_add(&ready, 1);
	before = slept_so_far();
	do {
		wait_for_events(self->way, fd, epoll_fd);
	} while (self->way == WAY_NONE ? !over : read_events(self, fd));
	self->slept = slept_so_far() - before;
	return NULL;
}

static void describe(int fd, const char *kind, struct uinput_setup *setup)
{
	static const int pad_buttons[] = { BTN_SOUTH, BTN_EAST, BTN_NORTH, BTN_WEST, BTN_START };
	struct uinput_abs_setup axis = { .absinfo = { .minimum = -100, .maximum = 100 } };

	ioctl(fd, UI_SET_EVBIT, EV_KEY);
	setup->id.bustype = BUS_USB;
	setup->id.vendor = 0x1209;
	if (!strcmp(kind, "mouse")) {
		setup->id.product = 0x7a01;
		ioctl(fd, UI_SET_EVBIT, EV_REL);
		ioctl(fd, UI_SET_RELBIT, REL_X);
		ioctl(fd, UI_SET_RELBIT, REL_Y);
		ioctl(fd, UI_SET_KEYBIT, BTN_LEFT);
	} else if (!strcmp(kind, "keyboard")) {
		setup->id.product = 0x7a02;
		for (int key = KEY_ESC; key <= KEY_SPACE; key++)
			ioctl(fd, UI_SET_KEYBIT, key);
	} else {
		setup->id.product = 0x7a03;
		ioctl(fd, UI_SET_EVBIT, EV_ABS);
		for (axis.code = ABS_X; axis.code <= ABS_Y; axis.code++)
			ioctl(fd, UI_ABS_SETUP, &axis);
		for (size_t i = 0; i < sizeof(pad_buttons) / sizeof(pad_buttons[0]); i++)
			ioctl(fd, UI_SET_KEYBIT, pad_buttons[i]);
	}
	/* A name that would pass for a line of /proc/bus/input/devices. */
	snprintf(setup->name, sizeof(setup->name), "Tactus test %s\"\nH: Handlers=event0", kind);
}

static int make_device(const char *kind)
{
	int fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC);
	struct uinput_setup setup = { 0 };
	char folder[64], pattern[128];
	glob_t found = { 0 };

	if (fd < 0)
		return -1;
	describe(fd, kind, &setup);
	if (ioctl(fd, UI_DEV_SETUP, &setup) || ioctl(fd, UI_DEV_CREATE) ||
	    ioctl(fd, UI_GET_SYSNAME(sizeof(folder)), folder) < 0)
		return -1;
	snprintf(pattern, sizeof(pattern), "/sys/class/input/%s/event*", folder);
	if (glob(pattern, 0, NULL, &found) || found.gl_pathc != 1)
		return -1;
	snprintf(node, sizeof(node), "/dev/input/%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
	for (int tries = 0; access(node, R_OK) && tries < 100; tries++)
		pause_ns(10000000);
	return fd;
}

static int emit(int fd, int type, int code, int value)
{
	struct input_event event = { .type = (unsigned short)type, .code = (unsigned short)code, .value = value };

	return write(fd, &event, sizeof(event)) == sizeof(event);
}

static struct timespec next;

/* Up to the kilohertz of ordinary mice each report takes its pause. Faster ones keep the clock, and catch up where they
 * were late. */
static void pause_for(long rate)
{
	if (rate < 4000) {
		pause_ns(1000000000 / rate);
		return;
	}
	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += 1000000000 / rate;
	next.tv_sec += next.tv_nsec / 1000000000;
	next.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

/* A report that says something new each time. Returns the number of events in it. */
static int send_report(int fd, const char *kind, long i)
{
	if (!strcmp(kind, "mouse")) {
		emit(fd, EV_REL, REL_X, i % 2 ? 1 : -1);
		emit(fd, EV_REL, REL_Y, 1);
		emit(fd, EV_SYN, SYN_REPORT, 0);
		return 2;
	}
	if (!strcmp(kind, "keyboard"))
		emit(fd, EV_KEY, KEY_A, i % 2 == 0);
	else
		emit(fd, EV_ABS, ABS_X, (int)(i % 100) + 1);
	emit(fd, EV_SYN, SYN_REPORT, 0);
	return 1;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "mouse";
	long reports = argc > 2 ? atol(argv[2]) : 2000, rate = argc > 3 ? atol(argv[3]) : 1000, events = 0;
	const char *only = argc > 5 ? argv[5] : NULL;
	struct reader readers[WAYS] = { { 0 } };
	int fd = make_device(kind), made = 0;

	if (fd < 0) {
		fprintf(stderr, "mouse: no device can be made: %s\n", strerror(errno));
		return 1;
	}
	for (int way = 0; way < WAYS; way++) {
		readers[way].way = (enum way)way;
		if (only && strcmp(only, way_names[way]))
			continue;
		made++;
		pthread_create(&readers[way].thread, NULL, read_device, &readers[way]);
	}
	while (ready < made)
		pause_ns(1000000);
	prctl(PR_SET_NAME, "sender");
	pause_ns(argc > 4 ? (long)(atof(argv[4]) * 1e9) : 0);
	for (long i = 0; i < reports; i++) {
		events += send_report(fd, kind, i);
		pause_for(rate);
	}
	printf("device %s events %ld reports %ld pid %d\n", strrchr(node, '/') + 1, events, reports, getpid());
	/* Pulled out while it is read: that ends the readers. */
	pause_ns(200000000);
	over = 1;
	ioctl(fd, UI_DEV_DESTROY);
	for (int way = 0; way < WAYS; way++) {
		if (only && strcmp(only, way_names[way]))
			continue;
		pthread_join(readers[way].thread, NULL);
		printf("%s tid %d slept %ld reports %ld\n", way_names[way], readers[way].tid, readers[way].slept,
		       readers[way].reports);
	}
	return 0;
}
