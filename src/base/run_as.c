// SPDX-License-Identifier: GPL-2.0
/* Whom a command runs as. Users and groups are read from their files: the C library's way would load what a program
 * that is linked statically can't. */
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"

static void keep_text(char into[RUN_AS_TEXT], const char *text)
{
	if (text && strlen(text) < RUN_AS_TEXT)
		strcpy(into, text);
}

/* By name, or by number where that is NULL. False: /etc/passwd does not have it. */
static bool find_user(struct run_as *as, const char *name)
{
	FILE *users = fopen("/etc/passwd", "re");
	struct passwd *user = NULL;

	while (users && (user = fgetpwent(users)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == as->uid)
			break;
	if (user) {
		as->uid = user->pw_uid;
		as->gid = name ? user->pw_gid : as->gid;
		keep_text(as->name, user->pw_name);
		keep_text(as->home, user->pw_dir);
		keep_text(as->shell, user->pw_shell);
	}
	if (users)
		fclose(users);
	return user;
}

static void find_groups(struct run_as *as)
{
	FILE *groups = fopen("/etc/group", "re");
	struct group *group;

	as->groups[as->groups_len++] = as->gid;
	while (groups && as->name[0] && (group = fgetgrent(groups)))
		for (char **member = group->gr_mem; *member && as->groups_len < RUN_AS_GROUPS; member++)
			if (!strcmp(*member, as->name) && group->gr_gid != as->gid)
				as->groups[as->groups_len++] = group->gr_gid;
	if (groups)
		fclose(groups);
}

int run_as_find(struct run_as *as, const char *wanted, struct reason *why)
{
	u64 number;

	*as = (struct run_as){ .uid = geteuid(), .gid = getegid() };
	if (!wanted) {
		if (!sudo_caller(&as->uid, &as->gid))
			return 0;
		find_user(as, NULL);
	} else if (!find_user(as, wanted)) {
		if (parse_number(wanted, 0xfffffffe, &number)) {
			reason_set(why, "there is no user '%s' in /etc/passwd", wanted);
			return -ENOENT;
		}
		as->uid = (uid_t)number;
		as->gid = (gid_t)number;
		if (find_user(as, NULL))
			find_user(as, as->name);
	}
	as->changes = as->uid != geteuid();
	if (as->changes && geteuid() != 0) {
		reason_set(why, "only root can run a command as another user");
		return -EPERM;
	}
	find_groups(as);
	return 0;
}

static void set_variable(const char *name, const char *value)
{
	if (value[0])
		setenv(name, value, 1);
}

/* Where the user's session has its sockets; sudo leaves it out. */
static void set_session(const struct run_as *as)
{
	char folder[64], bus[sizeof(folder) + 32];
	struct stat info;

	snprintf(folder, sizeof(folder), "/run/user/%u", (unsigned int)as->uid);
	if (stat(folder, &info) || !S_ISDIR(info.st_mode) || info.st_uid != as->uid) {
		unsetenv("XDG_RUNTIME_DIR");
		return;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	snprintf(bus, sizeof(bus), "unix:path=%s/bus", folder);
	if (!stat(bus + strlen("unix:path="), &info))
		setenv("DBUS_SESSION_BUS_ADDRESS", bus, 1);
}

/* Who is in a session may read its keys, whoever he becomes: another user gets a session of his own, with his keys, as
 * by login. */
static int leave_keys(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		/* The kernel has none, or a container lets nobody near them. */
		return errno == ENOSYS || errno == EPERM ? 0 : -errno;
	syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_SESSION_KEYRING);
	return 0;
}

int run_as_become(const struct run_as *as)
{
	int error;

	if (!as->changes)
		return 0;
	if (setgroups(as->groups_len, as->groups) || setresgid(as->gid, as->gid, as->gid) ||
	    setresuid(as->uid, as->uid, as->uid))
		return -errno;
	/* What can't be taken back must not be there to be taken back. */
	if (as->uid && !setresuid(0, 0, 0))
		return -EPERM;
	error = leave_keys();
	if (error)
		return error;
	set_variable("HOME", as->home);
	set_variable("USER", as->name);
	set_variable("LOGNAME", as->name);
	set_variable("SHELL", as->shell);
	set_session(as);
	return 0;
}
