// SPDX-License-Identifier: GPL-2.0
/* stream/recording: what was written is read again, what the disk took is whole, and no file is lost by it or taken
 * for a recording. */
#include <signal.h>
#include <sys/resource.h>

#include "recording_fixture.h"

static void test_round_trip(void)
{
	struct recording_writer *writer = create(path);
	struct recording_reader *reader = NULL;
	const struct recording_info *got;
	struct reading seen = { 0 };
	union any_event unknown = { .head = { .kind = EVENT_KINDS } };

	is(write_events(writer, 0, KINDS), 0, "event of every kind is taken");
	is(recording_write(writer, &unknown.head), -EINVAL, "event of an unknown kind is refused");
	is(recording_events(writer), KINDS, "recording counts the events that it took");
	is(recording_close_writer(writer), 0, "writer that was never refused closes well");
	is(recording_open(&reader, path, &seen.why), 0, "recording that was closed opens");
	got = recording_reader_info(reader);
	is_text(got->kernel, info.kernel, "recording reads back with its kernel");
	is(got->wall_start_ns, info.wall_start_ns, "recording reads back with its wall clock");
	is(got->mono_start_ns, info.mono_start_ns, "recording reads back with its monotonic clock");
	is(got->suspended_ns, info.suspended_ns, "recording reads back with how long its machine had been suspended");
	is(got->cpus_len, info.cpus_len, "recording reads back with its number of CPUs");
	for (size_t cpu = 0; cpu < sizeof(topology) / sizeof(topology[0]); cpu++) {
		is(got->topology[cpu].core, topology[cpu].core, "core of CPU %zu reads back", cpu);
		is(got->topology[cpu].llc, topology[cpu].llc, "cache of CPU %zu reads back", cpu);
		is(got->topology[cpu].node, topology[cpu].node, "memory node of CPU %zu reads back", cpu);
		is(got->topology[cpu].known, topology[cpu].known, "whether the place of CPU %zu is known reads back",
		   cpu);
	}
	read_on(reader, &seen);
	is(seen.events, KINDS, "recording reads back with every event");
	is(seen.wrong, 0, "events read back byte for byte");
	is(seen.end, 0, "recording ends clean and stays at its end");
	ok(!seen.cut, "whole recording is not said to be cut");
	recording_close_reader(reader);
}

/* As recordings from before had it, and as readers from before read it: a name, and NULs up to the end of 64 bytes. */
static void test_suspended(void)
{
	struct recording_info asleep = info;
	struct recording_writer *writer = NULL;
	struct recording_reader *reader = NULL;
	struct recording_header header;
	struct reason why = { "" };
	FILE *file;

	for (u32 i = 0; i < 4; i++) {
		static const size_t lengths[] = { 0, 55, 56, 63 };
		u64 want_ns = lengths[i] < RECORDING_SHORT_KERNEL ? info.suspended_ns : 0;

		memset(asleep.kernel, 0, sizeof(asleep.kernel));
		memset(asleep.kernel, 'k', lengths[i]);
		is(recording_create(&writer, path, &asleep, &why), 0, "recording with a kernel name of %zu is created",
		   lengths[i]);
		is(recording_close_writer(writer), 0, "recording with a kernel name of %zu closes", lengths[i]);
		file = fopen(path, "r");
		is(file && fread(&header, sizeof(header), 1, file) == 1, 1, "header with a kernel name of %zu reads",
		   lengths[i]);
		if (file)
			fclose(file);
		is(header.kernel[sizeof(header.kernel) - 1], '\0',
		   "a reader from before sees the end of a kernel name of %zu", lengths[i]);
		is(strlen(header.kernel), lengths[i], "a reader from before sees a kernel name of %zu", lengths[i]);
		is(recording_open(&reader, path, &why), 0, "recording with a kernel name of %zu opens", lengths[i]);
		is(strlen(recording_reader_info(reader)->kernel), lengths[i], "kernel name of %zu reads back",
		   lengths[i]);
		is(recording_reader_info(reader)->suspended_ns, want_ns,
		   "suspension beside a kernel name of %zu reads back where there is room", lengths[i]);
		recording_close_reader(reader);
	}
	memcpy(asleep.kernel, info.kernel, sizeof(asleep.kernel));
	asleep.suspended_ns = RECORDING_SUSPENDED_MOST;
	is(recording_create(&writer, path, &asleep, &why), 0, "recording of a machine suspended for years is created");
	is(recording_close_writer(writer), 0, "recording of a machine suspended for years closes");
	is(recording_open(&reader, path, &why), 0, "recording of a machine suspended for years opens");
	is(recording_reader_info(reader)->suspended_ns, 0, "a suspension of years is left out");
	recording_close_reader(reader);
}

