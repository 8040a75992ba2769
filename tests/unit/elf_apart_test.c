// SPDX-License-Identifier: GPL-2.0
/* base/elf_apart.c, elf_answer.c and confine.c: a library read in another process is the same library; what that
 * process may do; what becomes of answers that cannot be, and of questions when it is gone. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/confine.h"
#include "../../src/base/elf_answer.h"
#include "../../src/base/elf_apart.h"
#include "tap.h"

/* One number for all that was told, and its order. */
struct told {
	u64 hash;
	u32 len;
};

static void mix(u64 *hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ULL;
}

static int take(void *data, const struct elf_symbol *symbol)
{
	struct told *told = data;

	mix(&told->hash, symbol->name, strlen(symbol->name) + 1);
	mix(&told->hash, &symbol->offset, sizeof(symbol->offset));
	mix(&told->hash, &symbol->address, sizeof(symbol->address));
	mix(&told->hash, &symbol->bytes, sizeof(symbol->bytes));
	mix(&told->hash, &symbol->bits, sizeof(symbol->bits));
	told->len++;
	return 0;
}

static const char *path_of(const char *function)
{
	Dl_info info = { 0 };

	return dladdr(dlsym(RTLD_DEFAULT, function), &info) ? info.dli_fname : "";
}

static void test_round_trip(const char *function)
{
	struct elf_question question = { .what = ELF_SYMBOLS, .patterns = { "*" } };
	const char *path = path_of(function);
	struct told here = { 0 }, apart = { 0 };
	struct reason why = { "" };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat seen = { 0 };

	ok(fd >= 0, "library %s opens", path);
	is(fstat(fd, &seen), 0, "library %s has a size", path);
	question.file_bytes = (u64)seen.st_size;
	is(elf_read(fd, &question, take, &here, &why), here.len, "%s is read here", path);
	is(elf_symbols(path, "*", take, &apart, &why), here.len, "%s has as many functions apart: %u", path, here.len);
	is(apart.hash, here.hash, "%s has the same functions apart, in the same order", path);
	is(elf_unanswered(), 0, "questions about %s have answers", path);
	close(fd);
}

/* A line of the process's status, as a number to that base; ~0: it has none. */
static u64 status_of(pid_t pid, const char *name, int base)
{
	char path[64], line[256];
	u64 value = ~0ULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtoull(line + strlen(name) + 1, NULL, base);
	if (file)
		fclose(file);
	return value;
}

static u32 files_of(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	u32 len = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		len += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return len;
}

static void test_confined(void)
{
	pid_t pid = elf_apart_process();

	ok(pid > 0, "process that starts readers is there");
	is(status_of(pid, "CapPrm", 16), 0, "process that starts readers has no capability");
	is(status_of(pid, "NoNewPrivs", 10), 1, "process that starts readers can't get privileges");
	is(status_of(pid, "Seccomp", 10), 2, "process that starts readers has a filter of system calls");
	if (geteuid() != 0)
		return;
	is(status_of(pid, "CapBnd", 16), 0, "process that starts readers has an empty bounding set");
	ok((u32)status_of(pid, "Uid", 10) >= 65534, "process that starts readers has a user of its own: %u",
	   (u32)status_of(pid, "Uid", 10));
	ok((u32)status_of(pid, "Gid", 10) >= 65534, "process that starts readers has a group of its own");
	is(files_of(pid), 1, "process that starts readers has one descriptor");
}

