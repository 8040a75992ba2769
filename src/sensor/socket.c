// SPDX-License-Identifier: GPL-2.0
/* The socket sensor: not part of this version.
 * Its row is there so that doctor can say so. */
#include "kinds.h"

const struct sensor_kind socket_kind = { .name = "socket", .subject = "threads that serve network sockets" };
