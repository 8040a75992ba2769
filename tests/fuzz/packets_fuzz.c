// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what comes in pieces: statuses over the run's socket, lines of the journal of hints, numbers of NVIDIA's
 * ioctls, and text on its way to a terminal. The first byte says which. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/plain.h"
#include "../../src/model/nvidia.h"
#include "../../src/sched/journal.h"
#include "../../src/sink/text.h"
#include "../../src/view/status.h"

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static FILE *nowhere;

static void read_status(const unsigned char *data, size_t size)
{
	struct run_status status = { 0 };
	u32 right[2] = { STATUS_MAGIC, STATUS_VERSION };

	/* With the rest of it made right, since no two numbers are guessed. */
	memcpy(&status, data, size < sizeof(status) ? size : sizeof(status));
	status_is_sound(data, size);
	memcpy(&status, right, sizeof(right));
	if (!status_is_sound(&status, sizeof(status)))
		return;
	status_print_line(nowhere, &status);
	status_print_json(nowhere, &status);
}

static void read_journal(const unsigned char *data, size_t size)
{
	struct journal_entry entry;
	char line[JOURNAL_LINE_SIZE];
	size_t len;

	if (journal_parse((const char *)data, size, &entry))
		return;
	len = journal_format(line, &entry);
	require(len - 1 == size - (size && data[size - 1] == '\n') && !memcmp(line, data, len - 1),
		"a line that is read is written the same");
}

static void name_ioctl(const unsigned char *data, size_t size)
{
	u32 numbers[4] = { 0 };
	char text[256], little[5];

	memcpy(numbers, data, size < sizeof(numbers) ? size : sizeof(numbers));
	nvidia_describe(text, sizeof(text), numbers[0] % 8, numbers[1], numbers[2], numbers[3]);
	require(memchr(text, '\0', sizeof(text)) && text[0], "an ioctl has words");
	nvidia_describe(little, sizeof(little), numbers[0], numbers[1], numbers[2], numbers[3]);
	require(memchr(little, '\0', sizeof(little)), "words that are cut have an end");
	nvidia_status_name(numbers[3]);
}

static void print_text(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1), *plain = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	require(format_plain(plain, size + 1, text) <= size, "plain text is no longer than what it was made of");
	for (const char *at = plain; *at;) {
		struct utf8_char next = utf8_read(at);

		require(next.length && code_is_plain(next.code), "plain text is plain");
		at += next.length;
	}
	print_json_string(nowhere, text);
	free(text);
	free(plain);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static void (*const readers[])(const unsigned char *, size_t) = { read_status, read_journal, name_ioctl,
									  print_text };

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (size)
		readers[*data % 4](data + 1, size - 1);
	return 0;
}
