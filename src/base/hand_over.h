/* SPDX-License-Identifier: GPL-2.0 */
/* What a command of another user must not take along from who started it: ways to type on his terminal, and his files.
 */
#ifndef TACTUS_BASE_HAND_OVER_H
#define TACTUS_BASE_HAND_OVER_H

/* For the process that will become the command, while it is still root. From now on, in all that it starts, what puts
 * input into a terminal is refused; the terminal stays what it is otherwise, and programs that are setuid still work.
 * Where the kernel has no such filter, the terminal is left. Only the standard streams are open after exec.
 * Returns 0 or -errno. */
int hand_over_apart(void);

#endif
