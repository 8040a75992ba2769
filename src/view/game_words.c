// SPDX-License-Identifier: GPL-2.0
/* The line by which 'tactus run' reports a game.
 * What does not fit is cut. */
#include "game_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "../model/roles.h"

struct line {
	char *words;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *form, ...)
{
	size_t room = GAME_WORDS_SIZE - line->used;
	va_list values;
	int len;

	va_start(values, form);
	len = vsnprintf(line->words + line->used, room, form, values);
	va_end(values);
	if (len > 0)
		line->used += (size_t)len < room ? (size_t)len : room - 1;
}

void game_words(char words[GAME_WORDS_SIZE], const struct game *game, u32 threads)
{
	struct line line = { .words = words };
	u64 known = 0;

	add(&line, "%s [%u]: %s; %u thread%s", game->comm, game->pid, game->why, threads, threads == 1 ? "" : "s");
	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++) {
		if (!game->by_role[role])
			continue;
		add(&line, "%s%" PRIu64 " %s", known ? ", " : ": ", game->by_role[role], role_name(role));
		known += game->by_role[role];
	}
	if (known && threads > known)
		add(&line, ", %" PRIu64 " unknown", threads - known);
	for (u32 i = 0; i < game->helpers_len; i++)
		add(&line, "%s%s [%u]", i ? ", " : "; with ", game->helpers[i].comm, game->helpers[i].pid);
	if (game->helpers_more)
		add(&line, " and %u more", game->helpers_more);
	for (u32 i = 0; i < game->sound_len; i++)
		add(&line, "%s%s [%u]", i ? ", " : "; sound by ", game->sound[i].comm, game->sound[i].tid);
	if (game->sound_more)
		add(&line, " and %u more", game->sound_more);
}
