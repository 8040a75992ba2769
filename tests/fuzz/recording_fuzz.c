// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of recordings. The first byte of an input says how much of the rest is made right before it is
 * read, since hardly anything that is made up passes a checksum. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../../src/model/cuda.h"
#include "../../src/model/inputs.h"
#include "../../src/model/submits.h"
#include "../../src/model/threads.h"
#include "../../src/stream/recording.h"
#include "../../src/stream/recording_format.h"

enum { MEND_CHECKSUMS = 1, MEND_COUNTS = 2 };

static void mend_blocks(unsigned char *file, size_t size, size_t at, bool counts)
{
	static struct recording_image block;

	while (size - at >= sizeof(block.head)) {
		size_t room = size - at - sizeof(block.head);
		size_t bytes;

		memcpy(&block.head, file + at, sizeof(block.head));
		bytes = block.head.payload_bytes;
		if (bytes > room || bytes > sizeof(block.payload))
			return;
		memcpy(block.payload, file + at + sizeof(block.head), bytes);
		if (counts)
			recording_summarise(&block);
		block.head.crc = recording_block_crc(&block);
		memcpy(file + at, &block.head, sizeof(block.head));
		at += sizeof(block.head) + bytes;
	}
}

static void mend(unsigned char *file, size_t size, bool counts)
{
	struct recording_header header;
	struct cpu_topology *topology;
	size_t topology_bytes;

	if (size < sizeof(header))
		return;
	memcpy(&header, file, sizeof(header));
	topology_bytes = header.cpus_len * sizeof(*topology);
	if (topology_bytes > size - sizeof(header))
		return;
	topology = malloc(topology_bytes + 1);
	memcpy(topology, file + sizeof(header), topology_bytes);
	header.crc = recording_header_crc(&header, topology);
	memcpy(file, &header, sizeof(header));
	free(topology);
	mend_blocks(file, size, sizeof(header) + topology_bytes, counts);
}

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* Every byte that the reader gives goes in here, so that the sanitizers look at it. */
unsigned char fuzz_sum;

/* What views make of it. */
static struct threads threads;
static struct submits submits;
static struct inputs inputs;
static struct cuda cuda;

static void show(const struct event_header *event)
{
	struct stall stall;
	struct wait ended;

	threads_handle(&threads, event, &ended);
	if (submits_handle(&submits, &threads, event, &stall))
		require(stall.span_ns > stall.usual_ns && (stall.row ? stall.row->submits > 1 : stall.timeline != NULL),
			"a stall stands out");
	inputs_handle(&inputs, &threads, event);
	cuda_handle(&cuda, &threads, event);
}

static void read_whole(const char *path, size_t size)
{
	struct recording_reader *reader;
	const struct event_header *event;
	struct reason why = { "" };
	size_t bytes = 0;
	int got;

	if (recording_open(&reader, path, &why)) {
		require(!reader && why.text[0], "a refused file has a reason");
		return;
	}
	for (u32 i = 0; i < recording_reader_info(reader)->cpus_len; i++)
		fuzz_sum += (unsigned char)recording_reader_info(reader)->topology[i].known;
	require(strlen(recording_reader_info(reader)->kernel) < 64, "the kernel's name ends");
	require(threads_init(&threads, recording_reader_info(reader)->topology,
			     recording_reader_info(reader)->cpus_len) == 0,
		"there is memory");
	while ((got = recording_next(reader, &event, &why)) > 0) {
		show(event);
		require(event_info(event->kind) != NULL, "only known kinds are given");
		for (u32 i = 0; i < event_info(event->kind)->bytes; i++)
			fuzz_sum += ((const unsigned char *)event)[i];
		bytes += event_info(event->kind)->bytes;
	}
	require(got == 0 || why.text[0], "an error has a reason");
	require(got == 0 || !recording_was_cut(reader), "damaged and cut are two things");
	require(recording_next(reader, &event, &why) == got, "the end stays");
	require(bytes < size, "no more is given than there is");
	cuda_end(&cuda);
	cuda_free(&cuda);
	submits_free(&submits);
	inputs_free(&inputs);
	threads_free(&threads);
	recording_close_reader(reader);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	unsigned char *file;

	if (size < 1)
		return 0;
	if (fd < 0) {
		fd = memfd_create("recording", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	file = malloc(size);
	memcpy(file, data + 1, size - 1);
	if (data[0] & MEND_CHECKSUMS)
		mend(file, size - 1, data[0] & MEND_COUNTS);
	require(ftruncate(fd, 0) == 0 && pwrite(fd, file, size - 1, 0) == (ssize_t)size - 1, "the input is in a file");
	free(file);
	read_whole(path, size);
	return 0;
}
