/* SPDX-License-Identifier: GPL-2.0 */
/* The config file: the user's rules, and values of options in sections [options] and [options COMMAND].
 * Root reads no file that others may write. */
#ifndef TACTUS_STORE_RULES_FILE_H
#define TACTUS_STORE_RULES_FILE_H

#include "../base/defaults.h"
#include "../model/rules.h"

#define CONFIG_FILE "/etc/tactus.conf"

/* Adds what a config file says. Each line that is wrong is reported on stderr with its number, and the rest counts.
 * `required`: the user named the file, so that it must exist. Returns the number of wrong lines, or -errno after a
 * message. Sections of options are passed over. */
int rules_read(struct rules *rules, const char *path, bool required);

/* The same of a file's bytes; `path` is for the messages. Returns the number of wrong lines, or -ENOMEM. */
int rules_read_bytes(struct rules *rules, const char *path, const char *bytes, size_t len);

/* Both the same for sections of options, with those of rules passed over. Whether there are such commands and options
 * is not known here. */
int defaults_read_file(struct option_defaults *defaults, const char *path, bool required);
int defaults_read_bytes(struct option_defaults *defaults, const char *path, const char *bytes, size_t len);

#endif
