// SPDX-License-Identifier: GPL-2.0
/* Keeps the links of probes in user space, each with the file that it is in. The kernel would put a breakpoint at the
 * same offset of whatever is written into that file later, in the middle of an instruction: inotify tells of it in
 * time. */
#include "uprobes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/elf.h"
#include "../base/system.h"

struct uprobe {
	struct bpf_link *link;
	const struct bpf_program *program;
	u64 device, inode, offset;
	enum uprobe_side side;
	int watch; /* inotify's number for the file */
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
	uprobes->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return 0;
}

void uprobes_close(struct uprobes *uprobes)
{
	if (!uprobes)
		return;
	for (u32 i = 0; i < uprobes->len; i++)
		bpf_link__destroy(uprobes->probes[i].link);
	if (uprobes->inotify_fd >= 0)
		close(uprobes->inotify_fd);
	free(uprobes->probes);
	free(uprobes);
}

static bool is_there(const struct uprobes *uprobes, const struct uprobe *wanted)
{
	for (u32 i = 0; i < uprobes->len; i++) {
		const struct uprobe *probe = &uprobes->probes[i];

		if (probe->program == wanted->program && probe->inode == wanted->inode &&
		    probe->device == wanted->device && probe->offset == wanted->offset && probe->side == wanted->side)
			return true;
	}
	return false;
}

static int make_room(struct uprobes *uprobes)
{
	u32 room = uprobes->room ? uprobes->room * 2 : 16;
	struct uprobe *probes;

	if (uprobes->len < uprobes->room)
		return 0;
	probes = realloc(uprobes->probes, room * sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	uprobes->probes = probes;
	uprobes->room = room;
	return 0;
}

int uprobes_attach(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u64 offset,
		   enum uprobe_side side, u64 cookie, struct reason *why)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = side == AT_RETURN, .bpf_cookie = cookie);
	struct uprobe probe = { .program = program, .offset = offset, .side = side, .watch = -1 };
	struct stat seen;
	int error;

	if (stat(file, &seen) || make_room(uprobes)) {
		error = -errno;
		reason_set(why, "%s", strerror(-error));
		return error;
	}
	probe.device = seen.st_dev;
	probe.inode = seen.st_ino;
	if (is_there(uprobes, &probe))
		return 0;
	/* Watched first, so that no write falls between. */
	if (uprobes->inotify_fd >= 0)
		probe.watch = inotify_add_watch(uprobes->inotify_fd, file, IN_MODIFY);
	probe.link = bpf_program__attach_uprobe_opts(program, -1, file, offset, &options);
	if (!probe.link) {
		error = -errno;
		reason_set(why, "a probe at its offset 0x%llx is refused: %s", (unsigned long long)offset,
			   strerror(-error));
		return error;
	}
	uprobes->probes[uprobes->len++] = probe;
	return 1;
}

/* Kernels before 6.10 take the process for its first thread alone. */
static pid_t limit_to(u32 pid)
{
	return pid && kernel_is_at_least(6, 10) ? (pid_t)pid : -1;
}

int uprobes_attach_many(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u32 pid,
			const u64 *offsets, const u64 *cookies, size_t len, enum uprobe_side side, struct reason *why)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, options, .offsets = (const unsigned long *)offsets,
		    .cookies = (const __u64 *)cookies, .cnt = len, .retprobe = side == AT_RETURN);
	struct uprobe probe = { .program = program, .offset = offsets[0], .side = side, .watch = -1 };
	struct stat seen;
	int error;

	_Static_assert(sizeof(unsigned long) == sizeof(u64), "offsets are handed over as they are");
	if (stat(file, &seen) || make_room(uprobes)) {
		error = -errno;
		reason_set(why, "%s", strerror(-error));
		return error;
	}
	probe.device = seen.st_dev;
	probe.inode = seen.st_ino;
	if (uprobes->inotify_fd >= 0)
		probe.watch = inotify_add_watch(uprobes->inotify_fd, file, IN_MODIFY);
	probe.link = bpf_program__attach_uprobe_multi(program, limit_to(pid), file, NULL, &options);
	if (!probe.link) {
		error = -errno;
		reason_set(why, "%zu probes are refused: %s", len, strerror(-error));
		return error;
	}
	uprobes->probes[uprobes->len++] = probe;
	return 0;
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

static u32 take_off(struct uprobes *uprobes, int watch)
{
	u32 kept = 0, taken;

	for (u32 i = 0; i < uprobes->len; i++) {
		if (uprobes->probes[i].watch == watch)
			bpf_link__destroy(uprobes->probes[i].link);
		else
			uprobes->probes[kept++] = uprobes->probes[i];
	}
	taken = uprobes->len - kept;
	uprobes->len = kept;
	if (watch >= 0)
		inotify_rm_watch(uprobes->inotify_fd, watch);
	return taken;
}

u32 uprobes_work(struct uprobes *uprobes)
{
	_Alignas(struct inotify_event) char buffer[4096];
	u32 taken = 0;
	ssize_t got;

	while (uprobes->inotify_fd >= 0 && (got = read(uprobes->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const void *)at;

			/* An overflow names no file: then any may have changed. */
			if (event->mask & IN_Q_OVERFLOW)
				for (u32 i = uprobes->len; i > 0 && uprobes->len; i--)
					taken += take_off(uprobes, uprobes->probes[uprobes->len - 1].watch);
			else if (event->mask & IN_MODIFY)
				taken += take_off(uprobes, event->wd);
			at += sizeof(*event) + event->len;
		}
	}
	return taken;
}
