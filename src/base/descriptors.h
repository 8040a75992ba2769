/* SPDX-License-Identifier: GPL-2.0 */
/* How many descriptors this process may have. */
#ifndef TACTUS_BASE_DESCRIPTORS_H
#define TACTUS_BASE_DESCRIPTORS_H

#include "../../core/types.h"

/* Raises the limit, where it is a session's, to what probes may take. A command that was started before keeps its own.
 * Returns what it is now. */
u64 descriptors_allow(void);

#endif
