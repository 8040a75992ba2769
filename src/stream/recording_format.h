/* SPDX-License-Identifier: GPL-2.0 */
/* The recording file, byte by byte, for its writer and its reader; nobody else includes this but their tests.
 *
 * A file is one header and then blocks up to its end. All integers are little-endian.
 *
 *   header   struct recording_header, then one struct cpu_topology (8 bytes) for each CPU
 *   block    struct recording_block, then its payload: events back to back, each as in core/event.h, its length given
 *            by its kind. A block holds at least one, at most 64 KiB of them, none in part.
 *
 * Each header's crc is zlib's crc32 over the header itself, with 0 in the place of the crc, and over what follows it:
 * the places or the payload. A reader trusts nothing before that sum is right, and gives no event of a block before
 * the whole block is known to be right. The counts and times in a block must be those of its events.
 *
 * Events before mono_start_ns are the lead-in (model/lead_in.h): they tell what was known at the start, and are not
 * counted.
 *
 * A writer adds whole blocks only, and takes a block that the disk did not take whole off again. Where it could not
 * even do that, as when it was killed, the file ends within a block: it is cut, and readable up to there. Anything else
 * that is not as described is damage.
 *
 * The version changes with any change of the structs here, of struct cpu_topology or of the events. A new kind of event
 * is such a change: an old reader could not know its length.
 *
 *   version 1   events up to `lost`
 *   version 2   adds `role` and `exec`
 *   version 3   adds `decision`, `frame`, `submit`, `fence`, `gpu_memory`, `device`, `input`,
 *               `input_wake`, `vblank`, `commit` and `served`; those of cuda; `lost` has a kind */
#ifndef TACTUS_STREAM_RECORDING_FORMAT_H
#define TACTUS_STREAM_RECORDING_FORMAT_H

#include "../../core/event.h"
#include "../../core/place.h"

enum {
	RECORDING_VERSION = 3,
	RECORDING_CPUS_MAX = 65536,
	RECORDING_PAYLOAD_MAX = 65536,
	RECORDING_BLOCK_MAGIC = 0x4b4c4254, /* "TBLK" */
	RECORDING_SHORT_KERNEL = 56,
};

#define RECORDING_SUSPENDED_MOST (1ull << 56) /* its last byte is the NUL that ends any name */

/* The newline is there to break in a transfer that changes line ends. */
#define RECORDING_MAGIC "TACTUSR\n"

struct recording_header {
	char magic[8];
	u32 version;
	u32 header_bytes; /* the places included */
	u64 wall_start_ns;
	u64 mono_start_ns;
	union {
		char kernel[64]; /* filled up with NULs, at least one */
		/* A name that leaves room has behind it for how long the machine had been suspended at the start.
		 * Readers from before that see NULs or nothing: a name ends for them too. */
		struct {
			char short_kernel[RECORDING_SHORT_KERNEL];
			u64 suspended_ns;
		};
	};
	u32 cpus_len;
	u32 crc;
};

struct recording_block {
	u32 magic;
	u32 payload_bytes;
	u32 events_len;
	u32 crc;
	u64 lost;     /* the sum of the counts of its lost events */
	u64 first_ns; /* the earliest and the latest time of its events */
	u64 last_ns;
};

/* A block as it lies in the file, at its largest. The events in it are aligned. */
struct recording_image {
	struct recording_block head;
	unsigned char payload[RECORDING_PAYLOAD_MAX];
};

_Static_assert(sizeof(struct recording_header) == 104, "part of the recording format");
_Static_assert(sizeof(struct recording_block) == 40, "part of the recording format");
_Static_assert(sizeof(struct cpu_topology) == 8, "part of the recording format");
_Static_assert(__builtin_offsetof(struct recording_image, payload) == sizeof(struct recording_block), "no gap");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs are written as they lie in memory");

u32 recording_header_crc(const struct recording_header *header, const struct cpu_topology *topology);
u32 recording_block_crc(const struct recording_image *block);

/* Fills in the counts and times of a block from its payload. Returns how many bytes of it are whole events of known
 * kinds: less than the payload has if something else stands there. */
u32 recording_summarise(struct recording_image *block);

#endif
