// SPDX-License-Identifier: GPL-2.0
/* Protocol buffers byte by byte, and a trace that runs out of disk or of names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../src/sink/perfetto.h"
#include "../../src/sink/protobuf.h"
#include "tap.h"

static bool holds(const struct protobuf *out, const char *bytes, size_t len)
{
	return !out->failed && out->len == len && !memcmp(out->bytes, bytes, len);
}

static void test_protobuf(void)
{
	struct protobuf out = { 0 };
	char text[300];
	size_t begun;

	protobuf_number(&out, 1, 150);
	ok(holds(&out, "\x08\x96\x01", 3), "a number is its tag and a varint");
	out.len = 0;
	protobuf_number(&out, 60, ~0ULL);
	is(out.len, 12, "the greatest number takes ten bytes, after two of its field");
	is(out.bytes[11], 1, "the greatest number ends with its uppermost bit");
	out.len = 0;
	protobuf_text(&out, 2, "testing");
	ok(holds(&out, "\x12\x07testing", 9), "a text has its length before it");
	out.len = 0;
	protobuf_fixed64(&out, 1, 0x0102030405060708ULL);
	ok(holds(&out, "\x09\x08\x07\x06\x05\x04\x03\x02\x01", 9), "eight bytes are little-endian");
	out.len = 0;
	begun = protobuf_begin(&out, 3);
	protobuf_number(&out, 1, 150);
	protobuf_end(&out, begun);
	ok(holds(&out, "\x1a\x03\x08\x96\x01", 5), "a short message within has a length of one byte");
	out.len = 0;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	begun = protobuf_begin(&out, 3);
	protobuf_text(&out, 1, text);
	protobuf_end(&out, begun);
	is(out.len, 302 + 3, "a long message within has a length of two bytes");
	is(out.bytes[1], 0xae, "the length of a long message begins with its low bits");
	is(out.bytes[2], 0x02, "the length of a long message ends with its high bits");
	is(out.bytes[3], 0x0a, "a long message begins after its length");
	protobuf_free(&out);
}

struct disk {
	size_t taken, room;
	u32 calls;
	bool begins_right;
};

static int take(void *data, const void *bytes, size_t len)
{
	struct disk *disk = data;

	if (!disk->calls++)
		disk->begins_right = len > 22 && !memcmp(bytes, PERFETTO_BEGINNING, strlen(PERFETTO_BEGINNING));
	if (disk->taken + len > disk->room)
		return -ENOSPC;
	disk->taken += len;
	return 0;
}

static const struct trace_machine machine = { .name = "", .kernel = "6.18.0", .cpus_len = 2, .mono_ns = 5 };

static void test_full_disk(void)
{
	static struct disk disk = { .room = 100000 };
	struct perfetto *perfetto = perfetto_open(&machine, take, &disk);
	const struct comm comm = { "thread" };
	u32 calls;

	for (u32 i = 0; i < 100000; i++) {
		struct trace_switch change = { .at_ns = 1000 * i,
					       .prev_tid = i ? i : 0,
					       .next_tid = i + 1,
					       .prev_comm = i ? &comm : NULL,
					       .next_comm = &comm };

		perfetto_form.switched(perfetto, &change);
	}
	calls = disk.calls;
	perfetto_form.end(perfetto, 0);
	ok(disk.begins_right, "a trace begins with what it is known by");
	ok(perfetto_error(perfetto) == -ENOSPC, "a disk that is full is reported");
	is(disk.calls, calls, "nothing is written after the disk was full");
	ok(disk.taken <= disk.room, "what was written is whole packets");
	perfetto_close(perfetto);
}

static void test_many_names(void)
{
	static struct disk disk = { .room = 1 << 30 };
	struct perfetto *perfetto = perfetto_open(&machine, take, &disk);
	struct trace_track track = { .id = 7, .kind = TRACK_LANE, .name = "lane" };
	char name[32];

	perfetto_form.track(perfetto, &track);
	for (u32 i = 0; i < 20000; i++) {
		struct trace_mark mark = {
			.track = &track, .from_ns = i, .is_instant = true, .name = name, .category = "test"
		};

		snprintf(name, sizeof(name), "name %u", i);
		perfetto_form.mark(perfetto, &mark);
	}
	perfetto_form.end(perfetto, 0);
	is((u64)-perfetto_error(perfetto), 0, "more names than are kept are no error");
	ok(disk.taken > 20000 * 20, "names are all written where more come than are kept");
	perfetto_close(perfetto);
}

static void test_far_cpu(void)
{
	static struct disk disk = { .room = 1 << 20 };
	struct perfetto *perfetto = perfetto_open(&machine, take, &disk);
	struct trace_switch change = { .cpu = 1024, .next_tid = 1 };
	size_t before;

	perfetto_form.flush(perfetto);
	before = disk.taken;
	perfetto_form.switched(perfetto, &change);
	perfetto_form.end(perfetto, 0);
	is(disk.taken, before, "a CPU that readers refuse is left out");
	perfetto_close(perfetto);
}

static char written[1 << 16];
static size_t written_len;

static int keep(void *data, const void *bytes, size_t len)
{
	(void)data;
	if (written_len + len > sizeof(written))
		return -ENOSPC;
	memcpy(written + written_len, bytes, len);
	written_len += len;
	return 0;
}

/* Whether a field of that number has that value somewhere in what was written. */
static bool has_number(u32 field, u64 value)
{
	struct protobuf wanted = { 0 };
	bool found;

	protobuf_number(&wanted, field, value);
	found = !wanted.failed && memmem(written, written_len, wanted.bytes, wanted.len);
	protobuf_free(&wanted);
	return found;
}

/* It had been suspended for an hour when its clocks showed 1000 s since it ran. */
static void test_suspended(void)
{
	enum { PACKET_TIMESTAMP = 8, CLOCK_TIME = 2 };
	const u64 mono_ns = 1000ull * NSEC_PER_SEC, boot_ns = mono_ns + 3600ull * NSEC_PER_SEC;
	const struct trace_machine slept = { .name = "",
					     .kernel = "6.18.0",
					     .cpus_len = 2,
					     .mono_ns = mono_ns,
					     .boot_ns = boot_ns,
					     .wall_ns = 1800000000ull * NSEC_PER_SEC };
	struct perfetto *perfetto = perfetto_open(&slept, keep, NULL);
	struct trace_track track = { .id = 7, .kind = TRACK_LANE, .name = "lane" };
	struct trace_mark mark = {
		.track = &track, .from_ns = mono_ns + 5, .is_instant = true, .name = "mark", .category = "test"
	};

	perfetto_form.track(perfetto, &track);
	perfetto_form.mark(perfetto, &mark);
	perfetto_form.end(perfetto, mono_ns + 6);
	is((u64)-perfetto_error(perfetto), 0, "a trace of a machine that had been suspended is written");
	ok(has_number(CLOCK_TIME, mono_ns), "the clocks of a machine that had been suspended have CLOCK_MONOTONIC");
	ok(has_number(CLOCK_TIME, boot_ns),
	   "the clocks of a machine that had been suspended have CLOCK_BOOTTIME, which is ahead");
	ok(has_number(PACKET_TIMESTAMP, boot_ns + 5),
	   "what happens on a machine that had been suspended has the time of CLOCK_BOOTTIME");
	ok(!has_number(PACKET_TIMESTAMP, mono_ns + 5), "nothing is at the time of CLOCK_MONOTONIC then");
	perfetto_close(perfetto);
}

int main(void)
{
	test_protobuf();
	test_full_disk();
	test_many_names();
	test_far_cpu();
	test_suspended();
	return tap_end();
}
