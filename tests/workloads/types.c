// SPDX-License-Identifier: GPL-2.0
/* Tries to type on the terminal that is its standard input, by each way into the kernel, and tells what came of it, a
 * line for each: "WAY ERRNO-NAME". "types uid": tells its effective user; "types files": its descriptors beyond the
 * standard streams; "types wait": says so, and waits for a signal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { FILES_MAX = 1024, X32_IOCTL = 0x40000000 | 514, SMALL_IOCTL = 54 };

static void tell(const char *way, long result)
{
	const char *name = result >= 0 ? "OK" : strerrorname_np(errno);

	printf("%s %s\n", way, name ? name : "?");
	fflush(stdout);
}

#ifdef __x86_64__
/* As a 32-bit program calls. Where the kernel has no such calls, the process ends. */
static void try_small(void)
{
	char *byte = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		*byte = 'y';
		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(SMALL_IOCTL), "b"(0), "c"(TIOCSTI), "d"(byte)
				 : "memory", "r8", "r9", "r10", "r11");
		result = (int)result;
		errno = result < 0 ? (int)-result : 0;
		tell("small", result);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		puts("small ENOSYS");
	tell("x32", syscall(X32_IOCTL, 0, TIOCSTI, byte));
}
#else
static void try_small(void)
{
	puts("small ENOSYS\nx32 ENOSYS");
}
#endif

static void try_all(void)
{
	struct termios settings;
	char paste = 3; /* TIOCL_PASTESEL */

	tell("plain", ioctl(0, TIOCSTI, "x"));
	tell("high", syscall(SYS_ioctl, 0, 0xffffffff00000000UL | TIOCSTI, "z"));
	try_small();
	tell("console", ioctl(0, TIOCLINUX, &paste));
	tell("settings", ioctl(0, TCGETS, &settings));
	tell("group", tcgetpgrp(0));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "uid")) {
		printf("uid %u\n", (unsigned int)geteuid());
	} else if (!strcmp(what, "files")) {
		for (int fd = 3; fd < FILES_MAX; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				printf("file %d\n", fd);
		puts("no more files");
	} else if (!strcmp(what, "wait")) {
		puts("waits");
		pause();
	} else {
		try_all();
	}
	return 0;
}
