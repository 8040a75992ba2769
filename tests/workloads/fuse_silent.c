// SPDX-License-Identifier: GPL-2.0
/* A file system with one file that anybody may read, whose server falls silent. Talks to /dev/fuse itself, so that no
 * library is needed.
 *   fuse_silent FOLDER NAME        mounts there (as root), says "mounted", maps FOLDER/NAME in a child, which says
 *                                  "mapped"; from the moment that the file has been opened once nothing is answered
 *   fuse_silent FOLDER NAME lock   the child, which says its pid behind "mapped", unmaps a page of the file that it has
 *                                  written to, which is never answered, and maps another: its memory lock is taken
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_NODE = 2, PAGE = 4096, FILE_BYTES = 64 * PAGE };

static void die(const char *what)
{
	fprintf(stderr, "fuse_silent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void answer(int fd, const struct fuse_in_header *to, int error, const void *body, size_t len)
{
	char bytes[2 * PAGE];
	struct fuse_out_header head = { .len = (unsigned int)(sizeof(head) + len),
					.error = error,
					.unique = to->unique };

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, len);
	if (write(fd, bytes, head.len) < 0 && errno != ENOENT)
		die("answer");
}

static struct fuse_attr attributes(unsigned long long node)
{
	return (struct fuse_attr){ .ino = node,
				   .size = node == FILE_NODE ? FILE_BYTES : 0,
				   .mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .nlink = 1,
				   .uid = 65534,
				   .gid = 65534 };
}

/* Returns whether it goes on answering. */
static int serve(int fd, const struct fuse_in_header *in, const char *name, bool holds)
{
	static const char page[PAGE];

	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = 65536 };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE) };
	struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		if (strcmp((const char *)(in + 1), name) != 0)
			answer(fd, in, -ENOENT, NULL, 0);
		else
			answer(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, in, 0, &opened, sizeof(opened));
		return holds;
	case FUSE_READ:
		if (holds)
			answer(fd, in, 0, page, sizeof(page));
		break;
	case FUSE_WRITE:
	case FUSE_FORGET:
		break;
	default:
		answer(fd, in, -ENOSYS, NULL, 0);
	}
	return 1;
}

static void *unmap_written(void *page)
{
	dprintf(1, "mapped %d\n", (int)getpid());
	munmap(page, PAGE);
	return NULL;
}

/* Who wants to write waits for who reads, and keeps others from reading. */
static void *map_more(void *data)
{
	(void)data;
	for (;;) {
		void *more = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		usleep(1000);
		munmap(more, PAGE);
	}
	return NULL;
}

static void hold(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t thread;

	if (page == MAP_FAILED)
		die(path);
	page[0] = 1;
	pthread_create(&thread, NULL, map_more, NULL);
	pthread_create(&thread, NULL, unmap_written, page);
	for (;;)
		pause();
}

static void map_there(const char *folder, const char *name, bool holds)
{
	char path[4096], byte;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (setgid(65534) || setuid(65534))
		die("setuid");
	/* Who becomes another user is no longer told of his parent's death. */
	if (holds) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold(path);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
	puts("mapped");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	_Alignas(struct fuse_in_header) static char request[1 << 17];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), answers = 1;
	char options[128];

	bool holds = argc > 3 && !strcmp(argv[3], "lock");

	if (argc < 3 || fd < 0)
		die("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=65534,group_id=65534,allow_other", fd);
	if (mount("silent", argv[1], "fuse.silent", MS_NOSUID | MS_NODEV, options))
		die("mount");
	puts("mounted");
	fflush(stdout);
	if (!fork()) {
		/* Else it would keep the server's end open, and wait for itself at its end. */
		close(fd);
		map_there(argv[1], argv[2], holds);
	}
	for (;;) {
		ssize_t got = read(fd, request, sizeof(request));

		if (got < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (got < (ssize_t)sizeof(struct fuse_in_header))
			return 0;
		if (answers)
			answers = serve(fd, (const struct fuse_in_header *)request, argv[2], holds);
	}
}
