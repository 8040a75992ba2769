/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's perf events report of mappings: one record's bytes. The kernel writes them, but the path in one is
 * any bytes that some process chose. */
#ifndef TACTUS_BASE_MAPS_RECORD_H
#define TACTUS_BASE_MAPS_RECORD_H

#include <stddef.h>

#include "maps.h"

/* Takes a record apart that reports a file mapped to be run, changing it: the path lies in it, and there is room for
 * one byte behind it. False: it reports nothing like that. */
bool mapping_of_record(unsigned char *record, size_t bytes, u32 *pid, struct mapping *mapping);

/* How many records were lost, by a record that says so; 0 for any other. */
u64 mappings_lost(const unsigned char *record, size_t bytes);

#endif
