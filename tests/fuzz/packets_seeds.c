// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that packets_fuzz.c starts from: one of each kind that is right. Usage: packets_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../src/view/status.h"

static int put(const char *folder, int kind, const void *bytes, size_t len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed-%d", folder, kind);
	file = fopen(path, "wb");
	if (!file)
		return 1;
	fputc(kind, file);
	fwrite(bytes, 1, len, file);
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	struct run_status status = {
		.magic = STATUS_MAGIC, .version = STATUS_VERSION, .actuator = "hints", .span_ns = 1
	};
	static const char line[] = "tid 7 start 99 had 3000000 0 0 given 100000 -20 1024 end\n";
	static const char text[] = "\033[1m \xe2\x80\xae \xc3\xa9 \xff";
	u32 ioctl[] = { 0, 0xc020462b, 0, 0xc86f };

	if (argc != 2)
		return 2;
	return put(argv[1], 0, &status, sizeof(status)) || put(argv[1], 1, line, strlen(line)) ||
	       put(argv[1], 2, ioctl, sizeof(ioctl)) || put(argv[1], 3, text, strlen(text));
}
