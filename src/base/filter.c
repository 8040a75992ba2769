// SPDX-License-Identifier: GPL-2.0
/* What -p, -c and --cgroup take. What no thread can match is refused here, not found out at the end.
 */
#include "filter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

enum { PID_MOST = 1 << 22 };

bool list_next(const char **list, char *word, size_t size, bool *wrong)
{
	size_t len = *list ? strcspn(*list, ",") : 0;

	*wrong = *list && (!len || len >= size);
	if (!*list || *wrong)
		return false;
	memcpy(word, *list, len);
	word[len] = '\0';
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return true;
}

static bool refuse(struct reason *why, const char *words)
{
	reason_set(why, "%s", words);
	return false;
}

bool filter_add_pids(struct filter *filter, const char *list, struct reason *why)
{
	char word[16];
	bool wrong;
	u64 pid;

	while (list_next(&list, word, sizeof(word), &wrong)) {
		if (parse_number(word, PID_MOST, &pid) || !pid) {
			reason_set(why, "pid '%s' is not a number from 1 to %d", word, PID_MOST);
			return false;
		}
		if (filter->pids_len == FILTER_PIDS_MAX)
			return refuse(why, "more pids than 64");
		filter->pids[filter->pids_len++] = (u32)pid;
	}
	return !wrong || refuse(why, "an empty or too long pid");
}

/* The kernel cuts names, so the whole name of a program may be longer than any thread's. */
static bool cut_name(char *word)
{
	if (strlen(word) < COMM_LEN || word[strcspn(word, "*?[\\")])
		return false;
	word[COMM_LEN - 1] = '\0';
	return true;
}

bool filter_add_comms(struct filter *filter, const char *list, struct reason *why)
{
	char word[NAME_PATTERN_LEN + 1];
	struct name_pattern pattern;
	bool wrong;

	while (list_next(&list, word, sizeof(word), &wrong)) {
		if (cut_name(word))
			note("threads' names have at most 15 bytes: watching '%s'", word);
		if (!name_pattern_make(&pattern, word)) {
			reason_set(why, "no thread can match '%s': names have at most 15 bytes", word);
			return false;
		}
		if (filter->comms_len == FILTER_COMMS_MAX)
			return refuse(why, "more names than 16: a pattern such as 'worker*' takes many at once");
		snprintf(filter->comms[filter->comms_len++], sizeof(filter->comms[0]), "%s", word);
	}
	return !wrong || refuse(why, "an empty or too long name matches no thread");
}

bool filter_add_cgroups(struct filter *filter, const char *list, struct reason *why)
{
	char word[FILTER_PATH_SIZE];
	bool wrong;

	while (list_next(&list, word, sizeof(word), &wrong)) {
		if (filter->cgroups_len == FILTER_CGROUPS_MAX)
			return refuse(why, "more cgroups than 8");
		snprintf(filter->cgroups[filter->cgroups_len++], sizeof(filter->cgroups[0]), "%s", word);
	}
	return !wrong || refuse(why, "an empty or too long path");
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->pids_len && !filter->comms_len && !filter->cgroups_len && !filter->has_cpus;
}

static void __attribute__((format(printf, 2, 3))) add(char words[FILTER_WORDS_SIZE], const char *format, ...)
{
	size_t used = strlen(words);
	va_list args;

	va_start(args, format);
	vsnprintf(words + used, FILTER_WORDS_SIZE - used, format, args);
	va_end(args);
}

void filter_words(const struct filter *filter, char words[FILTER_WORDS_SIZE])
{
	words[0] = '\0';
	for (u32 i = 0; i < filter->pids_len; i++)
		add(words, "%s%u", i ? "," : "-p ", filter->pids[i]);
	for (u32 i = 0; i < filter->comms_len; i++)
		add(words, "%s%s", i ? "," : words[0] ? " -c " : "-c ", filter->comms[i]);
	for (u32 i = 0; i < filter->cgroups_len; i++)
		add(words, "%s%s", i ? "," : words[0] ? " --cgroup " : "--cgroup ", filter->cgroups[i]);
	if (filter->has_cpus)
		add(words, "%s-C", words[0] ? " " : "");
}
