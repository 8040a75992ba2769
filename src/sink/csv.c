// SPDX-License-Identifier: GPL-2.0
/* Numbers as they are, hexadecimal ones too; text in quotes, with quotes doubled and what is not plain replaced.
 * A row is put together in memory that the longest fits in. Most columns of a row are empty: of each kind it is known
 * how many lie between two that are not. */
#include "csv.h"

#include <stdlib.h>

#include "chars.h"
#include "event_table.h"

enum { KIND_FIELDS_MAX = 64, TEXT_MOST = 2 * TABLE_TEXT_SIZE + 3, OWN_MOST = 3 * CHARS_NUMBER + TEXT_MOST + 64 };

struct csv_field {
	const struct event_field *field;
	u32 commas; /* before it */
};

struct csv_kind {
	struct csv_field fields[KIND_FIELDS_MAX];
	u32 len;
	u32 commas; /* behind the last */
};

struct csv {
	FILE *out;
	struct event_table table;
	struct csv_kind kinds[EVENT_KINDS];
	char commas[TABLE_COLUMNS_MAX];
	char row[OWN_MOST + KIND_FIELDS_MAX * TEXT_MOST + TABLE_COLUMNS_MAX + 1];
};

static void lay_out(struct csv_kind *kind, const struct event_table *table, u32 number)
{
	u32 commas = 0;

	for (u32 i = 0; i < table->len; i++) {
		commas++;
		if (!table->fields[number][i] || kind->len == KIND_FIELDS_MAX)
			continue;
		kind->fields[kind->len++] = (struct csv_field){ table->fields[number][i], commas };
		commas = 0;
	}
	kind->commas = commas;
}

struct csv *csv_open(FILE *out, u64 kinds)
{
	struct csv *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->out = out;
	event_table_init(&made->table, kinds);
	memset(made->commas, ',', sizeof(made->commas));
	for (u32 kind = 1; kind < EVENT_KINDS; kind++)
		lay_out(&made->kinds[kind], &made->table, kind);
	fputs(CSV_BEGINNING, out);
	for (u32 i = 0; i < made->table.len; i++)
		fprintf(out, ",%s", made->table.names[i]);
	fputc('\n', out);
	return made;
}

void csv_close(struct csv *csv)
{
	free(csv);
}

static char *put_text(char *at, const void *event, const struct event_field *field)
{
	char plain[TABLE_TEXT_SIZE];

	event_field_text(plain, event, field);
	*at++ = '"';
	if (csv_is_formula(plain))
		*at++ = '\'';
	for (const char *from = plain; *from; from++) {
		if (*from == '"')
			*at++ = '"';
		*at++ = *from;
	}
	*at++ = '"';
	return at;
}

static char *put_field(char *at, const void *event, const struct event_field *field)
{
	if (field->how == FIELD_TEXT)
		return put_text(at, event, field);
	if (field->how == FIELD_SIGNED || field->how == FIELD_PRIO)
		return chars_signed(at, (s64)event_field_number(event, field));
	return chars_number(at, event_field_number(event, field));
}

void csv_event(struct csv *csv, const struct event_header *event, const struct comm *comm)
{
	static const struct event_field whole = { .bytes = COMM_LEN, .how = FIELD_TEXT };
	const struct csv_kind *kind;
	char *at = csv->row;

	if (!event_table_has(&csv->table, event))
		return;
	kind = &csv->kinds[event->kind];
	at = chars_number(at, event->time_ns);
	*at++ = ',';
	at = chars_number(at, event->cpu);
	*at++ = ',';
	at = chars_number(at, event->tid);
	*at++ = ',';
	if (comm)
		at = put_text(at, comm, &whole);
	*at++ = ',';
	at = chars_text(at, event_info(event->kind)->name);
	for (u32 i = 0; i < kind->len; i++) {
		at = chars_put(at, csv->commas, kind->fields[i].commas);
		at = put_field(at, event, kind->fields[i].field);
	}
	at = chars_put(at, csv->commas, kind->commas);
	*at++ = '\n';
	fwrite_unlocked(csv->row, 1, (size_t)(at - csv->row), csv->out);
}
