// SPDX-License-Identifier: GPL-2.0
/* The wine sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind wine_kind = { .name = "wine", .subject = "priorities that Windows programs ask for" };
