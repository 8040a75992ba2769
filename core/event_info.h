/* SPDX-License-Identifier: GPL-2.0 */
/* Names and field descriptors of every event, made from the tables in event.h.
 * Apart from event.h because the kernel half sends events and never prints one. */
#ifndef TACTUS_CORE_EVENT_INFO_H
#define TACTUS_CORE_EVENT_INFO_H

#include "event.h"

enum event_field_how { FIELD_NUMBER, FIELD_SIGNED, FIELD_HEX, FIELD_TEXT, FIELD_PRIO };

struct event_field {
	const char *name; /* NULL ends a list */
	u16 offset;
	u16 bytes;
	enum event_field_how how;
};

struct event_info {
	const char *name;
	const struct event_field *fields;
	u32 bytes;
};

#define EVENT_FIELD(E, type, name, how) \
	{ #name, __builtin_offsetof(struct event_##E, name), sizeof(type), FIELD_##how },
#define EVENT_FIELD_LIST(KIND, name, group, rate, bytes)                                                    \
	static const struct event_field event_##name##_fields[] = { EVENT_FIELDS_##name(EVENT_FIELD, name){ \
		0, 0, 0, FIELD_NUMBER } };
EVENT_TABLE(EVENT_FIELD_LIST)
#undef EVENT_FIELD_LIST
#undef EVENT_FIELD

#define EVENT_INFO(KIND, name, group, rate, bytes) [EVENT_##KIND] = { #name, event_##name##_fields, bytes },
static const struct event_info event_infos[EVENT_KINDS] = { EVENT_TABLE(EVENT_INFO) };
#undef EVENT_INFO

/* NULL for a kind that no table row has. */
core_fn const struct event_info *event_info(u32 kind)
{
	return kind > EVENT_NONE && kind < EVENT_KINDS ? &event_infos[kind] : 0;
}

#endif
