// SPDX-License-Identifier: GPL-2.0
/* base/proc_apart.c and proc_reader.c: what is read of a process by another is what is there; one that reads for ever
 * is left, and used again when it has come to its end; what such a process may do. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/loop.h"
#include "../../src/base/proc_apart.h"
#include "tap.h"

static size_t read_here(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY);
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

static pid_t first_child(pid_t of)
{
	char name[64], text[4096];

	snprintf(name, sizeof(name), "task/%d/children", (int)of);
	read_here(of, name, text, sizeof(text));
	return atoi(text);
}

static void test_same(pid_t pid, const char *name)
{
	static char here[65536], apart[65536];
	size_t len = read_here(pid, name, here, sizeof(here));
	ssize_t got = proc_apart_read((u32)pid, name, apart, sizeof(apart));

	is((u64)got, len, "bytes of %s that a process apart reads are as many", name);
	ok(!memcmp(here, apart, len), "the same bytes of %s are read by a process apart", name);
}

static void test_part(pid_t pid)
{
	char text[4];

	is((u64)proc_apart_read((u32)pid, "environ", text, sizeof(text)), sizeof(text),
	   "no more is read than there is room for");
}

static void test_find(pid_t pid)
{
	struct stat seen, wanted;
	int fd = proc_apart_find((u32)pid, "exe");

	fstat(fd, &seen);
	stat("/proc/self/exe", &wanted);
	close(fd);
	is(seen.st_ino, wanted.st_ino, "a file that is found by a process apart is that file");
	is((u64)proc_apart_find((u32)pid, "nothing"), (u64)-ENOENT, "a file that is not there is not found");
	is((u64)proc_apart_read(0x7fffffff, "cmdline", (char[4]){ 0 }, 4), (u64)-ENOENT,
	   "a process that is not there has no command line");
}

static u64 field_of(pid_t pid, const char *field)
{
	char text[4096], *at;

	read_here(pid, "status", text, sizeof(text));
	at = strstr(text, field);
	return at ? strtoull(at + strlen(field), NULL, 16) : ~0ull;
}

static void test_rights(pid_t reader)
{
	const u64 kept = 1ull << 2 | 1ull << 19 | 1ull << 40;

	is(field_of(reader, "\nCapPrm:\t") & ~kept, 0, "who reads /proc has no other capability than to read it");
	is(field_of(reader, "\nNoNewPrivs:\t"), 1, "who reads /proc can get no rights");
	is(field_of(reader, "\nSeccomp:\t"), 2, "who reads /proc has a filter of system calls");
}

/* A stopped one stands for one that waits in the kernel. */
static void test_hang(pid_t pid, pid_t reader)
{
	u64 before = proc_apart_unanswered(), began_ns = clock_now_ns();
	char text[64];
	pid_t other;

	kill(reader, SIGSTOP);
	is((u64)proc_apart_read((u32)pid, "cmdline", text, sizeof(text)), (u64)-ETIMEDOUT,
	   "a reader that hangs is not waited for");
	printf("# measured: it was waited for %llu ms\n",
	       (unsigned long long)((clock_now_ns() - began_ns) / NSEC_PER_MSEC));
	is(proc_apart_unanswered() - before, 1, "a reader that hangs is counted");
	test_same(pid, "cmdline");
	other = first_child(proc_apart_process());
	kill(reader, SIGCONT);
	ok(other > 0, "readers are there after one that hung");
	/* It is used again once it has answered what nobody waits for any more. */
	for (int i = 0; i < 100; i++)
		proc_apart_read((u32)pid, "environ", text, sizeof(text));
	is(proc_apart_unanswered() - before, 1, "no more is missed once the reader goes on");
}

static void test_killed(pid_t pid, pid_t reader)
{
	char text[64];

	kill(reader, SIGKILL);
	while (!kill(reader, 0))
		usleep(1000);
	ok(proc_apart_read((u32)pid, "cmdline", text, sizeof(text)) > 0, "another reads when the reader was killed");
}

int main(void)
{
	struct reason why = { "" };
	pid_t pid, reader;

	if (proc_apart_start(&why))
		return printf("1..0 # SKIP %s\n", why.text), 0;
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	test_same(pid, "cmdline");
	test_same(pid, "environ");
	test_part(pid);
	test_find(pid);
	reader = first_child(proc_apart_process());
	if (geteuid() == 0)
		test_rights(reader);
	test_hang(pid, reader);
	test_killed(pid, reader);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return tap_end();
}
