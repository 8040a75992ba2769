// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the parser of /proc/PID/maps starts from: lines as kernels write them.
 * Usage: maps_seeds FOLDER */
#include <stdio.h>

static const char *const lines[] = {
	"7f0000001000-7f0000002000 r-xp 00003000 fe:00 332510                     /usr/lib/libGLX.so.0.0.0",
	"7f0000001000-7f0000002000 rw-s 00000000 fe:00 1 /new\\012line (deleted)",
	"7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 ",
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
};

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc == 2 && i < sizeof(lines) / sizeof(lines[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed-%zu", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(lines[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
