// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what reads launches that a program tells: any ring, at any place of it, read in turns while the program goes
 * on writing. What comes out is bounded, in order, within its times, of functions that there are. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/model/detour.h"
#include "../../src/sensor/cuda_reports.h"

enum { FUNCTIONS = 64, MOST = 200, TURNS = 3 };

enum { NOW_NS = 1000000 };

static u64 clock_now(void)
{
	return NOW_NS;
}

struct input {
	u64 begun[TURNS], taken, met_ns, before_ns;
};

static void check(struct cuda_reports *reports, u64 since_ns, u64 before_ns)
{
	const struct cuda_reports_launch *launch;
	u64 last_ns = 0;

	if (reports->len > MOST)
		abort();
	while ((launch = cuda_reports_first(reports, before_ns))) {
		const struct event_cuda_launch *event = &launch->event;

		if (event->head.kind != EVENT_CUDA_LAUNCH || !event->function || event->function >= FUNCTIONS ||
		    launch->pid != 4711 || event->head.time_ns < last_ns || event->head.time_ns >= before_ns ||
		    event->head.time_ns < since_ns)
			abort();
		last_ns = event->head.time_ns;
		cuda_reports_drop(reports);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd;
	struct cuda_reports_wishes wishes = { FUNCTIONS, false, clock_now, MOST };
	struct cuda_reports reports = { 0 };
	struct cuda_ring ring = { .pid = 4711 };
	struct input input;
	off_t at = DETOUR_COUNTS_BYTES;

	if (!fd && ((fd = memfd_create("ring", 0)) < 0 || ftruncate(fd, DETOUR_REPORTING_BYTES)))
		abort();
	if (size < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	data += sizeof(input);
	size -= sizeof(input);
	ring.fd = fd;
	ring.taken = input.taken;
	ring.met_ns = input.met_ns % NOW_NS;
	/* Where it is read first, as far as it goes. */
	at += (off_t)(offsetof(struct detour_reports, launches) +
		      input.taken % DETOUR_REPORTS_LEN * sizeof(struct detour_launch));
	if (at + (off_t)size > DETOUR_REPORTING_BYTES)
		size = (size_t)(DETOUR_REPORTING_BYTES - at);
	if (pwrite(fd, data, size, at) != (ssize_t)size)
		abort();
	for (int i = 0; i < TURNS; i++) {
		u64 since_ns = reports.given_until_ns > ring.met_ns ? reports.given_until_ns : ring.met_ns;

		if (pwrite(fd, &input.begun[i], sizeof(u64), DETOUR_COUNTS_BYTES) != sizeof(u64))
			abort();
		wishes.all = i == TURNS - 1;
		cuda_reports_begin(&reports);
		if (cuda_reports_read(&reports, &ring, &wishes) > DETOUR_REPORTS_LEN)
			abort();
		cuda_reports_end(&reports);
		check(&reports, reports.taken || i ? 0 : since_ns, wishes.all ? ~0ULL : input.before_ns % NOW_NS);
	}
	cuda_reports_free(&reports);
	return 0;
}