/* The signal that a child ends by if it makes this call behind a filter; 0: it is let. */
static int ends_by(long call, long third)
{
	static const int allowed[] = { SYS_exit_group, SYS_write };
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (confine_calls(allowed, sizeof(allowed) / sizeof(allowed[0])))
			syscall(call, NULL, 4096, third, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_filter(void)
{
	is(ends_by(SYS_mmap, PROT_READ | PROT_WRITE), 0, "memory is to be had behind the filter");
	is(ends_by(SYS_mmap, PROT_READ | PROT_EXEC), SIGSYS, "memory that can be run ends the process");
	is(ends_by(SYS_openat, 0), SIGSYS, "opening a file ends the process");
	is(ends_by(SYS_socket, 0), SIGSYS, "socket ends the process");
	is(ends_by(SYS_clone, 0), SIGSYS, "fork ends the process");
	is(ends_by(SYS_execve, 0), SIGSYS, "exec ends the process");
	is(ends_by(SYS_mprotect, PROT_EXEC), SIGSYS, "changing what memory may do ends the process");
}

/* Answers, made by hand. */
struct answer {
	size_t len;
	char bytes[4096];
};

static void put(struct answer *answer, const struct elf_record *record, const char *text, size_t len)
{
	struct elf_record whole = *record;

	whole.text_len = (u32)len;
	memcpy(answer->bytes + answer->len, &whole, sizeof(whole));
	memcpy(answer->bytes + answer->len + sizeof(whole), text, len);
	answer->len += sizeof(whole) + len;
}

static const struct elf_question swaps = { .file_bytes = 4096, .what = ELF_SYMBOLS, .patterns = { "s*" } };

static struct answer answer_of(const struct elf_record *record, const char *name, s32 result, const char *words)
{
	struct elf_record last = { .result = result };
	struct answer answer = { 0 };

	if (record)
		put(&answer, record, name, strlen(name));
	put(&answer, &last, words, strlen(words));
	return answer;
}

static void refused(const struct answer *answer, const struct elf_question *question, const char *what)
{
	struct told told = { 0 };
	struct reason why = { "" };

	is(elf_take_answer(answer->bytes, answer->len, question, take, &told, &why), -EBADMSG, "answer is refused: %s",
	   what);
	is(told.len, 0, "answer that is refused tells of no function: %s", what);
	is_text(why.text, "what was read in it makes no sense", "answer that is refused has a reason");
}

/* A function that covers none of the offsets was not asked for. */
static void test_covering_answers(void)
{
	const struct elf_question at_20 = {
		.file_bytes = 4096, .what = ELF_COVERS, .offsets_len = 1, .offsets = { 20 }
	};
	const struct elf_record around = { .offset = 16, .bytes = 8, .bits = 64 };
	const struct elf_record before = { .offset = 16, .bytes = 4, .bits = 64 };
	const struct elf_record behind = { .offset = 21, .bits = 64 };
	struct answer answer = answer_of(&around, "any name", 1, "");
	struct told told = { 0 };
	struct reason why = { "" };

	is(elf_take_answer(answer.bytes, answer.len, &at_20, take, &told, &why), 1,
	   "answer with a function around an offset is taken");
	answer = answer_of(&before, "swap", 1, "");
	refused(&answer, &at_20, "a function ends before the offset");
	answer = answer_of(&behind, "swap", 1, "");
	refused(&answer, &at_20, "a function begins behind the offset");
	answer = answer_of(&around, "", 1, "");
	refused(&answer, &at_20, "a function around an offset has no name");
}

static void test_answers(void)
{
	const struct elf_record good = { .offset = 16, .address = 0x1010, .bits = 64 };
	const struct elf_record outside = { .offset = 4096, .bits = 64 }, odd = { .offset = 16, .bits = 65 };
	struct elf_question yes_or_no = { .file_bytes = 4096, .what = ELF_BEGINS, .offset = 4096 };
	struct answer answer = answer_of(&good, "swap", 1, "");
	struct told told = { 0 };
	struct reason why = { "" };
	char long_name[300];
	u32 taken = 0;

	is(elf_take_answer(answer.bytes, answer.len, &swaps, take, &told, &why), 1, "answer with a function is taken");
	is(told.len, 1, "function of an answer is told once");
	for (size_t len = 0; len < answer.len; len++)
		taken += elf_take_answer(answer.bytes, len, &swaps, take, &told, &why) != -EBADMSG;
	is(taken, 0, "answer that is cut anywhere is refused");
	is(told.len, 1, "nothing of an answer that is cut is told");
	answer.len++;
	refused(&answer, &swaps, "something is behind its end");
	test_covering_answers();
#define REFUSED(what, ...)                       \
	do {                                     \
		answer = answer_of(__VA_ARGS__); \
		refused(&answer, &swaps, what);  \
	} while (0)
	REFUSED("a function lies outside of the file", &outside, "swap", 1, "");
	REFUSED("a function is for a machine of 65 bits", &odd, "swap", 1, "");
	REFUSED("a function was not asked for", &good, "malloc", 1, "");
	REFUSED("it counts more functions than it tells", &good, "swap", 2, "");
	REFUSED("it tells a function and that there is none", &good, "swap", -ENOENT, "it exports no function s*");
	REFUSED("there is no function and no reason", NULL, "", 0, "");
	REFUSED("an error is none of ours", NULL, "", -EPERM, "it may not be");
	REFUSED("it tells of too many functions and gives no reason", &good, "swap", -E2BIG, "");
	REFUSED("a reason has a character that a terminal obeys", NULL, "", -ENOEXEC, "it is \033[2J no ELF file");
	memset(long_name, 's', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	REFUSED("a name is too long", &good, long_name, 1, "");
	answer = (struct answer){ 0 };
	put(&answer, &good, "sw\0p", 4);
	put(&answer, &(struct elf_record){ .result = 1 }, "", 0);
	refused(&answer, &swaps, "a name has an end in its middle");
	answer = answer_of(NULL, "", 0, "");
	refused(&answer, &yes_or_no, "a function begins behind the file's end");
	yes_or_no.offset = 16;
	is(elf_take_answer(answer.bytes, answer.len, &yes_or_no, take, &told, &why), 0,
	   "answer that is a yes is taken");
	answer = answer_of(&good, "swap", 1, "");
	refused(&answer, &yes_or_no, "a function is told where a yes was asked for");
}

/* Whoever could kill it is root; then no library is read any more, and that is all. */
static void test_gone(void)
{
	struct reason why = { "" };
	pid_t pid = elf_apart_process();
	u64 offset = 0;

	if (kill(pid, SIGKILL)) {
		ok(errno == EPERM, "process that starts readers can't be killed by others");
		return;
	}
	waitpid(pid, NULL, 0);
	ok(elf_symbol(path_of("crc32"), "crc32", &offset, &why) < 0, "library is not read when nobody starts readers");
	is_text(why.text, "it can't be read: the process that starts readers of libraries is gone",
		"library that is not read has the reason");
	is(elf_unanswered(), 1, "question without an answer is counted");
}

int main(void)
{
	test_round_trip("crc32");
	test_round_trip("malloc");
	test_confined();
	test_filter();
	test_answers();
	test_gone();
	return tap_end();
}
