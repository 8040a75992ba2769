// SPDX-License-Identifier: GPL-2.0
/* Questions to the kernel about itself, through /proc, /sys and a few system calls.
 * An answer that can't be had is "no", never an error of the caller's. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

enum { TRACEFS_MAGIC_NUMBER = 0x74726163 };

const struct capability capabilities[] = {
	{ "CAP_BPF", CAP_BPF, "load BPF programs", true },
	{ "CAP_PERFMON", CAP_PERFMON, "attach them to the scheduler", true },
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN, "replace the scheduler, mount tracefs", false },
};
const size_t capabilities_len = sizeof(capabilities) / sizeof(capabilities[0]);

static bool effective(int number)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return data[number / 32].effective >> (number % 32) & 1;
}

bool capability_held(const struct capability *capability)
{
	/* Before CAP_BPF and CAP_PERFMON were split off, CAP_SYS_ADMIN stood for both, and it still does. */
	return effective(capability->number) || (capability->required && effective(CAP_SYS_ADMIN));
}

bool may_load_programs(struct reason *why)
{
	char missing[128] = "";

	for (size_t i = 0; i < capabilities_len; i++) {
		size_t used = strlen(missing);

		if (capabilities[i].required && !capability_held(&capabilities[i]))
			snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? " and " : "",
				 capabilities[i].name);
	}
	if (!missing[0])
		return true;
	reason_set(why, "needs %s: run it as root", missing);
	return false;
}

const char *kernel_release(void)
{
	static struct utsname name;

	return uname(&name) == 0 ? name.release : "unknown";
}

bool kernel_is_at_least(unsigned int major, unsigned int minor)
{
	unsigned int own_major = 0, own_minor = 0;

	if (sscanf(kernel_release(), "%u.%u", &own_major, &own_minor) != 2)
		return false;
	return own_major > major || (own_major == major && own_minor >= minor);
}

bool kernel_has_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

int read_line_at(int dir_fd, const char *path, char *line, size_t size)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int error;

	line[0] = '\0';
	if (fd < 0)
		return -errno;
	got = read(fd, line, size - 1);
	error = errno;
	close(fd);
	if (got < 0)
		return -error;
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

bool kernel_groups_sessions(void)
{
	char line[4];

	return !read_line_at(AT_FDCWD, "/proc/sys/kernel/sched_autogroup_enabled", line, sizeof(line)) &&
	       line[0] == '1';
}

#ifdef __aarch64__
/* It is kept with each thread there. */
bool kernel_shows_interrupts(void)
{
	return kernel_has_btf();
}
#else
bool kernel_shows_interrupts(void)
{
	static enum { NOT_ASKED, NO, YES } answer;
	FILE *symbols = answer == NOT_ASKED ? fopen("/proc/kallsyms", "re") : NULL;
	char line[256], name[128];

	if (answer == NOT_ASKED)
		answer = NO;
	while (symbols && answer == NO && fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%*s %*c %127s", name) == 1 &&
		    (!strcmp(name, "pcpu_hot") || !strcmp(name, "__preempt_count")))
			answer = YES;
	if (symbols)
		fclose(symbols);
	return answer == YES;
}
#endif

u32 possible_cpus(void)
{
	char line[256];
	const char *last;
	long online = sysconf(_SC_NPROCESSORS_CONF);

	/* A list of ranges such as "0-3,8-11": the last number is the highest. */
	if (read_line_at(AT_FDCWD, "/sys/devices/system/cpu/possible", line, sizeof(line)) == 0) {
		last = line + strlen(line);
		while (last > line && last[-1] >= '0' && last[-1] <= '9')
			last--;
		if (*last)
			return (u32)strtoul(last, NULL, 10) + 1;
	}
	return online > 0 ? (u32)online : 1;
}

struct sched_ext_state sched_ext_state(void)
{
	struct sched_ext_state state = { 0 };
	char line[32];

	if (read_line_at(AT_FDCWD, "/sys/kernel/sched_ext/state", line, sizeof(line)) < 0)
		return state;
	state.available = true;
	if (strcmp(line, "disabled") != 0 &&
	    read_line_at(AT_FDCWD, "/sys/kernel/sched_ext/root/ops", state.loaded, sizeof(state.loaded)) < 0)
		snprintf(state.loaded, sizeof(state.loaded), "unknown (%s)", line);
	return state;
}

static int open_tracefs_at(const char *path)
{
	struct statfs info;
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &info) == 0 && info.f_type == TRACEFS_MAGIC_NUMBER)
		return fd;
	close(fd);
	return -ENOENT;
}

static int mount_tracefs_unseen(void)
{
	int config_fd, fd, error;

	config_fd = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (config_fd < 0)
		return -errno;
	fd = -1;
	if (syscall(SYS_fsconfig, config_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, config_fd, FSMOUNT_CLOEXEC, 0);
	error = errno;
	close(config_fd);
	return fd < 0 ? -error : fd;
}

int tracefs_open(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int fd = open_tracefs_at(places[i]);

		if (fd >= 0)
			return fd;
	}
	return mount_tracefs_unseen();
}
