// SPDX-License-Identifier: GPL-2.0
/* One dummy event and one small ring a CPU. A CPU that is offline has none; when the number of CPUs online changes, all
 * rings are made anew, since an event does not come back with its CPU. */
#include "mappings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/maps_record.h"
#include "../base/system.h"

/* A record is 72 bytes and a path: a ring is full after so many programs' starts that nobody had time to read of. Where
 * there are few CPUs, each may start many. */
enum { RING_BYTES_FEW_CPUS = 256 << 10, RING_BYTES_MANY_CPUS = 64 << 10, FEW_CPUS = 16, RECORD_MAX = 8192 };

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page; /* NULL: the CPU is offline */
};

struct mappings {
	struct cpu_ring *rings;
	u32 len;
	long online;
	long page_bytes;
	size_t ring_bytes;
	int epoll_fd;
	unsigned char record[RECORD_MAX];
};

static void ring_close(struct mappings *mappings, struct cpu_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)mappings->page_bytes + mappings->ring_bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->page = NULL;
	ring->fd = -1;
}

static int ring_open(struct mappings *mappings, struct cpu_ring *ring, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		/* Side records wake by their bytes only. */
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct epoll_event readable = { .events = EPOLLIN };
	int error;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;
	ring->page = mmap(NULL, (size_t)mappings->page_bytes + mappings->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, 0);
	if (ring->page != MAP_FAILED && !epoll_ctl(mappings->epoll_fd, EPOLL_CTL_ADD, ring->fd, &readable))
		return 0;
	error = -errno;
	if (ring->page == MAP_FAILED)
		ring->page = NULL;
	ring_close(mappings, ring);
	return error;
}

static int open_rings(struct mappings *mappings)
{
	mappings->online = sysconf(_SC_NPROCESSORS_ONLN);
	for (u32 cpu = 0; cpu < mappings->len; cpu++) {
		int error = ring_open(mappings, &mappings->rings[cpu], cpu);

		if (error)
			return error;
	}
	return 0;
}

static void close_rings(struct mappings *mappings)
{
	for (u32 cpu = 0; cpu < mappings->len; cpu++)
		ring_close(mappings, &mappings->rings[cpu]);
}

int mappings_open(struct mappings **out, struct reason *why)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));
	int error = -ENOMEM;

	*out = mappings;
	if (!mappings)
		return error;
	mappings->page_bytes = sysconf(_SC_PAGESIZE);
	mappings->len = possible_cpus();
	mappings->ring_bytes = mappings->len <= FEW_CPUS ? RING_BYTES_FEW_CPUS : RING_BYTES_MANY_CPUS;
	mappings->rings = malloc(mappings->len * sizeof(*mappings->rings));
	for (u32 cpu = 0; mappings->rings && cpu < mappings->len; cpu++)
		mappings->rings[cpu] = (struct cpu_ring){ .fd = -1 };
	mappings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (mappings->rings && mappings->epoll_fd >= 0)
		error = open_rings(mappings);
	if (!error)
		return 0;
	reason_set(why, "this kernel's perf events do not report mappings: %s", strerror(-error));
	mappings_close(mappings);
	*out = NULL;
	return error;
}

void mappings_close(struct mappings *mappings)
{
	if (!mappings)
		return;
	if (mappings->rings)
		close_rings(mappings);
	if (mappings->epoll_fd >= 0)
		close(mappings->epoll_fd);
	free(mappings->rings);
	free(mappings);
}

int mappings_fd(const struct mappings *mappings)
{
	return mappings->epoll_fd;
}

bool mappings_follow_cpus(struct mappings *mappings)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) == mappings->online)
		return false;
	close_rings(mappings);
	open_rings(mappings);
	return true;
}

/* Copies out of the ring, which may wrap within a record. */
static void copy_out(const struct mappings *mappings, const struct cpu_ring *ring, u64 at, void *to, size_t bytes)
{
	const unsigned char *data = (const unsigned char *)ring->page + mappings->page_bytes;
	size_t ring_bytes = mappings->ring_bytes, from = at % ring_bytes;
	size_t first = ring_bytes - from < bytes ? ring_bytes - from : bytes;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, bytes - first);
}

static u64 take_ring(struct mappings *mappings, struct cpu_ring *ring,
		     void (*take)(void *data, u32 pid, const struct mapping *mapping), void *data)
{
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail, lost = 0;

	while (tail < head) {
		struct perf_event_header header;
		struct mapping mapping;
		size_t bytes;
		u32 pid;

		copy_out(mappings, ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		bytes = header.size < RECORD_MAX ? header.size : RECORD_MAX - 1;
		copy_out(mappings, ring, tail, mappings->record, bytes);
		/* Given back before it is used, so that there is room while the callee is at work. */
		tail += header.size;
		__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
		if (header.size < RECORD_MAX && mapping_of_record(mappings->record, bytes, &pid, &mapping))
			take(data, pid, &mapping);
		else
			lost += mappings_lost(mappings->record, bytes);
	}
	return lost;
}

u64 mappings_take(struct mappings *mappings, void (*take)(void *data, u32 pid, const struct mapping *mapping),
		  void *data)
{
	u64 lost = 0;

	for (u32 cpu = 0; cpu < mappings->len; cpu++)
		if (mappings->rings[cpu].page)
			lost += take_ring(mappings, &mappings->rings[cpu], take, data);
	return lost;
}
