/* SPDX-License-Identifier: GPL-2.0 */
/* A trace as JSON, as chrome://tracing, Speedscope and older tools read it: Chrome's Trace Event Format. It is written
 * as it comes; what is kept is who runs on each CPU. */
#ifndef TACTUS_SINK_CHROME_H
#define TACTUS_SINK_CHROME_H

#include <stdio.h>

#include "trace.h"

/* How each file of ours begins. */
#define CHROME_BEGINNING "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made_by\":\"tactus"

struct chrome;

/* NULL for want of memory. `out` stays open. */
struct chrome *chrome_open(FILE *out, const struct trace_machine *machine);
void chrome_close(struct chrome *chrome);

/* Something is missing for want of memory. */
bool chrome_failed(const struct chrome *chrome);

/* Calls take the struct chrome. */
extern const struct trace_form chrome_form;

#endif
