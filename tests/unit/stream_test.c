// SPDX-License-Identifier: GPL-2.0
/* src/stream/stream.h: sources of events are one stream in the order of time, and a recording of it holds the same. The
 * kernel's rings are tested where there is a kernel. */
#include "../../src/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum { MOST = 16 };

static struct event_switch switch_at(u64 time_ns, u32 tid)
{
	return (struct event_switch){ .head = { .time_ns = time_ns, .kind = EVENT_SWITCH, .tid = tid } };
}

/* What came out. */
struct seen {
	u32 tids[MOST];
	u64 times_ns[MOST];
	u32 len;
};

static void see(void *data, const struct event_header *event)
{
	struct seen *seen = data;

	if (seen->len == MOST)
		return;
	seen->tids[seen->len] = event->tid;
	seen->times_ns[seen->len++] = event->time_ns;
}

/* A source with some events. */
struct some {
	struct event_switch events[MOST];
	u32 len, at, reads, last_reads;
};

static void read_some(void *data, bool last)
{
	struct some *some = data;

	some->reads++;
	some->last_reads += last;
}

static const struct event_header *first_of_some(void *data, u64 until_ns)
{
	struct some *some = data;

	return some->at < some->len && some->events[some->at].head.time_ns < until_ns ? &some->events[some->at].head
										      : NULL;
}

static void drop_of_some(void *data)
{
	((struct some *)data)->at++;
}

static struct stream *open_with(struct seen *seen, struct some *one, struct some *other)
{
	struct stream_source sources[] = { { read_some, first_of_some, drop_of_some, one },
					   { read_some, first_of_some, drop_of_some, other } };
	struct stream *stream;

	*seen = (struct seen){ .len = 0 };
	stream_open(&stream, see, seen);
	stream_add_source(stream, &sources[0]);
	stream_add_source(stream, &sources[1]);
	return stream;
}

static void test_merge(void)
{
	struct some one = { .events = { switch_at(10, 1), switch_at(30, 3), switch_at(50, 5) }, .len = 3 };
	struct some other = { .events = { switch_at(20, 2), switch_at(40, 4) }, .len = 2 };
	struct event_switch added = switch_at(35, 9);
	struct seen seen;
	struct stream *stream = open_with(&seen, &one, &other);

	stream_put(stream, &added.head);
	is(seen.len, 0, "event that is added before older ones were handed over waits");
	is(stream_drain(stream, 40, false), 0, "sources without rings drain well");
	is(seen.len, 4, "events older than the time asked for are handed over, and no others");
	is(seen.tids[0] * 1000 + seen.tids[1] * 100 + seen.tids[2] * 10 + seen.tids[3], 1239,
	   "events of two sources and an added one come in the order of time");
	added = switch_at(25, 8);
	stream_put(stream, &added.head);
	is(seen.len == 5 ? seen.tids[4] : 0, 8, "added event is handed over at once where all older ones have been");
	is(one.last_reads, 0, "sources are not read for the last time before the end");
	stream_drain(stream, ~0ULL, true);
	is(seen.len, 7, "everything is handed over at the end");
	is(seen.tids[6], 5, "latest event comes last");
	ok(one.last_reads == 1, "source is told at the end that nothing comes after");
	stream_close(stream);
}

static void test_end(void)
{
	struct some one = { .events = { switch_at(10, 1), switch_at(90, 2) }, .len = 2 }, none = { .len = 0 };
	struct event_switch added = switch_at(95, 3);
	struct seen seen;
	struct stream *stream = open_with(&seen, &one, &none);

	stream_ends_at(stream, 50);
	stream_drain(stream, ~0ULL, true);
	is(seen.len, 1, "source's event of after the window is left out");
	stream_put(stream, &added.head);
	is(seen.len, 2, "how things stand after the window is added to the stream");
	stream_close(stream);
}

static void test_sources_are_bounded(void)
{
	struct some none = { .len = 0 };
	struct stream_source source = { read_some, first_of_some, drop_of_some, &none };
	struct seen seen;
	struct stream *stream = open_with(&seen, &none, &none);
	int error = 0;

	for (u32 i = 0; i < 8 && !error; i++)
		error = stream_add_source(stream, &source);
	ok(error < 0, "stream says that there is no room for one more source");
	stream_close(stream);
}

static void test_recording(void)
{
	char path[] = "/tmp/stream_testXXXXXX";
	struct some one = { .events = { switch_at(10, 1), switch_at(30, 3) }, .len = 2 };
	struct some other = { .events = { switch_at(20, 2) }, .len = 1 };
	struct recording_info info = { .kernel = "a kernel", .mono_start_ns = 5 };
	const struct recording_info *read = NULL;
	struct reason why = { "" };
	struct seen live, replayed = { .len = 0 };
	struct stream *stream = open_with(&live, &one, &other);
	int fd = mkstemp(path);

	close(fd);
	is(stream_record(stream, path, &info, &why), 0, "stream is recorded to a file that is empty");
	stream_drain(stream, ~0ULL, true);
	is(stream_recorded_events(stream), 3, "every event that was handed over is recorded");
	is(stream_end_record(stream), 0, "recording of a stream ends well");
	stream_close(stream);
	stream_open(&stream, see, &replayed);
	is(stream_open_recording(stream, path, &read, &why), 0, "recording of a stream is opened again");
	is(stream_replay(stream, false, &why), 0, "recording of a stream is read to its end");
	ok(!strcmp(read->kernel, "a kernel"), "recording of a stream says which kernel it is of");
	is(replayed.len, live.len, "recording of a stream has as many events as the stream");
	for (u32 i = 0; i < live.len; i++)
		is(replayed.tids[i], live.tids[i], "event %u of a stream's recording is the stream's", i);
	stream_close(stream);
	stream_open(&stream, see, &replayed);
	ok(stream_open_recording(stream, "/nowhere/at all", &read, &why) < 0,
	   "recording that is not there is not opened");
	stream_close(stream);
	unlink(path);
}

int main(void)
{
	test_merge();
	test_end();
	test_sources_are_bounded();
	test_recording();
	return tap_end();
}
