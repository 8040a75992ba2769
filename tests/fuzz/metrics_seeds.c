// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing figures starts from: control groups, environments, and threads' sums with both.
 * Usage: metrics_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../src/model/metrics.h"

static const char *const groups[] = {
	"0::/system.slice/cron.service\n",
	("1:name=systemd:/\n0::/system.slice/"
	 "docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n"),
	"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-a\\x2d\".scope/b\n",
	"0::/lxc.payload.web/init.scope\n",
};
static const char environments[][96] = {
	"PATH=/bin\0SLURM_JOB_ID=4711\0SLURM_PROCID=3",
	"TORCHELASTIC_RUN_ID=none\0RANK=12\0MASTER_ADDR=10.0.0.1",
	"TACTUS_JOB=a\"b\nc\0TACTUS_RANK=-1\0RANK=0",
};

static int put(const char *folder, const char *name, size_t number, const void *bytes, size_t len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s-%zu", folder, name, number);
	file = fopen(path, "wb");
	return !file || fwrite(bytes, 1, len, file) != len || fclose(file);
}

int main(int argc, char **argv)
{
	unsigned char bytes[1 + 4 * (sizeof(struct sums_row) + 64)] = { 2 };
	struct sums_row row = { .head = { .tid = 1, .pid = 1, .role = 1, .tier = 1, .runs = 4, .cgroup = 1 } };
	char text[256];

	if (argc != 2)
		return 1;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		snprintf(text, sizeof(text), "%c%s", 3, groups[i]);
		if (put(argv[1], "group", i, text, strlen(text)))
			return 1;
	}
	for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
		text[0] = 1;
		memcpy(text + 1, environments[i], sizeof(environments[i]));
		if (put(argv[1], "environment", i, text, 1 + sizeof(environments[i])))
			return 1;
	}
	for (u32 i = 0; i < 4; i++) {
		unsigned char *at = bytes + 1 + i * (sizeof(row) + 64);

		row.head.tid = row.head.pid = row.head.cgroup = i + 1;
		memcpy(row.head.comm.text, "a\"\\b\n", 5);
		row.sums.longest.wait_ns = 5 * NSEC_PER_MSEC;
		memcpy(at, &row, sizeof(row));
		memcpy(at + sizeof(row), i % 2 ? environments[i / 2] : groups[i / 2],
		       i % 2 ? 64 : strnlen(groups[i / 2], 64));
	}
	return put(argv[1], "rows", 0, bytes, sizeof(bytes));
}
