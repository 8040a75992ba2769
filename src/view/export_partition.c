// SPDX-License-Identifier: GPL-2.0
/* Where a segment's table lies in a folder that is partitioned as Hive does it, which every engine for tables reads:
 * DIR/host=NAME/day=YYYY-MM-DD/SEGMENT.parquet, by the day on which it began, UTC. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/way.h"
#include "../model/segment_index.h"
#include "../stream/recording.h"
#include "export.h"

/* Whose links lead there is looked at (base/way.h): nobody else can have a folder made elsewhere. */
static bool make_folder(const char *path, struct reason *why)
{
	char name[WAY_NAME_SIZE];
	int in = way_open(path, name, why), error;
	struct stat seen;

	if (in < 0)
		return false;
	error = mkdirat(in, name, 0755) && errno != EEXIST ? errno : 0;
	if (!error && fstatat(in, name, &seen, AT_SYMLINK_NOFOLLOW))
		error = errno;
	/* A link is gone through, or refused, with what is made in it. */
	if (!error && !S_ISDIR(seen.st_mode) && !S_ISLNK(seen.st_mode))
		error = ENOTDIR;
	close(in);
	if (error)
		reason_set(why, "%s: %s", path, strerror(error));
	return !error;
}

int export_partition_path(char *path, size_t size, const char *folder, const char *input, const char *machine,
			  struct reason *why)
{
	const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input, *dot = strrchr(base, '.');
	int base_len = (int)(dot && dot > base ? dot - base : (long)strlen(base)), len;
	struct recording_reader *reader;
	char host[SEGMENT_HOST_SIZE] = "", day[16];
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
	else if (!segment_host(host, base, (size_t)base_len)) {
		reason_set(why, "its name does not say of which machine it is: give --machine NAME");
		return -EINVAL;
	}
	if (!segment_host_is_sound(host)) {
		reason_set(why, "'%s' is no name for a machine here", host);
		return -EINVAL;
	}
	len = (int)strlen(folder);
	while (len > 1 && folder[len - 1] == '/')
		len--;
	len = snprintf(path, size, "%.*s", len, folder);
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
