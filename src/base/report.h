/* SPDX-License-Identifier: GPL-2.0 */
/* Where a command's report goes: standard output, the file of --report, or beside a command whose own output goes
 * elsewhere than to a terminal, or where what is watched goes to standard output, standard error. */
#ifndef TACTUS_BASE_REPORT_H
#define TACTUS_BASE_REPORT_H

#include "options.h"

/* Call when everything is in place and before anything is printed: stdout is where it goes from then on. Returns 0, or
 * after a message the status to end with. */
int report_open(const struct options *options);

/* Once, at the very end. Returns the status to end with: what could not be written is a failure, and has been said. */
int report_close(int status);

#endif
