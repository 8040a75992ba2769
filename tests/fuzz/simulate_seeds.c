// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing simulation starts from: threads that run, wake each other and sleep, under each policy,
 * and topologies. Usage: simulate_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../core/event_info.h"

static FILE *file;

/* The reader counts kinds from 0, and times from the event before. */
static void put(const void *event)
{
	unsigned char bytes[512];
	const struct event_header *head = event;
	u32 len = event_info(head->kind)->bytes;

	memcpy(bytes, event, len);
	((struct event_header *)bytes)->kind--;
	fwrite(bytes, 1, len, file);
}

static void put_turns(void)
{
	struct event_thread thread = { .head = { 10, 1, 0, EVENT_THREAD, 0 }, .start_ns = 1, .pid = 1 };
	struct event_switch in = { .head = { 300000, 0, 0, EVENT_SWITCH, 0 }, .next_tid = 1, .next_prio = 121 };
	struct event_wakeup wake = { .head = { 200000, 2, 0, EVENT_WAKEUP, EVENT_FLAG_BY_THREAD },
				     .waker_tid = 1,
				     .target_cpu = 1,
				     .prio = 121 };
	struct event_switch turn = { .head = { 100000, 1, 0, EVENT_SWITCH, 0 },
				     .next_tid = 2,
				     .prev_state = 1,
				     .prev_prio = 121,
				     .next_prio = 121 };
	struct event_switch out = { .head = { 500000, 2, 0, EVENT_SWITCH, 0 }, .prev_state = 1, .prev_prio = 121 };

	put(&thread);
	for (int i = 0; i < 12; i++) {
		put(&in);
		put(&wake);
		put(&turn);
		put(&out);
	}
}

int main(int argc, char **argv)
{
	static const char *const topologies[] = {
		"node\ncache 4 threads 2\nsmt 60\n",
		"node\ncache 1\nnode\ncache 2 capacity 300\ndistance 0 1 30\nmove cross 40 # far\n"
	};
	char path[4096];

	for (u32 i = 0; argc == 2 && i < 7; i++) {
		snprintf(path, sizeof(path), "%s/seed-%u", argv[1], i);
		file = fopen(path, "wb");
		if (!file)
			return 1;
		if (i < 5) {
			fputc((int)(i * 4 + 2), file);
			put_turns();
		} else {
			fputc(1, file);
			fputs(topologies[i - 5], file);
		}
		if (fclose(file))
			return 1;
	}
	return argc != 2;
}
