// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the texts of input devices starts from: what the kernel says of a mouse, of a pen
 * tablet, of a sleeping thread and of an epoll set. Usage: devices_seeds FOLDER */
#include <stdio.h>

#define SEED(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct {
	const char *bytes;
	size_t len;
} seeds[] = {
	SEED("../../input5\0Logitech Mouse\0"
	     "0003\0"
	     "046d\0"
	     "c077\0"
	     "17\0"
	     "70000 0 0 0 0\0"
	     "903\0"
	     "0"),
	SEED("../../input31\0Wacom Intuos\0"
	     "0003\0"
	     "056a\0"
	     "0374\0"
	     "1f\0"
	     "1c03 1f0000 0 0 0 0\0"
	     "100\0"
	     "f00000f000003"),
	SEED("event12"),
	SEED("7 0x7ffd5d5b1b60 0x1 0xffffffff 0x0 0x0 0x0 0x7ffd5d5b1a00 0x7f1e"),
	SEED("pos:\t0\ntfd:        5 events:       19 data:                5  pos:0 ino:61 sdev:5\n"),
};

int main(int argc, char **argv)
{
	char path[512];

	for (size_t i = 0; argc == 2 && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		FILE *out;

		snprintf(path, sizeof(path), "%s/%zu", argv[1], i);
		out = fopen(path, "wb");
		if (!out || fwrite(seeds[i].bytes, 1, seeds[i].len, out) != seeds[i].len || fclose(out))
			return 1;
	}
	return argc != 2;
}
