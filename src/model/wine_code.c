// SPDX-License-Identifier: GPL-2.0
/* A function that Microsoft's convention is for, and that calls others of Linux's, has to keep xmm6 to xmm15 for its
 * caller: it stores them one after the other at its beginning. Nobody else does that. */
#include "wine_code.h"

enum {
	REX_R = 4,
	KEPT_FIRST = 6,	 /* of the xmm registers that the caller finds as they were */
	KEPT_ENOUGH = 4, /* so many of the ten are no accident */
};

/* Whether there is one of movaps, movups (0f 29, 0f 11) or their AVX forms (c5 f8/78 29/11) that stores an xmm register
 * relative to the stack or frame pointer; which one. -1: no. */
static int stores_xmm(const u8 *code, u32 left)
{
	u32 rex = 0, at = 0, modrm;

	if (left < 5)
		return -1;
	if (code[0] == 0xc5 && (code[1] & 0x7f) == 0x78) {
		rex = code[1] & 0x80 ? 0 : REX_R;
		at = 2;
	} else {
		if ((code[0] & 0xf8) == 0x40)
			rex = code[at++] & REX_R;
		if (code[at++] != 0x0f)
			return -1;
	}
	if (code[at] != 0x29 && code[at] != 0x11)
		return -1;
	modrm = code[at + 1];
	/* Into memory, by rsp (with a SIB byte that says so) or rbp. */
	if (modrm >> 6 == 3 || !((modrm & 7) == 4 ? (code[at + 2] & 7) == 4 : (modrm & 7) == 5 && modrm >> 6))
		return -1;
	return (int)((modrm >> 3 & 7) | (rex ? 8 : 0));
}

u32 wine_convention_of_code(const u8 *code, u32 len)
{
	u32 kept = 0, kept_len = 0, is_code = 0;

	for (u32 at = 0; at < len; at++) {
		int xmm = stores_xmm(code + at, len - at);

		is_code |= code[at] != 0;
		if (xmm >= KEPT_FIRST && !(kept >> xmm & 1)) {
			kept |= 1u << xmm;
			kept_len++;
		}
	}
	if (kept_len >= KEPT_ENOUGH)
		return WINE_MICROSOFT;
	/* A piece too short to tell, or something in between. */
	return is_code && len == WINE_CODE_BYTES && !kept_len ? WINE_SYSTEM_V : WINE_FITS_NEITHER;
}
