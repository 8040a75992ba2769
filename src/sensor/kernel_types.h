/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel's BTF has, for whoever starts a sensor: looked into once for all of them, and kept until it
 * is forgotten. */
#ifndef TACTUS_SENSOR_KERNEL_TYPES_H
#define TACTUS_SENSOR_KERNEL_TYPES_H

#include <stdbool.h>

struct btf;

/* NULL: there is none. */
const struct btf *kernel_types(void);
/* Gives its memory back. Who asks again has it read again. */
void kernel_types_forget(void);

bool kernel_has_function(const char *name);
bool kernel_has_tracepoint(const char *name);
/* One for each CPU, or whatever else the kernel describes. Its number, or 0. */
int kernel_variable(const char *name);

#endif
