// SPDX-License-Identifier: GPL-2.0
/* The event table and the sink that prints any event: descriptors cover each struct without a gap; hostile names stay
 * valid JSON. */
#include <errno.h>
#include <stdlib.h>

#include "../../core/event_info.h"
#include "../../src/sink/event.h"
#include "tap.h"

static char *printed(const struct event_header *event, int *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	*error = print_event_json(out, event);
	fclose(out);
	return text;
}

static void test_descriptors_tile_each_event(void)
{
	for (u32 kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
		const struct event_info *info = event_info(kind);
		u32 at = sizeof(struct event_header);

		for (const struct event_field *field = info->fields; field->name; field++) {
			if (field->offset != at)
				break;
			at += field->bytes;
		}
		is(at, info->bytes, "event %s: its fields fill it", info->name);
	}
	ok(!event_info(EVENT_NONE), "event of no kind has no description");
	ok(!event_info(EVENT_KINDS), "first kind that does not exist has no description");
	ok(!event_info(255), "last number for a kind has no description");
}

static void test_any_event_prints(void)
{
	struct event_switch event = { .head = { .time_ns = 123456789012, .tid = 42, .cpu = 3, .kind = EVENT_SWITCH },
				      .next_tid = 43,
				      .prev_state = 0x101,
				      .prev_prio = 120,
				      .next_prio = 99 };
	struct event_header unknown = { .kind = 200 };
	int error;
	char *text = printed(&event.head, &error);

	is_text(text,
		"{\"record\":\"event\",\"schema\":1,\"clock\":\"monotonic\",\"event\":\"switch\",\"time_ns\":"
		"123456789012,\"cpu\":3,\"tid\":42,\"next_tid\":"
		"43,"
		"\"prev_state\":\"0x101\",\"prev_prio\":119,\"next_prio\":98}\n",
		"switch prints as JSON");
	free(text);
	text = printed(&unknown, &error);
	is(error, -EINVAL, "event of an unknown kind is refused by the printer");
	is_text(text, "", "event of an unknown kind prints nothing");
	free(text);
}

static void test_hostile_names(void)
{
	struct event_rename event = { .head = { .kind = EVENT_RENAME } };
	int error;
	char *text;

	memcpy(event.comm.text, "\033[2J\"\\\xff\xc3\xa9 0123456", COMM_LEN); /* no NUL at the end */
	text = printed(&event.head, &error);
	ok(strstr(text, "\"comm\":\"\\u001b[2J\\\"\\\\\\ufffd\xc3\xa9 012345\""),
	   "escapes, quotes, broken UTF-8, no NUL: %s", strstr(text, "\"comm\""));
	free(text);
}

static void test_groups(void)
{
	u64 all = event_kinds_of(EVENTS_ALL | EVENTS_STACKS);

	ok(event_kinds_of(EVENTS_CUDA) & 1ull << EVENT_CUDA_XID,
	   "what the NVIDIA driver reports belongs to CUDA's events");
	ok(!(event_kinds_of(EVENTS_CUDA) & 1ull << EVENT_SWITCH), "switches do not belong to CUDA's events");
	is(event_groups_of(1ull << EVENT_FRAME | 1ull << EVENT_SUBMIT), EVENTS_FRAMES | EVENTS_GPU,
	   "groups to ask for are those of the kinds that are wanted");
	is(event_groups_of(1ull << EVENT_THREAD), 0, "who a thread is comes with every group");
	is(__builtin_popcountll(all), EVENT_KINDS - 3, "every kind but thread and lost belongs to a group");
	ok(event_rare_kinds() & 1ull << EVENT_FRAME, "frames are rare enough to be seen at once");
	ok(!(event_rare_kinds() & 1ull << EVENT_SWITCH), "switches are not rare");
}

int main(void)
{
	test_descriptors_tile_each_event();
	test_any_event_prints();
	test_hostile_names();
	test_groups();
	return tap_end();
}
