// SPDX-License-Identifier: GPL-2.0
/* stream/recording_read.c on files that are not as they were written: cut, flipped, forged, changing while they are
 * read. It gives right events or none. */
#include "recording_fixture.h"

static struct recording_block *block_of(struct small *small, int block)
{
	return (struct recording_block *)(small->bytes + small->ends[block]);
}

/* Makes the checksum of a block right again, and if asked its counts, so that what is behind them is looked at. */
static void mend_block(struct small *small, int block, int counts)
{
	struct recording_image *image = calloc(1, sizeof(*image));
	struct recording_block *head = block_of(small, block);

	memcpy(&image->head, head, sizeof(*head));
	memcpy(image->payload, head + 1, head->payload_bytes);
	if (counts)
		recording_summarise(image);
	image->head.crc = recording_block_crc(image);
	memcpy(head, &image->head, sizeof(*head));
	free(image);
}

static void test_every_truncation(struct small *small)
{
	u64 wrong = 0;

	for (size_t size = 0; size <= small->size; size++) {
		u64 want = 0;
		int whole = size == small->ends[0];
		struct reading seen;

		for (int block = 1; block <= SMALL_BLOCKS; block++) {
			if (size >= small->ends[block])
				want += KINDS;
			whole |= size == small->ends[block];
		}
		put_file(path, small->bytes, size);
		seen = read_all(path);
		if (size < small->ends[0]
			    ? seen.opened != -EBADMSG
			    : seen.opened || seen.end || seen.wrong || seen.events != want || seen.cut == whole) {
			printf("# at length %zu: %" PRIu64 " events, want %" PRIu64 "\n", size, seen.events, want);
			wrong++;
		}
	}
	is(wrong, 0, "cut at each of %zu lengths: the whole blocks before, and cut is said", small->size);
}

static void test_every_flip(struct small *small)
{
	u64 wrong = 0, flips = 0;

	for (size_t at = 0; at < small->size; at++) {
		for (int bit = 0; bit < 8; bit++, flips++) {
			struct reading seen;

			small->bytes[at] ^= (unsigned char)(1 << bit);
			put_file(path, small->bytes, small->size);
			small->bytes[at] ^= (unsigned char)(1 << bit);
			seen = read_all(path);
			/* A length that is now too long makes the block look cut. */
			if (seen.wrong || seen.events % KINDS || seen.events >= SMALL_EVENTS ||
			    (!seen.opened && !seen.end && !seen.cut)) {
				printf("# byte %zu bit %d\n", at, bit);
				wrong++;
			}
		}
	}
	is(wrong, 0, "recording with any of %" PRIu64 " flipped bits is refused, or right up to the block of the bit",
	   flips);
}

static void test_damage_in_the_middle(struct small *small)
{
	struct small damaged = *small;
	struct reading seen;
	char want[200];

	damaged.bytes[small->ends[1] + 60] ^= 1;
	put_file(path, damaged.bytes, damaged.size);
	seen = read_all(path);
	snprintf(want, sizeof(want), "damaged block at byte %" PRIu64 ": wrong checksum", small->ends[1]);
	is_text(seen.why.text, want, "damaged recording says where the damage is");
	is(seen.end, -EBADMSG, "reading of a damaged recording ends with an error");
	is(seen.events, KINDS, "damaged recording gives everything before the damage");
	ok(!seen.cut, "damaged recording is not said to be cut");
	damaged = *small;
	block_of(&damaged, 2)->magic++;
	put_file(path, damaged.bytes, damaged.size);
	seen = read_all(path);
	snprintf(want, sizeof(want), "damaged block at byte %" PRIu64 ": no block begins here", small->ends[2]);
	is_text(seen.why.text, want, "block without its magic is told");
	is(seen.events, 2 * KINDS, "damaged block ends the reading");
}