static void test_header_extremes(void)
{
	struct recording_info wide = info;
	struct recording_writer *writer = NULL;
	struct recording_reader *reader = NULL;
	struct reason why = { "" };

	memset(wide.kernel, 'k', sizeof(wide.kernel));
	wide.cpus_len = 0;
	wide.topology = NULL;
	is(recording_create(&writer, path, &wide, &why), 0,
	   "recording of no CPUs and an endless kernel name is created");
	is(recording_close_writer(writer), 0, "recording with a long kernel name closes");
	is(recording_open(&reader, path, &why), 0, "recording with a long kernel name opens");
	is(strlen(recording_reader_info(reader)->kernel), 63, "kernel name that is too long is cut");
	is(recording_reader_info(reader)->suspended_ns, 0,
	   "a kernel name that is too long leaves no room for a suspension");
	recording_close_reader(reader);
	is(read_all(path).events, 0, "recording without events has none");
	wide.cpus_len = RECORDING_CPUS_MAX;
	wide.topology = calloc(RECORDING_CPUS_MAX, sizeof(*wide.topology));
	wide.topology[RECORDING_CPUS_MAX - 1].node = 7;
	is(recording_create(&writer, path, &wide, &why), 0, "recording of as many CPUs as fit is created");
	recording_close_writer(writer);
	is(recording_open(&reader, path, &why), 0, "recording of as many CPUs as fit opens");
	is(recording_reader_info(reader)->topology[RECORDING_CPUS_MAX - 1].node, 7,
	   "recording of as many CPUs as fit has the last one's place");
	recording_close_reader(reader);
	wide.cpus_len++;
	is(recording_create(&writer, path, &wide, &why), -EINVAL, "recording of one CPU more is refused");
	is(recording_close_writer(writer), 0, "closing no writer is nothing");
	free(wide.topology);
}

static void test_many_blocks(void)
{
	enum { MANY = 50000 };
	struct recording_writer *writer = create(path);
	struct reading seen;
	u64 bytes;

	is(write_events(writer, 0, MANY), 0, "many events are taken");
	is(recording_events(writer), MANY, "buffered events are counted");
	bytes = recording_bytes(writer);
	is(recording_close_writer(writer), 0, "recording of many events closes");
	is(file_bytes(path), bytes, "recording is as long as its writer said");
	seen = read_all(path);
	is(seen.events, MANY, "recording of many events gives them all back");
	is(seen.wrong, 0, "many events read back in order and right");
	is(seen.end, 0, "recording of many events ends clean");
	ok(!seen.cut, "recording of many events is not said to be cut");
}

static void test_flush(void)
{
	struct recording_writer *writer = create(path);
	struct reading seen;

	is(recording_flush(writer), 0, "flush of nothing succeeds");
	is(file_bytes(path), recording_bytes(writer), "flush of nothing writes nothing");
	write_events(writer, 0, 5);
	is(read_all(path).events, 0, "buffered events are not in the file");
	is(recording_flush(writer), 0, "flush of buffered events succeeds");
	seen = read_all(path);
	is(seen.events, 5, "flushed events are in the file");
	ok(!seen.cut, "recording that is being written is whole after a flush");
	is(seen.end, 0, "recording that is being written ends clean after a flush");
	write_events(writer, 5, 7);
	recording_close_writer(writer);
	is(read_all(path).events, 7, "closing a recording flushes the events");
}

static void test_foreign_files(void)
{
	static const char text[] = "#!/bin/sh\necho this is something else, and it is longer than the header of a "
				   "recording, which has 104 bytes and then some more\n";
	struct reading seen;
	char at[4300];

	put_file(path, text, sizeof(text));
	is_text(read_all(path).why.text, "not a tactus recording", "foreign file is no recording");
	put_file(path, "TACT", 4);
	is_text(read_all(path).why.text, "not a tactus recording", "short file is no recording");
	put_file(path, "", 0);
	is_text(read_all(path).why.text, "empty file", "empty file is no recording");
	is(read_all(folder).opened, -EISDIR, "folder is no recording");
	is_text(read_all(folder).why.text, "is a folder", "folder in the place of a recording is told in words");
	is(read_all("-").opened, -EINVAL, "standard input is no recording");
	snprintf(at, sizeof(at), "%s/none", folder);
	seen = read_all(at);
	is(seen.opened, -ENOENT, "missing recording is told: %s", seen.why.text);
	snprintf(at, sizeof(at), "%s/pipe", folder);
	is(mkfifo(at, 0600), 0, "pipe is made");
	is(read_all(at).opened, -EINVAL, "pipe is refused, not waited for");
}

