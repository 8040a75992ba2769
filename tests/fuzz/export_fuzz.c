// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the exporter: any bytes, as events of any kind in any order, become a trace, and the trace keeps what it
 * promises. The first byte says how: bit 0 mends times so that they grow, bit 1 few tids, bit 2 the first half only
 * makes known what was before, bit 3 as JSON, with a Parquet table beside it, instead of Perfetto's format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../../src/sink/chrome.h"
#include "../../src/sink/parquet.h"
#include "../../src/sink/perfetto.h"
#include "../../src/view/export_trace.h"
#include "../../src/view/thread_words.h"

enum {
	GROWING_TIMES = 1,
	FEW_TIDS = 2,
	HAS_BEFORE = 4,
	AS_JSON = 8,
	CPUS = 4,
	EVENT_BYTES_MAX = 512,
	TRACKS_MOST = 4096
};

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* What stands between the exporter and the file, and looks at all that passes. */
static struct {
	const struct trace_form *form;
	struct perfetto *perfetto;
	struct chrome *chrome;
	struct parquet *parquet;
	u64 first_id, tracks;
	u64 busy_ns[TRACKS_MOST]; /* until when a track is taken */
} watched;

static u64 number_of(const struct trace_track *track)
{
	require(track && track->id > watched.first_id && track->id <= watched.first_id + watched.tracks,
		"a track is declared before it is used");
	return track->id - watched.first_id - 1;
}

static void see_track(void *sink, const struct trace_track *track)
{
	require(track->id == watched.first_id + ++watched.tracks, "tracks are numbered");
	require(!track->parent || track->parent < track->id, "a parent is declared before");
	require(track->kind != TRACK_THREAD || (track->tid && track->pid), "a thread has its numbers");
	if (watched.tracks <= TRACKS_MOST)
		watched.busy_ns[watched.tracks - 1] = 0;
	watched.form->track(sink, track);
}

static void see_mark(void *sink, const struct trace_mark *mark)
{
	u64 number = number_of(mark->track);

	require(mark->track->kind == TRACK_LANE, "marks are on lanes");
	require(mark->name && mark->category, "a mark has a name");
	if (!mark->is_instant && number < TRACKS_MOST) {
		require(mark->to_ns >= mark->from_ns, "a slice does not end before it begins");
		require(mark->from_ns >= watched.busy_ns[number], "slices of a track do not overlap");
		watched.busy_ns[number] = mark->to_ns;
	}
	watched.form->mark(sink, mark);
}

static void see_count(void *sink, const struct trace_track *track, u64 at_ns, u64 value)
{
	number_of(track);
	require(track->kind == TRACK_COUNTER, "counts are on counters");
	watched.form->count(sink, track, at_ns, value);
}

static int take_nothing(void *data, const void *bytes, size_t len)
{
	(void)data;
	require(bytes && len && *(const unsigned char *)bytes == 0x0a, "what is written is packets");
	return 0;
}

static void take(struct exporter *exporter, struct threads *threads, const struct event_header *event, bool is_before)
{
	struct wait ended;
	bool waited = threads_handle(threads, event, &ended);

	exporter_take(exporter, event, waited ? &ended : NULL, is_before);
	if (watched.parquet)
		parquet_event(watched.parquet, event, thread_comm(threads, event->tid));
}

static int take_bytes(void *data, const void *bytes, size_t len)
{
	(void)data;
	require(bytes && len, "what is written is something");
	return 0;
}

static void open_form(const struct trace_machine *machine, bool as_json)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	watched.form = as_json ? &chrome_form : &perfetto_form;
	watched.chrome = as_json ? chrome_open(nowhere, machine) : NULL;
	watched.parquet = as_json ? parquet_open(take_bytes, NULL, ~0ULL) : NULL;
	watched.perfetto = as_json ? NULL : perfetto_open(machine, take_nothing, NULL);
	require(as_json ? watched.chrome && watched.parquet : watched.perfetto != NULL, "there is memory");
}

static void close_form(void)
{
	require(!watched.perfetto || !perfetto_error(watched.perfetto), "nothing fails where memory and disk do not");
	require(!watched.chrome || !chrome_failed(watched.chrome), "JSON fails as little");
	if (watched.parquet)
		require(!parquet_close(watched.parquet, true), "a table fails as little");
	chrome_close(watched.chrome);
	perfetto_close(watched.perfetto);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct cpu_topology topology[CPUS];
	static const struct trace_machine machine = {
		.name = "fuzz", .kernel = "6.18", .cpus_len = CPUS, .mono_ns = 1
	};
	_Alignas(8) unsigned char bytes[EVENT_BYTES_MAX];
	struct event_header *event = (struct event_header *)bytes;
	unsigned char how = size ? *data++ : 0;
	struct trace_form form;
	struct exporter exporter;
	struct threads threads;
	u64 now_ns = 1;

	open_form(&machine, how & AS_JSON);
	form = *watched.form;
	form.track = see_track;
	form.mark = see_mark;
	form.count = see_count;
	watched.tracks = 0;
	watched.first_id = 1000;
	require(!threads_init(&threads, topology, CPUS), "there is memory");
	threads.ended_most = how & FEW_TIDS ? 4 : 0;
	exporter_open(&exporter, &form, how & AS_JSON ? (void *)watched.chrome : watched.perfetto, &threads, 1000,
		      watched.first_id);
	for (size_t left = size ? size - 1 : 0; left >= sizeof(*event);) {
		const struct event_info *info;
		size_t len;

		memcpy(event, data, sizeof(*event));
		event->kind = (u8)(1 + event->kind % (EVENT_KINDS - 1));
		info = event_info(event->kind);
		len = info->bytes < left ? info->bytes : left;
		memset(bytes + sizeof(*event), 0, info->bytes - sizeof(*event));
		memcpy(bytes + sizeof(*event), data + sizeof(*event), len - sizeof(*event));
		data += len;
		left -= len;
		if (how & GROWING_TIMES)
			event->time_ns = now_ns += event->time_ns % 20000000;
		if (how & FEW_TIDS)
			event->tid %= 8;
		take(&exporter, &threads, event, (how & HAS_BEFORE) && left > size / 2);
	}
	exporter_end(&exporter, threads.last_ns);
	exporter_close(&exporter);
	close_form();
	threads_free(&threads);
	return 0;
}
