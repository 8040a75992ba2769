// SPDX-License-Identifier: GPL-2.0
/* The cuda sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind cuda_kind = { .name = "cuda", .subject = "CUDA calls, ioctls and the driver" };
