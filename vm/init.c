/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's first process: makes a root out of the host's files, runs the command that the line brings, sends back
 * what it prints and how it ends. Alone in the initramfs but for modules, so that a boot costs next to nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "line.h"

#define HOST "/host" /* the host's root, read-only */
#define OVER "/over" /* programs for this machine, where the host is of another kind, read-only */
#define TOP "/top"   /* where writes go: memory */
#define ROOT "/root" /* the two together */

/* Read-only and for one short run, so the guest may keep what it has read; without extended attributes because
 * overlayfs asks for one at every look-up, each a trip to the host. */
#define HOST_OPTIONS "trans=virtio,version=9p2000.L,msize=524288,cache=loose,noxattr"
#define TOP_OPTIONS ",upperdir=" TOP "/upper,workdir=" TOP "/work"
#define ROOT_OPTIONS "lowerdir=" HOST TOP_OPTIONS
#define ROOT_OPTIONS_OVER "lowerdir=" OVER ":" HOST TOP_OPTIONS

struct place {
	const char *type;
	const char *path; /* under ROOT */
	const char *options;
	int may_fail; /* kernels are built without it */
};

static const struct place places[] = {
	{ "proc", "/proc", "", 0 },
	{ "sysfs", "/sys", "", 0 },
	{ "devtmpfs", "/dev", "mode=755", 0 },
	{ "devpts", "/dev/pts", "mode=620,ptmxmode=666", 0 },
	{ "tmpfs", "/dev/shm", "mode=1777", 0 },
	{ "mqueue", "/dev/mqueue", "", 1 },
	{ "tracefs", "/sys/kernel/tracing", "", 0 },
	{ "debugfs", "/sys/kernel/debug", "", 1 },
	{ "securityfs", "/sys/kernel/security", "", 1 },
	{ "bpf", "/sys/fs/bpf", "mode=700", 0 },
	{ "cgroup2", "/sys/fs/cgroup", "", 0 },
	{ "tmpfs", "/run", "mode=755", 0 },
	{ "tmpfs", "/tmp", "mode=1777", 0 },
};

static const char *const environment[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
	"USER=root",
	"LOGNAME=root",
	"SHELL=/bin/bash",
	"TERM=dumb",
	"LANG=C.UTF-8",
};
#define ENVIRONMENT_TEXTS (sizeof(environment) / sizeof(environment[0]))

/* QEMU is told not to reboot, so this ends it, and the host shows the console's last lines. */
static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...)
{
	const char *why = strerror(errno);
	va_list values;

	fprintf(stderr, "tactus: init: ");
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fprintf(stderr, ": %s\n", why);
	reboot(RB_AUTOBOOT);
	_exit(EXIT_FAILURE);
}

static void nap_ms(long ms)
{
	struct timespec span = { .tv_nsec = ms * 1000000 };

	nanosleep(&span, NULL);
}

/* The list is in the order in which they need each other; a kernel of one piece has none. */
static void load_modules(void)
{
	char path[PATH_MAX];
	FILE *list = fopen("/modules/list", "r");
	int fd;

	if (!list)
		return;
	while (fscanf(list, "%4095s", path) == 1) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) < 0)
			fail("cannot load %s", path);
		close(fd);
	}
	fclose(list);
}

static void make_folder(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		fail("cannot make the folder %s", path);
}

static void mount_or_fail(const char *what, const char *where, const char *type, unsigned long flags,
			  const char *options)
{
	if (mount(what, where, type, flags, options) < 0)
		fail("cannot mount %s on %s", what, where);
}

/* The port appears a moment after its driver, which a virtual clock may count as many; nothing is to be read until the
 * host's side is known to be open. */
