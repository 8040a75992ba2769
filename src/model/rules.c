// SPDX-License-Identifier: GPL-2.0
/* Decides what a process is: the user's rules first, then what is built in (rules_builtin.c).
 * All it learns of a process may be made up by that process, so no text is trusted to be anything. */
#include "rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/vec.h"
#include "rules_table.h"

enum { PATH_SIZE = 4096, WORDS_LOOKED_AT = 8, LONGEST_NAME = COMM_LEN - 1 };

static const u32 kind_bits[RULE_KINDS] = {
	[RULE_GAME] = PROCESS_GAME,
	[RULE_COMPOSITOR] = PROCESS_COMPOSITOR,
	[RULE_SOUND] = PROCESS_SOUND_SERVER,
	[RULE_HELPER] = PROCESS_HELPER,
};

/* What of a process rules are asked about. */
struct subject {
	char exe[PATH_SIZE];
	char program[PATH_SIZE]; /* a Windows program's path, with slashes; empty: it runs none */
	const char *exe_base;
	const char *program_base;
	const char *comm;
	bool is_wine;
};

enum verdict { VERDICT_NONE, VERDICT_NO, VERDICT_HOUSE, VERDICT_USER };

struct rules *rules_new(void)
{
	return calloc(1, sizeof(struct rules));
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->len; i++) {
		free(rules->all[i].pattern);
		free(rules->all[i].why);
	}
	for (size_t i = 0; i < rules->names_len; i++)
		free((char *)rules->names[i].name);
	free(rules->all);
	free(rules->names);
	free(rules->name_lines);
	free(rules->game_pids);
	free(rules);
}

static char *words_for(enum rule_kind kind, const char *pattern, bool yes, int line)
{
	static const char *const sections[RULE_KINDS] = { "[games] ", "[compositors] ", "[sound] ", "[helpers] " };
	const char *head = line ? sections[kind] : "--game ", *tail = line ? yes ? " = yes" : " = no" : "";
	char *text = malloc(strlen(head) + strlen(pattern) + strlen(tail) + 1);

	if (text)
		stpcpy(stpcpy(stpcpy(text, head), pattern), tail);
	return text;
}

int rules_add(struct rules *rules, enum rule_kind kind, const char *pattern, bool yes, int line)
{
	struct rule rule = { .kind = kind,
			     .pattern = strdup(pattern),
			     .why = words_for(kind, pattern, yes, line),
			     .yes = yes,
			     .line = line };

	if (!rule.pattern || !rule.why || !vec_one_more(rules->all, rules->len)) {
		free(rule.pattern);
		free(rule.why);
		return -ENOMEM;
	}
	rules->all[rules->len++] = rule;
	return 0;
}

int rules_add_name(struct rules *rules, const char *name, bool exact, enum role role, int line)
{
	char *copy = strdup(name);

	if (!copy || !vec_one_more(rules->names, rules->names_len) ||
	    !vec_one_more(rules->name_lines, rules->names_len)) {
		free(copy);
		return -ENOMEM;
	}
	rules->name_lines[rules->names_len] = line;
	rules->names[rules->names_len++] =
		(struct name_rule){ .name = copy, .exact = exact, .by_user = true, .role = role };
	return 0;
}

const char *rules_add_game(struct rules *rules, const char *pid_or_comm)
{
	char *end;
	unsigned long pid;

	if (!pid_or_comm[0])
		return "is neither a PID nor a name";
	if (pid_or_comm[strspn(pid_or_comm, "0123456789")])
		return rules_add(rules, RULE_GAME, pid_or_comm, true, 0) ? "needs more memory than there is" : NULL;
	errno = 0;
	pid = strtoul(pid_or_comm, &end, 10);
	if (errno || !pid || pid > 0x7fffffff)
		return "is not a PID";
	if (!vec_one_more(rules->game_pids, rules->game_pids_len))
		return "needs more memory than there is";
	rules->game_pids[rules->game_pids_len++] = (u32)pid;
	return NULL;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcasecmp(text + len - end_len, end);
}

static bool name_matches(const char *pattern, const char *text)
{
	return *text && fnmatch(pattern, text, 0) == 0;
}

