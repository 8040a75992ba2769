// SPDX-License-Identifier: GPL-2.0
/* Forks the command, holds it at a gate until the sensors are attached, reports a failed exec.
 * Signal dispositions that the program changed are put back before exec. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_group.h"
#include "hand_over.h"
#include "loop.h"
#include "say.h"

static void become_command(int gate_fd, int report_fd, char **argv, const struct run_as *as)
{
	char byte;
	int error;

	loop_give_back_signals();
	/* The gate gives one byte to go; end of file means that the parent is gone or gave up. */
	if (read(gate_fd, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	/* While there is still the right to. */
	error = as->changes ? -hand_over_apart() : 0;
	if (!error && getsid(0) != getpid())
		child_group_enter();
	if (!error)
		error = -run_as_become(as);
	if (!error) {
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(report_fd, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_NOT_FOUND);
}

int child_prepare(struct child *child, char **argv, const struct run_as *as)
{
	int gate[2], report[2], error;

	*child = (struct child){ .gate_fd = -1, .report_fd = -1 };
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(report, O_CLOEXEC) < 0) {
		error = errno;
		close(gate[0]);
		close(gate[1]);
		return -error;
	}
	child->pid = fork();
	error = errno;
	if (child->pid == 0) {
		close(gate[1]);
		close(report[0]);
		become_command(gate[0], report[1], argv, as);
	}
	close(gate[0]);
	close(report[1]);
	child->gate_fd = gate[1];
	child->report_fd = report[0];
	if (child->pid < 0) {
		child->pid = 0;
		child_abandon(child);
		return -error;
	}
	return 0;
}

int child_start(struct child *child, char **argv)
{
	int error = 0;
	ssize_t got;

	if (write(child->gate_fd, "", 1) != 1)
		return fail(argv[0], "could not start: %s", strerror(errno));
	close(child->gate_fd);
	child->gate_fd = -1;
	do
		got = read(child->report_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(child->report_fd);
	child->report_fd = -1;
	if (got == 0) {
		child->has_own_group = getpgid(child->pid) == child->pid;
		return 0;
	}
	waitpid(child->pid, NULL, 0);
	child->pid = 0;
	fail(argv[0], "%s", strerror(error));
	return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

void child_reap(struct child *child)
{
	int status;

	if (!child->pid || child->ended || waitpid(child->pid, &status, WNOHANG) != child->pid)
		return;
	child->ended = true;
	child->status = WIFSIGNALED(status) ? EXIT_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_abandon(struct child *child)
{
	if (child->gate_fd >= 0)
		close(child->gate_fd);
	if (child->report_fd >= 0)
		close(child->report_fd);
	child->gate_fd = child->report_fd = -1;
	if (child->pid > 0 && !child->ended)
		waitpid(child->pid, NULL, 0);
	child->pid = 0;
}
