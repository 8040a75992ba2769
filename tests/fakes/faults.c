// SPDX-License-Identifier: GPL-2.0
/* A library to preload that makes one call fail: the FAULT_AT-th of the kind FAULT_CALL, which is malloc, open, read,
 * write, mmap, bpf, share (a bpf() that makes a map whose memory is shared) or hint (sched_setattr); FAULT_ON=1: all
 * from there on. How many there were is written to FAULT_COUNT, if that is a file, at the end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MALLOC, OPEN, READ, WRITE, MMAP, BPF, SHARE, HINT, KINDS };

static const char *const names[KINDS] = { "malloc", "open", "read", "write", "mmap", "bpf", "share", "hint" };
static const int errors[KINDS] = { ENOMEM, EMFILE, EIO, ENOSPC, ENOMEM, ENOMEM, EINVAL, EPERM };
static unsigned long counts[KINDS];
static unsigned long at;
static int kind = KINDS, goes_on, counting, count_fd = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("FAULT_CALL"), *number = getenv("FAULT_AT");

	for (int i = 0; call && i < KINDS; i++)
		if (!strcmp(call, names[i]))
			kind = i;
	at = number ? strtoul(number, NULL, 10) : 0;
	goes_on = getenv("FAULT_ON") != NULL;
	/* Now, since the program may give up writing files. */
	if (getenv("FAULT_COUNT"))
		count_fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_COUNT"), O_WRONLY | O_CREAT | O_TRUNC,
					0644);
	counting = 1;
}

__attribute__((destructor)) static void end(void)
{
	counting = 0;
	for (int i = 0; count_fd >= 0 && i < KINDS; i++)
		dprintf(count_fd, "%s %lu\n", names[i], counts[i]);
}

static int fails(enum kind what)
{
	if (!counting)
		return 0;
	counts[what]++;
	if ((int)what != kind || !at || (counts[what] != at && !(goes_on && counts[what] > at)))
		return 0;
	errno = errors[what];
	return 1;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t len, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
	return fails(MALLOC) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t len, size_t bytes)
{
	return fails(MALLOC) ? NULL : __libc_calloc(len, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails(MALLOC) ? NULL : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t len, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(len, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, all);
}

#define OPENER(name)                                                                             \
	int name(const char *path, int flags, ...)                                               \
	{                                                                                        \
		va_list args;                                                                    \
		int mode;                                                                        \
                                                                                                 \
		va_start(args, flags);                                                           \
		mode = va_arg(args, int);                                                        \
		va_end(args);                                                                    \
		return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
	}
OPENER(open)
OPENER(open64)
OPENER(__open_2)
OPENER(__open64_2)

#define OPENER_AT(name)                                                                        \
	int name(int folder, const char *path, int flags, ...)                                 \
	{                                                                                      \
		va_list args;                                                                  \
		int mode;                                                                      \
                                                                                               \
		va_start(args, flags);                                                         \
		mode = va_arg(args, int);                                                      \
		va_end(args);                                                                  \
		return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode); \
	}
OPENER_AT(openat)
OPENER_AT(openat64)
OPENER_AT(__openat_2)
OPENER_AT(__openat64_2)

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");

	return fails(OPEN) ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

ssize_t read(int fd, void *into, size_t bytes)
{
	return fails(READ) ? -1 : syscall(SYS_read, fd, into, bytes);
}

ssize_t __read_chk(int fd, void *into, size_t bytes, size_t room)
{
	if (bytes > room)
		abort();
	return read(fd, into, bytes);
}

ssize_t pread64(int fd, void *into, size_t bytes, off64_t offset)
{
	return fails(READ) ? -1 : syscall(SYS_pread64, fd, into, bytes, offset);
}

ssize_t pread(int fd, void *into, size_t bytes, off_t offset)
{
	return pread64(fd, into, bytes, offset);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	return fails(WRITE) ? -1 : syscall(SYS_write, fd, from, bytes);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset)
{
	return fails(WRITE) ? -1 : syscall(SYS_pwrite64, fd, from, bytes, offset);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
	return pwrite64(fd, from, bytes, offset);
}

void *mmap(void *where, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return fails(MMAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, where, bytes, protection, flags, fd, offset);
}

void *mmap64(void *where, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return mmap(where, bytes, protection, flags, fd, offset);
}

static int shares_memory(long command, const union bpf_attr *attr)
{
	return command == BPF_MAP_CREATE && (attr->map_flags & BPF_F_MMAPABLE);
}

/* libbpf calls the kernel by this, and so do hints; the functions above too, which were counted already. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long all[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		all[i] = va_arg(args, long);
	va_end(args);
	if ((number == SYS_bpf && fails(BPF)) || (number == SYS_sched_setattr && fails(HINT)))
		return -1;
	if (number == SYS_bpf && shares_memory(all[0], (const union bpf_attr *)all[1]) && fails(SHARE))
		return -1;
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}
