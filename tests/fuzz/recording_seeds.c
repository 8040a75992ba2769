// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of recordings starts from: right recordings, one of them with a block as
 * long as real ones are, each behind the byte that recording_fuzz.c takes off. Usage: recording_seeds FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/event.h"
#include "../../core/stall.h"
#include "../../src/stream/recording.h"

enum { EVENT_BYTES_MAX = 256, WAYS_OF_MENDING = 4 };

/* As many fences that take a millisecond as a stall wants before it, then one that takes twenty. */
static void write_stall(struct recording_writer *writer)
{
	for (u32 n = 0; n <= STALL_ENOUGH; n++) {
		struct event_fence fence = {
			.head = { .time_ns = NSEC_PER_SEC + n * 50 * NSEC_PER_MSEC, .tid = 7, .kind = EVENT_FENCE },
			.took_ns = (n < STALL_ENOUGH ? 1 : 20) * NSEC_PER_MSEC,
		};

		recording_write(writer, &fence.head);
	}
	recording_flush(writer);
}

static int write_recording(const char *path, u32 cpus_len, u32 events, u32 events_a_block)
{
	struct cpu_topology topology[8] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 0, 0, 1 }, { 2, 1, 1, 1 } };
	struct recording_info info = {
		.kernel = "6.12.0", .mono_start_ns = 1, .cpus_len = cpus_len, .topology = topology
	};
	struct recording_writer *writer;
	struct reason why;

	if (recording_create(&writer, path, &info, &why)) {
		fprintf(stderr, "%s: %s\n", path, why.text);
		return 1;
	}
	for (u32 n = 0; n < events; n++) {
		_Alignas(8) unsigned char bytes[EVENT_BYTES_MAX] = { 0 };
		struct event_header head = { .time_ns = 1000 + n, .tid = 7, .kind = (u8)(1 + n % (EVENT_KINDS - 1)) };

		memcpy(bytes, &head, sizeof(head));
		recording_write(writer, (const struct event_header *)bytes);
		if (n % events_a_block == events_a_block - 1)
			recording_flush(writer);
	}
	write_stall(writer);
	return recording_close_writer(writer) != 0;
}

static int put_behind_byte(const char *recording, const char *seed, int byte)
{
	FILE *from = fopen(recording, "rb"), *to = fopen(seed, "wb");
	int c, failed = !from || !to;

	if (!failed) {
		fputc(byte, to);
		while ((c = fgetc(from)) != EOF)
			fputc(c, to);
	}
	if (from)
		fclose(from);
	if (to)
		failed |= fclose(to) != 0;
	return failed;
}

int main(int argc, char **argv)
{
	static const struct {
		u32 cpus_len, events, events_a_block;
	} shapes[] = { { 0, 0, 1 }, { 1, 1, 1 }, { 2, 8, 8 }, { 4, 60, 5 }, { 8, 900, 900 } };
	char recording[4096], seed[4096];

	if (argc != 2)
		return 2;
	snprintf(recording, sizeof(recording), "%s/recording", argv[1]);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (write_recording(recording, shapes[i].cpus_len, shapes[i].events, shapes[i].events_a_block))
			return 1;
		for (int byte = 0; byte < WAYS_OF_MENDING; byte++) {
			snprintf(seed, sizeof(seed), "%s/seed-%zu-%d", argv[1], i, byte);
			if (put_behind_byte(recording, seed, byte))
				return 1;
		}
	}
	return unlink(recording) != 0;
}
