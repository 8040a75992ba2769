/* SPDX-License-Identifier: GPL-2.0 */
/* Takes a variable of the kernel's from what a BPF object's file asks for. */
#ifndef TACTUS_SENSOR_HIDE_H
#define TACTUS_SENSOR_HIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Gives the variable a name that no kernel has, in the file's symbols and in its BTF. If it is weak it counts as absent
 * then. False: the file does not name it. */
bool hide_variable(void *file, size_t size, const char *name);

#endif
