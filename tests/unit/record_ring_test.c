// SPDX-License-Identifier: GPL-2.0
/* stream/event_store.c: the last events, so long and so many bytes; view/record_ring.c: when they are written, and to
 * which file. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/base/loop.h"
#include "../../src/stream/event_store.h"
#include "../../src/view/record_ring.h"
#include "tap.h"

#define MS 1000000ULL

static u64 forgotten, forgotten_last_ns, kept, kept_first_ns;

static void on_forgotten(void *data, const struct event_header *event)
{
	(void)data;
	forgotten++;
	forgotten_last_ns = event->time_ns;
}

static void on_kept(void *data, const struct event_header *event)
{
	(void)data;
	if (!kept++)
		kept_first_ns = event->time_ns;
}

static struct event_store *open_store(u64 span_ns, size_t bytes_most)
{
	struct event_store_settings settings = { span_ns, bytes_most, on_forgotten, NULL };

	forgotten = kept = 0;
	return event_store_open(&settings);
}

static void add(struct event_store *store, u64 time_ns)
{
	struct event_switch event = { .head = { .time_ns = time_ns, .kind = EVENT_SWITCH } };

	event_store_add(store, &event.head);
}

static void test_span(void)
{
	struct event_store *store = open_store(100 * MS, 64 << 20);
	struct event_header unknown = { .time_ns = 1, .kind = 255 };

	is(event_store_state(store).events, 0, "at first nothing is kept");
	event_store_each(store, on_kept, NULL);
	is(kept, 0, "an empty store hands nothing over");
	for (u64 i = 1; i <= 1000; i++)
		add(store, i * MS);
	event_store_each(store, on_kept, NULL);
	is(kept, 101, "of a second the last 100 ms are kept");
	is(kept_first_ns, 900 * MS, "a store hands the oldest over first");
	is(forgotten, 899, "what is not kept was handed over as it went");
	is(forgotten_last_ns, 899 * MS, "the last that was forgotten is the one before the oldest that is kept");
	is(event_store_state(store).pressed_out, 0, "nothing went before its time");
	event_store_add(store, &unknown);
	is(event_store_state(store).events, 101, "an unknown kind is left out");
	add(store, 5 * MS);
	add(store, ~0ULL);
	is(event_store_state(store).last_ns, ~0ULL, "times that leap, back and far ahead, do no harm");
	event_store_close(store);
}

static void test_room(void)
{
	struct event_store *store = open_store(3600ULL * 1000 * MS, 1 << 20);
	struct event_store_state state;
	u64 len = 1000000;

	for (u64 i = 1; i <= len; i++)
		add(store, i * MS);
	state = event_store_state(store);
	ok(state.bytes <= 1 << 20, "no more memory is taken than was given (%zu bytes)", state.bytes);
	ok(state.events * sizeof(struct event_switch) > (1 << 20) / 2,
	   "the memory that was given is used, but for a chunk (%llu events)", (unsigned long long)state.events);
	is(state.pressed_out, len - state.events, "what did not fit is counted");
	is(forgotten, state.pressed_out, "what did not fit is handed over");
	event_store_each(store, on_kept, NULL);
	is(kept, state.events, "what is kept is the rest");
	is(kept_first_ns, (len - state.events + 1) * MS, "what is kept is the last of all");
	event_store_close(store);
}

static char folder[] = "/tmp/tactus-ring.XXXXXX", path[64];
static struct cpu_topology topology[1];
static const struct recording_info info = {
	.kernel = "test", .wall_start_ns = 1000, .mono_start_ns = 1 * MS, .cpus_len = 1, .topology = topology
};

static bool is_there(const char *end)
{
	struct stat found;
	char name[80];

	snprintf(name, sizeof(name), "%s%s", path, end);
	return !stat(name, &found) && found.st_size > 100;
}

static u64 events_of(const char *end)
{
	const struct event_header *event;
	struct recording_reader *reader;
	struct reason why;
	char name[80];
	u64 len = 0;

	snprintf(name, sizeof(name), "%s%s", path, end);
	if (recording_open(&reader, name, &why))
		return 0;
	while (recording_next(reader, &event, &why) > 0)
		len++;
	recording_close_reader(reader);
	return len;
}

static void xid(struct record_ring *ring, u64 time_ns)
{
	struct event_cuda_xid event = { .head = { .time_ns = time_ns, .kind = EVENT_CUDA_XID }, .code = 79 };

	record_ring_take(ring, &event.head);
}

/* What a ring that ends says, instead of on standard output. */
static void end_and_read(struct record_ring *ring, char *said, size_t size)
{
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO);
	size_t len = 0;

	fflush(stdout);
	if (file && out >= 0) {
		dup2(fileno(file), STDOUT_FILENO);
		record_ring_end(ring, &info);
		fflush(stdout);
		dup2(out, STDOUT_FILENO);
		rewind(file);
		len = fread(said, 1, size - 1, file);
		fclose(file);
		close(out);
	}
	said[len] = '\0';
}

/* Until the writing process has ended, which a tick takes note of. */
static void tick_until(struct record_ring *ring, u64 now_ns, u64 dumps)
{
	for (int i = 0; i < 1000 && record_ring_sums(ring).dumps < dumps; i++) {
		record_ring_tick(ring, &info, now_ns);
		usleep(10000);
	}
}