/* The checksum of a block tells of accidents, not of malice or of a writer that errs. */
static void test_lies_behind_a_right_checksum(struct small *small)
{
	enum { HEAD = sizeof(struct recording_block), KIND_AND_CPU = HEAD + offsetof(struct event_header, cpu) };
	static const struct {
		const char *name;
		size_t offset;
		u32 add;
		int mend_counts;
	} lies[] = { { "an unknown kind", KIND_AND_CPU, (EVENT_KINDS - EVENT_SWITCH) << 16, 1 },
		     { "no kind", KIND_AND_CPU, -(u32)(EVENT_SWITCH << 16), 1 },
		     { "an event that sticks out", offsetof(struct recording_block, payload_bytes), -8u, 1 },
		     { "a part of a header", offsetof(struct recording_block, payload_bytes), -15u, 1 },
		     { "a wrong number", offsetof(struct recording_block, events_len), -1u, 0 },
		     { "wrong losses", offsetof(struct recording_block, lost), 1, 0 },
		     { "a wrong first time", offsetof(struct recording_block, first_ns), -1u, 0 },
		     { "a wrong last time", offsetof(struct recording_block, last_ns), 1, 0 } };

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct small forged = *small;
		unsigned char *at = forged.bytes + forged.ends[SMALL_BLOCKS - 1] + lies[i].offset;
		struct reading seen;
		u32 value;

		memcpy(&value, at, sizeof(value));
		value += lies[i].add;
		memcpy(at, &value, sizeof(value));
		mend_block(&forged, SMALL_BLOCKS - 1, lies[i].mend_counts);
		put_file(path, forged.bytes, forged.size);
		seen = read_all(path);
		is(seen.end, -EBADMSG, "lie behind a right checksum is refused, %s: %s", lies[i].name, seen.why.text);
		is(seen.events, (SMALL_BLOCKS - 1) * KINDS, "blocks before a lie about %s are read", lies[i].name);
		is(seen.wrong, 0, "events before a lie about %s are right", lies[i].name);
	}
}

/* There the next event would begin outside of the reader's buffer. */
static void test_event_sticking_out_of_the_largest_block(struct small *small)
{
	struct recording_image *image = calloc(1, sizeof(*image));
	struct event_switch event = { .head = { .time_ns = 1, .kind = EVENT_SWITCH } };
	size_t size = small->ends[0] + sizeof(*image);
	unsigned char *file = calloc(1, size);
	struct reading seen;

	image->head.magic = RECORDING_BLOCK_MAGIC;
	image->head.payload_bytes = sizeof(image->payload);
	for (size_t at = 0; at < sizeof(image->payload); at += sizeof(event)) {
		size_t room = sizeof(image->payload) - at;

		memcpy(image->payload + at, &event, room < sizeof(event) ? room : sizeof(event));
	}
	recording_summarise(image);
	image->head.crc = recording_block_crc(image);
	memcpy(file, small->bytes, small->ends[0]);
	memcpy(file + small->ends[0], image, sizeof(*image));
	put_file(path, file, size);
	seen = read_all(path);
	is(seen.end, -EBADMSG, "event that sticks out of the largest block is refused: %s", seen.why.text);
	is(seen.events, 0, "block with an event that sticks out gives no event");
	free(file);
	free(image);
}

static void test_block_lengths(struct small *small)
{
	static const u32 lengths[] = { 0, RECORDING_PAYLOAD_MAX + 1, 0xffffffff };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct small forged = *small;
		struct reading seen;

		block_of(&forged, 0)->payload_bytes = lengths[i];
		put_file(path, forged.bytes, forged.size);
		seen = read_all(path);
		is(seen.end, -EBADMSG, "block of %u bytes is refused", lengths[i]);
		is(seen.events, 0, "block of %u bytes gives no event", lengths[i]);
	}
}

static void refused_header(const struct recording_header *header, const char *want)
{
	struct recording_header mended = *header;
	unsigned char bytes[sizeof(mended) + sizeof(topology)];

	mended.crc = 0;
	if (mended.cpus_len <= info.cpus_len)
		mended.crc = recording_header_crc(&mended, topology);
	memcpy(bytes, &mended, sizeof(mended));
	memcpy(bytes + sizeof(mended), topology, sizeof(topology));
	put_file(path, bytes, sizeof(bytes));
	is_text(read_all(path).why.text, want, "a header that does not pass: %s", want);
}

