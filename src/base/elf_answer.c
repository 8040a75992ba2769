// SPDX-License-Identifier: GPL-2.0
/* Writing goes through a small buffer; taking goes over the answer twice, so that nobody acts on the first half of one
 * whose second half is wrong. */
#include "elf_answer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { ROOM_FOR_LAST = sizeof(struct elf_record) + sizeof(((struct reason *)0)->text) };

struct writer {
	int fd;
	bool is_once, is_full, is_cut;
	size_t used, sent;
	char buffer[16384];
};

static void flush(struct writer *writer)
{
	for (size_t done = 0; done < writer->used && !writer->is_cut;) {
		ssize_t wrote = write(writer->fd, writer->buffer + done, writer->used - done);

		if (wrote <= 0)
			writer->is_cut = true;
		else
			done += (size_t)wrote;
	}
	writer->sent += writer->used;
	writer->used = 0;
}

static void put(struct writer *writer, const struct elf_record *record, const char *text)
{
	if (writer->used + sizeof(*record) + record->text_len > sizeof(writer->buffer))
		flush(writer);
	memcpy(writer->buffer + writer->used, record, sizeof(*record));
	memcpy(writer->buffer + writer->used + sizeof(*record), text, record->text_len);
	writer->used += sizeof(*record) + record->text_len;
}

static int write_symbol(void *data, const struct elf_symbol *symbol)
{
	struct elf_record record = { .offset = symbol->offset,
				     .address = symbol->address,
				     .bytes = symbol->bytes,
				     .bits = symbol->bits,
				     .text_len = (u32)strlen(symbol->name) };
	struct writer *writer = data;

	writer->is_full = writer->sent + writer->used + sizeof(record) + record.text_len >
			  ELF_ANSWER_MAX - ROOM_FOR_LAST;
	if (!writer->is_full)
		put(writer, &record, symbol->name);
	return writer->is_full || writer->is_cut || writer->is_once;
}

void elf_write_answer(int file_fd, const struct elf_question *question, int to_fd)
{
	struct writer writer = { .fd = to_fd,
				 .is_once = question->what == ELF_SYMBOLS && !strpbrk(question->patterns[0], "*?[\\") };
	struct elf_record last = { 0 };
	struct reason why = { "" };

	last.result = elf_read(file_fd, question, write_symbol, &writer, &why);
	if (writer.is_full) {
		reason_set(&why, "it exports more functions than are looked at");
		last.result = -E2BIG;
	}
	last.text_len = last.result < 0 ? (u32)strlen(why.text) : 0;
	put(&writer, &last, why.text);
	flush(&writer);
}

struct taken {
	struct elf_symbol symbol;
	struct elf_record record;
	char text[sizeof(((struct reason *)0)->text)]; /* of a function: its name */
};

static bool is_asked_for(const struct elf_symbol *symbol, const struct elf_question *question)
{
	if (question->what == ELF_SYMBOLS)
		return elf_name_fits(question->patterns[0], symbol->name);
	return question->what == ELF_COVERS && symbol->name[0] && elf_covers_any(question, symbol);
}

/* The next record, checked by itself. Returns where the one after it begins, or NULL. */
static const char *next_record(struct taken *taken, const char *at, const char *end,
			       const struct elf_question *question)
{
	struct elf_record *record = &taken->record;
	u32 most;

	if ((size_t)(end - at) < sizeof(*record))
		return NULL;
	memcpy(record, at, sizeof(*record));
	at += sizeof(*record);
	most = record->bits ? ELF_NAME_MAX : sizeof(taken->text) - 1;
	if (record->text_len > most || record->text_len > (size_t)(end - at) || record->unused)
		return NULL;
	memcpy(taken->text, at, record->text_len);
	taken->text[record->text_len] = '\0';
	if (strlen(taken->text) != record->text_len)
		return NULL;
	at += record->text_len;
	if (!record->bits)
		return at;
	taken->symbol = (struct elf_symbol){ .name = taken->text,
					     .offset = record->offset,
					     .address = record->address,
					     .bytes = record->bytes,
					     .bits = record->bits };
	if ((record->bits != 32 && record->bits != 64) || record->offset >= question->file_bytes ||
	    !is_asked_for(&taken->symbol, question))
		return NULL;
	return at;
}

/* Ours are in English. */
static bool is_words(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static bool can_be(const struct taken *last, const struct elf_question *question, u32 functions)
{
	s32 result = last->record.result;

	if (result == -E2BIG)
		return question->what == ELF_SYMBOLS && last->text[0] && is_words(last->text);
	if (result == -ENOENT || result == -ENOEXEC)
		return !functions && last->text[0] && is_words(last->text);
	if (last->text[0])
		return false;
	if (question->what == ELF_BEGINS && question->offset >= question->file_bytes)
		return false;
	if (question->what == ELF_COVERS && functions > question->offsets_len)
		return false;
	return question->what == ELF_SYMBOLS || question->what == ELF_COVERS ? result > 0 && (u32)result == functions
									     : !result;
}

int elf_take_answer(const void *answer, size_t len, const struct elf_question *question, elf_take take, void *data,
		    struct reason *why)
{
	const char *at = answer, *end = at + len;
	struct taken taken;
	u32 functions = 0;

	while ((at = next_record(&taken, at, end, question)) && taken.record.bits)
		functions++;
	if (!at || at != end || !can_be(&taken, question, functions)) {
		reason_set(why, "what was read in it makes no sense");
		return -EBADMSG;
	}
	if (taken.record.result < 0) {
		reason_set(why, "%s", taken.text);
		return taken.record.result;
	}
	at = answer;
	for (u32 i = 0; i < functions; i++) {
		at = next_record(&taken, at, end, question);
		if (!at || take(data, &taken.symbol))
			return (int)i + 1;
	}
	return (int)functions;
}
