/* SPDX-License-Identifier: GPL-2.0 */
/* What the two halves of the launch sensor share: the keys of the maps that say which programs are worth a look.
 * Events of its own ring are struct event_exec. */
#ifndef TACTUS_CORE_LAUNCH_CONFIG_H
#define TACTUS_CORE_LAUNCH_CONFIG_H

#include "types.h"

enum { FOLDER_LEN = 64, LAUNCH_RULES_MAX = 8192 };

/* The beginning of a program's path; the value says whether what lies there is looked at. Names have struct name_key.
 */
struct folder_key {
	u32 bits;
	char path[FOLDER_LEN];
};

#endif
