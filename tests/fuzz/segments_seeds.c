// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the index of segments starts from: names as they are, names that lead elsewhere, and
 * lines. Usage: segments_seeds FOLDER */
#include <stdio.h>

static const char *const texts[] = {
	"web1-20261118T030000Z-0001.tactus",
	"a.b-c-20261118T030000Z-123456",
	"..-20261118T030000Z-0001",
	"../../etc-20261118T030000Z-0001.tactus",
	"-20261118T030000Z-0001",
	("{\"record\":\"segment\",\"schema\":1,\"file\":\"web1-20261118T030000Z-0001.tactus\",\"host\":\"web1\",\"from_"
	 "wall_ns\":1,"
	 "\"to_wall_ns\":2,\"events\":3,\"bytes\":4,\"lost\":0}\n"),
	"{\"file\":\"../../etc/passwd\",\"record\":\"segment\"}\n",
	"{\"file\":[{}],\"record\":\"segment\"}\n",
};

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc == 2 && i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed-%zu", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(texts[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
