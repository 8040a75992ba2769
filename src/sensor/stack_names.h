/* SPDX-License-Identifier: GPL-2.0 */
/* From addresses on stacks to names of functions: the kernel's by /proc/kallsyms, a process's by the files that it
 * maps, which are read in a process apart (base/elf_apart.h). */
#ifndef TACTUS_SENSOR_STACK_NAMES_H
#define TACTUS_SENSOR_STACK_NAMES_H

#include <stdbool.h>

#include "../../core/types.h"
#include "../base/say.h"

struct stack_names;

/* Returns 0 or -errno. Where the kernel keeps its addresses to itself, its functions have none but these. */
int stack_names_open(struct stack_names **out);
/* False: the kernel keeps them to itself. */
bool stack_names_has_kernel(const struct stack_names *names);
void stack_names_close(struct stack_names *names);

/* Names for all addresses of a stack at once: of a process, or with pid 0 of the kernel. What has no name is
 * "library+0x123", with the offset in its file, or the bare address. */
void stack_names_find(struct stack_names *names, u32 pid, const u64 *addresses, u32 len, struct long_name *into);

#endif
