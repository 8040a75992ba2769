// SPDX-License-Identifier: GPL-2.0
/* The frame sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind frame_kind = { .name = "frame", .subject = "frames presented" };
