// SPDX-License-Identifier: GPL-2.0
/* Keeps the links of probes in user space, each with the file that it is in. The kernel would put a breakpoint at the
 * same offset of whatever is written into that file later, in the middle of an instruction: inotify reports it in
 * time. */
#include "uprobes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/descriptors.h"
#include "../base/elf.h"
#include "../base/system.h"
#include "../base/vec.h"
#include "link_closer.h"

/* Links to files that are not root's: a user can make as many such files as he likes, and each link is two descriptors.
 * One libcuda takes up to 1,300 where each function has a probe of its own. */
enum { LINKS_EACH_USER = 4096, LINKS_ALL_USERS = 3 * LINKS_EACH_USER };

struct uprobe {
	struct bpf_link *link;
	const struct bpf_program *program;
	u64 device, inode, offset;
	u64 places; /* of many at once: a hash of all their offsets and cookies */
	u32 owner;  /* of the file */
	u32 pid;    /* the process that it is for; 0: for all */
	enum uprobe_side side;
	int watch; /* inotify's number for the file */
	bool is_doubted;
};

struct uprobes {
	struct uprobe *probes;
	u32 len, room;
	int inotify_fd;
};

int uprobes_open(struct uprobes **out)
{
	struct uprobes *uprobes = calloc(1, sizeof(*uprobes));

	*out = uprobes;
	if (!uprobes)
		return -ENOMEM;
	descriptors_allow();
	uprobes->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return 0;
}

/* The only attach type that there is for probes is uprobe.multi's. */
static void close_soon(const struct uprobe *probe)
{
	link_close_soon(probe->link, bpf_program__expected_attach_type(probe->program) ? LINK_OF_MANY : LINK_OF_PERF);
}

void uprobes_close(struct uprobes *uprobes)
{
	if (!uprobes)
		return;
	for (u32 i = 0; i < uprobes->len; i++)
		close_soon(&uprobes->probes[i]);
	links_wait_closed();
	if (uprobes->inotify_fd >= 0)
		close(uprobes->inotify_fd);
	free(uprobes->probes);
	free(uprobes);
}

/* The same probe, if it is there; how many links this file's owner has, and all owners but root. */
static struct uprobe *find(struct uprobes *uprobes, const struct uprobe *wanted, u32 *of_owner, u32 *of_users)
{
	struct uprobe *found = NULL;

	*of_owner = *of_users = 0;
	for (u32 i = 0; i < uprobes->len; i++) {
		struct uprobe *probe = &uprobes->probes[i];

		*of_owner += probe->owner == wanted->owner;
		*of_users += probe->owner != 0;
		if (probe->program == wanted->program && probe->inode == wanted->inode &&
		    probe->device == wanted->device && probe->offset == wanted->offset && probe->side == wanted->side &&
		    probe->places == wanted->places && (!probe->pid || probe->pid == wanted->pid))
			found = probe;
	}
	return found;
}

static int make_room(struct uprobes *uprobes)
{
	return vec_reserve(uprobes->probes, uprobes->room, uprobes->len + 1, 16) ? 0 : -ENOMEM;
}

typedef bool (*probe_test)(const struct uprobe *probe, const void *data);

static void drop_watch(const struct uprobes *uprobes, int watch)
{
	for (u32 i = 0; i < uprobes->len; i++)
		if (uprobes->probes[i].watch == watch)
			return;
	if (watch >= 0)
		inotify_rm_watch(uprobes->inotify_fd, watch);
}

/* Those of one file; a file that has none left is no longer watched. `is_changed`: others may be about to run what root
 * has written, so it waits until they are off. Whoever writes to his own file waits for himself. */
static void take_off_file(struct uprobes *uprobes, int watch, probe_test is_meant, const void *data, bool is_changed)
{
	bool of_root = false;
	u32 kept = 0;

	for (u32 i = 0; i < uprobes->len; i++) {
		if (uprobes->probes[i].watch == watch && is_meant(&uprobes->probes[i], data)) {
			of_root |= !uprobes->probes[i].owner;
			close_soon(&uprobes->probes[i]);
		} else {
			uprobes->probes[kept++] = uprobes->probes[i];
		}
	}
	uprobes->len = kept;
	if (of_root && is_changed)
		links_wait_closed();
	drop_watch(uprobes, watch);
}