/* Windows does not distinguish upper and lower case. */
static bool windows_name_matches(const char *pattern, const char *text)
{
	return *text && fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

static bool any_matches(const char *const *patterns, const char *text)
{
	for (; *patterns; patterns++)
		if (windows_name_matches(*patterns, text))
			return true;
	return false;
}

/* What Lutris and umu set where they know no number. */
static bool names_no_game(const char *value, size_t len)
{
	static const char none[] = "default";

	return len == strlen(none) && !memcmp(value, none, len);
}

/* The value of the first of the variables that is set to something, up to its NUL or the end; NULL: none is. */
static const char *variable_of(const char *const *beginnings, bool for_one_game, const char *environ, size_t len,
			       size_t *value_len)
{
	for (const char *const *one = beginnings; *one; one++) {
		const char *at = environ, *end = environ ? environ + len : NULL;
		size_t begin = strlen(*one), size;

		for (; at && at < end; at += size + 1) {
			size = strnlen(at, (size_t)(end - at));
			if (size <= begin || memcmp(at, *one, begin) || (size == begin + 1 && at[begin] == '0') ||
			    (for_one_game && names_no_game(at + begin, size - begin)))
				continue;
			*value_len = size - begin;
			return at + begin;
		}
	}
	return NULL;
}

static bool has_variable(const char *const *beginnings, const char *environ, size_t len)
{
	size_t value_len;

	return variable_of(beginnings, false, environ, len, &value_len) != NULL;
}

u64 rules_family(const struct process_traits *traits)
{
	static const char *const prefix[] = { "WINEPREFIX=", NULL };
	u64 hash = 0xcbf29ce484222325ull;
	size_t len = 0;
	const char *value = variable_of(builtin_game_variables, true, traits->environ, traits->environ_len, &len);

	value = value ? value : variable_of(prefix, false, traits->environ, traits->environ_len, &len);
	if (!value)
		return 0;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (u8)value[i]) * 0x100000001b3ull;
	return hash ? hash : 1;
}

/* A path of the process's making, cut if it is too long. What a deleted program's link says after its path goes. */
static void copy_path(char *into, const char *path, size_t len, bool windows)
{
	static const char deleted[] = " (deleted)";

	len = len < PATH_SIZE - 1 ? len : PATH_SIZE - 1;
	memcpy(into, path, len);
	into[len] = '\0';
	if (!windows && ends_in(into, deleted))
		into[len - strlen(deleted)] = '\0';
	for (char *at = into; windows && *at; at++)
		if (*at == '\\')
			*at = '/';
}

/* The first word of the command line that names a Windows program, and whether a Wine loader comes before it. */
static void find_program(struct subject *subject, const struct process_traits *traits)
{
	const char *at = traits->words, *end = traits->words ? at + traits->words_len : NULL;
	bool after_loader = any_matches(builtin_wine_loaders, subject->exe_base);

	subject->is_wine = after_loader;
	for (int word = 0; at && at < end && word < WORDS_LOOKED_AT; word++) {
		size_t size = strnlen(at, (size_t)(end - at));
		char *text = subject->program;

		copy_path(text, at, size, true);
		if (ends_in(text, ".exe") && (word == 0 || after_loader) &&
		    (after_loader || has_variable(builtin_wine_variables, traits->environ, traits->environ_len))) {
			subject->is_wine = true;
			return;
		}
		/* As in `box64 wine64 game.exe`. */
		after_loader = after_loader || (word < 2 && any_matches(builtin_wine_loaders, base_of(text)));
		at += size + 1;
	}
	subject->program[0] = '\0';
}

/* The path of what the process is about, not of what runs it. */
static bool path_has(const struct subject *subject, const char *const *parts)
{
	for (; *parts; parts++)
		if (subject->program[0] ? strcasestr(subject->program, *parts) : strstr(subject->exe, *parts))
			return true;
	return false;
}

static void describe(struct subject *subject, const struct process_traits *traits)
{
	subject->exe[0] = subject->program[0] = '\0';
	subject->is_wine = false;
	if (traits->exe)
		copy_path(subject->exe, traits->exe, strlen(traits->exe), false);
	subject->exe_base = base_of(subject->exe);
	subject->comm = traits->comm ? traits->comm : "";
	if (!any_matches(builtin_interpreters, subject->exe_base))
		find_program(subject, traits);
	subject->program_base = base_of(subject->program);
}

