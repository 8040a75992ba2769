/* SPDX-License-Identifier: GPL-2.0 */
/* Whose command it is that is started, and what the program gives up once everything is in place.
 * Each capability that is kept stands in a table in privileges.c, with what it is for. */
#ifndef TACTUS_BASE_PRIVILEGES_H
#define TACTUS_BASE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../core/types.h"
#include "say.h"

/* The user who called through sudo. False: none did, or root itself. */
bool sudo_caller(uid_t *uid, gid_t *gid);

/* Root, who runs this program, or who called it through sudo. */
bool is_trusted_user(uid_t uid);

enum { RUN_AS_GROUPS = 256, RUN_AS_TEXT = 256 };

/* Whom the command after `--` runs as. */
struct run_as {
	bool changes; /* false: who runs this program */
	uid_t uid;
	gid_t gid;
	gid_t groups[RUN_AS_GROUPS];
	size_t groups_len;
	char name[RUN_AS_TEXT], home[RUN_AS_TEXT], shell[RUN_AS_TEXT]; /* "": not known */
};

/* By name or number; NULL: the caller of sudo, or who runs this program. Users and groups are those of /etc/passwd and
 * /etc/group. Returns 0, or -errno with the reason. */
int run_as_find(struct run_as *as, const char *wanted, struct reason *why);

/* Becomes that user, for good, with what a program finds of him in its environment. Returns 0 or -errno. */
int run_as_become(const struct run_as *as);

/* What is still to be done by the time that privileges are given up. */
enum {
	NEED_SENSORS = 1 << 0,	 /* goes on reading what the kernel half keeps */
	NEED_TO_PROBE = 1 << 1,	 /* goes on looking at other users' processes, and puts probes on what they map */
	NEED_TO_ACT = 1 << 2,	 /* changes how other users' threads are scheduled */
	NEED_TO_SIGNAL = 1 << 3, /* has a command that runs as another user */
	NEED_TO_CREATE = 1 << 4, /* makes files later, in a folder of its caller's */
};

/* Adds to what is needed. */
void privileges_need(unsigned int needs);

/* Keeps only the capabilities that are needed, can't get others any more, and does without system calls that are never
 * needed. A child that was forked before is as it was. What a kernel does not know is left out. */
void privileges_give_up(void);

/* The same for who only reads from now on what is open, and prints: no capability, no file is written or made. */
void privileges_give_up_all(void);

/* The same for who still has to rename or remove a file of that folder, a descriptor; -1: none. */
void privileges_give_up_but_folder(int folder);

/* The same for who still makes, writes and renames files in that folder. */
void privileges_give_up_but_writing(int folder);

/* The same for who still asks servers. */
void privileges_give_up_but_asking(void);

#endif
