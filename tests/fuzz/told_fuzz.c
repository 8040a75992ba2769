// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what reads launches that a program tells: any ring, at any place of it, read in turns while the program goes
 * on writing. What comes out is bounded, in order, within its times, of functions that there are. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/model/detour.h"
#include "../../src/sensor/cuda_told.h"

enum { FUNCTIONS = 64, MOST = 200, TURNS = 3 };

enum { NOW_NS = 1000000 };

static u64 clock_now(void)
{
	return NOW_NS;
}

struct input {
	u64 begun[TURNS], taken, met_ns, before_ns;
};

static void check(struct cuda_told *told, u64 since_ns, u64 before_ns)
{
	const struct cuda_told_launch *launch;
	u64 last_ns = 0;

	if (told->len > MOST)
		abort();
	while ((launch = cuda_told_take(told, before_ns))) {
		const struct event_cuda_launch *event = &launch->event;

		if (event->head.kind != EVENT_CUDA_LAUNCH || !event->function || event->function >= FUNCTIONS ||
		    launch->pid != 4711 || event->head.time_ns < last_ns || event->head.time_ns >= before_ns ||
		    event->head.time_ns < since_ns)
			abort();
		last_ns = event->head.time_ns;
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd;
	struct cuda_told_wishes wishes = { FUNCTIONS, false, clock_now, MOST };
	struct cuda_told told = { 0 };
	struct cuda_ring ring = { .pid = 4711 };
	struct input input;
	off_t at = DETOUR_COUNTS_BYTES;

	if (!fd && ((fd = memfd_create("ring", 0)) < 0 || ftruncate(fd, DETOUR_TELLING_BYTES)))
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
	at += (off_t)(offsetof(struct detour_told, launches) +
		      input.taken % DETOUR_TOLD_LEN * sizeof(struct detour_launch));
	if (at + (off_t)size > DETOUR_TELLING_BYTES)
		size = (size_t)(DETOUR_TELLING_BYTES - at);
	if (pwrite(fd, data, size, at) != (ssize_t)size)
		abort();
	for (int i = 0; i < TURNS; i++) {
		u64 since_ns = told.given_until_ns > ring.met_ns ? told.given_until_ns : ring.met_ns;

		if (pwrite(fd, &input.begun[i], sizeof(u64), DETOUR_COUNTS_BYTES) != sizeof(u64))
			abort();
		wishes.all = i == TURNS - 1;
		cuda_told_begin(&told);
		if (cuda_told_read(&told, &ring, &wishes) > DETOUR_TOLD_LEN)
			abort();
		cuda_told_end(&told);
		check(&told, told.taken || i ? 0 : since_ns, wishes.all ? ~0ULL : input.before_ns % NOW_NS);
	}
	cuda_told_free(&told);
	return 0;
}