static bool user_rule_matches(const struct subject *subject, const char *pattern)
{
	return name_matches(pattern, subject->comm) || name_matches(pattern, subject->exe_base) ||
	       name_matches(pattern, subject->exe) || windows_name_matches(pattern, subject->program_base) ||
	       windows_name_matches(pattern, subject->program);
}

/* Of a Windows program the loader's name and place say nothing. */
static bool builtin_rule_matches(const struct subject *subject, const char *pattern)
{
	if (name_matches(pattern, subject->comm))
		return true;
	if (subject->program[0])
		return windows_name_matches(pattern, subject->program_base) ||
		       windows_name_matches(pattern, subject->program);
	return name_matches(pattern, subject->exe_base) || name_matches(pattern, subject->exe);
}

static enum verdict by_user(const struct rules *rules, const struct process_traits *traits,
			    const struct subject *subject, enum rule_kind kind, const char **why)
{
	for (size_t i = 0; kind == RULE_GAME && i < rules->game_pids_len; i++)
		if (rules->game_pids[i] == traits->pid) {
			*why = "--game PID";
			return VERDICT_USER;
		}
	for (size_t i = rules->len; i-- > 0;)
		if (rules->all[i].kind == kind && user_rule_matches(subject, rules->all[i].pattern)) {
			*why = rules->all[i].why;
			return rules->all[i].yes ? VERDICT_USER : VERDICT_NO;
		}
	return VERDICT_NONE;
}

static enum verdict builtin_says(bool so, const char **why, const char *words)
{
	if (so)
		*why = words;
	return so ? VERDICT_HOUSE : VERDICT_NONE;
}

static enum verdict helper_by_builtin(const struct process_traits *traits, const struct subject *subject,
				      const char **why)
{
	if (subject->is_wine &&
	    (any_matches(builtin_wine_services, subject->program_base) ||
	     any_matches(builtin_wine_services, subject->comm) || strcasestr(subject->program, "/windows/system32/") ||
	     strcasestr(subject->program, "/windows/syswow64/")))
		return builtin_says(true, why, "part of Wine");
	if (!subject->is_wine && path_has(subject, builtin_helper_paths))
		return builtin_says(true, why, "the place of a launcher's programs");
	/* A script or tool that a launcher started on the way to the game. */
	return builtin_says(!subject->is_wine && any_matches(builtin_interpreters, subject->exe_base) &&
				    has_variable(builtin_game_variables, traits->environ, traits->environ_len),
			    why, "a game's environment, and a tool");
}

static enum verdict game_by_builtin(const struct process_traits *traits, const struct subject *subject,
				    const char **why)
{
	/* A loader that has not said what it runs may become anything. */
	if (subject->is_wine && !subject->program[0])
		return VERDICT_NONE;
	if (path_has(subject, builtin_game_paths))
		return builtin_says(true, why, "the place of a game");
	return builtin_says(has_variable(builtin_game_variables, traits->environ, traits->environ_len), why,
			    "a game's environment");
}

static enum verdict by_builtin(const struct process_traits *traits, const struct subject *subject, enum rule_kind kind,
			       const char **why)
{
	for (const struct builtin_rule *rule = builtin_rules; rule->pattern; rule++)
		if (rule->kind == kind && builtin_rule_matches(subject, rule->pattern)) {
			*why = rule->pattern;
			return VERDICT_HOUSE;
		}
	if (kind == RULE_HELPER)
		return helper_by_builtin(traits, subject, why);
	return kind == RULE_GAME ? game_by_builtin(traits, subject, why) : VERDICT_NONE;
}

