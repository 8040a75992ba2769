// SPDX-License-Identifier: GPL-2.0
/* The gpu sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind gpu_kind = { .name = "gpu", .subject = "threads that submit to the GPU" };
