/* SPDX-License-Identifier: GPL-2.0 */
/* Which libraries belong to the graphics stack: loaders, drivers and layers, by their names and by what they export. */
#ifndef TACTUS_MODEL_GRAPHICS_H
#define TACTUS_MODEL_GRAPHICS_H

#include <stdbool.h>

/* By the base name of its file. */
bool graphics_is_library(const char *name);

/* Patterns of functions of which every loader, driver and layer exports one: by them it is asked for the others. Ends
 * with NULL. */
extern const char *const graphics_doors[];

#endif