u32 rules_process(const struct rules *rules, const struct process_traits *traits, const char **why)
{
	enum verdict verdicts[RULE_KINDS];
	const char *reasons[RULE_KINDS] = { 0 };
	struct subject subject;
	u32 bits;

	describe(&subject, traits);
	for (enum rule_kind kind = 0; kind < RULE_KINDS; kind++) {
		verdicts[kind] = by_user(rules, traits, &subject, kind, &reasons[kind]);
		if (verdicts[kind] == VERDICT_NONE)
			verdicts[kind] = by_builtin(traits, &subject, kind, &reasons[kind]);
	}
	/* Who serves a game is none, unless the user says so. */
	if (verdicts[RULE_GAME] == VERDICT_USER)
		verdicts[RULE_HELPER] = VERDICT_NO;
	else if (verdicts[RULE_HELPER] >= VERDICT_HOUSE || verdicts[RULE_COMPOSITOR] >= VERDICT_HOUSE ||
		 verdicts[RULE_SOUND] >= VERDICT_HOUSE)
		verdicts[RULE_GAME] = VERDICT_NO;
	bits = subject.is_wine ? PROCESS_WINE : 0;
	*why = subject.is_wine ? "Wine" : "";
	for (enum rule_kind kind = RULE_KINDS; kind-- > 0;)
		if (verdicts[kind] >= VERDICT_HOUSE) {
			bits |= kind_bits[kind];
			*why = reasons[kind];
		}
	return bits;
}

bool rules_compiles(const char *comm)
{
	for (const struct name_rule *rule = builtin_names; rule->name; rule++)
		if (rule->compiles && !strncmp(comm, rule->name, strlen(rule->name)))
			return true;
	return false;
}

bool rules_deny_game(const struct rules *rules, const struct process_traits *traits)
{
	struct subject subject;
	const char *why;

	describe(&subject, traits);
	return by_user(rules, traits, &subject, RULE_GAME, &why) == VERDICT_NO;
}

void rules_names(const struct rules *rules, void (*each)(void *data, const struct name_rule *rule), void *data)
{
	for (const struct name_rule *rule = builtin_names; rule->name; rule++)
		each(data, rule);
	/* After the others: where both name the same, the user's stays. */
	for (size_t i = 0; i < rules->names_len; i++)
		each(data, &rules->names[i]);
}

/* What a pattern demands to be looked at. A path's fixed beginning leads there, unless the name at its end says more;
 * a pattern without either demands everything. */
static struct launch_rule launch_rule_of(const char *pattern)
{
	static const char special[] = "*?[\\";
	const char *base = base_of(pattern);
	bool fixed_base = !base[strcspn(base, special)], fixed = !pattern[strcspn(pattern, special)];
	struct launch_rule rule = { .text = pattern,
				    .look = true,
				    .is_path = pattern[0] == '/' && (fixed || !fixed_base) };

	if (!rule.is_path) {
		rule.text = base;
		rule.exact = fixed_base;
	}
	rule.len = strcspn(rule.text, special);
	/* Names are known by no more than this. */
	if (!rule.is_path && rule.len > LONGEST_NAME) {
		rule.len = LONGEST_NAME;
		rule.exact = false;
	}
	return rule;
}

static void report_pattern(const char *pattern, void (*each)(void *data, const struct launch_rule *rule), void *data)
{
	struct launch_rule rule = launch_rule_of(pattern);

	/* Windows programs start as a loader, which is looked at anyway. */
	if (!ends_in(pattern, ".exe"))
		each(data, &rule);
}

/* Whether the user wants to have looked at what is in there. */
static bool folder_is_wanted(const struct rules *rules, const char *folder)
{
	for (size_t i = 0; i < rules->len; i++) {
		struct launch_rule rule = launch_rule_of(rules->all[i].pattern);

		if (rules->all[i].yes && rule.is_path && !strncmp(folder, rule.text, rule.len))
			return true;
	}
	return false;
}

void rules_launches(const struct rules *rules, void (*each)(void *data, const struct launch_rule *rule), void *data)
{
	for (const struct builtin_folder *folder = builtin_folders; folder->path; folder++)
		if (folder->look || !folder_is_wanted(rules, folder->path))
			each(data, &(struct launch_rule){ .text = folder->path,
							  .len = strlen(folder->path),
							  .is_path = true,
							  .look = folder->look });
	for (const struct builtin_rule *rule = builtin_rules; rule->pattern; rule++)
		report_pattern(rule->pattern, each, data);
	for (const char *const *loader = builtin_wine_loaders; *loader; loader++)
		report_pattern(*loader, each, data);
	for (size_t i = 0; i < rules->len; i++)
		if (rules->all[i].yes)
			report_pattern(rules->all[i].pattern, each, data);
}
