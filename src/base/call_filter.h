/* SPDX-License-Identifier: GPL-2.0 */
/* How every filter of system calls begins, and how it is put on.
 */
#ifndef TACTUS_BASE_CALL_FILTER_H
#define TACTUS_BASE_CALL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

enum { CALL_FILTER_BEGINNING = 6 };

/* Writes the beginning: a call by another architecture's numbers comes to this end, and of any other the number is
 * loaded. Returns how many instructions that takes; 0: the numbers of this architecture are not known here. */
size_t call_filter_begin(struct sock_filter code[CALL_FILTER_BEGINNING], u32 foreign_ends);

/* False: this kernel has no such filter. */
bool call_filter_put_on(struct sock_filter *code, size_t len);

#endif
