/* SPDX-License-Identifier: GPL-2.0 */
/* A trace in Perfetto's format, as ui.perfetto.dev and trace_processor read it. It is written as it comes: what is kept
 * is a batch of switches for each CPU, and names that were used lately. */
#ifndef TACTUS_SINK_PERFETTO_H
#define TACTUS_SINK_PERFETTO_H

#include <stddef.h>

#include "trace.h"

/* How each file of ours begins: a packet that names the category "tactus". */
#define PERFETTO_BEGINNING "\x0a\x15\x50\x74\x68\x01\xb8\x05\x01\x62\x0c\x0a\x0a\x08\x01\x12\x06tactus"

struct perfetto;

/* Takes whole packets. Returns 0 or -errno, and is not called again after an error. */
typedef int (*perfetto_write)(void *data, const void *bytes, size_t len);

/* NULL for want of memory. */
struct perfetto *perfetto_open(const struct trace_machine *machine, perfetto_write write, void *data);
void perfetto_close(struct perfetto *perfetto);

/* 0, or -errno: what was not written, or for want of memory. */
int perfetto_error(const struct perfetto *perfetto);

/* Calls take the struct perfetto. */
extern const struct trace_form perfetto_form;

#endif
