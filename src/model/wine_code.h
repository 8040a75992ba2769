/* SPDX-License-Identifier: GPL-2.0 */
/* By which calling convention an ntdll.so was built, from the code at the beginning of one of its functions.
 * The code may be anything: what is not understood has no convention. */
#ifndef TACTUS_MODEL_WINE_CODE_H
#define TACTUS_MODEL_WINE_CODE_H

#include "../../core/wine.h"

enum { WINE_CODE_BYTES = 512 };

/* Returns an enum wine_convention; WINE_FITS_NEITHER: the code does not tell. */
u32 wine_convention_of_code(const u8 *code, u32 len);

#endif
