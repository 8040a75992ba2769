// SPDX-License-Identifier: GPL-2.0
/* One line on stderr per trouble, or a message with its fields where stderr is the journal's; and the last check that
 * what was printed has arrived. Every message of the program passes through here. */
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../core/plain.h"

/* Longer messages are cut; no memory is asked for, since that there is none is one of them. */
enum { MESSAGE_SIZE = 4096 };

void reason_set(struct reason *why, const char *format, ...)
{
	char raw[sizeof(why->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	plain_copy(why->text, sizeof(why->text), raw);
}

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

#define UNIT_ENDING ".service"

enum { TEXT_SIZE = 8192, CGROUP_SIZE = 4096, UNIT_SIZE = 256 };
enum { JOURNAL_ERROR = 3, JOURNAL_WARNING = 4, JOURNAL_INFO = 6 };

bool say_unit_of(const char *cgroup, char *unit, size_t size)
{
	const size_t ending = strlen(UNIT_ENDING);
	const char *line = strncmp(cgroup, "0::", 3) ? strstr(cgroup, "\n0::") : cgroup, *end, *name;
	size_t len;

	if (!line)
		return false;
	end = strchrnul(line + 1, '\n');
	name = memrchr(line, '/', (size_t)(end - line));
	if (!name)
		return false;
	len = (size_t)(end - ++name);
	if (len <= ending || len >= size || memcmp(end - ending, UNIT_ENDING, ending))
		return false;
	memcpy(unit, name, len);
	unit[len] = '\0';
	return true;
}

size_t say_journal_text(char *into, size_t size, int priority, const char *unit, const struct say_about *about,
			const char *message)
{
	int len = snprintf(into, size, "PRIORITY=%d\nSYSLOG_IDENTIFIER=tactus\nMESSAGE=%s\n", priority, message);

	if (*unit && (size_t)len < size)
		len += snprintf(into + len, size - (size_t)len, "OBJECT_SYSTEMD_UNIT=%s\n", unit);
	if (about && about->topic && (size_t)len < size)
		len += snprintf(into + len, size - (size_t)len, "TACTUS_TOPIC=%s\n", about->topic);
	if (about && about->pid && (size_t)len < size)
		len += snprintf(into + len, size - (size_t)len, "TACTUS_PID=%u\n", about->pid);
	if (about && about->comm && (size_t)len < size)
		len += snprintf(into + len, size - (size_t)len, "TACTUS_COMM=%s\n", about->comm);
	return (size_t)len < size ? (size_t)len : size - 1;
}

bool say_is_journal(const char *stream, unsigned long long device, unsigned long long inode)
{
	unsigned long long a, b;
	char rest;

	return stream && sscanf(stream, "%llu:%llu%c", &a, &b, &rest) == 2 && a == device && b == inode;
}

/* The journal's own protocol: one datagram a message. */
static int journal_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	struct stat behind;
	int fd;

	if (fstat(STDERR_FILENO, &behind) || !say_is_journal(getenv("JOURNAL_STREAM"), behind.st_dev, behind.st_ino))
		return -1;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The journal looks for a message's unit by its sender, which after its last message may be gone already: so it is
 * told. */
static void find_unit(char *unit, size_t size)
{
	char cgroup[CGROUP_SIZE];
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, cgroup, sizeof(cgroup) - 1) : -1;

	if (fd >= 0)
		close(fd);
	cgroup[len > 0 ? len : 0] = '\0';
	if (!say_unit_of(cgroup, unit, size))
		unit[0] = '\0';
}

static int journal = -2; /* not looked for yet */

void say_to_stderr(void)
{
	journal = -1;
}

static bool journal_log(int priority, const struct say_about *about, const char *message)
{
	static char unit[UNIT_SIZE];
	char text[TEXT_SIZE];
	size_t len;

	if (journal == -2) {
		journal = journal_open();
		if (journal >= 0)
			find_unit(unit, sizeof(unit));
	}
	if (journal < 0)
		return false;
	len = say_journal_text(text, sizeof(text), priority, unit, about, message);
	return send(journal, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static void print_line(int priority, const struct say_about *about, const char *what, const char *format, va_list args)
{
	char raw[MESSAGE_SIZE], plain[MESSAGE_SIZE];
	int len = what ? snprintf(raw, sizeof(raw), "%s: ", what) : 0;

	len = (size_t)len < sizeof(raw) ? len : (int)sizeof(raw) - 1;
	vsnprintf(raw + len, sizeof(raw) - (size_t)len, format, args);
	plain_copy(plain, sizeof(plain), raw);
	if (!journal_log(priority, about, plain))
		fprintf(stderr, "tactus: %s\n", plain);
}

int fail(const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(JOURNAL_ERROR, NULL, what, format, args);
	va_end(args);
	return EXIT_FAILURE;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(JOURNAL_INFO, NULL, NULL, format, args);
	va_end(args);
}

void note_about(const struct say_about *about, const char *format, ...)
{
	char comm[64] = "";
	struct say_about plain = *about;
	va_list args;

	if (about->comm) {
		plain_copy(comm, sizeof(comm), about->comm);
		plain.comm = comm;
	}
	va_start(args, format);
	print_line(about->is_warning ? JOURNAL_WARNING : JOURNAL_INFO, &plain, NULL, format, args);
	va_end(args);
}

/* By pieces: a scheduler's dump or a verifier's log has any length. */
void say_lines(const char *text)
{
	char piece[MESSAGE_SIZE];
	size_t len = 0;
	char last = '\n';

	while (*text) {
		struct utf8_char next = utf8_read(text);

		last = *text;
		if (last == '\n' || last == '\t')
			piece[len++] = last;
		else
			len += plain_put(piece + len, text, next);
		text += next.length ? next.length : 1;
		if (len + UTF8_LONGEST >= sizeof(piece) || !*text) {
			fwrite(piece, 1, len, stderr);
			len = 0;
		}
	}
	if (last != '\n')
		fputc('\n', stderr);
}

int finish_output(int status)
{
	int had_error = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !had_error)
		return status;
	/* An earlier failed write leaves only the mark; the usual cause of that is a reader that went away. */
	if (errno == EPIPE || errno == 0)
		return status;
	return fail("standard output", "%s", strerror(errno));
}
