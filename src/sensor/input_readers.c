// SPDX-License-Identifier: GPL-2.0
/* Input devices read by the program itself, where the kernel lets no hook see their events: counts what each sends and
 * looks up, while it sends, which threads wait for it. A device that sends nothing costs nothing. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../base/loop.h"
#include "sched.h"

enum {
	/* The kernel keeps some 64 events for each reader: a mouse at 1 kHz fills that in 20 ms. */
	REST_NS = 10 * NSEC_PER_MSEC,
	/* Enough looks to be sure of a reader, quickly; then now and then, since threads come and go. */
	QUICK_LOOKS = 16,
	QUICK_LOOK_NS = 50 * NSEC_PER_MSEC,
	EVENTS_AT_ONCE = 64,
};

struct input_readers {
	struct sensor *sched; /* NULL: nobody wants to know who reads */
	int epoll_fd;
	int timer_fd;
	u64 dropped;
	u64 holders_refused;
	u64 found; /* threads that waited for a device, at each look */
};

/* What is reported of a thread that waits. */
struct verdict {
	struct input_readers *readers;
	u32 kind;
};

static bool arm(const struct input_readers *readers, int operation, struct listed_device *listed)
{
	struct epoll_event once = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = listed };

	return epoll_ctl(readers->epoll_fd, operation, listed->fd, &once) == 0;
}

/* Devices are read in batches: after one has become readable it rests until the timer ends. */
static void set_timer(const struct input_readers *readers, u64 span_ns)
{
	struct itimerspec span = { .it_value.tv_nsec = (long)span_ns };

	timerfd_settime(readers->timer_fd, 0, &span, NULL);
}

struct input_readers *readers_new(struct sensor *sched, int list_fd)
{
	struct epoll_event readable = { .events = EPOLLIN };
	struct input_readers *readers = calloc(1, sizeof(*readers));

	if (!readers)
		return NULL;
	readers->sched = sched;
	readers->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	readers->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (epoll_ctl(readers->epoll_fd, EPOLL_CTL_ADD, list_fd, &readable) == 0 &&
	    epoll_ctl(readers->epoll_fd, EPOLL_CTL_ADD, readers->timer_fd, &readable) == 0)
		return readers;
	readers_free(readers);
	return NULL;
}

void readers_free(struct input_readers *readers)
{
	if (!readers)
		return;
	if (readers->epoll_fd >= 0)
		close(readers->epoll_fd);
	if (readers->timer_fd >= 0)
		close(readers->timer_fd);
	free(readers);
}

int readers_fd(const struct input_readers *readers)
{
	return readers->epoll_fd;
}

void readers_add(struct input_readers *readers, struct listed_device *listed)
{
	struct stat info;
	char path[32];

	snprintf(path, sizeof(path), "/dev/input/event%u", listed->device.event);
	listed->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (listed->fd < 0)
		return;
	if (fstat(listed->fd, &info) < 0 || !S_ISCHR(info.st_mode) || !arm(readers, EPOLL_CTL_ADD, listed)) {
		readers_remove(readers, listed);
		return;
	}
	listed->node = info.st_rdev;
	listed->opened = true;
}

void readers_remove(struct input_readers *readers, struct listed_device *listed)
{
	(void)readers;
	if (listed->fd >= 0)
		close(listed->fd);
	listed->fd = -1;
	listed->resting = false;
}

static void count_event(struct input_readers *readers, struct input_count *count, const struct input_event *event)
{
	if (event->type != EV_SYN)
		count->events++;
	else if (event->code == SYN_REPORT)
		count->reports++;
	else if (event->code == SYN_DROPPED)
		readers->dropped++;
}

/* Reads what there is. Returns whether there was something. */
static bool drain(struct input_readers *readers, struct listed_device *listed)
{
	struct input_event events[EVENTS_AT_ONCE];
	bool any = false;
	ssize_t got;

	while ((got = read(listed->fd, events, sizeof(events))) > 0) {
		size_t len = (size_t)got / sizeof(events[0]);

		for (size_t i = 0; i < len; i++)
			count_event(readers, &listed->count, &events[i]);
		any = true;
		if (len < EVENTS_AT_ONCE)
			break;
	}
	/* Pulled out: it leaves the list. */
	if (got < 0 && errno == ENODEV)
		readers_remove(readers, listed);
	return any;
}

static void thread_waits(void *data, u32 pid, u32 tid)
{
	const struct verdict *verdict = data;

	verdict->readers->found++;
	sched_assign(verdict->readers->sched, pid, tid, ORDER_INPUT, (s32)verdict->kind);
}

static void look(struct input_readers *readers, struct listed_device *listed)
{
	struct verdict verdict = { readers, listed->device.kind };

	if (listed->opened) {
		u32 len = find_holders(listed->node, listed->holders, INPUT_HOLDERS_MAX, &readers->holders_refused);

		listed->holders_len = len < INPUT_HOLDERS_MAX ? len : INPUT_HOLDERS_MAX;
		readers->holders_refused += len - listed->holders_len;
		listed->opened = false;
		listed->looks = 0;
	}
	listed->looks++;
	for (u32 i = 0; i < listed->holders_len; i++)
		find_waiters(listed->holders[i], listed->node, thread_waits, &verdict);
}

static void has_sent(struct input_readers *readers, struct listed_device *listed)
{
	u64 now_ns = clock_now_ns(), gap_ns;

	listed->count.last_ns = now_ns;
	gap_ns = listed->opened || listed->looks < QUICK_LOOKS ? QUICK_LOOK_NS : NSEC_PER_SEC;
	if (!readers->sched || now_ns - listed->looked_ns < gap_ns)
		return;
	listed->looked_ns = now_ns;
	look(readers, listed);
}

static void read_rested(struct input_readers *readers, const struct device_list *list)
{
	bool again = false;

	for (u32 i = 0; i < list->len; i++) {
		struct listed_device *listed = list->all[i];

		if (!listed->resting)
			continue;
		if (drain(readers, listed)) {
			has_sent(readers, listed);
			again = true;
		} else if (listed->fd >= 0) {
			listed->resting = false;
			arm(readers, EPOLL_CTL_MOD, listed);
		}
	}
	if (again)
		set_timer(readers, REST_NS);
}

void readers_work(struct input_readers *readers, struct device_list *list)
{
	struct epoll_event ready[16];
	int len = epoll_wait(readers->epoll_fd, ready, 16, 0);
	bool began = false;
	u64 expired;

	for (int i = 0; i < len; i++) {
		struct listed_device *listed = ready[i].data.ptr;

		if (!listed || listed->fd < 0)
			continue;
		listed->resting = true;
		began = true;
		if (drain(readers, listed))
			has_sent(readers, listed);
	}
	if (read(readers->timer_fd, &expired, sizeof(expired)) == sizeof(expired))
		read_rested(readers, list);
	else if (began)
		set_timer(readers, REST_NS);
	/* Last, since it may take devices away. */
	device_list_work(list);
}

u64 readers_found(const struct input_readers *readers)
{
	return readers->found;
}

u64 readers_lost(const struct input_readers *readers)
{
	return readers->dropped + readers->holders_refused;
}
