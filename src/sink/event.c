// SPDX-License-Identifier: GPL-2.0
/* One printer for all events: walks the field descriptors of core/event_info.h.
 * Fields are read by memcpy, since an event in a buffer may lie at any address. */
#include "event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../core/event_info.h"
#include "json.h"
#include "text.h"

static u64 read_number(const void *at, u16 bytes)
{
	u8 one;
	u16 two;
	u32 four;
	u64 eight;

	switch (bytes) {
	case 1:
		memcpy(&one, at, 1);
		return one;
	case 2:
		memcpy(&two, at, 2);
		return two;
	case 4:
		memcpy(&four, at, 4);
		return four;
	default:
		memcpy(&eight, at, 8);
		return eight;
	}
}

static void print_field(struct json *json, const void *event, const struct event_field *field)
{
	const char *at = (const char *)event + field->offset;
	char text[LONG_NAME_LEN + 1] = "";
	s16 two;
	s32 four = 0;

	switch (field->how) {
	case FIELD_NUMBER:
		json_u64(json, field->name, read_number(at, field->bytes));
		break;
	case FIELD_SIGNED: /* of two bytes or four */
		memcpy(&two, at, sizeof(two));
		if (field->bytes == sizeof(four))
			memcpy(&four, at, sizeof(four));
		json_s64(json, field->name, field->bytes == sizeof(four) ? four : two);
		break;
	case FIELD_PRIO:
		json_s64(json, field->name, prio_printed((u32)read_number(at, field->bytes)));
		break;
	case FIELD_HEX:
		json_hex(json, field->name, read_number(at, field->bytes));
		break;
	case FIELD_TEXT: /* a full field has no NUL */
		memcpy(text, at, field->bytes < LONG_NAME_LEN ? field->bytes : LONG_NAME_LEN);
		json_string(json, field->name, text);
		break;
	}
}

int print_event_json(FILE *out, const struct event_header *event)
{
	return print_event_json_and(out, event, NULL, NULL);
}

int print_event_json_and(FILE *out, const struct event_header *event, void (*more)(struct json *json, void *data),
			 void *data)
{
	const struct event_info *info = event_info(event->kind);
	struct json json = { .out = out };

	if (!info)
		return -EINVAL;
	json_record(&json, "event", true);
	json_string(&json, "event", info->name);
	json_u64(&json, "time_ns", event->time_ns);
	json_u64(&json, "cpu", event->cpu);
	json_u64(&json, "tid", event->tid);
	for (const struct event_field *field = info->fields; field->name; field++)
		print_field(&json, event, field);
	if (more)
		more(&json, data);
	json_object_end(&json);
	json_line_end(&json);
	return 0;
}

static void print_word(FILE *out, const struct event_header *event, const struct event_field *field)
{
	const char *at = (const char *)event + field->offset;
	size_t len = strlen(field->name);
	char text[LONG_NAME_LEN + 1] = "", plain[LONG_NAME_LEN * 2];

	if (field->how == FIELD_TEXT) {
		memcpy(text, at, field->bytes < LONG_NAME_LEN ? field->bytes : LONG_NAME_LEN);
		format_plain(plain, sizeof(plain), text);
		fprintf(out, " %s '%s'", field->name, plain);
	} else if (len > 3 && !strcmp(field->name + len - 3, "_ns")) {
		format_time(text, sizeof(text), read_number(at, field->bytes));
		fprintf(out, " %.*s %s", (int)len - 3, field->name, text);
	} else if (field->how == FIELD_PRIO) {
		fprintf(out, " %s %d", field->name, prio_printed((u32)read_number(at, field->bytes)));
	} else if (field->how == FIELD_SIGNED) {
		fprintf(out, " %s %d", field->name,
			field->bytes == sizeof(s32) ? (s32)read_number(at, field->bytes)
						    : (s16)read_number(at, field->bytes));
	} else {
		fprintf(out, field->how == FIELD_HEX ? " %s 0x%" PRIx64 : " %s %" PRIu64, field->name,
			read_number(at, field->bytes));
	}
}

void print_event_words(FILE *out, const struct event_header *event)
{
	const struct event_info *info = event_info(event->kind);

	if (!info)
		return;
	fputs(info->name, out);
	for (const struct event_field *field = info->fields; field->name; field++)
		print_word(out, event, field);
}
