// SPDX-License-Identifier: GPL-2.0
/* A library to preload that makes one call fail: the FAULT_AT-th of the kind FAULT_CALL, which is malloc, open, read,
 * write, mmap, bpf, share (a bpf() that makes a map whose memory is shared) or hint (sched_setattr); FAULT_ON=1: all
 * from there on. Calls are counted over a program and the processes that it forks, in the file FAULT_COUNT, if there is
 * such a variable: a number of 8 bytes for each kind, then how many processes a fault of memory or abort() ended.
 * FAULT_PATHS begins the names of files, one for each kind, that get the way by which each call was made, a number of 8
 * bytes each. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MALLOC, OPEN, READ, WRITE, MMAP, BPF, SHARE, HINT, KINDS };
enum { PATHS_MOST = 1 << 20, FRAMES_MOST = 24 };

static const char *const names[KINDS] = { "malloc", "open", "read", "write", "mmap", "bpf", "share", "hint" };
static const int errors[KINDS] = { ENOMEM, EMFILE, EIO, ENOSPC, ENOMEM, ENOMEM, EINVAL, EPERM };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static unsigned long *counts;
static unsigned long *paths[KINDS];
static unsigned long at;
static int kind = KINDS, goes_on;
static __thread int is_inside;

/* Memory of that file, which processes that are forked share; without a name of no file. */
static unsigned long *shared_numbers(const char *file, size_t len)
{
	int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
	size_t bytes = len * sizeof(unsigned long);
	void *made;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes))
		abort();
	made = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (made == MAP_FAILED)
		abort();
	if (fd >= 0)
		close(fd);
	return made;
}

static void on_crash(int number)
{
	__atomic_add_fetch(&counts[KINDS], 1, __ATOMIC_RELAXED);
	raise(number);
}

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("FAULT_CALL"), *number = getenv("FAULT_AT");
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };
	char path[512];
	void *frame;

	for (int i = 0; call && i < KINDS; i++)
		if (!strcmp(call, names[i]))
			kind = i;
	at = number ? strtoul(number, NULL, 10) : 0;
	goes_on = getenv("FAULT_ON") != NULL;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &action, NULL);
	if (getenv("FAULT_PATHS")) {
		backtrace(&frame, 1); /* loads what it needs */
		for (int i = 0; i < KINDS; i++) {
			snprintf(path, sizeof(path), "%s.%s", getenv("FAULT_PATHS"), names[i]);
			paths[i] = shared_numbers(path, PATHS_MOST);
		}
	}
	counts = shared_numbers(getenv("FAULT_COUNT"), KINDS + 1);
}

/* Keeps by which calls it came to this one. Where the program lies in memory is no part of it. */
static void note_path(enum kind what, unsigned long number)
{
	void *frames[FRAMES_MOST];
	unsigned long path = 5381, base = (unsigned long)getauxval(AT_ENTRY);
	int len;

	if (number > PATHS_MOST)
		return;
	is_inside = 1;
	len = backtrace(frames, FRAMES_MOST);
	for (int i = 0; i < len; i++)
		path = path * 33 ^ ((unsigned long)frames[i] - base);
	paths[what][number - 1] = path;
	is_inside = 0;
}

static int fails(enum kind what)
{
	unsigned long number;

	if (!counts || is_inside)
		return 0;
	number = __atomic_add_fetch(&counts[what], 1, __ATOMIC_RELAXED);
	if (paths[what])
		note_path(what, number);
	if ((int)what != kind || !at || (number != at && !(goes_on && number > at)))
		return 0;
	errno = errors[what];
	return 1;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t len, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

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

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(MALLOC) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **made, size_t alignment, size_t bytes)
{
	void *memory = aligned_alloc(alignment, bytes);

	if (memory)
		*made = memory;
	return memory ? 0 : ENOMEM;
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

DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");

	return fails(OPEN) ? NULL : real(path);
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

/* The C library's streams call the kernel by themselves, when their memory is used up. */
static int stream_fails(FILE *file)
{
	if (fails(READ))
		file->_flags |= _IO_ERR_SEEN;
	return !!(file->_flags & _IO_ERR_SEEN);
}

static int has_line(const FILE *file)
{
	const char *from = file->_IO_read_ptr, *end = file->_IO_read_end;

	return from < end && memchr(from, '\n', (size_t)(end - from));
}

char *fgets(char *line, int room, FILE *file)
{
	static char *(*real)(char *, int, FILE *);

	if (!has_line(file) && stream_fails(file))
		return NULL;
	if (!real)
		real = (char *(*)(char *, int, FILE *))dlsym(RTLD_NEXT, "fgets");
	return real(line, room, file);
}

char *__fgets_chk(char *line, size_t size, int room, FILE *file)
{
	if ((size_t)room > size)
		abort();
	return fgets(line, room, file);
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
	if (!has_line(file) && stream_fails(file))
		return -1;
	return getdelim(line, room, '\n', file);
}

size_t fread(void *into, size_t size, size_t len, FILE *file)
{
	size_t (*real)(void *, size_t, size_t, FILE *) = (size_t(*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT,
													  "fread");

	if (stream_fails(file))
		return 0;
	return real(into, size, len, file);
}

size_t __fread_chk(void *into, size_t room, size_t size, size_t len, FILE *file)
{
	if (size && len > room / size)
		abort();
	return fread(into, size, len, file);
}

int fflush(FILE *file)
{
	int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");

	if (file && __fpending(file) && fileno(file) >= 0 && fails(WRITE)) {
		__fpurge(file);
		file->_flags |= _IO_ERR_SEEN;
		return EOF;
	}
	return real(file);
}

int fclose(FILE *file)
{
	int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
	int failed = __fwriting(file) && fflush(file), error = errno, status = real(file);

	if (failed)
		errno = error;
	return failed ? EOF : status;
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
