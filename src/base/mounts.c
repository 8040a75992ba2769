// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/PID/mountinfo, as much of it as an honest system has. A namespace of his own lets a user make mounts: of
 * FUSE, and of overlays above it, which read it with his rights. */
#include "mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINES_MAX = 4096 };

bool mount_line_type(const char *line, u32 major, u32 minor, char *type, u32 size)
{
	u32 seen_major, seen_minor;
	const char *at;

	/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": paths have their spaces escaped. */
	if (sscanf(line, "%*u %*u %u:%u ", &seen_major, &seen_minor) != 2 || seen_major != major || seen_minor != minor)
		return false;
	at = strstr(line, " - ");
	if (!at || !size)
		return false;
	snprintf(type, size, "%.*s", (int)strcspn(at + 3, " \n"), at + 3);
	return true;
}

static bool find_type(const char *list, u32 major, u32 minor, char *type, u32 size)
{
	FILE *mounts = fopen(list, "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	for (u32 i = 0; mounts && !found && i < LINES_MAX && getline(&line, &room, mounts) > 0; i++)
		found = mount_line_type(line, major, minor, type, size);
	free(line);
	if (mounts)
		fclose(mounts);
	return found;
}

/* Unknown is taken for another's. */
static bool is_in_our_users(u32 pid)
{
	struct stat ours, its;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return !stat("/proc/self/ns/user", &ours) && !stat(path, &its) && ours.st_ino == its.st_ino;
}

bool mount_is_answered(u32 pid, u32 major, u32 minor)
{
	char list[48], type[32];

	/* A real device, which takes root to mount. */
	if (major)
		return true;
	snprintf(list, sizeof(list), "/proc/%u/mountinfo", pid);
	/* Ours first: what is mounted here is nobody's trick, and a list of his own can be long. */
	if (find_type("/proc/self/mountinfo", major, minor, type, sizeof(type)))
		return strncmp(type, "fuse", 4) != 0;
	if (!find_type(list, major, minor, type, sizeof(type)) || !strncmp(type, "fuse", 4))
		return false;
	return strcmp(type, "overlay") != 0 || is_in_our_users(pid);
}

bool mount_line_device(const char *line, u64 *mount, u32 *major, u32 *minor)
{
	unsigned long long number;

	if (sscanf(line, "%llu %*u %u:%u ", &number, major, minor) != 3)
		return false;
	*mount = number;
	return true;
}

/* Some file systems give their files other devices than their mounts have: Btrfs, overlays. */
static bool find_device(const char *list, u64 mount, u32 *major, u32 *minor)
{
	FILE *mounts = fopen(list, "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;
	u64 number;

	for (u32 i = 0; mounts && !found && i < LINES_MAX && getline(&line, &room, mounts) > 0; i++)
		found = mount_line_device(line, &number, major, minor) && number == mount;
	free(line);
	if (mounts)
		fclose(mounts);
	return found;
}

bool found_is_answered(u32 pid, int found)
{
	struct statx seen;
	u32 major, minor;
	char list[48];

	/* What the kernel has in memory; an overlay hands the wish on to what lies below it. */
	if (statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &seen))
		return false;
	if (seen.stx_dev_major)
		return true;
	snprintf(list, sizeof(list), "/proc/%u/mountinfo", pid);
	if (!(seen.stx_mask & STATX_MNT_ID) || (!find_device("/proc/self/mountinfo", seen.stx_mnt_id, &major, &minor) &&
						!find_device(list, seen.stx_mnt_id, &major, &minor)))
		return mount_is_answered(pid, 0, seen.stx_dev_minor);
	return mount_is_answered(pid, major, minor);
}