static u32 take_off_where(struct uprobes *uprobes, probe_test is_meant, const void *data, bool is_changed)
{
	u32 before = uprobes->len;

	for (u32 i = 0; i < uprobes->len;) {
		if (is_meant(&uprobes->probes[i], data))
			take_off_file(uprobes, uprobes->probes[i].watch, is_meant, data, is_changed);
		else
			i++;
	}
	return before - uprobes->len;
}

static bool is_watched_by(const struct uprobe *probe, const void *data)
{
	return probe->watch == *(const int *)data;
}

static bool is_users(const struct uprobe *probe, const void *data)
{
	(void)data;
	return probe->owner != 0;
}

static bool is_in_file(const struct uprobe *probe, const void *data)
{
	const struct uprobe *file = data;

	return probe->device == file->device && probe->inode == file->inode && (!file->pid || probe->pid == file->pid);
}

static bool is_doubted(const struct uprobe *probe, const void *data)
{
	(void)data;
	return probe->is_doubted;
}

u32 uprobes_take_off(struct uprobes *uprobes, u64 device, u64 inode, u32 pid)
{
	const struct uprobe file = { .device = device, .inode = inode, .pid = pid };

	return take_off_where(uprobes, is_in_file, &file, false);
}

void uprobes_doubt(struct uprobes *uprobes, u64 device, u64 inode)
{
	const struct uprobe file = { .device = device, .inode = inode };

	for (u32 i = 0; i < uprobes->len; i++)
		uprobes->probes[i].is_doubted |= !uprobes->probes[i].pid && is_in_file(&uprobes->probes[i], &file);
}

void uprobes_drop_stale(struct uprobes *uprobes)
{
	take_off_where(uprobes, is_doubted, NULL, true);
}

/* Looks whether a probe may be put there, and begins to watch the file. Returns 1 if so, 0 if it is there already, or
 * -errno with a reason. */
static int prepare(struct uprobes *uprobes, struct uprobe *probe, const char *file, struct reason *why)
{
	u32 of_owner, of_users;
	struct uprobe *there;
	struct stat seen;

	probe->watch = -1;
	if (stat(file, &seen) || make_room(uprobes)) {
		int error = -errno;

		reason_set(why, "%s", strerror(-error));
		return error;
	}
	probe->device = seen.st_dev;
	probe->inode = seen.st_ino;
	probe->owner = seen.st_uid;
	there = find(uprobes, probe, &of_owner, &of_users);
	if (there) {
		there->is_doubted = false;
		return 0;
	}
	if (probe->owner && (of_owner >= LINKS_EACH_USER || of_users >= LINKS_ALL_USERS)) {
		reason_set(why, "files of user %u have as many probes as one user's may have", probe->owner);
		return -EDQUOT;
	}
	/* Watched first, so that no write falls between. */
	if (uprobes->inotify_fd >= 0)
		probe->watch = inotify_add_watch(uprobes->inotify_fd, file, IN_MODIFY);
	return 1;
}

/* Kernels before 6.10 take the process for its first thread alone. */
static pid_t limit_to(u32 pid)
{
	return pid && kernel_is_at_least(6, 10) ? (pid_t)pid : -1;
}

static struct bpf_link *attach_many(const struct bpf_program *program, pid_t pid, const char *file, const u64 *offsets,
				    const u64 *cookies, size_t len, enum uprobe_side side)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, options, .offsets = (const unsigned long *)offsets,
		    .cookies = (const __u64 *)cookies, .cnt = len, .retprobe = side == AT_RETURN);

	_Static_assert(sizeof(unsigned long) == sizeof(u64), "offsets are handed over as they are");
	return bpf_program__attach_uprobe_multi(program, pid, file, NULL, &options);
}

