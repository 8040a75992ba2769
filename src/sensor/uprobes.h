/* SPDX-License-Identifier: GPL-2.0 */
/* Programs at functions of libraries, in every process that maps them or will. A probe sits at an offset of a file:
 * when the file is written to in place, its probes are taken off at once, since there is other code now. */
#ifndef TACTUS_SENSOR_UPROBES_H
#define TACTUS_SENSOR_UPROBES_H

#include <stdbool.h>

#include "../../core/types.h"
#include "../base/say.h"

struct bpf_program;
struct uprobes;

/* Returns 0 or -errno. */
int uprobes_open(struct uprobes **out);
void uprobes_close(struct uprobes *uprobes);

enum uprobe_side { AT_ENTRY, AT_RETURN };

/* Runs the program wherever the function at this offset of the file is entered or returns; it reads the cookie with
 * bpf_get_attach_cookie. Where that program is there already, nothing happens and 0 is returned: the first cookie
 * stays. Else 1, or -errno with a reason. `file` opens it, as library->open does. */
int uprobes_attach(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u64 offset,
		   enum uprobe_side side, u64 cookie, struct reason *why);

/* Whether such a probe is to be had: puts it there and takes it off. Returns 0, or -errno with a reason. */
int uprobes_try(const struct bpf_program *program, const char *file, u64 offset, struct reason *why);

/* The same in one process alone, and in whatever it becomes by exec. A program of kind uprobe.multi needs Linux 6.10
 * for that. */
int uprobes_attach_in(struct uprobes *uprobes, const struct bpf_program *program, u32 pid, const char *file, u64 offset,
		      enum uprobe_side side, u64 cookie, struct reason *why);

/* The same at many functions of one file at once, each with its cookie, by one link (Linux 6.6); the program must be of
 * kind uprobe.multi. With a pid, other processes that map the file may be spared the probes. All or none: returns 1, 0
 * if the same are there already, or -errno with a reason. */
int uprobes_attach_many(struct uprobes *uprobes, const struct bpf_program *program, const char *file, u32 pid,
			const u64 *offsets, const u64 *cookies, size_t len, enum uprobe_side side, struct reason *why);

/* The same at an exported function of a 64-bit library. */
int uprobes_attach_symbol(struct uprobes *uprobes, const struct bpf_program *program, const char *file,
			  const char *symbol, enum uprobe_side side, u64 cookie, struct reason *why);

/* Takes off what is on a file, or with a pid only what was put there for that process. Returns how many. */
u32 uprobes_take_off(struct uprobes *uprobes, u64 device, u64 inode, u32 pid);

/* A file may have changed. What is on it for all processes and is attached again before uprobes_drop_stale stays as it
 * is, without a gap; the rest is then taken off. */
void uprobes_doubt(struct uprobes *uprobes, u64 device, u64 inode);
void uprobes_drop_stale(struct uprobes *uprobes);

u32 uprobes_count(const struct uprobes *uprobes);

/* Readable when a file has been written to; then call work. -1: this kernel does not report it. */
int uprobes_fd(const struct uprobes *uprobes);
/* Returns how many probes were taken off. */
u32 uprobes_work(struct uprobes *uprobes);

#endif
