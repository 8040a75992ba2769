// SPDX-License-Identifier: GPL-2.0
/* base/privileges.c and base/run_as.c: what is left after giving up, each tried by a child of its own. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/privileges.h"
#include "tap.h"

/* What the attempt says after giving up: 0, or an errno. */
static int after(void (*give_up)(void), int (*attempt)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		give_up();
		_exit(attempt() ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int try_exec(void)
{
	return execl("/bin/true", "true", (char *)NULL);
}
static int try_trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, 0, 0);
}
static int try_mount(void)
{
	return mount("none", "/nonexistent", "tmpfs", 0, NULL);
}
static int try_module(void)
{
	return (int)syscall(SYS_init_module, NULL, 0, "");
}
static int try_unshare(void)
{
	return unshare(CLONE_NEWUSER);
}
static int try_internet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0;
}
static int try_local(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}
static int try_uring(void)
{
	return (int)syscall(SYS_io_uring_setup, 0, NULL) < 0;
}
static int try_read(void)
{
	return open("/etc/passwd", O_RDONLY) < 0;
}
static int try_write(void)
{
	return open("/tmp/tactus-privileges-test", O_WRONLY | O_CREAT, 0600) < 0;
}
static int try_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}
static int has_new_privileges(void)
{
	errno = EINVAL;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* 0: there are none but those that are allowed, and errno is how many there are else. */
static int has_others(u64 allowed)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long held = ~0ULL;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapPrm: %llx", &held) == 1)
			break;
	errno = __builtin_popcountll(held & ~allowed);
	return errno;
}
static int has_more_than_sensors(void)
{
	/* perfmon and bpf; sys_admin where those are not had. */
	return has_others(1ULL << 38 | 1ULL << 39 | (has_others(~(1ULL << 39)) ? 0 : 1ULL << 21));
}
static int has_any(void)
{
	return has_others(0);
}

static void give_up_all_but_sensors(void)
{
	privileges_need(NEED_SENSORS);
	privileges_give_up();
}

static void test_after_attaching(void)
{
	is(after(give_up_all_but_sensors, try_exec), EPERM, "exec is refused after attaching");
	is(after(give_up_all_but_sensors, try_trace), EPERM, "ptrace is refused after attaching");
	is(after(give_up_all_but_sensors, try_mount), EPERM, "mount is refused after attaching");
	is(after(give_up_all_but_sensors, try_module), EPERM, "loading a module is refused after attaching");
	is(after(give_up_all_but_sensors, try_unshare), EPERM, "new namespace is refused after attaching");
	is(after(give_up_all_but_sensors, try_internet), EPERM, "socket to elsewhere is refused after attaching");
	is(after(give_up_all_but_sensors, try_uring), EPERM, "io_uring is refused after attaching");
	is(after(give_up_all_but_sensors, try_local), 0, "local socket is there after attaching");
	is(after(give_up_all_but_sensors, try_read), 0, "files are read after attaching");
	is(after(give_up_all_but_sensors, try_fork), 0, "fork works after attaching");
	is(after(give_up_all_but_sensors, has_new_privileges), 0, "privileges can't be got back after attaching");
	is(after(give_up_all_but_sensors, has_more_than_sensors), 0,
	   "capabilities after attaching are those of the table");
}

static void test_reading_only(void)
{
	int landlock = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

	is(after(privileges_give_up_all, try_exec), EPERM, "exec is refused to who only reads");
	is(after(privileges_give_up_all, try_local), EPERM, "local socket is refused to who only reads");
	is(after(privileges_give_up_all, try_read), 0, "files are read by who only reads");
	is(after(privileges_give_up_all, has_any), 0, "capabilities of who only reads are none");
	/* Where this kernel has no Landlock, who may write is what the file says. */
	if (landlock > 0)
		is(after(privileges_give_up_all, try_write), EACCES, "no file is made by who only reads");
	unlink("/tmp/tactus-privileges-test");
}

static void test_users(void)
{
	struct reason why = { "" };
	struct run_as as;
	uid_t uid;
	gid_t gid;

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	ok(!sudo_caller(&uid, &gid), "caller without sudo is nobody else");
	is(run_as_find(&as, NULL, &why), 0, "command without sudo has a user");
	ok(!as.changes, "command without sudo runs as who runs the program");
	is(run_as_find(&as, "no such user", &why), -ENOENT, "user that is not there is refused");
	ok(strstr(why.text, "no such user") != NULL, "user that is not there is told: %s", why.text);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	if (geteuid() != 0) {
		ok(!sudo_caller(&uid, &gid), "claims of sudo are nothing to who is not root");
		is(run_as_find(&as, "root", &why), -EPERM, "user root is refused to who is not root");
		return;
	}
	ok(sudo_caller(&uid, &gid), "caller of sudo is known");
	is(uid, 65534, "caller of sudo is known by its user");
	is(gid, 65533, "caller of sudo is known by its group");
	is(run_as_find(&as, NULL, &why), 0, "command under sudo has a user");
	ok(as.changes, "command under sudo runs as somebody else");
	is(as.uid, 65534, "command under sudo runs as who called");
	is(as.gid, 65533, "command under sudo runs in the group of who called");
	if (ok(as.groups_len >= 1, "command under sudo has groups"))
		is(as.groups[0], 65533, "command under sudo has its caller's groups");
	is(run_as_find(&as, "root", &why), 0, "user root can be asked for under sudo");
	ok(!as.changes, "command for which root was asked runs as root");
	is(run_as_find(&as, "4242", &why), 0, "user can be a number");
	is(as.uid, 4242, "user by number has that number");
	setenv("SUDO_UID", "4294967295", 1);
	ok(!sudo_caller(&uid, &gid), "number that means none is no caller");
	setenv("SUDO_UID", "12x", 1);
	ok(!sudo_caller(&uid, &gid), "text that is no number is no caller");
	setenv("SUDO_UID", "0", 1);
	ok(!sudo_caller(&uid, &gid), "root that calls sudo is no other user");
}

int main(void)
{
	test_after_attaching();
	test_reading_only();
	test_users();
	return tap_end();
}
