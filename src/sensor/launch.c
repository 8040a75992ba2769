// SPDX-License-Identifier: GPL-2.0
/* The launch sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind launch_kind = { .name = "launch", .subject = "programs that start" };
