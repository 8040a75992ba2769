// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the models starts from: threads that wake, run, are pushed off, move and present, in
 * the form that models_fuzz.c takes. Usage: models_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../core/event_info.h"

static FILE *file;

/* The reader counts kinds from 0. */
static void put(const void *event)
{
	unsigned char bytes[512];
	const struct event_header *head = event;
	u32 len = event_info(head->kind)->bytes;

	memcpy(bytes, event, len);
	((struct event_header *)bytes)->kind--;
	fwrite(bytes, 1, len, file);
}

static void put_life(u32 tid, u64 gap_ns)
{
	struct event_thread thread = { .head = { gap_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = tid & ~1u };
	struct event_wakeup wake = { .head = { gap_ns, tid, 0, EVENT_WAKEUP, 0 }, .waker_tid = 1, .prio = 121 };
	struct event_switch in = { .head = { gap_ns, 0, 0, EVENT_SWITCH, 0 }, .next_tid = tid, .next_prio = 121 };
	struct event_switch out = { .head = { gap_ns, tid, 0, EVENT_SWITCH, 0 }, .prev_state = 1, .prev_prio = 121 };
	struct event_migrate move = { .head = { gap_ns, tid, 0, EVENT_MIGRATE, 0 }, .from_cpu = 0, .to_cpu = 2 };
	struct event_frame frame = { .head = { gap_ns, tid, 0, EVENT_FRAME, 0 }, .interval_ns = gap_ns };

	put(&thread);
	for (int i = 0; i < 20; i++) {
		put(&wake);
		put(&in);
		frame.interval_ns = i % 7 == 6 ? 5 * gap_ns : gap_ns;
		put(&frame);
		put(&out);
		if (i % 5 == 0)
			put(&move);
	}
}

int main(int argc, char **argv)
{
	char path[4096];

	if (argc != 2)
		return 2;
	for (int how = 0; how < 8; how++) {
		snprintf(path, sizeof(path), "%s/seed-%d", argv[1], how);
		file = fopen(path, "wb");
		if (!file)
			return 1;
		fputc(how, file);
		for (u32 tid = 1; tid < 4; tid++)
			put_life(tid, 3000000 * tid);
		for (u32 kind = 1; kind < EVENT_KINDS; kind++) {
			_Alignas(8) unsigned char bytes[512] = { 0 };

			*(struct event_header *)bytes = (struct event_header){ 1000, 2, 0, (u8)kind, 0 };
			put(bytes);
		}
		if (fclose(file))
			return 1;
	}
	return 0;
}
