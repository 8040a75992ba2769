// SPDX-License-Identifier: GPL-2.0
/* The config file: lines are handed to inih one by one, so that each wrong one can be reported with its number.
 * The file may hold anything; what makes no sense costs a message and nothing else. */
#include "rules_file.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../base/regular.h"
#include "../base/say.h"
#include "../base/suggest.h"
#include "../model/roles.h"
#include "../model/rules_table.h"

enum { FILE_BYTES_MAX = 1 << 20, REPORTED_MAX = 20, SHOWN_BYTES = 64, RULES_MAX = 4096, DEFAULTS_MAX = 1024 };

#define NO_SECTION "?"
#define OPTIONS_SECTION "options"

/* Whose lines the present section has. What is in no section that there is, who reads options says: everybody does. */
enum owner { OF_NOBODY, OF_OPTIONS, OF_RULES };

/* What is being read, and what became of the present line. */
struct reader {
	struct rules *rules;		  /* NULL: they are passed over, */
	struct option_defaults *defaults; /* or these are */
	const char *path;
	const char *at;
	const char *end;
	int line;
	int wrong;
	enum owner owner;
	bool awaits_pair; /* the line is a pattern with a value, if it is right */
	bool out_of_memory;
};

/* By kind of rule, then those that have no kind. */
static const char *const sections[] = { "games", "compositors", "sound", "helpers", "roles", OPTIONS_SECTION };
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/* So that a file's bytes can't play with the terminal. */
static const char *shown(char *into, const char *text)
{
	size_t i;

	for (i = 0; i < SHOWN_BYTES && text[i]; i++)
		into[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	into[i] = '\0';
	return into;
}

static void __attribute__((format(printf, 3, 4))) report(struct reader *reader, int line, const char *format, ...)
{
	char what[256], path[SHOWN_BYTES + 1];
	va_list args;

	/* Of what is passed over nothing is said: who reads it says it. */
	if (reader->owner == (reader->defaults ? OF_RULES : OF_OPTIONS) || reader->wrong++ >= REPORTED_MAX)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	note("%s:%d: %s", shown(path, reader->path), line, what);
}

static bool is_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] == 0x7f || ((unsigned char)bytes[i] < ' ' && bytes[i] != '\t'))
			return false;
	return true;
}

static bool is_section(const char *line)
{
	const char *comment = strstr(line, " ;"), *end = strchr(line, ']');

	return end && (!comment || end < comment);
}

/* "options" or "options tasks". */
static bool is_options(const char *section)
{
	size_t len = strlen(OPTIONS_SECTION);

	return !strncmp(section, OPTIONS_SECTION, len) && (!section[len] || strchr(" \t]", section[len]));
}

/* What inih is given in place of a line that is none. After a broken head of a section nothing may land in the section
 * before it. */
static void replace_line(char *into, bool was_section)
{
	strcpy(into, was_section ? "[" NO_SECTION "]\n" : "\n");
}

static enum owner owner_of(const char *section, size_t len)
{
	if (is_options(section))
		return OF_OPTIONS;
	for (int i = 0; i < SECTIONS; i++)
		if (strlen(sections[i]) == len && !memcmp(section, sections[i], len))
			return OF_RULES;
	return OF_NOBODY;
}

/* Before anything is said of the line that may begin one. */
static void begin_section(struct reader *reader, const char *line, size_t len)
{
	char name[SHOWN_BYTES] = "";

	if (!len || line[0] != '[')
		return;
	memcpy(name, line + 1, len - 1 < sizeof(name) - 1 ? len - 1 : sizeof(name) - 1);
	reader->owner = owner_of(name, strchr(name, ']') ? strcspn(name, "]") : 0);
}

static void refuse_section(struct reader *reader, const char *name)
{
	struct suggestion meant = { .word = name, .len = strcspn(name, " \t]") };
	char safe[SHOWN_BYTES + 1];

	for (int i = 0; i < SECTIONS; i++)
		suggest(&meant, sections[i]);
	shown(safe, name);
	safe[strcspn(safe, "]")] = '\0';
	if (meant.nearest)
		report(reader, reader->line, "no section [%s]: did you mean [%s]?", safe, meant.nearest);
	else
		report(reader, reader->line,
		       "no section [%s]: it is one of [games], [compositors], [sound], [helpers], [roles], [options]",
		       safe);
}

/* inih calls nobody for a line that it can't make sense of. */
static void look_back(struct reader *reader)
{
	if (reader->awaits_pair)
		report(reader, reader->line, "neither a [section] nor a 'pattern = value'");
	reader->awaits_pair = false;
}

