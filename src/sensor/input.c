// SPDX-License-Identifier: GPL-2.0
/* The input sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind input_kind = { .name = "input", .subject = "input devices and who reads them" };