static void test_headers(struct small *small)
{
	struct recording_header right, header;

	memcpy(&right, small->bytes, sizeof(right));
	header = right;
	header.version = RECORDING_VERSION + 1;
	refused_header(&header, "format version 4, this program reads versions 1 to 3");
	header.version = 0;
	refused_header(&header, "format version 0, this program reads versions 1 to 3");
	header = right;
	header.cpus_len = RECORDING_CPUS_MAX + 1;
	header.header_bytes = sizeof(header) + header.cpus_len * 8;
	refused_header(&header, "damaged header");
	header.cpus_len = 0x20000003; /* times 8 it is that of three CPUs in 32 bits */
	header.header_bytes = right.header_bytes;
	refused_header(&header, "damaged header");
	header = right;
	header.header_bytes += 8;
	refused_header(&header, "damaged header");
	header = right;
	memset(header.kernel, 'k', sizeof(header.kernel));
	refused_header(&header, "damaged header");
}

static void test_too_many_cpus(struct small *small)
{
	u32 cpus_len = RECORDING_CPUS_MAX + 1;
	size_t size = sizeof(struct recording_header) + cpus_len * sizeof(struct cpu_topology);
	struct recording_header *header = calloc(1, size);

	memcpy(header, small->bytes, sizeof(*header));
	header->cpus_len = cpus_len;
	header->header_bytes = (u32)size;
	header->crc = recording_header_crc(header, (const struct cpu_topology *)(header + 1));
	put_file(path, header, size);
	is_text(read_all(path).why.text, "damaged header", "header with more CPUs than any machine has is refused");
	free(header);
}

static void test_shrinking(struct small *small)
{
	static const int cuts[] = { 50, 10, 0 }; /* bytes of the second block that stay; 0: the end looks clean */

	/* Blocks are read one by one, so that what lies behind the first can still go. */
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct recording_reader *reader = NULL;
		const struct event_header *event;
		struct reading seen = { 0 };

		put_file(path, small->bytes, small->size);
		recording_open(&reader, path, &seen.why);
		seen.events += recording_next(reader, &event, &seen.why) == 1;
		if (truncate(path, (off_t)small->ends[1] + cuts[i]))
			seen.wrong = 1;
		read_on(reader, &seen);
		is(seen.wrong, 0, "events before a cut at %d bytes of a block are right", cuts[i]);
		is(seen.end, 0, "recording that shrinks to %d bytes of the next block ends without an error", cuts[i]);
		is(seen.events, KINDS, "recording that shrinks to %d bytes of the next block gives the blocks before",
		   cuts[i]);
		ok(seen.cut, "recording that shrinks to %d bytes of the next block is said to be cut", cuts[i]);
		recording_close_reader(reader);
	}
}

static void test_growing(struct small *small)
{
	struct recording_reader *reader = NULL;
	struct reading seen = { 0 };

	put_file(path, small->bytes, small->ends[1]);
	recording_open(&reader, path, &seen.why);
	put_file(path, small->bytes, small->size);
	read_on(reader, &seen);
	is(seen.wrong, 0, "events of a recording that grows are right");
	is(seen.end, 0, "recording that grows ends without an error");
	is(seen.events, SMALL_EVENTS, "recording that grows is read on");
	ok(!seen.cut, "recording that grows is not said to be cut");
	recording_close_reader(reader);
}

int main(void)
{
	struct small small;

	make_folder();
	small = make_small();
	test_every_truncation(&small);
	test_every_flip(&small);
	test_damage_in_the_middle(&small);
	test_lies_behind_a_right_checksum(&small);
	test_event_sticking_out_of_the_largest_block(&small);
	test_block_lengths(&small);
	test_headers(&small);
	test_too_many_cpus(&small);
	test_shrinking(&small);
	test_growing(&small);
	remove_folder();
	return tap_end();
}
