// SPDX-License-Identifier: GPL-2.0
/* sensor/library_files.c: which files keep their probes when nobody maps them any more. Files are really mapped, by
 * this process; whose they are is told, so that no root is needed. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../src/base/say.h"
#include "../../src/sensor/library_files.h"
#include "scratch.h"
#include "tap.h"

enum { LEN = 4096, NAME_SIZE = 128 };
#define SECOND ((u64)NSEC_PER_SEC)

static char folder[64];
static u32 gone;

static void count_gone(void *data, const struct library_file *file)
{
	(void)data;
	(void)file;
	gone++;
}

/* Looked at once more: beside other tests a process may be there whose mappings can't be read just now, and then all
 * that its user mapped is held. */
static u32 gone_at(struct library_files *files, u64 now_ns)
{
	const struct timespec moment = { .tv_nsec = 10 * NSEC_PER_MSEC };
	u64 unread;
	u32 looks = 0;

	gone = 0;
	do {
		unread = files->unread;
		library_files_review(files, now_ns, count_gone, NULL);
		if (files->unread != unread)
			nanosleep(&moment, NULL);
	} while (++looks < 2 || (files->unread != unread && looks < 500));
	return gone;
}

static void *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	void *at = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, LEN))
		at = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	return at;
}

/* Who maps what is read as often as a test likes. */
static void open_files(struct library_files *files)
{
	library_files_open(files);
	files->reading.burst_ns = 3600 * SECOND;
}

/* As libraries.c does when the kernel reports a mapping. */
static struct library_file *found(struct library_files *files, const char *path, u32 owner)
{
	struct mapping mapping = { .path = path };
	struct library_file *file;
	struct stat seen;

	if (stat(path, &seen))
		return NULL;
	mapping.inode = seen.st_ino;
	mapping.major = major(seen.st_dev);
	mapping.minor = minor(seen.st_dev);
	seen.st_uid = owner;
	file = library_file_add(files, &mapping, owner);
	if (file) {
		library_file_is_new(file, &seen);
		library_file_held_by(file, (u32)getpid());
	}
	return file;
}

static void test_users(void)
{
	struct library_files files = { 0 };
	char path[NAME_SIZE];
	void *at;

	open_files(&files);
	snprintf(path, sizeof(path), "%s/users.so", folder);
	at = map(path);
	found(&files, path, 1000);
	is(gone_at(&files, SECOND), 0, "a user's library that is mapped keeps its probes");
	munmap(at, LEN);
	is(gone_at(&files, 10 * SECOND), 1, "a user's library that nobody maps loses its probes at once");
	is(files.len, 0, "what lost its probes is forgotten");
	library_files_close(&files);
}

static void test_installed(void)
{
	struct library_files files = { 0 };
	char path[NAME_SIZE], elsewhere[NAME_SIZE];

	open_files(&files);
	snprintf(path, sizeof(path), "%s/installed.so", folder);
	munmap(map(path), LEN);
	found(&files, path, 0);
	is(gone_at(&files, SECOND) + gone_at(&files, 7200 * SECOND), 0,
	   "root's library that is installed keeps its probes for hours though nobody maps it");
	snprintf(elsewhere, sizeof(elsewhere), "%s/replaced.so", folder);
	rename(path, elsewhere);
	munmap(map(path), LEN);
	is(gone_at(&files, 7300 * SECOND), 0, "root's library that was just replaced keeps its probes for a while");
	is(gone_at(&files, 7300 * SECOND + 599 * SECOND), 0, "root's library keeps its probes for ten minutes after");
	is(gone_at(&files, 7300 * SECOND + 601 * SECOND), 1,
	   "root's library that was replaced and that nobody maps loses its probes after ten minutes");
	library_files_close(&files);
}

static void test_of_container(void)
{
	struct library_files files = { 0 };
	char path[NAME_SIZE];
	struct library_file *file;
	void *at;

	open_files(&files);
	snprintf(path, sizeof(path), "%s/of-a-container.so", folder);
	at = map(path);
	file = found(&files, path, 0);
	/* Where it is called that, there is another root. */
	free(file->path);
	file->path = strdup("/usr/lib/none-of-ours.so");
	is(gone_at(&files, SECOND), 0, "a container's library that is mapped keeps its probes");
	munmap(at, LEN);
	is(gone_at(&files, 10 * SECOND), 0, "a container's library that nobody maps keeps its probes for a while");
	library_file_held_by(file, (u32)getpid());
	is(gone_at(&files, 620 * SECOND), 0, "a container's library that was mapped again begins its while anew");
	is(gone_at(&files, 1210 * SECOND), 0,
	   "a container's library rests for ten minutes after the last who mapped it");
	is(gone_at(&files, 1221 * SECOND), 1,
	   "a container's library loses its probes ten minutes after the last who mapped it");
	library_files_close(&files);
}

/* Hundreds of containers one after another, each with a library of its own: what is held does not grow with them. */
static void test_containers_that_come_and_go(void)
{
	struct library_files files = { 0 };
	u32 refused = 0;
	size_t most = 0;

	open_files(&files);
	for (u32 i = 0; i < 300; i++) {
		struct mapping mapping = { .inode = 1000 + i, .path = "/usr/lib/none-of-ours.so" };
		struct library_file *file = library_file_add(&files, &mapping, 0);

		if (file)
			file->is_roots = true;
		refused += !file;
		if (i % 10 == 0)
			gone_at(&files, 60 * SECOND * (i + 1));
		most = files.len > most ? files.len : most;
	}
	is(refused, 0, "libraries of 300 containers, one a minute, are all looked at");
	ok(most <= 31, "libraries of containers are held for ten minutes, not until the end");
	library_files_close(&files);
}

int main(void)
{
	char command[NAME_SIZE];

	make_scratch(folder, sizeof(folder), "library-files");
	test_users();
	test_installed();
	test_of_container();
	test_containers_that_come_and_go();
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return tap_end() | (system(command) != 0);
}
