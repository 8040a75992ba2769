// SPDX-License-Identifier: GPL-2.0
#include "event_table.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

/* A name that is text in one kind and a number in another has two columns. */
static void column_name(char into[TABLE_NAME_SIZE], const struct event_field *field)
{
	bool clashes = field->how == FIELD_TEXT && !strcmp(field->name, "driver");

	snprintf(into, TABLE_NAME_SIZE, "%s%s", field->name, clashes ? "_name" : "");
}

static void add_field(struct event_table *table, u32 kind, const struct event_field *field)
{
	char name[TABLE_NAME_SIZE];
	u32 at = 0;

	column_name(name, field);
	while (at < table->len && strcmp(table->names[at], name) != 0)
		at++;
	if (at == TABLE_COLUMNS_MAX || !strcmp(name, "unused"))
		return;
	if (at == table->len)
		memcpy(table->names[table->len++], name, TABLE_NAME_SIZE);
	table->is_text[at] |= field->how == FIELD_TEXT;
	table->is_signed[at] |= field->how == FIELD_SIGNED || field->how == FIELD_PRIO;
	table->fields[kind][at] = field;
}

void event_table_init(struct event_table *table, u64 kinds)
{
	table->kinds = kinds;
	for (u32 kind = 1; kind < EVENT_KINDS; kind++)
		for (const struct event_field *field = event_info(kind)->fields; kinds >> kind & 1 && field->name;
		     field++)
			/* The row's own, before which it says whose it is. */
			if (strcmp(field->name, "comm") != 0)
				add_field(table, kind, field);
}

bool event_table_has(const struct event_table *table, const struct event_header *event)
{
	return event_info(event->kind) && table->kinds >> event->kind & 1;
}

void event_field_text(char into[TABLE_TEXT_SIZE], const void *event, const struct event_field *field)
{
	char text[LONG_NAME_LEN + 1] = "";

	memcpy(text, (const char *)event + field->offset, field->bytes < LONG_NAME_LEN ? field->bytes : LONG_NAME_LEN);
	format_plain(into, TABLE_TEXT_SIZE, text);
}

u64 event_field_number(const void *event, const struct event_field *field)
{
	const char *at = (const char *)event + field->offset;
	u64 number = 0;
	s16 two;
	s32 four;

	memcpy(&number, at, field->bytes < sizeof(number) ? field->bytes : sizeof(number));
	memcpy(&two, &number, sizeof(two));
	memcpy(&four, &number, sizeof(four));
	if (field->how == FIELD_PRIO)
		return (u64)(s64)prio_printed((u32)number);
	if (field->how == FIELD_SIGNED && field->bytes < sizeof(number))
		return (u64)(s64)(field->bytes == sizeof(two) ? two : four);
	return number;
}
