// SPDX-License-Identifier: GPL-2.0
/* Where a segment's table lies in a folder that is partitioned as Hive does it, which every engine for tables reads:
 * DIR/host=NAME/day=YYYY-MM-DD/SEGMENT.parquet, by the day on which it began, UTC. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../stream/recording.h"
#include "export.h"

enum { STAMP_LEN = sizeof("-20261118T030000Z-0001") - 1 };

/* "web1" of "web1-20261118T030000Z-0001.tactus". False: it is not called so. */
static bool host_of(char *host, size_t size, const char *base, size_t len)
{
	const char *stamp = len > STAMP_LEN ? base + len - STAMP_LEN : NULL;
	unsigned int day, second, number;

	/* The number may have more digits. */
	while (stamp && stamp > base && sscanf(stamp, "-%8uT%6uZ-%u", &day, &second, &number) != 3)
		stamp--;
	if (!stamp || stamp == base || (size_t)(stamp - base) >= size)
		return false;
	memcpy(host, base, (size_t)(stamp - base));
	host[stamp - base] = '\0';
	return true;
}

static bool make_folder(const char *path, struct reason *why)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return true;
	reason_set(why, "%s: %s", path, strerror(errno));
	return false;
}

int export_partition_path(char *path, size_t size, const char *folder, const char *input, const char *machine,
			  struct reason *why)
{
	const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input, *dot = strrchr(base, '.');
	int base_len = (int)(dot && dot > base ? dot - base : (long)strlen(base)), len;
	struct recording_reader *reader;
	char host[65] = "", day[16];
	time_t wall_s;
	struct tm utc;
	int error = recording_open(&reader, input, why);

	if (error)
		return error;
	wall_s = (time_t)(recording_reader_info(reader)->wall_start_ns / NSEC_PER_SEC);
	recording_close_reader(reader);
	gmtime_r(&wall_s, &utc);
	strftime(day, sizeof(day), "%Y-%m-%d", &utc);
	if (machine && machine[0])
		snprintf(host, sizeof(host), "%s", machine);
	else if (!host_of(host, sizeof(host), base, (size_t)base_len)) {
		reason_set(why, "its name does not say of which machine it is: give --machine NAME");
		return -EINVAL;
	}
	if (!host[0] || host[0] == '.' || strpbrk(host, "/=%\\\n")) {
		reason_set(why, "'%s' is no name for a machine here", host);
		return -EINVAL;
	}
	len = snprintf(path, size, "%s", folder);
	if (len >= (int)size || !make_folder(path, why))
		return -ENAMETOOLONG;
	len += snprintf(path + len, size - (size_t)len, "/host=%s", host);
	if (len >= (int)size || !make_folder(path, why))
		return -ENAMETOOLONG;
	len += snprintf(path + len, size - (size_t)len, "/day=%s", day);
	if (len >= (int)size || !make_folder(path, why))
		return -ENAMETOOLONG;
	len += snprintf(path + len, size - (size_t)len, "/%.*s.parquet", base_len, base);
	return len < (int)size ? 0 : -ENAMETOOLONG;
}