/* For inih, as fgets: one line. Blanks at its beginning go, since inih would take it for a part of the line before. */
static char *read_line(char *into, int room, void *data)
{
	struct reader *reader = data;
	const char *line = reader->at, *newline;
	size_t len;

	look_back(reader);
	if (line >= reader->end || room < 8)
		return NULL;
	reader->line++;
	newline = memchr(line, '\n', (size_t)(reader->end - line));
	reader->at = newline ? newline + 1 : reader->end;
	len = (size_t)((newline ? newline : reader->end) - line);
	for (; len && (line[0] == ' ' || line[0] == '\t'); len--)
		line++;
	for (; len && strchr(" \t\r", line[len - 1]) && line[len - 1]; len--)
		;
	if (!is_text(line, len)) {
		begin_section(reader, line, len);
		report(reader, reader->line, "it has a byte that no text has");
		replace_line(into, line[0] == '[');
	} else if (len + 2 > (size_t)room) {
		begin_section(reader, line, len);
		report(reader, reader->line, "it is longer than the %d bytes that a line may have", room - 2);
		replace_line(into, line[0] == '[');
	} else {
		memcpy(into, line, len);
		strcpy(into + len, "\n");
		begin_section(reader, line, len);
		if (into[0] == '[' && !is_section(into)) {
			report(reader, reader->line, "no ']' after '['");
			replace_line(into, true);
		} else if (into[0] == '[') {
			if (reader->owner == OF_NOBODY)
				refuse_section(reader, into + 1);
		} else {
			reader->awaits_pair = len && !strchr(";#", into[0]);
		}
	}
	return into;
}

static void handle_role(struct reader *reader, const char *name, const char *value)
{
	size_t len = strlen(name);
	bool exact = name[len - 1] != '*';
	struct rules *rules = reader->rules;
	u32 role = role_parse(value);
	char safe[SHOWN_BYTES + 1], prefix[COMM_LEN];

	len -= !exact;
	if (role == ROLES) {
		report(reader, reader->line,
		       "'%s' is no role: it is one of render, input, audio, network, compositor, background, "
		       "cpu-bound, "
		       "unknown",
		       shown(safe, value));
		return;
	}
	if (len >= COMM_LEN || memchr(name, '*', len)) {
		report(reader, reader->line, "'%s': a thread's name has up to 15 bytes, and a * can only be its end",
		       shown(safe, name));
		return;
	}
	memcpy(prefix, name, len);
	prefix[len] = '\0';
	for (size_t i = 0; i < rules->names_len; i++)
		if (rules->names[i].exact == exact && !strcmp(rules->names[i].name, prefix)) {
			report(reader, reader->line, "'%s' again: this line counts, line %d does not",
			       shown(safe, name), rules->name_lines[i]);
			rules->names[i].role = role;
			rules->name_lines[i] = reader->line;
			return;
		}
	reader->out_of_memory |= rules_add_name(rules, prefix, exact, role, reader->line) != 0;
}

static void take_rule(struct reader *reader, enum rule_kind kind, const char *pattern, const char *value)
{
	bool yes = !strcasecmp(value, "yes");
	struct rules *rules = reader->rules;
	char safe[SHOWN_BYTES + 1];

	if (!yes && strcasecmp(value, "no") != 0) {
		report(reader, reader->line, "'%s' is neither yes nor no", shown(safe, value));
		return;
	}
	for (size_t i = 0; i < rules->len; i++)
		if (rules->all[i].kind == kind && !strcmp(rules->all[i].pattern, pattern)) {
			report(reader, reader->line, "'%s' again: this line counts, line %d does not",
			       shown(safe, pattern), rules->all[i].line);
			break;
		}
	reader->out_of_memory |= rules_add(rules, kind, pattern, yes, reader->line) != 0;
}

/* A line of [options COMMAND], or of [options] for every command. */
static void take_default(struct reader *reader, const char *section, const char *name, const char *value)
{
	const char *command = section + strlen(OPTIONS_SECTION);
	struct option_defaults *defaults = reader->defaults;
	char safe[SHOWN_BYTES + 1];

	command += strspn(command, " \t");
	command = command[0] ? command : NULL;
	name += strspn(name, "-");
	if (!name[0] || !value[0]) {
		report(reader, reader->line, "no %s", name[0] ? "value after the '='" : "option before the '='");
		return;
	}
	if (defaults->len >= DEFAULTS_MAX) {
		report(reader, reader->line, "more than %d options", DEFAULTS_MAX);
		return;
	}
	for (size_t i = 0; i < defaults->len; i++) {
		const struct option_default *one = &defaults->all[i];

		if (!strcmp(one->name, name) && !strcmp(one->command ? one->command : "", command ? command : ""))
			report(reader, reader->line, "'%s' again: line %d has it already", shown(safe, name),
			       one->line);
	}
	reader->out_of_memory |= defaults_add(defaults, command, name, value, reader->line) != 0;
}

