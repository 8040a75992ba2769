// SPDX-License-Identifier: GPL-2.0
/* Loaded before a program's libraries: threads keep the name that they were born with, and the names that the program
 * would have given them go to the file $ROLES_NAMES/threads. What threads do stays as it is. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *name)
{
	const char *folder = getenv("ROLES_NAMES");
	char path[4096], line[64];
	int fd, len;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/threads", folder);
	len = snprintf(line, sizeof(line), "%ld %.15s\n", syscall(SYS_gettid), name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)len) != len)
		perror("conceal");
	close(fd);
}

/* A name for another thread is dropped without a note: its number can't be had from here. */
int pthread_setname_np(pthread_t thread, const char *name)
{
	if (pthread_equal(thread, pthread_self()))
		note(name);
	return 0;
}

int prctl(int option, ...)
{
	unsigned long words[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_NAME) {
		note((const char *)words[0]);
		return 0;
	}
	return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}