/* A limit on the file's length does to write() what a full disk does: a short write, then an error. */
static void test_full_disk(void)
{
	struct rlimit before, limit;
	struct recording_writer *writer = create(path);
	struct reading seen;
	u64 events, bytes;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 150000; /* within the third block */
	setrlimit(RLIMIT_FSIZE, &limit);
	is(write_events(writer, 0, 100000), -EFBIG, "a disk that takes no more is told");
	setrlimit(RLIMIT_FSIZE, &before);
	events = recording_events(writer);
	bytes = recording_bytes(writer);
	ok(events > 0, "some events were written before the disk was full");
	ok(bytes > RECORDING_PAYLOAD_MAX, "some blocks were written before the disk was full");
	is(file_bytes(path), bytes, "recording on a full disk ends with its last whole block");
	is(write_events(writer, 0, 1), -EFBIG, "writing gives the error from then on, though there is room again");
	is(recording_flush(writer), -EFBIG, "flush fails after a write that failed");
	is(recording_close_writer(writer), -EFBIG, "closing fails after a write that failed");
	is(file_bytes(path), bytes, "closing after a full disk adds nothing");
	seen = read_all(path);
	is(seen.events, events, "recording on a full disk reads back");
	is(seen.wrong, 0, "events of a recording on a full disk are right");
	is(seen.end, 0, "recording on a full disk ends clean");
	ok(!seen.cut, "recording on a full disk is whole up to its end");
}

static void test_no_room_for_the_header(void)
{
	struct rlimit before, limit;
	struct recording_writer *writer;
	struct reason why = { "" };

	unlink(path);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 110;
	setrlimit(RLIMIT_FSIZE, &limit);
	is(recording_create(&writer, path, &info, &why), -EFBIG, "recording without room for its header is refused: %s",
	   why.text);
	setrlimit(RLIMIT_FSIZE, &before);
	is(file_bytes(path), 0, "recording without room for its header leaves nothing");
}

static void test_overwriting(struct small *small)
{
	struct recording_writer *writer, *second;
	struct reason why = { "" };

	put_file(path, small->bytes, small->size);
	writer = create(path);
	is(recording_create(&second, path, &info, &why), -EBUSY, "second writer is refused: %s", why.text);
	recording_close_writer(writer);
	is(file_bytes(path), small->ends[0], "a recording is replaced, and nothing of it stays");
	put_file(path, "", 0);
	is(recording_create(&writer, path, &info, &why), 0, "empty file may become a recording");
	recording_close_writer(writer);
	put_file(path, "my letters", 10);
	is(recording_create(&writer, path, &info, &why), -EEXIST, "foreign file is not overwritten");
	is_text(why.text, "exists and is not a recording: name another file, or give --force to replace it",
		"refusal to overwrite says what to do");
	is(file_bytes(path), 10, "foreign file stays as it was");
	put_file(path, "TACTUS", 6);
	is(recording_create(&writer, path, &info, &why), -EEXIST, "file too short to tell is not overwritten");
}

static void test_places_to_write(void)
{
	struct recording_writer *writer;
	struct reason why = { "" };
	char at[4300];

	is(recording_create(&writer, folder, &info, &why), -EISDIR, "folder is refused as a recording: %s", why.text);
	snprintf(at, sizeof(at), "%s/none/file", folder);
	is(recording_create(&writer, at, &info, &why), -ENOENT, "file in no folder is refused as a recording: %s",
	   why.text);
	is_text(why.text, "its folder does not exist", "missing folder is told in words");
	is(recording_create(&writer, "-", &info, &why), -EINVAL, "standard output is refused as a recording: %s",
	   why.text);
	is(recording_create(&writer, "/dev/null", &info, &why), -EINVAL, "device is refused as a recording: %s",
	   why.text);
	snprintf(at, sizeof(at), "%s/pipe", folder);
	is(recording_create(&writer, at, &info, &why), -EINVAL, "pipe is refused as a recording: %s", why.text);
	if (geteuid() == 0)
		return;
	put_file(path, "", 0);
	chmod(path, 0400);
	is(recording_create(&writer, path, &info, &why), -EACCES,
	   "file without permission is refused as a recording: %s", why.text);
}

int main(void)
{
	struct small small;

	make_folder();
	test_round_trip();
	test_suspended();
	test_header_extremes();
	test_many_blocks();
	test_flush();
	small = make_small();
	test_foreign_files();
	test_full_disk();
	test_no_room_for_the_header();
	test_overwriting(&small);
	test_places_to_write();
	remove_folder();
	return tap_end();
}
