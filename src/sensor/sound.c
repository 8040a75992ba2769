// SPDX-License-Identifier: GPL-2.0
/* The sound sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind sound_kind = { .name = "sound", .subject = "threads that feed a sound device" };
