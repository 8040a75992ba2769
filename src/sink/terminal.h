/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the terminal that something is printed to.
 */
#ifndef TACTUS_SINK_TERMINAL_H
#define TACTUS_SINK_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* In columns; 0: it is no terminal, and a line may be as long as it is. */
size_t terminal_width(FILE *out);
size_t terminal_height(FILE *out);

#endif
