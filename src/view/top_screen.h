/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal of 'tactus top': keys in, canvases out. Whatever ends the program, but for a SIGKILL, gives the terminal
 * back as it was. There is one of it. */
#ifndef TACTUS_VIEW_TOP_SCREEN_H
#define TACTUS_VIEW_TOP_SCREEN_H

#include <stdbool.h>

#include "../base/say.h"
#include "../sink/canvas.h"

/* Whether there is a terminal that can do it. Returns 0, or -errno with what to do instead. */
int screen_check(struct reason *why);

/* Takes standard input, output and errors away from everything else that would use the terminal, such as a command;
 * what comes there is kept, and printed at the end. Before anything is started. */
int screen_reserve(struct reason *why);

/* Takes the terminal. Returns 0, or -errno with the reason. */
int screen_open(struct reason *why);

/* Gives all of it back, at any time and more than once. */
void screen_close(void);

/* Readable when there is a key, a signal or something else that was added; -1: none. */
int screen_fd(void);
void screen_add_fd(int fd);

/* What came: a key as in top_view.h, TOP_KEY_NONE if there is none. */
int screen_key(void);
/* True if all has to be painted anew; false in *goes_on: the terminal is gone, or its user wants an end. */
bool screen_take_signals(bool *goes_on);

void screen_size(u32 *width, u32 *height);
/* Only ASCII can be shown. */
bool screen_is_ascii(void);
void screen_show(const struct canvas *canvas);

/* The last line that something printed and nobody has seen; "": none. */
const char *screen_last_words(void);

#endif
