// SPDX-License-Identifier: GPL-2.0
/* The config file: lines are handed to inih one by one, so that each wrong one can be told by its number.
 * The file may hold anything; what makes no sense costs a message and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../base/say.h"
#include "roles.h"
#include "rules_table.h"

enum { FILE_BYTES_MAX = 1 << 20, TOLD_MAX = 20, SHOWN_BYTES = 64, RULES_MAX = 4096 };

#define NO_SECTION "?"

/* What is being read, and what became of the present line. */
struct reader {
	struct rules *rules;
	const char *path;
	const char *at;
	const char *end;
	int line;
	int section_line;
	int section_told; /* the line of the last section that was said to be wrong */
	int wrong;
	bool awaits_pair; /* the line is a pattern with a value, if it is right */
	bool out_of_memory;
};

static const char *const sections[RULE_KINDS] = { "games", "compositors", "sound", "helpers" };

/* So that a file's bytes can't play with the terminal. */
static const char *shown(char *into, const char *text)
{
	size_t i;

	for (i = 0; i < SHOWN_BYTES && text[i]; i++)
		into[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	into[i] = '\0';
	return into;
}

static void __attribute__((format(printf, 3, 4))) tell(struct reader *reader, int line, const char *format, ...)
{
	char what[256], path[SHOWN_BYTES + 1];
	va_list args;

	if (reader->wrong++ >= TOLD_MAX)
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

/* What inih is given in place of a line that is none. After a broken head of a section nothing may land in the section
 * before it. */
static void replace_line(struct reader *reader, char *into, bool was_section)
{
	strcpy(into, was_section ? "[" NO_SECTION "]\n" : "\n");
	if (was_section)
		reader->section_line = reader->section_told = reader->line;
}

/* inih calls nobody for a line that it can't make sense of. */
static void look_back(struct reader *reader)
{
	if (reader->awaits_pair)
		tell(reader, reader->line, "neither a [section] nor a 'pattern = value'");
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
		tell(reader, reader->line, "it has a byte that no text has");
		replace_line(reader, into, line[0] == '[');
	} else if (len + 2 > (size_t)room) {
		tell(reader, reader->line, "it is longer than the %d bytes that a line may have", room - 2);
		replace_line(reader, into, line[0] == '[');
	} else {
		memcpy(into, line, len);
		strcpy(into + len, "\n");
		if (into[0] == '[' && !is_section(into)) {
			tell(reader, reader->line, "no ']' after '['");
			replace_line(reader, into, true);
		} else if (into[0] == '[') {
			reader->section_line = reader->line;
		} else {
			reader->awaits_pair = len && !strchr(";#", into[0]);
		}
	}
	return into;
}

static void take_role(struct reader *reader, const char *name, const char *value)
{
	size_t len = strlen(name);
	bool exact = name[len - 1] != '*';
	struct rules *rules = reader->rules;
	u32 role = role_parse(value);
	char safe[SHOWN_BYTES + 1], prefix[COMM_LEN];

	len -= !exact;
	if (role == ROLES) {
		tell(reader, reader->line,
		     "'%s' is no role: it is one of render, input, audio, network, compositor, background, cpu-bound, "
		     "unknown",
		     shown(safe, value));
		return;
	}
	if (len >= COMM_LEN || memchr(name, '*', len)) {
		tell(reader, reader->line, "'%s': a thread's name has up to 15 bytes, and a * can only be its end",
		     shown(safe, name));
		return;
	}
	memcpy(prefix, name, len);
	prefix[len] = '\0';
	for (size_t i = 0; i < rules->names_len; i++)
		if (rules->names[i].exact == exact && !strcmp(rules->names[i].name, prefix)) {
			tell(reader, reader->line, "'%s' again: this line counts, line %d does not", shown(safe, name),
			     rules->name_lines[i]);
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
		tell(reader, reader->line, "'%s' is neither yes nor no", shown(safe, value));
		return;
	}
	for (size_t i = 0; i < rules->len; i++)
		if (rules->all[i].kind == kind && !strcmp(rules->all[i].pattern, pattern)) {
			tell(reader, reader->line, "'%s' again: this line counts, line %d does not",
			     shown(safe, pattern), rules->all[i].line);
			break;
		}
	reader->out_of_memory |= rules_add(rules, kind, pattern, yes, reader->line) != 0;
}

static void take_pair(struct reader *reader, const char *section, const char *pattern, const char *value)
{
	char safe[SHOWN_BYTES + 1];

	if (!pattern[0]) {
		tell(reader, reader->line, "no pattern before the '='");
		return;
	}
	if (reader->rules->len + reader->rules->names_len >= RULES_MAX) {
		tell(reader, reader->line, "more than %d rules", RULES_MAX);
		return;
	}
	for (enum rule_kind kind = 0; kind < RULE_KINDS; kind++)
		if (!strcmp(section, sections[kind])) {
			take_rule(reader, kind, pattern, value);
			return;
		}
	if (!strcmp(section, "roles")) {
		take_role(reader, pattern, value);
	} else if (!section[0]) {
		tell(reader, reader->line, "'%s' stands before the first [section]", shown(safe, pattern));
	} else if (reader->section_told != reader->section_line) {
		reader->section_told = reader->section_line;
		tell(reader, reader->section_line,
		     "no section [%s]: it is one of [games], [compositors], [sound], [helpers], [roles]",
		     shown(safe, section));
	}
}

/* inih's handler: not 0 means that the line was taken. */
static int on_pair(void *data, const char *section, const char *pattern, const char *value)
{
	struct reader *reader = data;

	reader->awaits_pair = false;
	take_pair(reader, section, pattern, value ? value : "");
	return 1;
}

int rules_read_bytes(struct rules *rules, const char *path, const char *bytes, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors begin a UTF-8 file with it */
	struct reader reader = { .rules = rules, .path = path, .at = bytes, .end = bytes + len };
	char safe[SHOWN_BYTES + 1];

	if (len >= strlen(mark) && !memcmp(bytes, mark, strlen(mark)))
		reader.at += strlen(mark);
	/* What it returns is the number of the first wrong line, which has been told. */
	if (ini_parse_stream(read_line, &reader, on_pair, &reader) == -2)
		reader.out_of_memory = true;
	look_back(&reader);
	if (reader.wrong > TOLD_MAX)
		note("%s: %d more lines are wrong", shown(safe, path), reader.wrong - TOLD_MAX);
	return reader.out_of_memory ? -ENOMEM : reader.wrong;
}

/* All of a file, or as much as a config file may have. Returns its length or -errno. */
static ssize_t read_whole(const char *path, char *into, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got = fd < 0 ? -errno : 1, len = 0;

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

int rules_read(struct rules *rules, const char *path, bool required)
{
	char *bytes = malloc(FILE_BYTES_MAX + 1);
	ssize_t len = bytes ? read_whole(path, bytes, FILE_BYTES_MAX + 1) : -ENOMEM;
	int error = 0;

	if (len > FILE_BYTES_MAX)
		len = -EFBIG;
	if (len >= 0 && rules_read_bytes(rules, path, bytes, (size_t)len) == -ENOMEM)
		len = -ENOMEM;
	free(bytes);
	if (len >= 0 || (len == -ENOENT && !required))
		return 0;
	error = (int)len;
	fail(path, "%s%s", error == -EISDIR ? "it is a folder, not a config file" : strerror(-error),
	     required || error == -ENOMEM ? "" : "; going on without it");
	return required || error == -ENOMEM ? error : 0;
}
