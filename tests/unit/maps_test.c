// SPDX-License-Identifier: GPL-2.0
/* base/maps.c: lines of /proc/PID/maps, right ones, hostile ones and broken ones. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/maps.h"
#include "tap.h"

/* Each line is parsed in memory of exactly its size, so that the sanitizers see a step too far. */
static bool parse(const char *text, struct mapping *mapping, char **line)
{
	*line = strdup(text);
	return mapping_parse(*line, mapping);
}

static void test_right_lines(void)
{
	static const struct {
		const char *line, *path;
		bool executable, deleted;
		u64 inode;
	} lines[] = {
		{ "7f0000001000-7f0000002000 r-xp 00003000 fe:00 332510                     /usr/lib/libGLX.so.0.0.0",
		  "/usr/lib/libGLX.so.0.0.0", true, false, 332510 },
		{ "7f0000001000-7f0000002000 r--p 00000000 fe:00 332510    /a b (deleted)", "/a b", false, true,
		  332510 },
		{ "7f0000001000-7f0000002000 rwxs 00000000 fe:00 1    / (deleted) (deleted)", "/ (deleted)", true, true,
		  1 },
		{ "7f0000001000-7f0000002000 r-xp 00000000 fe:00 1    /new\\012line\\011\\", "/new\nline\\011\\", true,
		  false, 1 },
		{ "7f0000001000-7f0000002000 r-xp 00000000 fe:00 1    /\033[31m\xff\x80", "/\033[31m\xff\x80", true,
		  false, 1 },
		{ "7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                          [vdso]", "[vdso]", true,
		  false, 0 },
		{ "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 ", "", false, false, 0 },
		{ "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0", "", false, false, 0 },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]", "[vsyscall]",
		  true, false, 0 },
	};
	struct mapping mapping;
	char *line;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ok(parse(lines[i].line, &mapping, &line), "line %zu of a map is understood", i);
		is_text(mapping.path, lines[i].path, "mapping has its path");
		is(mapping.executable, lines[i].executable, "mapping %zu is executable or not", i);
		is(mapping.deleted, lines[i].deleted, "mapping %zu is of a deleted file or not", i);
		is(mapping.inode, lines[i].inode, "mapping %zu has its inode", i);
		free(line);
	}
	parse("7f0000001000-7f0000002000 r-xp 00003000 fe:1f 332510 /x", &mapping, &line);
	is(mapping.start, 0x7f0000001000, "mapping has its first address");
	is(mapping.end, 0x7f0000002000, "mapping has its last address");
	is(mapping.offset, 0x3000, "mapping has its offset");
	is(mapping.major, 0xfe, "mapping has its device's major number");
	is(mapping.minor, 0x1f, "mapping has its device's minor number");
	free(line);
}

static void test_broken_lines(void)
{
	static const char *const lines[] = {
		"",
		" ",
		"-",
		"7f0000001000",
		"7f0000001000-",
		"7f0000001000-7f0000002000",
		"7f0000001000-7f0000002000 ",
		"7f0000001000-7f0000002000 r-x",
		"7f0000001000-7f0000002000 r-xp",
		"7f0000001000-7f0000002000 r-xpp 00000000 fe:00 1 /x",
		"7f0000001000-7f0000002000 xxxx 00000000 fe:00 1 /x",
		"7f0000001000-7f0000002000 r-xp ",
		"7f0000001000-7f0000002000 r-xp 00000000",
		"7f0000001000-7f0000002000 r-xp 00000000 fe",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:00",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:00 ",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:00  /x",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:00 1a /x",
		"7f0000001000-7f0000002000 r-xp 00000000 fe:00 99999999999999999999 /x",
		"7f0000001000-7f0000002000 r-xp 00000000 100000000:00 1 /x",
		"11111111111111111-22222222222222222 r-xp 00000000 fe:00 1 /x",
		"7f0000002000-7f0000001000 r-xp 00000000 fe:00 1 /x",
		"7f0000001000-7f0000001000 r-xp 00000000 fe:00 1 /x",
		"7F0000001000-7F0000002000 r-xp 00000000 fe:00 1 /x",
		"\xff\xff\xff",
	};
	struct mapping mapping;
	char *line;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ok(!parse(lines[i], &mapping, &line), "line '%s' is no mapping", lines[i]);
		free(line);
	}
}

static void test_names(void)
{
	char deleted[] = " (deleted)", other[] = "/a (deleted)b";

	is_text(path_base("/usr/lib/x.so"), "x.so", "base of a path is what is behind its last slash");
	is_text(path_base("x.so"), "x.so", "base of a path without a slash is all of it");
	is_text(path_base("/usr/"), "", "base of a path that ends with a slash is empty");
	ok(!path_was_deleted(deleted), "path cut of its mark is not deleted again");
	ok(!path_was_deleted(other), "path that only looks like a deleted one is not deleted");
}

struct search {
	u64 address;
	struct mapping found;
	u32 seen;
};

static int look(void *data, const struct mapping *mapping)
{
	struct search *search = data;

	search->seen++;
	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	search->found = *mapping;
	return 7;
}

static int count(void *data, const struct mapping *mapping)
{
	(void)mapping;
	++*(u32 *)data;
	return 0;
}

static void test_this_process(void)
{
	struct search search = { .address = (u64)(uintptr_t)&test_this_process };
	long page = sysconf(_SC_PAGESIZE);
	u32 before = 0, after = 0;
	char *many;

	is(maps_read((u32)getpid(), look, &search), 7, "a callee that has enough ends the reading");
	ok(search.found.executable, "function of this program is in an executable mapping");
	ok(search.found.inode, "function of this program is in a file");
	/* Far more than a buffer of lines: every second page has other rights. */
	many = mmap(NULL, 6000 * (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	maps_read((u32)getpid(), count, &before);
	for (size_t i = 0; i < 6000; i += 2)
		mprotect(many + i * (size_t)page, (size_t)page, PROT_READ | PROT_WRITE);
	is(maps_read((u32)getpid(), count, &after), 0, "maps of a process that maps on are read");
	ok(after >= before + 5900, "mapping is never lost between two reads: %u, then %u", before, after);
	munmap(many, 6000 * (size_t)page);
	many = mmap(NULL, (MAPPINGS_MAX + 2) * (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < MAPPINGS_MAX + 2; i += 2)
		mprotect(many + i * (size_t)page, (size_t)page, PROT_READ | PROT_WRITE);
	after = 0;
	is(maps_read((u32)getpid(), count, &after), (u64)-E2BIG, "a process with more mappings than are read is told");
	is(after, MAPPINGS_MAX, "no more mappings of a process are read than that");
	munmap(many, (MAPPINGS_MAX + 2) * (size_t)page);
	is(maps_read(0x7fffffff, count, &after), (u64)-ENOENT, "process that does not exist has no maps");
}

int main(void)
{
	test_right_lines();
	test_broken_lines();
	test_names();
	test_this_process();
	return tap_end();
}
