/* SPDX-License-Identifier: GPL-2.0 */
/* Which threads and CPUs to watch: lists, each of which may be given in parts. A thread must be on every list that is
 * not empty. */
#ifndef TACTUS_BASE_FILTER_H
#define TACTUS_BASE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/name_pattern.h"
#include "../../core/sched_config.h"
#include "say.h"

enum { FILTER_PATH_SIZE = 512, FILTER_WORDS_SIZE = 256 };

struct filter {
	u32 pids[FILTER_PIDS_MAX];
	u32 pids_len;
	char comms[FILTER_COMMS_MAX][NAME_PATTERN_LEN + 1]; /* shell patterns */
	u32 comms_len;
	char cgroups[FILTER_CGROUPS_MAX][FILTER_PATH_SIZE]; /* paths, which may be shell patterns */
	u32 cgroups_len;
	u64 cpus[SCHED_CPUS_MAX / 64]; /* a set of CPUs, if has_cpus */
	bool has_cpus;
};

/* Each adds the words of a list with commas. False with the reason, in words that follow the value. */
bool filter_add_pids(struct filter *filter, const char *list, struct reason *why);
bool filter_add_comms(struct filter *filter, const char *list, struct reason *why);
bool filter_add_cgroups(struct filter *filter, const char *list, struct reason *why);

bool filter_is_empty(const struct filter *filter);

/* "-p 17, -c cc1": as it was given. */
void filter_words(const struct filter *filter, char words[FILTER_WORDS_SIZE]);

/* Takes the next word of a list with commas. False: there is none or, with *wrong set, it is empty or has no room. */
bool list_next(const char **list, char *word, size_t size, bool *wrong);

#endif
