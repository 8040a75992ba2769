// SPDX-License-Identifier: GPL-2.0
/* Sections of options in a config file: what is taken of them, which line counts, and every kind of wrong line.
 * What is read for options says nothing of rules, and the other way round. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/store/rules_file.h"
#include "tap.h"

static char said[16384];

/* Reads with stderr in `said`. */
static int read_saying(struct option_defaults *defaults, struct rules *rules, const char *bytes, size_t len)
{
	int kept = dup(2), into = memfd_create("said", 0), result;
	ssize_t got;

	dup2(into, 2);
	result = defaults ? defaults_read_bytes(defaults, "conf", bytes, len)
			  : rules_read_bytes(rules, "conf", bytes, len);
	dup2(kept, 2);
	close(kept);
	got = pread(into, said, sizeof(said) - 1, 0);
	said[got > 0 ? got : 0] = '\0';
	close(into);
	return result;
}

static int read_text(struct option_defaults *defaults, const char *text)
{
	return read_saying(defaults, NULL, text, strlen(text));
}

static const char *value_of(const struct option_defaults *defaults, const char *command, const char *name)
{
	const struct option_default *one = defaults_find(defaults, command, name);

	return one ? one->value : "none";
}

static void test_lines_that_count(void)
{
	struct option_defaults defaults = { 0 };

	is(read_text(&defaults,
		     "[options tasks]\nrows = 7\n[options]\nrows = 5 ; of all\n --json = yes\n[games]\nx = yes\n"
		     "[options db list]\ncolumns=comm,tier\n[roles]\nneither = input\n"),
	   0, "sections of options are read");
	is_text(said, "", "right sections of options give no message");
	is(defaults.len, 4, "lines of other sections are no options");
	is_text(value_of(&defaults, "tasks", "rows"), "7", "what is for one command counts before what is for all");
	is_text(value_of(&defaults, "latency", "rows"), "5", "what is for all counts for a command without its own");
	is_text(value_of(&defaults, "tasks", "json"), "yes", "dashes before an option's name may be given");
	is_text(value_of(&defaults, "db list", "columns"), "comm,tier", "part of a command has a section");
	is_text(value_of(&defaults, "db", "columns"), "none", "section of a part is not for the whole");
	is(defaults_find(&defaults, "tasks", "rows")->line, 2, "number of the line that counts is kept");
	defaults_free(&defaults);
}

static void test_wrong_lines(void)
{
	struct option_defaults defaults = { 0 };

	is(read_text(&defaults,
		     "wrong\n[options]\nnonsense\n= 3\nrows =\nrows = 1\nrows = 2\n[options tasks\nrows = 9\n"
		     "[roles]\nfoo = loud\n[nothing]\na = b\n"),
	   7, "wrong lines in sections of options and in none are counted, and no others");
	ok(strstr(said, "conf:3: neither a [section] nor"), "line without '=' in a section of options is told");
	ok(strstr(said, "conf:4: no option before the '='"), "line without a name is told");
	ok(strstr(said, "conf:5: no value after the '='"), "line without a value is told");
	ok(strstr(said, "conf:7: 'rows' again: line 6 has it already"), "option given twice is told");
	ok(strstr(said, "conf:8: no ']' after '['"), "section of options without its end is told");
	ok(strstr(said, "conf:1: neither a [section] nor"),
	   "line before the first section is told to who reads options");
	ok(strstr(said, "conf:12: no section [nothing]: it is one of "),
	   "unknown section is told to who reads options");
	ok(!strstr(said, "loud"), "wrong rules are not told to who reads options");
	is_text(value_of(&defaults, "tasks", "rows"), "2", "last of two equal lines counts");
	defaults_free(&defaults);
}