static void test_xids(void)
{
	struct ring_wishes wishes = { .span_ns = 1000 * MS, .memory_mb = 1, .on_xid = true };
	struct record_ring *ring = record_ring_open(&wishes, path, true);

	record_ring_tick(ring, &info, 1);
	ok(!is_there(""), "nothing is written before there is a cause");
	xid(ring, 2000 * MS);
	tick_until(ring, 2000 * MS, 1);
	ok(is_there(""), "on an Xid the ring is written");
	xid(ring, 2500 * MS);
	xid(ring, 2600 * MS);
	record_ring_tick(ring, &info, 2700 * MS);
	is(record_ring_sums(ring).skipped, 2, "Xids that come within the span are counted");
	ok(!is_there(".1"), "causes within the span lead to no file");
	xid(ring, 4000 * MS);
	tick_until(ring, 4000 * MS, 2);
	ok(is_there(".1"), "an Xid after the span is written to a file of its own");
	is(events_of(".1"), 1 + 0, "a file has what is in the ring then");
	record_ring_end(ring, &info);
	is(record_ring_sums(ring).dumps, 2, "at the end nothing more is written");
	record_ring_close(ring);
}

static void test_names(void)
{
	struct ring_wishes wishes = { .span_ns = 1000 * MS, .memory_mb = 1, .on_xid = true };
	struct record_ring *ring = record_ring_open(&wishes, path, true);
	struct event_thread thread = { .head = { 1 * MS, 10, 0, EVENT_THREAD, 0 }, .start_ns = 1, .pid = 10 };

	record_ring_take(ring, &thread.head);
	xid(ring, 9000 * MS);
	record_ring_end(ring, &info);
	ok(is_there(".2"), "files that are there are left alone, whoever made them");
	is(events_of(".2"), 2, "who was there long before has its name");
	is(events_of(""), 1, "the first is as it was");
	record_ring_close(ring);
}

static void test_frames(void)
{
	struct ring_wishes wishes = { .span_ns = 1000 * MS, .memory_mb = 1, .on_late_frame = true };
	struct record_ring *ring = record_ring_open(&wishes, path, true);
	struct event_thread thread = { .head = { 1 * MS, 10, 0, EVENT_THREAD, 0 }, .start_ns = 1, .pid = 10 };
	struct event_frame frame = { .head = { 1 * MS, 10, 0, EVENT_FRAME, 0 } };

	record_ring_take(ring, &thread.head);
	for (u64 i = 1; i <= 200; i++) {
		frame.number = i;
		frame.interval_ns = 16 * MS;
		frame.head.time_ns += frame.interval_ns;
		record_ring_take(ring, &frame.head);
	}
	record_ring_tick(ring, &info, frame.head.time_ns);
	ok(!is_there(".3"), "while frames are in time nothing is written");
	frame.number++;
	frame.interval_ns = 100 * MS;
	frame.head.time_ns += frame.interval_ns;
	record_ring_take(ring, &frame.head);
	record_ring_end(ring, &info);
	ok(is_there(".3"), "on a late frame the ring is written");
	ok(events_of(".3") > 200,
	   "a dump on a late frame has the frames before it, so that its pace is known (%llu events)",
	   (unsigned long long)events_of(".3"));
	record_ring_close(ring);
}

/* Frames by thousands, of which not all are kept. */
static void test_numbers(void)
{
	struct ring_wishes wishes = { .span_ns = 1000 * MS, .memory_mb = 1, .on_late_frame = true };
	struct record_ring *ring = record_ring_open(&wishes, path, false);
	struct event_thread thread = { .head = { 1 * MS, 10, 0, EVENT_THREAD, 0 }, .start_ns = 1, .pid = 10 };
	struct event_frame frame = { .head = { 1 * MS, 10, 0, EVENT_FRAME, 0 } };
	char said[512], wanted[64];

	record_ring_take(ring, &thread.head);
	for (u64 i = 1; i <= 20000; i++) {
		frame.number = i;
		frame.interval_ns = i < 20000 ? 16 * MS : 100 * MS;
		frame.head.time_ns += frame.interval_ns;
		record_ring_take(ring, &frame.head);
	}
	end_and_read(ring, said, sizeof(said));
	/* All but the thread and who runs at the end. */
	snprintf(wanted, sizeof(wanted), ": frame %llu of ", (unsigned long long)events_of(".4") - 1);
	ok(events_of(".4") < 10000, "a part of 20000 frames has the last of them");
	ok(strstr(said, wanted), "a late frame has the number that it has in the file");
	record_ring_close(ring);
}

static void test_wishes(void)
{
	struct ring_wishes wishes = { 0 };

	ok(!ring_take_span(&wishes, "30s"), "a span of 30s is taken");
	is(wishes.span_ns, 30000ULL * MS, "a span of 30s is 30 seconds");
	ok(ring_take_span(&wishes, "30"), "a span without a unit is refused");
	ok(ring_take_span(&wishes, "1ms"), "a span that is too short is refused");
	ok(ring_take_span(&wishes, "2h"), "a span that is too long is refused");
	ok(!ring_take_memory(&wishes, "64"), "memory of 64 megabytes is taken");
	ok(ring_take_memory(&wishes, "0"), "memory of no megabyte is refused");
	ok(ring_take_memory(&wishes, "x"), "memory that is no number is refused");
	ok(!ring_take_causes(&wishes, "late-frame,xid"), "causes are a list");
	ok(wishes.on_xid, "a list of causes that has xid sets it");
	ok(wishes.on_late_frame, "a list of causes that has late-frame sets it");
	ok(ring_take_causes(&wishes, ""), "an empty list of causes is refused");
	ok(ring_take_causes(&wishes, "xid,"), "a list of causes that ends with a comma is refused");
	ok(ring_take_causes(&wishes, "xids"), "a list of causes has no other words");
}

int main(void)
{
	test_span();
	test_room();
	test_wishes();
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/ring", folder);
	test_xids();
	test_names();
	test_frames();
	test_numbers();
	for (int i = 0; i < 5; i++) {
		char name[80];

		snprintf(name, sizeof(name), i ? "%s.%d" : "%s", path, i);
		unlink(name);
	}
	rmdir(folder);
	return tap_end();
}
