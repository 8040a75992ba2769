// SPDX-License-Identifier: GPL-2.0
/* Maps files executable as a hostile user would, so that whoever looks at what is mapped has work.
 *   mapper swap FOLDER NAME TARGET TIMES   maps FOLDER/NAME and lets go of it, then has a link to TARGET in its place
 *   mapper swap-folder FOLDER NAME TARGET TIMES   the same with FOLDER itself, a link to the folder TARGET
 *   mapper swap-hard FOLDER NAME TARGET TIMES   the same with TARGET itself, by another name
 *   mapper hold FILE...                    maps all of them until its standard input ends, and says "mapped"
 *   mapper again FILE                      maps it and lets go of it, over and over, until it is killed
 *   mapper churn FOLDER NAME TIMES         the same, each time with a new file, a copy of FOLDER/original */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "mapper: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		die(path);
	close(fd);
	return at;
}

static void write_small(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "not a library", 13) != 13)
		die(path);
	close(fd);
}

static int swap(char **argv, int is_folder, int is_hard)
{
	char name[PATH_MAX], moved[PATH_MAX + 8], inside[2 * PATH_MAX + 16];

	for (int i = 0, times = atoi(argv[5]); i < times; i++) {
		snprintf(name, sizeof(name), "%s/%s", argv[2], argv[3]);
		snprintf(moved, sizeof(moved), "%s.moved", is_folder ? argv[2] : name);
		if (is_folder && mkdir(argv[2], 0755))
			die(argv[2]);
		write_small(name);
		munmap(map(name), 4096);
		/* The record of it is on its way. */
		if (rename(is_folder ? argv[2] : name, moved))
			die(moved);
		if (is_hard ? link(argv[4], name) : symlink(argv[4], is_folder ? argv[2] : name))
			die(argv[4]);
		usleep(15000);
		unlink(is_folder ? argv[2] : name);
		if (is_folder) {
			snprintf(inside, sizeof(inside), "%s/%s", moved, argv[3]);
			unlink(inside);
			rmdir(moved);
		}
		unlink(moved);
	}
	return 0;
}

static int hold(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		map(argv[i]);
	puts("mapped");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}

static _Noreturn void again(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	for (;;) {
		void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (at == MAP_FAILED)
			die(path);
		munmap(at, 4096);
	}
}

static int churn(char **argv)
{
	char name[PATH_MAX], original[PATH_MAX];
	static char bytes[1 << 20];
	ssize_t len;
	int fd;

	snprintf(original, sizeof(original), "%s/original", argv[2]);
	fd = open(original, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (len < 0)
		die(original);
	snprintf(name, sizeof(name), "%s/%s", argv[2], argv[3]);
	for (int i = 0, times = atoi(argv[4]); i < times; i++) {
		int to;

		unlink(name);
		to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
		if (to < 0 || write(to, bytes, (size_t)len) != len)
			die(name);
		close(to);
		munmap(map(name), 4096);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "swap"))
		return swap(argv, 0, 0);
	if (argc == 6 && !strcmp(argv[1], "swap-folder"))
		return swap(argv, 1, 0);
	if (argc == 6 && !strcmp(argv[1], "swap-hard"))
		return swap(argv, 0, 1);
	if (argc > 2 && !strcmp(argv[1], "hold"))
		return hold(argc, argv);
	if (argc == 3 && !strcmp(argv[1], "again"))
		again(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "churn"))
		return churn(argv);
	fputs("usage: mapper swap|swap-folder|swap-hard FOLDER NAME TARGET TIMES | hold FILE... | again FILE | "
	      "churn FOLDER NAME TIMES\n",
	      stderr);
	return 2;
}
