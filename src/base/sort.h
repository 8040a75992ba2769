/* SPDX-License-Identifier: GPL-2.0 */
/* Sorts rows. Those of equal rank stay in the order in which they came, with every C library, and where there is no
 * memory for it too: what is shown does not depend on chance. libc's own promises neither. */
#ifndef TACTUS_BASE_SORT_H
#define TACTUS_BASE_SORT_H

#include <stddef.h>

void sort_rows(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *));

/* The same, with what `compare` is handed besides. */
void sort_rows_by(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *, void *), void *data);

/* The same without memory for it, as it is where none is left. */
void sort_rows_in_place(void *rows, size_t len, size_t size, int (*compare)(const void *, const void *, void *),
			void *data);

#endif
