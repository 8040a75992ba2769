// SPDX-License-Identifier: GPL-2.0
/* One process a recording: clocks of two machines, or of two boots, have nothing to do with each other, and neither
 * have their threads. */
#include "several.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "say.h"

static const char *own_file;

const char *several_file(void)
{
	return own_file;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *several_each(const struct several *several, bool prints_headings)
{
	pid_t caller = getpid();
	int first = 0;

	for (int i = 0; i < several->len; i++) {
		pid_t pid;
		int status;

		fflush(stdout);
		pid = fork();
		if (pid < 0)
			exit(fail(several->files[i], "could not start a process for it: %s", strerror(errno)));
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (getppid() != caller)
				_exit(EXIT_FAILURE);
			own_file = several->files[i];
			if (prints_headings)
				printf("%s==> %s <==\n", i ? "\n" : "", own_file);
			return own_file;
		}
		status = status_of(pid);
		first = first ? first : status;
	}
	exit(first);
}
