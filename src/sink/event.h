/* SPDX-License-Identifier: GPL-2.0 */
/* Prints any event from its descriptors, without knowing its kind.
 * A kind that the table gains is printed here with no change. */
#ifndef TACTUS_SINK_EVENT_H
#define TACTUS_SINK_EVENT_H

#include <stdio.h>

#include "../../core/event.h"

/* How each begins, by which a file of them is recognised. */
#define EVENT_JSON_BEGINNING "{\"record\":\"event\""

/* One JSON object on a line of its own. Returns 0, or -EINVAL for a kind that is not in the table. */
int print_event_json(FILE *out, const struct event_header *event);

/* The same with what `more` adds to the object. */
struct json;
int print_event_json_and(FILE *out, const struct event_header *event, void (*more)(struct json *json, void *data),
			 void *data);

/* The same in words, without who and when: "frame interval 16.7ms number 4". */
void print_event_words(FILE *out, const struct event_header *event);

#endif
