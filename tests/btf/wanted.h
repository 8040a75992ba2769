/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF objects ask of a kernel's BTF: types with their members, kernel functions and variables, and what
 * programs attach to. Read from the objects themselves. */
#ifndef TACTUS_TESTS_BTF_WANTED_H
#define TACTUS_TESTS_BTF_WANTED_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

/* Lines such as "type task_struct", "member task_struct.on_rq", "func scx_bpf_now" and "var pcpu_hot", sorted, each
 * once. */
struct wanted {
	char **lines;
	size_t len;
	size_t room;
};

void wanted_add(struct wanted *wanted, const char *what, const char *name, const char *member);
/* A line as it was printed. */
void wanted_add_line(struct wanted *wanted, const char *what, const char *rest);
bool wanted_has_line(const struct wanted *wanted, const char *line);
/* Returns 0 or -errno. */
int wanted_add_object(struct wanted *wanted, const char *path);
void wanted_sort(struct wanted *wanted);
bool wanted_has(const struct wanted *wanted, const char *what, const char *name, const char *member);
void wanted_free(struct wanted *wanted);

#endif
