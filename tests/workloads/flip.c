// SPDX-License-Identifier: GPL-2.0
/* Flips a display by DRM itself, as a compositor does, and comes late with known flips:
 *   flip [each DRIVER FENCE_MS] FLIPS [NUMBER:MS]...
 * The driver is vkms unless another is named. Prints its tid, and at the end how many flips it did and how many of the
 * display's periods passed without one, by the display's own count; and the same for each flip that it delayed. With
 * `each` also of each flip when it was asked for, when it came up, as which of the display's periods, and how long the
 * fence before it lasted that it made on a GPU of the driver vgem and ended itself after so many ms. */
#include "display.h"

#include <inttypes.h>
#include <time.h>

/* vgem's own, from the kernel's vgem_drm.h. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};
struct vgem_signal {
	uint32_t fence, flags;
};
#define VGEM_ATTACH _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL _IOW('d', 0x42, struct vgem_signal)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Work of a GPU for the next flip. Returns how long its fence lasted. */
static uint64_t work(int gpu, unsigned int buffer, int ms)
{
	struct vgem_attach attach = { .handle = buffer, .flags = 1 };
	struct vgem_signal done = { 0 };
	uint64_t begun_ns;

	ask(gpu, VGEM_ATTACH, &attach, "flip: fence");
	begun_ns = now_ns();
	usleep((useconds_t)ms * 1000);
	done.fence = attach.fence;
	ask(gpu, VGEM_SIGNAL, &done, "flip: end of a fence");
	return now_ns() - begun_ns;
}

int main(int argc, char **argv)
{
	int is_each = argc > 4 && !strcmp(argv[1], "each"), gpu = is_each ? open_card("vgem") : -1;
	int fence_ms = is_each ? atoi(argv[3]) : 0;
	struct plain_buffer buffer = { .width = 64, .height = 64, .bpp = 32 };
	struct display display = display_open(is_each ? argv[2] : "vkms");
	unsigned int missed = 0;
	int flips;

	argv += is_each ? 3 : 0;
	argc -= is_each ? 3 : 0;
	flips = argc > 1 ? atoi(argv[1]) : 0;
	if (is_each)
		ask(gpu, ASK_BUFFER, &buffer, "flip: buffer");
	setlinebuf(stdout);
	printf("flips %d\n", getpid());
	for (int number = 1, last = 0; number <= flips; number++) {
		int delayed_ms = 0, which, ms, seq;
		uint64_t asked_ns, lasted_ns = 0;
		struct flip_event event;

		for (int i = 2; i < argc; i++)
			if (sscanf(argv[i], "%d:%d", &which, &ms) == 2 && which == number)
				usleep((useconds_t)(delayed_ms = ms) * 1000);
		if (is_each)
			lasted_ns = work(gpu, buffer.handle, fence_ms);
		asked_ns = now_ns();
		display_flip(&display, number);
		event = display_shown(&display);
		seq = (int)event.sequence;
		if (is_each)
			printf("flip %d %" PRIu64 " %" PRIu64 " %d %" PRIu64 "\n", number, asked_ns,
			       (uint64_t)event.seconds * 1000000000 + (uint64_t)event.microseconds * 1000, seq,
			       lasted_ns);
		if (number > 1 && delayed_ms)
			printf("delayed %d missed %d\n", number, seq - last - 1);
		if (number > 1)
			missed += (unsigned int)(seq - last - 1);
		last = seq;
	}
	printf("flipped %d missed %u\n", flips, missed);
	return 0;
}
