// SPDX-License-Identifier: GPL-2.0
/* See vmlinux_btf.h. */
#include "vmlinux_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Far more than any kernel's. */
enum { BTF_MAX = 256 << 20 };

static void *bytes;
static size_t bytes_len;

static size_t read_all(int fd, char *into, size_t len)
{
	size_t had = 0;

	while (had < len) {
		ssize_t got = read(fd, into + had, len - had);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		had += (size_t)got;
	}
	return had;
}

static int read_bytes(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;
	void *into;
	int error = fd < 0 || fstat(fd, &file) ? -errno : 0;

	if (!error && (file.st_size <= 0 || file.st_size > BTF_MAX))
		error = -EINVAL;
	into = error ? MAP_FAILED
		     : mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!error && into == MAP_FAILED)
		error = -errno;
	if (!error && read_all(fd, into, (size_t)file.st_size) != (size_t)file.st_size) {
		munmap(into, (size_t)file.st_size);
		error = -EIO;
	}
	if (!error) {
		bytes = into;
		bytes_len = (size_t)file.st_size;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/* Where a kernel's image with its BTF may lie, if it does not show it itself. */
static struct btf *from_image(void)
{
	static const char *const places[] = { "/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux",
					      "/usr/lib/debug/boot/vmlinux-%s" };
	struct utsname kernel;
	struct btf *btf = NULL;
	char path[512];

	uname(&kernel);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !btf; i++) {
		snprintf(path, sizeof(path), places[i], kernel.release);
		if (!access(path, R_OK))
			btf = btf__parse(path, NULL);
	}
	if (!btf)
		errno = ESRCH;
	return btf;
}

/* In place of libbpf's: the linker takes this one. */
struct btf *btf__load_vmlinux_btf(void)
{
	if (!bytes && read_bytes("/sys/kernel/btf/vmlinux"))
		return from_image();
	return btf__new(bytes, (__u32)bytes_len);
}

void vmlinux_btf_forget(void)
{
	if (bytes)
		munmap(bytes, bytes_len);
	bytes = NULL;
}
