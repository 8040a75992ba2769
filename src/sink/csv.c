// SPDX-License-Identifier: GPL-2.0
/* Numbers as they are, hexadecimal ones too; text in quotes, with quotes doubled and what is not plain replaced.
 */
#include "csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "event_table.h"
#include "text.h"

struct csv {
	FILE *out;
	struct event_table table;
};

struct csv *csv_open(FILE *out, u64 kinds)
{
	struct csv *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->out = out;
	event_table_init(&made->table, kinds);
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

static void put_text(FILE *out, const char *plain)
{
	putc_unlocked('"', out);
	for (const char *at = plain; *at; at++) {
		if (*at == '"')
			putc_unlocked('"', out);
		putc_unlocked(*at, out);
	}
	putc_unlocked('"', out);
}

static void put_field(FILE *out, const void *event, const struct event_field *field)
{
	char text[TABLE_TEXT_SIZE];
	u64 number;

	if (field->how == FIELD_TEXT) {
		event_field_text(text, event, field);
		put_text(out, text);
		return;
	}
	number = event_field_number(event, field);
	if (field->how == FIELD_SIGNED || field->how == FIELD_PRIO)
		fprintf(out, "%" PRId64, (s64)number);
	else
		fprintf(out, "%" PRIu64, number);
}

void csv_event(struct csv *csv, const struct event_header *event, const struct comm *comm)
{
	static const struct event_field whole = { .bytes = COMM_LEN, .how = FIELD_TEXT };
	const struct event_table *table = &csv->table;
	char text[TABLE_TEXT_SIZE];

	if (!event_table_has(table, event))
		return;
	fprintf(csv->out, "%" PRIu64 ",%u,%u,", event->time_ns, event->cpu, event->tid);
	if (comm) {
		event_field_text(text, comm, &whole);
		put_text(csv->out, text);
	}
	fprintf(csv->out, ",%s", event_info(event->kind)->name);
	for (u32 i = 0; i < table->len; i++) {
		putc_unlocked(',', csv->out);
		if (table->fields[event->kind][i])
			put_field(csv->out, event, table->fields[event->kind][i]);
	}
	putc_unlocked('\n', csv->out);
}