static void take_pair(struct reader *reader, const char *section, const char *pattern, const char *value)
{
	char safe[SHOWN_BYTES + 1];

	if (!section[0]) {
		report(reader, reader->line, "'%s' stands before the first [section]", shown(safe, pattern));
		return;
	}
	if (reader->owner != (reader->defaults ? OF_OPTIONS : OF_RULES) || !strcmp(section, NO_SECTION))
		return;
	if (reader->defaults) {
		take_default(reader, section, pattern, value);
		return;
	}
	if (!pattern[0]) {
		report(reader, reader->line, "no pattern before the '='");
		return;
	}
	if (reader->rules->len + reader->rules->names_len >= RULES_MAX) {
		report(reader, reader->line, "more than %d rules", RULES_MAX);
		return;
	}
	for (enum rule_kind kind = 0; kind < RULE_KINDS; kind++)
		if (!strcmp(section, sections[kind])) {
			take_rule(reader, kind, pattern, value);
			return;
		}
	if (!strcmp(section, "roles"))
		handle_role(reader, pattern, value);
}

/* inih's handler: not 0 means that the line was taken. */
static int on_pair(void *data, const char *section, const char *pattern, const char *value)
{
	struct reader *reader = data;

	reader->awaits_pair = false;
	take_pair(reader, section, pattern, value ? value : "");
	return 1;
}

static int read_bytes(struct reader *reader, const char *bytes, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors begin a UTF-8 file with it */
	char safe[SHOWN_BYTES + 1];

	reader->at = bytes;
	reader->end = bytes + len;
	if (len >= strlen(mark) && !memcmp(bytes, mark, strlen(mark)))
		reader->at += strlen(mark);
	/* What it returns is the number of the first wrong line, which has been reported. */
	if (ini_parse_stream(read_line, reader, on_pair, reader) == -2)
		reader->out_of_memory = true;
	look_back(reader);
	if (reader->wrong > REPORTED_MAX)
		note("%s: %d more lines are wrong", shown(safe, reader->path), reader->wrong - REPORTED_MAX);
	return reader->out_of_memory ? -ENOMEM : reader->wrong;
}

int rules_read_bytes(struct rules *rules, const char *path, const char *bytes, size_t len)
{
	return read_bytes(&(struct reader){ .rules = rules, .path = path }, bytes, len);
}

int defaults_read_bytes(struct option_defaults *defaults, const char *path, const char *bytes, size_t len)
{
	return read_bytes(&(struct reader){ .defaults = defaults, .path = path }, bytes, len);
}

/* What others can write is no order to root. */
static bool is_safe(const struct stat *seen)
{
	return geteuid() || (is_trusted_user(seen->st_uid) && !(seen->st_mode & (S_IWGRP | S_IWOTH)));
}

static bool is_dev_null(const struct stat *seen)
{
	return S_ISCHR(seen->st_mode) && seen->st_rdev == makedev(1, 3);
}

/* All of a file, or as much as a config file may have. Returns its length or -errno. */
static ssize_t read_whole(const char *path, char *into, size_t size)
{
	struct stat seen = { 0 };
	int fd = regular_open(path, &seen);
	ssize_t got = fd < 0 ? fd : is_safe(&seen) ? 1 : -EPERM, len = 0;

	if (fd == -EINVAL && is_dev_null(&seen))
		return 0;
	if (fd == -EINVAL && S_ISDIR(seen.st_mode))
		return -EISDIR;
	while (fd >= 0 && got > 0 && (size_t)len < size) {
		got = read(fd, into + len, size - (size_t)len);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			got = -errno;
		else
			len += got;
	}
	if (fd >= 0)
		close(fd);
	return got < 0 ? got : len;
}

static const char *why_not(int error)
{
	switch (error) {
	case -EISDIR:
		return "it is a folder, not a config file";
	case -EINVAL:
		return "it is a pipe, a socket or a device: a config file is a regular file, or /dev/null for none";
	case -EFBIG:
		return "it is longer than the 1 MB that a config file may have";
	case -EPERM:
		return "others than root can write it: root takes no orders from it (chown root, chmod go-w)";
	default:
		return strerror(-error);
	}
}

static int read_file(struct reader *reader, bool required)
{
	static bool is_reported; /* that it goes on without, which is said once */
	char *bytes = malloc(FILE_BYTES_MAX + 1);
	ssize_t len = bytes ? read_whole(reader->path, bytes, FILE_BYTES_MAX + 1) : -ENOMEM;
	int status = len > FILE_BYTES_MAX ? -EFBIG : len < 0 ? (int)len : read_bytes(reader, bytes, (size_t)len);

	free(bytes);
	if (status >= 0 || (status == -ENOENT && !required))
		return status > 0 ? status : 0;
	if (required || status == -ENOMEM) {
		fail(reader->path, "%s", why_not(status));
		return status;
	}
	if (!is_reported)
		fail(reader->path, "%s; going on without it", why_not(status));
	is_reported = true;
	return 0;
}

int rules_read(struct rules *rules, const char *path, bool required)
{
	return read_file(&(struct reader){ .rules = rules, .path = path }, required);
}

int defaults_read_file(struct option_defaults *defaults, const char *path, bool required)
{
	return read_file(&(struct reader){ .defaults = defaults, .path = path }, required);
}
