// SPDX-License-Identifier: GPL-2.0
/* Walks a path part by part, each opened in the folder before it: what was looked at is what is gone through. */
#include "way.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "privileges.h"

enum { LINKS_MAX = 40, OPEN_PART = O_PATH | O_NOFOLLOW | O_CLOEXEC };

struct way {
	int fd;		     /* the folder that was come to */
	char rest[PATH_MAX]; /* what is still to be gone */
	int links;
};

static int refuse_errno(struct reason *why, int error)
{
	reason_set(why, "%s", error == ENOENT ? "its folder does not exist" : strerror(error));
	return -error;
}

static void go_to(struct way *way, int fd)
{
	close(way->fd);
	way->fd = fd;
}

/* Takes the first part off the rest. False: it is too long. */
static bool take_part(struct way *way, char name[WAY_NAME_SIZE])
{
	size_t len = strcspn(way->rest, "/"), slashes = strspn(way->rest + len, "/");

	if (len >= WAY_NAME_SIZE)
		return false;
	memcpy(name, way->rest, len);
	name[len] = '\0';
	memmove(way->rest, way->rest + len + slashes, strlen(way->rest + len + slashes) + 1);
	return true;
}

static int refuse_link(int link, struct reason *why)
{
	char path[PATH_MAX] = "", at[32];

	snprintf(at, sizeof(at), "/proc/self/fd/%d", link);
	if (readlink(at, path, sizeof(path) - 1) < 0)
		path[0] = '\0';
	reason_set(why, "the path goes through a link of another user, %.600s: name the folder itself", path);
	return -EPERM;
}

/* What the link says comes before the rest. */
static int follow_text(struct way *way, int link, struct reason *why)
{
	char target[PATH_MAX];
	ssize_t got = readlinkat(link, "", target, sizeof(target));
	size_t len = got < 0 ? 0 : (size_t)got, rest_len = strlen(way->rest);
	int root;

	if (got < 0)
		return refuse_errno(why, errno);
	if (!len || len + 1 + rest_len >= sizeof(way->rest))
		return refuse_errno(why, len ? ENAMETOOLONG : ENOENT);
	if (target[0] == '/') {
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return refuse_errno(why, errno);
		go_to(way, root);
	}
	memmove(way->rest + len + 1, way->rest, rest_len + 1);
	memcpy(way->rest, target, len);
	way->rest[len] = '/';
	len = strspn(way->rest, "/");
	memmove(way->rest, way->rest + len, strlen(way->rest + len) + 1);
	return 0;
}

/* Links of /proc are the kernel's own, and what they say is not always a path. */
static int follow(struct way *way, int link, const char *name, struct reason *why)
{
	struct statfs system;
	struct stat seen;
	int fd;

	if (fstat(link, &seen) || fstatfs(link, &system))
		return refuse_errno(why, errno);
	if (!S_ISLNK(seen.st_mode))
		return refuse_errno(why, ENOTDIR);
	if (!is_trusted_user(seen.st_uid))
		return refuse_link(link, why);
	if (++way->links > LINKS_MAX)
		return refuse_errno(why, ELOOP);
	if (system.f_type != PROC_SUPER_MAGIC)
		return follow_text(way, link, why);
	fd = openat(way->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse_errno(why, errno);
	go_to(way, fd);
	return 0;
}

/* As a folder first, which makes one that is mounted on demand be mounted. */
static int go_on(struct way *way, const char *name, struct reason *why)
{
	int fd = openat(way->fd, name, OPEN_PART | O_DIRECTORY), error;

	if (fd >= 0) {
		go_to(way, fd);
		return 0;
	}
	if (errno != ENOTDIR && errno != ELOOP)
		return refuse_errno(why, errno);
	fd = openat(way->fd, name, OPEN_PART);
	if (fd < 0)
		return refuse_errno(why, errno);
	error = follow(way, fd, name, why);
	close(fd);
	return error;
}

int way_open(const char *path, char name[WAY_NAME_SIZE], struct reason *why)
{
	const char *from = path + strspn(path, "/");
	size_t len = strlen(from);
	struct way way = { .fd = -1 };
	int error = 0;

	/* Room for what is added where it ends with a slash. */
	if (!*path || len + 2 > sizeof(way.rest))
		return refuse_errno(why, *path ? ENAMETOOLONG : ENOENT);
	memcpy(way.rest, from, len + 1);
	if (!len || from[len - 1] == '/')
		strcpy(way.rest + len, ".");
	way.fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (way.fd < 0)
		return refuse_errno(why, errno);
	while (!error) {
		if (!take_part(&way, name))
			error = refuse_errno(why, ENAMETOOLONG);
		else if (!way.rest[0])
			return way.fd;
		else
			error = go_on(&way, name, why);
	}
	close(way.fd);
	return error;
}