static struct bpf_link *attach_one(const struct uprobe *probe, const char *file, u64 cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = probe->side == AT_RETURN, .bpf_cookie = cookie);
	pid_t pid = probe->pid ? (pid_t)probe->pid : -1;

	/* The only one that there is for probes: uprobe.multi. */
	if (bpf_program__expected_attach_type(probe->program))
		return attach_many(probe->program, pid, file, &probe->offset, &cookie, 1, probe->side);
	return bpf_program__attach_uprobe_opts(probe->program, pid, file, probe->offset, &options);
}

static int refused(struct reason *why, u64 offset)
{
	int error = -errno;

	reason_set(why, "a probe at its offset 0x%llx is refused: %s", (unsigned long long)offset, strerror(-error));
	return error;
}

int uprobes_try(const struct bpf_program *program, const char *file, u64 offset, struct reason *why)
{
	struct uprobe probe = { .program = program, .offset = offset, .side = AT_ENTRY };

	probe.link = attach_one(&probe, file, 0);
	if (!probe.link)
		return refused(why, offset);
	/* Nobody waits for that. */
	close_soon(&probe);
	return 0;
}

int uprobes_attach_in(struct uprobes *uprobes, const struct bpf_program *program, u32 pid, const char *file, u64 offset,
		      enum uprobe_side side, u64 cookie, struct reason *why)
{
	struct uprobe probe = { .program = program, .offset = offset, .side = side, .pid = pid };
	int error = prepare(uprobes, &probe, file, why);

	if (error <= 0)
		return error;
	probe.link = attach_one(&probe, file, cookie);
	if (!probe.link) {
		error = refused(why, offset);
		drop_watch(uprobes, probe.watch);
		return error;
	}
	uprobes->probes[uprobes->len++] = probe;
	return 1;
}

int uprobes_attach(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u64 offset,
		   enum uprobe_side side, u64 cookie, struct reason *why)
{
	return uprobes_attach_in(uprobes, program, 0, file, offset, side, cookie, why);
}

static u64 hash_of(const u64 *offsets, const u64 *cookies, size_t len)
{
	u64 hash = len;

	for (size_t i = 0; i < len; i++)
		hash = ((hash ^ offsets[i]) * 0x9e3779b97f4a7c15ULL ^ cookies[i]) * 0xff51afd7ed558ccdULL;
	return hash;
}

int uprobes_attach_many(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u32 pid,
			const u64 *offsets, const u64 *cookies, size_t len, enum uprobe_side side, struct reason *why)
{
	struct uprobe probe = {
		.program = program, .offset = offsets[0], .side = side, .places = hash_of(offsets, cookies, len)
	};
	int error = prepare(uprobes, &probe, file, why);

	if (error <= 0)
		return error;
	probe.link = attach_many(program, limit_to(pid), file, offsets, cookies, len, side);
	if (!probe.link) {
		error = -errno;
		drop_watch(uprobes, probe.watch);
		reason_set(why, "%zu probes are refused: %s", len, strerror(-error));
		return error;
	}
	uprobes->probes[uprobes->len++] = probe;
	return 1;
}

int uprobes_attach_symbol(struct uprobes *uprobes, const struct bpf_program *program, const char *file,
			  const char *symbol, enum uprobe_side side, u64 cookie, struct reason *why)
{
	u64 offset = 0;
	int error = elf_symbol(file, symbol, &offset, why);

	return error ? error : uprobes_attach(uprobes, program, file, offset, side, cookie, why);
}

u32 uprobes_count(const struct uprobes *uprobes)
{
	return uprobes->len;
}

int uprobes_fd(const struct uprobes *uprobes)
{
	return uprobes->inotify_fd;
}

u32 uprobes_work(struct uprobes *uprobes)
{
	_Alignas(struct inotify_event) char buffer[4096];
	u32 taken = 0;
	ssize_t got;

	while (uprobes->inotify_fd >= 0 && (got = read(uprobes->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const void *)at;

			/* An overflow names no file: then any may have changed that a user can write to, who can make
			 * as many of these as he likes. */
			if (event->mask & IN_Q_OVERFLOW)
				taken += take_off_where(uprobes, is_users, NULL, true);
			else if (event->mask & IN_MODIFY)
				taken += take_off_where(uprobes, is_watched_by, &event->wd, true);
			at += sizeof(*event) + event->len;
		}
	}
	return taken;
}