static int line_open(void)
{
	int tries;
	int fd;

	for (tries = 0; tries < 20000; tries++) {
		fd = open(LINE_PORT, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		nap_ms(5);
	}
	fail("cannot open %s", LINE_PORT);
}

static void line_read(int line, void *to, size_t length)
{
	char *at = to;
	ssize_t got;

	while (length > 0) {
		got = read(line, at, length);
		if (got < 0 && errno != EINTR)
			fail("cannot read the job");
		if (got == 0)
			nap_ms(5);
		if (got <= 0)
			continue;
		at += got;
		length -= (size_t)got;
	}
}

static void job_read(int line, const char *job[JOB_TEXTS])
{
	struct line_head head;
	char *bytes;
	int i;

	line_read(line, &head, sizeof(head));
	bytes = malloc(head.length);
	if (!bytes)
		fail("no memory for a job of %u bytes", head.length);
	line_read(line, bytes, head.length);
	for (i = 0; i < JOB_TEXTS; i++) {
		job[i] = bytes;
		bytes += strlen(bytes) + 1;
	}
}

static int lies_under(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* A checkout in /tmp or /run must stay visible: there the host's folder shows instead of an empty one. */
static int must_stay(const struct place *place, const char *const job[JOB_TEXTS])
{
	return lies_under(job[JOB_DIRECTORY], place->path) || lies_under(job[JOB_CACHE], place->path);
}

static void root_make(void)
{
	int has_over;

	make_folder(HOST);
	make_folder(OVER);
	make_folder(TOP);
	make_folder(ROOT);
	mount_or_fail("host", HOST, "9p", MS_RDONLY, HOST_OPTIONS);
	mount_or_fail("top", TOP, "tmpfs", 0, "mode=755");
	make_folder(TOP "/upper");
	make_folder(TOP "/work");
	has_over = mount("over", OVER, "9p", MS_RDONLY, HOST_OPTIONS) == 0;
	mount_or_fail("root", ROOT, "overlay", 0, has_over ? ROOT_OPTIONS_OVER : ROOT_OPTIONS);
}

/* Whoever runs QEMU as an ordinary user may not look into the host's root's home, which is the command's own here. */
static void home_open(void)
{
	int fd = open(HOST "/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else if (errno == EACCES || errno == EPERM)
		mount_or_fail("tmpfs", ROOT "/root", "tmpfs", 0, "mode=700");
}

static void root_furnish(const char *const job[JOB_TEXTS])
{
	const struct place *place;
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place = &places[i];
		if (must_stay(place, job))
			continue;
		snprintf(path, sizeof(path), "%s%s", ROOT, place->path);
		mkdir(path, 0755);
		if (mount(place->type, path, place->type, 0, place->options) < 0 && !place->may_fail)
			fail("cannot mount %s on %s", place->type, place->path);
	}
}

/* A bind mount wants something to lie on: an empty folder or file of the same name, in memory. */
static void lend(const char *from, const char *to, int is_folder)
{
	struct stat info;
	int fd;

	if (stat(from, &info) < 0)
		return;
	if (is_folder)
		mkdir(to, 0755);
	else if ((fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0644)) >= 0)
		close(fd);
	mount_or_fail(from, to, NULL, MS_BIND, NULL);
}

/* modprobe and libbpf look for these where the running kernel's package would have put them. */
static void lend_kernel_files(const char *image)
{
	struct utsname name;
	char from[PATH_MAX];
	char to[PATH_MAX];

	uname(&name);
	mkdir(ROOT "/lib/modules", 0755);
	snprintf(from, sizeof(from), HOST "%s/modules", image);
	snprintf(to, sizeof(to), ROOT "/lib/modules/%s", name.release);
	lend(from, to, 1);
	mkdir(ROOT "/boot", 0755);
	snprintf(from, sizeof(from), HOST "%s/config", image);
	snprintf(to, sizeof(to), ROOT "/boot/config-%s", name.release);
	lend(from, to, 0);
}

static void root_enter(void)
{
	if (chdir(ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 || chdir("/") < 0)
		fail("cannot enter the root");
}

static void link_or_fail(const char *to, const char *path)
{
	if (symlink(to, path) < 0 && errno != EEXIST)
		fail("cannot make the link %s", path);
}

/* What udev and the start scripts of a distribution do. */
static void finish_system(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd;

	link_or_fail("/proc/self/fd", "/dev/fd");
	link_or_fail("/proc/self/fd/0", "/dev/stdin");
	link_or_fail("/proc/self/fd/1", "/dev/stdout");
	link_or_fail("/proc/self/fd/2", "/dev/stderr");
	mkdir("/run/lock", 0755);
	sethostname("tactus-vm", strlen("tactus-vm"));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		fail("cannot bring the loopback network up");
	close(fd);
}

static void command_exec(const char *const job[JOB_TEXTS], int output)
{
	char name[64];
	const char *texts[ENVIRONMENT_TEXTS + 2];
	sigset_t none;

	memcpy(texts, environment, sizeof(environment));
	snprintf(name, sizeof(name), "TACTUS_VM=%s", job[JOB_KERNEL]);
	texts[ENVIRONMENT_TEXTS] = name;
	texts[ENVIRONMENT_TEXTS + 1] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDONLY) != STDIN_FILENO || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0)
		_exit(126);
	if (chdir(job[JOB_DIRECTORY]) < 0) {
		fprintf(stderr, "tactus: vm: cannot enter %s: %s\n", job[JOB_DIRECTORY], strerror(errno));
		_exit(126);
	}
	execle("/bin/bash", "bash", "-c", job[JOB_COMMAND], NULL, texts);
	execle("/bin/sh", "sh", "-c", job[JOB_COMMAND], NULL, texts);
	_exit(127);
}

