// SPDX-License-Identifier: GPL-2.0
/* Takes hold of the next process that another one forks, at its first pread, prints what it may do, and kills it.
 *   seize PID   says "waits", then the lines of its /proc/PID/status and "files N", "killed" */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "seize: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void print_status(pid_t pid)
{
	char path[64], line[256];
	struct dirent *entry;
	int files = 0;
	FILE *file;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		fputs(line, stdout);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		files += entry->d_name[0] != '.';
	printf("files %d\n", files);
}

/* Lets it go from call to call until it reads its file. */
static void until_it_reads(pid_t pid)
{
	struct __ptrace_syscall_info info;
	int status;

	for (;;) {
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			die("it ended before it read anything");
		memset(&info, 0, sizeof(info));
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_pread64)
			return;
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
			die("ptrace");
	}
}

int main(int argc, char **argv)
{
	pid_t parent = argc == 2 ? (pid_t)atoi(argv[1]) : 0;
	unsigned long child = 0;
	int status;

	if (!parent ||
	    ptrace(PTRACE_SEIZE, parent, NULL, PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD))
		die("can't take hold of it");
	puts("waits");
	fflush(stdout);
	do {
		if (child || waitpid(parent, &status, __WALL) != parent || WIFEXITED(status) || WIFSIGNALED(status))
			die("it forks nothing");
		if (status >> 16 == PTRACE_EVENT_FORK || status >> 16 == PTRACE_EVENT_CLONE)
			ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child);
		if (!child)
			ptrace(PTRACE_CONT, parent, NULL, NULL);
	} while (!child);
	ptrace(PTRACE_DETACH, parent, NULL, NULL);
	until_it_reads((pid_t)child);
	print_status((pid_t)child);
	kill((pid_t)child, SIGKILL);
	puts("killed");
	return 0;
}