static void test_wrong_sections(void)
{
	struct option_defaults defaults = { 0 };

	is(read_text(&defaults, "early = 1\n[optons]\nrows = 1\n[ options]\n[optionss]\n[games"), 5,
	   "lines outside of any section and unknown sections are counted");
	ok(strstr(said, "conf:1: 'early' stands before the first [section]"), "option before any section is told");
	ok(strstr(said, "conf:2: no section [optons]: did you mean [options]?"),
	   "what a section was meant to be is told");
	ok(strstr(said, "conf:4: no section [ options]"), "blank before a section's name is told");
	ok(strstr(said, "conf:5: no section [optionss]"), "section without a line in it is told");
	ok(strstr(said, "conf:6: no ']' after '['"), "section of rules without its end is told to who reads options");
	is(defaults.len, 0, "lines of unknown sections are no options");
	defaults_free(&defaults);
}

static void test_beside_rules(void)
{
	static const char text[] = "[options]\nnonsense\n= 3\n[roles]\nfoo = loud\n";
	struct rules *rules = rules_new();

	is(read_saying(NULL, rules, text, strlen(text)), 1, "wrong lines of options are not counted among rules");
	ok(strstr(said, "'loud' is no role"), "a wrong rule is told to who reads rules");
	ok(!strstr(said, "nonsense"), "wrong options are not told to who reads rules");
	rules_free(rules);
}

static void test_junk(void)
{
	static char junk[200000];
	struct option_defaults defaults = { 0 };
	u32 seed = 1147;
	bool is_plain = true;

	memcpy(junk, "[options]\n", 10);
	for (size_t i = 10; i < sizeof(junk); i++) {
		seed = seed * 1664525 + 1013904223;
		junk[i] = seed >> 30 ? (char)(seed >> 22) : '=';
	}
	ok(read_saying(&defaults, NULL, junk, sizeof(junk)) > 20, "random bytes in a section of options are wrong");
	for (const char *at = said; *at; at++)
		is_plain &= *at == '\n' || (*at >= ' ' && *at <= '~');
	ok(is_plain, "random bytes of options never reach the terminal");
	ok(defaults.len <= 1024, "options of random bytes have an end");
	defaults_free(&defaults);
	is(read_text(&defaults, "[options]\na\x1b[2J = x\n"), 1, "escape in an option's name is refused");
	is(defaults.len, 0, "option with an escape does not count");
	defaults_free(&defaults);
}

static void test_choices(void)
{
	ok(choices_have("thread|process", "process"), "value that is one of the choices is found");
	ok(!choices_have("thread|process", "proc"), "beginning of a choice is none");
	ok(!choices_have("thread|process", "processes"), "what is longer than a choice is none");
	ok(choices_have("default|all|REGEX", "cuMem.*"), "anything is a choice where capitals are one");
	ok(choices_have("FILE", "x"), "anything is taken where there is no list");
}

static void test_trust(void)
{
	char path[] = "/tmp/tactus-defaults.XXXXXX";
	struct option_defaults defaults = { 0 };
	int fd = mkstemp(path), kept = dup(2), nothing = open("/dev/null", O_WRONLY);

	dup2(nothing, 2);
	ok(fd >= 0, "a file of one's own is made");
	is(write(fd, "[options]\nrows = 3\n", 19), 19, "a file of one's own is written");
	is(defaults_read_file(&defaults, path, true), 0, "file of one's own is read");
	is(defaults.len, 1, "options in a file of one's own count");
	defaults_free(&defaults);
	fchmod(fd, 0666);
	is(defaults_read_file(&defaults, path, true), geteuid() ? 0 : -EPERM,
	   "root refuses a file that others can write");
	defaults_free(&defaults);
	is(defaults_read_file(&defaults, path, false), 0, "file in the usual place that is refused stops nothing");
	is(defaults.len, geteuid() ? 1 : 0, "options of a file that is refused do not count");
	defaults_free(&defaults);
	fchmod(fd, 0644);
	if (!geteuid() && !fchown(fd, 4711, 4711))
		is(defaults_read_file(&defaults, path, true), -EPERM, "root refuses a file of another user");
	defaults_free(&defaults);
	dup2(kept, 2);
	close(kept);
	close(nothing);
	close(fd);
	unlink(path);
}

int main(void)
{
	test_lines_that_count();
	test_wrong_lines();
	test_wrong_sections();
	test_beside_rules();
	test_junk();
	test_choices();
	test_trust();
	return tap_end();
}