static pid_t command_start(const char *const job[JOB_TEXTS], int *output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		command_exec(job, ends[1]);
	close(ends[1]);
	*output = ends[0];
	return pid;
}

/* Sends one frame of what is there. Returns its length; 0 when nobody is left who could write. */
static size_t send_output(int line, int output, size_t most)
{
	static char frame[LINE_CHUNK];
	struct line_head head;
	ssize_t got;

	if (most > sizeof(frame) - sizeof(head))
		most = sizeof(frame) - sizeof(head);
	got = read(output, frame + sizeof(head), most);
	if (got <= 0)
		return 0;
	head.length = (uint32_t)got;
	memcpy(frame, &head, sizeof(head));
	if (line_write(line, frame, sizeof(head) + (size_t)got) < 0)
		fail("cannot write to the line");
	return (size_t)got;
}

/* What the command left in the pipe, and no more: its children may still be there and write for ever. */
static void send_rest(int line, int output)
{
	size_t sent = 1;
	int left = 0;

	ioctl(output, FIONREAD, &left);
	while (left > 0 && sent > 0) {
		sent = send_output(line, output, (size_t)left);
		left -= (int)sent;
	}
}

/* Collects the dead, which all become children of this process. Returns 1 when the command is among them. */
static int reap(pid_t command, int *status)
{
	int ended = 0;
	int how;
	pid_t pid;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		ended = 1;
		*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	}
	return ended;
}

static void noop(int signal)
{
	(void)signal;
}

/* SIGCHLD is let in only while waiting, so that no death can slip in between looking and waiting. */
static void signals_prepare(sigset_t *while_waiting)
{
	struct sigaction action = { .sa_handler = noop };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, while_waiting);
	sigdelset(while_waiting, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
}

static int command_run(int line, const char *const job[JOB_TEXTS])
{
	struct pollfd wait = { .events = POLLIN };
	sigset_t while_waiting;
	int status = 0;
	int output;
	pid_t command;

	signals_prepare(&while_waiting);
	command = command_start(job, &output);
	wait.fd = output;
	while (!reap(command, &status)) {
		wait.revents = 0;
		ppoll(&wait, 1, NULL, &while_waiting);
		if (wait.revents && send_output(line, output, LINE_CHUNK) == 0)
			wait.fd = -1;
	}
	send_rest(line, output);
	return status;
}

/* With tactus_init=PROGRAM among the kernel's parameters that program becomes the first process, as on a machine of its
 * own, and what this one does goes on in a child. */
static void first_process_give(void)
{
	const char *program = getenv("tactus_init");
	pid_t pid;

	if (!program)
		return;
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		return;
	execl(program, program, NULL);
	fail("cannot run %s", program);
}

int main(void)
{
	const char *job[JOB_TEXTS];
	struct {
		struct line_head head;
		unsigned char status;
	} __attribute__((packed)) end = { { 0 }, 0 };
	int line;

	load_modules();
	make_folder("/dev");
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	line = line_open();
	job_read(line, job);
	root_make();
	root_furnish(job);
	home_open();
	lend_kernel_files(job[JOB_IMAGE]);
	root_enter();
	finish_system();
	first_process_give();
	end.status = (unsigned char)command_run(line, job);
	if (line_write(line, &end, sizeof(end)) < 0)
		fail("cannot report the status");
	for (;;)
		pause();
}
