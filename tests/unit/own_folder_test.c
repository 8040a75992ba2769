// SPDX-License-Identifier: GPL-2.0
/* base/own_folder.c: which folders nobody else can have put anything into. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../src/base/own_folder.h"
#include "tap.h"

static char top[256];

static int open_below(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = own_folder_open(path, 0700);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void test_paths(void)
{
	char path[512], link[512];

	is(open_below("new/newer"), 0, "a folder that is missing, with its parent, is made");
	is(open_below("new//newer/"), 0, "slashes more than needed are no parts of a path");
	is(own_folder_open("tmp", 0700), -EINVAL, "a path that is not absolute is refused");
	is(own_folder_open("/tmp/tactus-own-folder-test", 0700), -EPERM,
	   "a folder below one that all may write to is refused");
	snprintf(path, sizeof(path), "%s/new", top);
	snprintf(link, sizeof(link), "%s/link", top);
	if (symlink(path, link))
		ok(0, "a link can be made for the test");
	is(open_below("link/newer"), -ENOTDIR, "a path with a link in it is refused");
	chmod(path, 0770);
	is(open_below("new/newer"), -EPERM, "a folder whose parent a group may write to is refused");
	chmod(path, 0702);
	is(open_below("new/newer"), -EPERM, "a folder whose parent others may write to is refused");
	chmod(path, 0700);
	unlink(link);
	snprintf(link, sizeof(link), "%s/new/newer", top);
	rmdir(link);
	rmdir(path);
}

static void test_making(void)
{
	char one[256], other[256], file[512], small[8] = "/a";
	int in = own_folder_open(top, 0700), fd, other_fd;

	snprintf(one, sizeof(one), "%s", top);
	snprintf(other, sizeof(other), "%s", top);
	fd = own_folder_make(in, one, sizeof(one));
	ok(fd >= 0, "a folder with a name of its own opens");
	is(access(one, X_OK), 0, "a folder with a name of its own is made");
	is(strlen(one), strlen(top) + 33, "the folder's name has 32 digits");
	snprintf(file, sizeof(file), "%s/file", one);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	other_fd = own_folder_make(in, other, sizeof(other));
	ok(other_fd >= 0, "another folder is made beside one that is open");
	is(access(file, F_OK), 0, "a folder that is open stays when another is made");
	own_folder_remove(other_fd, other);
	close(other_fd);
	ok(access(other, F_OK) != 0, "a folder that is removed is gone");
	close(fd);
	snprintf(other, sizeof(other), "%s", top);
	other_fd = own_folder_make(in, other, sizeof(other));
	ok(access(one, F_OK) != 0, "a folder that nobody has open any more is removed with its files by the next");
	own_folder_remove(other_fd, other);
	close(other_fd);
	is(own_folder_make(in, small, sizeof(small)), -ENAMETOOLONG, "a name that does not fit is refused");
	close(in);
}

int main(void)
{
	const char *home = getenv("HOME");
	int error;

	snprintf(top, sizeof(top), "%s/tactus-test-%d", geteuid() ? home ? home : "" : "/run", (int)getpid());
	error = own_folder_open(top, 0700);
	if (error < 0) {
		printf("ok 1 - folders of one's own # SKIP no folder here that nobody else can write to\n1..1\n");
		return 0;
	}
	close(error);
	test_paths();
	test_making();
	rmdir(top);
	return tap_end();
}
