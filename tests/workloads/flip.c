// SPDX-License-Identifier: GPL-2.0
/* Flips a display of the driver vkms by DRM itself, as a compositor does, and comes late with known flips:
 *   flip FLIPS [NUMBER:MS]...
 * Prints its tid, and at the end how many flips it did and how many of the display's periods passed without one, by the
 * display's own count; and the same for each flip that it delayed. */
#include "display.h"

int main(int argc, char **argv)
{
	struct display display = display_open("vkms");
	int flips = argc > 1 ? atoi(argv[1]) : 0;
	unsigned int missed = 0;

	setlinebuf(stdout);
	printf("flips %d\n", getpid());
	for (int number = 1, last = 0; number <= flips; number++) {
		int delayed_ms = 0, which, ms, seq;

		for (int i = 2; i < argc; i++)
			if (sscanf(argv[i], "%d:%d", &which, &ms) == 2 && which == number)
				usleep((useconds_t)(delayed_ms = ms) * 1000);
		display_flip(&display, number);
		seq = (int)display_shown(&display).sequence;
		if (number > 1 && delayed_ms)
			printf("delayed %d missed %d\n", number, seq - last - 1);
		if (number > 1)
			missed += (unsigned int)(seq - last - 1);
		last = seq;
	}
	printf("flipped %d missed %u\n", flips, missed);
	return 0;
}
