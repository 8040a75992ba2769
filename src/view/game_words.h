/* SPDX-License-Identifier: GPL-2.0 */
/* A game in one line: name, pid, why it is one, threads by role, what serves it.
 * Texts come from other processes: whoever prints them makes them plain. */
#ifndef TACTUS_VIEW_GAME_WORDS_H
#define TACTUS_VIEW_GAME_WORDS_H

#include "../model/games.h"

enum { GAME_WORDS_SIZE = 600 };

void game_words(char words[GAME_WORDS_SIZE], const struct game *game, u32 threads);

#endif
