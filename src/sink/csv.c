// SPDX-License-Identifier: GPL-2.0
/* Numbers as they are, hexadecimal ones too; text in quotes, with quotes doubled and what is not plain replaced.
 */
#include "csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "text.h"

enum { COLUMNS_MAX = 512, NAME_SIZE = 48 };

struct csv {
	FILE *out;
	u64 kinds;
	u32 len;
	char names[COLUMNS_MAX][NAME_SIZE];
	/* Of each kind its field of a column; NULL: it has none. */
	const struct event_field *fields[EVENT_KINDS][COLUMNS_MAX];
};

/* A name that is text in one kind and a number in another has two columns. */
static void column_name(char into[NAME_SIZE], const struct event_field *field)
{
	bool clashes = field->how == FIELD_TEXT && !strcmp(field->name, "driver");

	snprintf(into, NAME_SIZE, "%s%s", field->name, clashes ? "_name" : "");
}

static void add_field(struct csv *csv, u32 kind, const struct event_field *field)
{
	char name[NAME_SIZE];
	u32 at = 0;

	column_name(name, field);
	while (at < csv->len && strcmp(csv->names[at], name) != 0)
		at++;
	if (at == COLUMNS_MAX || !strcmp(name, "unused"))
		return;
	if (at == csv->len)
		memcpy(csv->names[csv->len++], name, NAME_SIZE);
	csv->fields[kind][at] = field;
}

struct csv *csv_open(FILE *out, u64 kinds)
{
	struct csv *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->out = out;
	made->kinds = kinds;
	for (u32 kind = 1; kind < EVENT_KINDS; kind++)
		for (const struct event_field *field = event_info(kind)->fields; kinds >> kind & 1 && field->name;
		     field++)
			/* The row's own, before which it says whose it is. */
			if (strcmp(field->name, "comm") != 0)
				add_field(made, kind, field);
	fputs(CSV_BEGINNING, out);
	for (u32 i = 0; i < made->len; i++)
		fprintf(out, ",%s", made->names[i]);
	fputc('\n', out);
	return made;
}

void csv_close(struct csv *csv)
{
	free(csv);
}

static void put_text(FILE *out, const char *from, size_t len)
{
	char text[LONG_NAME_LEN + 1] = "", plain[LONG_NAME_LEN * 2];

	memcpy(text, from, len < LONG_NAME_LEN ? len : LONG_NAME_LEN);
	format_plain(plain, sizeof(plain), text);
	putc_unlocked('"', out);
	for (const char *at = plain; *at; at++) {
		if (*at == '"')
			putc_unlocked('"', out);
		putc_unlocked(*at, out);
	}
	putc_unlocked('"', out);
}

static s64 signed_of(const void *at, u16 bytes)
{
	s16 two;
	s32 four;

	memcpy(&two, at, sizeof(two));
	if (bytes == sizeof(two))
		return two;
	memcpy(&four, at, sizeof(four));
	return four;
}

static void put_field(FILE *out, const void *event, const struct event_field *field)
{
	const char *at = (const char *)event + field->offset;
	u64 number = 0;

	if (field->how == FIELD_TEXT) {
		put_text(out, at, field->bytes);
		return;
	}
	memcpy(&number, at, field->bytes < sizeof(number) ? field->bytes : sizeof(number));
	if (field->how == FIELD_SIGNED)
		fprintf(out, "%" PRId64, signed_of(at, field->bytes));
	else if (field->how == FIELD_PRIO)
		fprintf(out, "%d", prio_printed((u32)number));
	else
		fprintf(out, "%" PRIu64, number);
}

void csv_event(struct csv *csv, const struct event_header *event, const struct comm *comm)
{
	const struct event_info *info = event_info(event->kind);

	if (!info || !(csv->kinds >> event->kind & 1))
		return;
	fprintf(csv->out, "%" PRIu64 ",%u,%u,", event->time_ns, event->cpu, event->tid);
	if (comm)
		put_text(csv->out, comm->text, COMM_LEN);
	fprintf(csv->out, ",%s", info->name);
	for (u32 i = 0; i < csv->len; i++) {
		putc_unlocked(',', csv->out);
		if (csv->fields[event->kind][i])
			put_field(csv->out, event, csv->fields[event->kind][i]);
	}
	putc_unlocked('\n', csv->out);
}
