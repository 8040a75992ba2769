/* SPDX-License-Identifier: GPL-2.0 */
/* Why a frame was late, in words for people.
 */
#ifndef TACTUS_VIEW_FRAME_WORDS_H
#define TACTUS_VIEW_FRAME_WORDS_H

#include <stddef.h>

#include "../model/frames.h"

enum { FRAME_WORDS_SIZE = 480 };

/* "RenderThread waited 12.9 ms on CPU 3 behind cc1 [4411], ran 5.10 ms, slept 1.20 ms" */
void late_cause_words(char *into, size_t size, const struct threads *threads, const struct late_frame *late);

/* The same, and its moves and its time with the GPU's driver where they matter. */
void late_frame_words(char *into, size_t size, const struct threads *threads, const struct late_frame *late);

#endif
