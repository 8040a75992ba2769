/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are named to be written to. What lies there is looked at before it is opened: a pipe that nobody reads is
 * not waited for, a link leads wherever its maker likes, and to open a device has effects of its own. Links on the way
 * to it are followed only as in way.h. */
#ifndef TACTUS_BASE_OUTPUT_H
#define TACTUS_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "say.h"
#include "way.h"

/* The name of standard output. What is called so is './-'. */
bool output_is_stdout(const char *path);

/* Opens what is there for reading and writing, as it is, or makes it with that mode. It must be a regular file, of root
 * or of who calls, and no link. Returns a descriptor or -errno with a reason. */
int output_file(const char *path, unsigned int mode, bool *is_new, struct reason *why);

/* Whether such a file can be made at that path, or one beside what is there: nothing is left there. Returns 0, or
 * -errno with a reason. */
int output_check(const char *path, struct reason *why);

/* Makes a file in that folder under a name that nobody else has, for who makes it. Returns a descriptor or -errno. */
int output_temporary(int folder, char made[WAY_NAME_SIZE]);

/* What may be replaced: a file that begins as this program's own of that kind do, or with `force` any. */
struct output_rule {
	const char *beginning; /* NULL: none is recognised as our own */
	bool force;
};

/* Said of a file that may not be. */
#define OUTPUT_NOT_OURS "exists and is not %s: name another file, or give --force to replace it"

/* For text: a regular file as above, which is made empty; a pipe of the same users that somebody reads, or a character
 * device of theirs or in /dev. /dev/stdout and /dev/fd/N are what they lead to, whosever pipe that is; by the name of
 * standard output it goes on where that is; a file that can't be written to its end ends with a line. NULL with a
 * reason. What can't be written is said at once, and nothing more is written then; a reader who reads nothing for
 * seconds is such a case. */
FILE *output_text(const char *path, const struct output_rule *rule, struct reason *why);

/* For text that is of use only whole: a regular file gets its name when it is closed, and if not all could be written
 * there is none, or the old one. *folder is what privileges_give_up_but_folder() keeps until then; 0: nothing has to be
 * kept. */
FILE *output_page(const char *path, const struct output_rule *rule, int *folder, struct reason *why);
/* In the place of output_close(): it is not whole, and was not to be. */
void output_drop(FILE *file);

/* The same question of a file that is replaced otherwise. A name that nothing is behind may be used. */
bool output_may_replace(const char *path, const struct output_rule *rule, struct reason *why);

/* Whether both names lead to one regular file, which is not to be read and replaced at once. */
bool output_is_input(const char *path, const char *input);

/* False if not all could be written, which has been said. */
bool output_close(FILE *file);

#endif
