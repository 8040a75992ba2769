/* SPDX-License-Identifier: GPL-2.0 */
/* Why a thread is held for what it is, in words for people.
 * One line each, from what a role event carries. */
#ifndef TACTUS_VIEW_ROLE_WORDS_H
#define TACTUS_VIEW_ROLE_WORDS_H

#include "../../core/event.h"

enum { ROLE_WORDS_SIZE = 160 };

/* Why the thread is held for what it is: "presents 60 times a second by GLX". */
void role_words(char *into, const struct event_role *event);

/* What is known of the process, as in "game, Windows program"; "" if nothing. */
void process_words(char *into, u32 process);

/* The priority that Linux gives it: "nice 0", "realtime 60", "deadline". */
void prio_words(char *into, u32 prio);
/* NULL: nobody asked for one. */
const char *wine_class_name(u32 class);

#endif
