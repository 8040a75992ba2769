// SPDX-License-Identifier: GPL-2.0
/* Reads and writes the three layouts. Whatever a file says, no more is allocated than its size allows, and every fault
 * is reported with its place. */
#include "procdb_format.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum {
	BUFFER_BYTES = 320 * PDDB_OWN_ENTRY_BYTES,
	DAY_BYTES = 2 * (1 + TIERS),
	DAYS_AT = 160,
	USE_DAY_AT = 192,
	CRC_AT = 196
};

_Static_assert(DAYS_AT + PROCDB_DAYS * DAY_BYTES == USE_DAY_AT && USE_DAY_AT + 4 == CRC_AT &&
		       CRC_AT + 4 == PDDB_OWN_ENTRY_BYTES,
	       "the layout");
_Static_assert(TIERS == 3 && ROLES == 8, "the layout counts them");

struct input {
	const struct procdb_bytes *bytes;
	u8 buffer[BUFFER_BYTES];
	size_t at, held;
	u64 offset; /* in the file, of what is read next */
};

static u16 get_u16(const u8 *at)
{
	return (u16)(at[0] | at[1] << 8);
}

static u32 get_u32(const u8 *at)
{
	return get_u16(at) | (u32)get_u16(at + 2) << 16;
}

static u64 get_u64(const u8 *at)
{
	return get_u32(at) | (u64)get_u32(at + 4) << 32;
}

static void put_u16(u8 *at, u32 value)
{
	at[0] = (u8)value;
	at[1] = (u8)(value >> 8);
}

static void put_u32(u8 *at, u32 value)
{
	put_u16(at, value);
	put_u16(at + 2, value >> 16);
}

static void put_u64(u8 *at, u64 value)
{
	put_u32(at, (u32)value);
	put_u32(at + 4, (u32)(value >> 32));
}

static u32 checksum(const u8 *at, size_t len)
{
	return (u32)crc32(crc32(0, NULL, 0), at, (uInt)len);
}

#define FAULT(report, offset, ...)                      \
	do {                                            \
		struct reason fault_text;               \
		reason_set(&fault_text, __VA_ARGS__);   \
		add_fault(report, offset, &fault_text); \
	} while (0)

static void add_fault(struct procdb_report *report, u64 offset, const struct reason *what)
{
	if (!report->faults++)
		reason_set(&report->first, "at byte %llu: %.250s", (unsigned long long)offset, what->text);
	if (report->fault)
		report->fault(report->data, offset, what->text);
}

/* The next `len` bytes of the input; NULL if there are no more, with *error set if that is not because it ended. */
static const u8 *take(struct input *input, size_t len, int *error)
{
	*error = 0;
	if (input->held - input->at < len) {
		memmove(input->buffer, input->buffer + input->at, input->held - input->at);
		input->held -= input->at;
		input->at = 0;
	}
	while (input->held - input->at < len) {
		long got = input->bytes->read(input->bytes->data, input->buffer + input->held,
					      sizeof(input->buffer) - input->held);

		if (got <= 0) {
			*error = (int)got;
			return NULL;
		}
		input->held += (size_t)got;
	}
	input->at += len;
	input->offset += len;
	return input->buffer + input->at - len;
}

/* A text of fixed length into zeroed room, without what stands after its end. False if it has none. */
static bool take_text(char *into, const u8 *from, size_t len)
{
	const u8 *end = memchr(from, '\0', len);

	if (end)
		memcpy(into, from, (size_t)(end - from));
	return end;
}

/* PDDB knows the sum of votes and who won: all go to that one. */
static const char *decode_pddb(const u8 *entry, u32 version, u64 now_s, struct profile *profile)
{
	const u8 *rest = entry + 32;

	if (!take_text(profile->key.comm.text, entry, COMM_LEN))
		return "a name without an end";
	if (entry[16] >= TIERS)
		return "a tier out of range";
	profile->figures.avg_runtime_ns = get_u64(entry + 24);
	if (version == PDDB_2) {
		profile->figures.runtime_dev_ns = get_u64(rest);
		profile->figures.wakeup_freq = get_u64(rest + 8);
		profile->figures.csw_rate = get_u64(rest + 16);
		rest += 24;
	}
	profile->observations = get_u32(rest);
	profile->tier_votes[entry[16]] = get_u32(rest + 4);
	profile->first_seen_s = profile->last_seen_s = now_s;
	return NULL;
}

static const char *decode_own(const u8 *entry, struct profile *profile)
{
	if (checksum(entry, CRC_AT) != get_u32(entry + CRC_AT))
		return "a wrong checksum";
	if (!take_text(profile->key.comm.text, entry, COMM_LEN) ||
	    !take_text(profile->key.exe.text, entry + 16, TAIL_LEN))
		return "a name without an end";
	for (int i = 0; i < TIERS; i++)
		profile->tier_votes[i] = get_u32(entry + 64 + i * 4);
	for (int i = 0; i < ROLES; i++)
		profile->role_votes[i] = get_u32(entry + 76 + i * 4);
	profile->observations = get_u32(entry + 108);
	profile->figures.avg_runtime_ns = get_u64(entry + 112);
	profile->figures.runtime_dev_ns = get_u64(entry + 120);
	profile->figures.wakeup_freq = get_u64(entry + 128);
	profile->figures.csw_rate = get_u64(entry + 136);
	profile->first_seen_s = get_u64(entry + 144);
	profile->last_seen_s = get_u64(entry + 152);
	profile->use_day = get_u32(entry + USE_DAY_AT);
	for (int i = 0; i < PROCDB_DAYS; i++) {
		profile->days[i].day = get_u16(entry + DAYS_AT + i * DAY_BYTES);
		for (int k = 0; k < TIERS; k++)
			profile->days[i].tier_votes[k] = get_u16(entry + DAYS_AT + i * DAY_BYTES + 2 + k * 2);
	}
	return NULL;
}

static int decode_entry(struct procdb *db, const u8 *entry, u64 offset, struct procdb_report *report, u64 now_s)
{
	size_t number = (size_t)report->read, before = db->len;
	struct profile profile = { 0 }, *mine;
	const char *wrong = report->version == PDDB_OWN ? decode_own(entry, &profile)
							: decode_pddb(entry, report->version, now_s, &profile);

	report->read++;
	if (wrong) {
		FAULT(report, offset, "entry %zu has %s: left out", number, wrong);
		return 0;
	}
	figures_cut(&profile.figures);
	mine = procdb_meet(db, &profile.key);
	if (!mine)
		return -ENOMEM;
	if (db->len == before)
		FAULT(report, offset, "entry %zu has the same key as one before it: left out", number);
	else
		*mine = profile;
	/* Where the header is damaged, too. */
	if (profile.use_day > db->use_days)
		db->use_days = profile.use_day;
	return 0;
}

/* The rest of our own header. Returns false if entries can't be told apart. */
static bool decode_own_header(const u8 *header, u64 base, struct procdb *db, struct procdb_report *report)
{
	if (checksum(header, 28) != get_u32(header + 28)) {
		FAULT(report, base + 28, "the header has a wrong checksum");
		return true;
	}
	db->saved_s = get_u64(header + 16);
	db->use_days = get_u32(header + 24);
	if (get_u32(header + 12) == PDDB_OWN_ENTRY_BYTES)
		return true;
	FAULT(report, base + 12, "entries of %u bytes are not known here", get_u32(header + 12));
	return false;
}

/* Returns how many entries there are room for after a header that makes sense, or a negative number if none can be
 * read. */
static s64 decode_header(struct input *input, struct procdb *db, struct procdb_report *report, u64 *entry_bytes,
			 int *error)
{
	u64 base = input->offset, size = input->bytes->size - base, header_bytes = PDDB_HEADER_BYTES, room, end;
	const u8 *header = size < PDDB_HEADER_BYTES ? NULL : take(input, PDDB_HEADER_BYTES, error);
	u8 whole[PDDB_OWN_HEADER_BYTES];

	if (!header) {
		FAULT(report, base, "too short: %llu bytes", (unsigned long long)size);
		return -1;
	}
	if (memcmp(header, "PDDB", 4) != 0) {
		FAULT(report, base, "bad magic %02x %02x %02x %02x: not a database", header[0], header[1], header[2],
		      header[3]);
		return -1;
	}
	report->version = get_u32(header + 4);
	report->announced = get_u32(header + 8);
	*entry_bytes = report->version == PDDB_1 ? PDDB_1_ENTRY_BYTES : PDDB_2_ENTRY_BYTES;
	if (report->version == PDDB_OWN) {
		memcpy(whole, header, PDDB_HEADER_BYTES);
		header_bytes = PDDB_OWN_HEADER_BYTES;
		header = take(input, PDDB_OWN_HEADER_BYTES - PDDB_HEADER_BYTES, error);
		if (!header) {
			FAULT(report, base + PDDB_HEADER_BYTES, "too short: the header ends early");
			return -1;
		}
		memcpy(whole + PDDB_HEADER_BYTES, header, PDDB_OWN_HEADER_BYTES - PDDB_HEADER_BYTES);
		*entry_bytes = PDDB_OWN_ENTRY_BYTES;
		if (!decode_own_header(whole, base, db, report))
			return -1;
	} else if (report->version != PDDB_1 && report->version != PDDB_2) {
		FAULT(report, base + 4, "unknown version %u", report->version);
		return -1;
	}
	room = size > header_bytes ? (size - header_bytes) / *entry_bytes : 0;
	end = header_bytes + report->announced * *entry_bytes;
	if (report->announced > room)
		FAULT(report, base + 8,
		      "truncated: %llu entries announced, room for %llu: expected %llu bytes, got %llu",
		      (unsigned long long)report->announced, (unsigned long long)room, (unsigned long long)end,
		      (unsigned long long)size);
	else if (report->version == PDDB_OWN && size > end && size < end + PDDB_ORIGIN_BYTES)
		FAULT(report, base + end, "%llu bytes after the last entry", (unsigned long long)(size - end));
	return (s64)(report->announced < room ? report->announced : room);
}

/* Which database it is stands at the end; older ones do not say. */
static void decode_origin(struct input *input, struct procdb *db, struct procdb_report *report, int *error)
{
	u64 offset = input->offset;
	const u8 *end;

	if (report->version != PDDB_OWN || input->bytes->size < offset + PDDB_ORIGIN_BYTES)
		return;
	end = take(input, PDDB_ORIGIN_BYTES, error);
	if (end && !memcmp(end, "ORIG", 4) && checksum(end, 12) == get_u32(end + 12))
		db->origin = get_u64(end + 4);
	else if (!*error)
		FAULT(report, offset, "the database's own number has a wrong checksum");
}

/* One database, of which a file may have several. */
static int decode_one(struct input *input, struct procdb *db, struct procdb_report *report, u64 now_s)
{
	u64 entry_bytes = 0, offset;
	int error = 0;
	s64 entries;

	report->version = 0;
	report->announced = report->read = 0;
	entries = decode_header(input, db, report, &entry_bytes, &error);
	if (entries < 0)
		return error;
	if (entries && procdb_reserve(db, (size_t)entries))
		return -ENOMEM;
	while (!error && (s64)report->read < entries) {
		const u8 *entry;

		offset = input->offset;
		entry = take(input, (size_t)entry_bytes, &error);
		if (!entry && !error) {
			FAULT(report, offset, "truncated: the file became shorter while it was read");
			break;
		}
		if (entry)
			error = decode_entry(db, entry, offset, report, now_s);
	}
	if (!error)
		decode_origin(input, db, report, &error);
	return error;
}

/* What it has of others. One that is damaged is left out and ends it: where the next begins is not known. */
static int decode_parts(struct input *input, struct procdb *db, struct procdb_report *report, u64 now_s)
{
	int error = 0;

	while (!error && !report->faults && input->offset < input->bytes->size) {
		u64 offset = input->offset;
		struct procdb *part = db->parts_len < PDDB_PARTS_MOST ? procdb_part(db) : NULL;

		if (!part && db->parts_len < PDDB_PARTS_MOST)
			return -ENOMEM;
		if (!part) {
			FAULT(report, offset, "more than %d parts", PDDB_PARTS_MOST);
			return 0;
		}
		error = decode_one(input, part, report, now_s);
		if (!error && !report->faults && !part->origin)
			FAULT(report, offset, "a part that does not say whose it is");
		if (report->faults)
			procdb_free(&db->parts[--db->parts_len]);
	}
	return error;
}

int procdb_decode(struct procdb *db, const struct procdb_bytes *bytes, struct procdb_report *report, u64 now_s)
{
	struct input input = { .bytes = bytes };
	u64 announced, read;
	int error;

	report->faults = 0;
	error = decode_one(&input, db, report, now_s);
	if (error || report->version != PDDB_OWN || !db->origin)
		return error;
	announced = report->announced;
	read = report->read;
	error = decode_parts(&input, db, report, now_s);
	report->version = PDDB_OWN;
	report->announced = announced;
	report->read = read;
	return error;
}

struct output {
	int (*write)(void *data, const void *bytes, size_t len);
	void *data;
	u8 buffer[BUFFER_BYTES];
	size_t held;
};

static int flush(struct output *output)
{
	int error = output->held ? output->write(output->data, output->buffer, output->held) : 0;

	output->held = 0;
	return error;
}

/* Zeroed room for the next bytes, or NULL with *error set. */
static u8 *give(struct output *output, size_t len, int *error)
{
	u8 *room;

	if (output->held + len > sizeof(output->buffer)) {
		*error = flush(output);
		if (*error)
			return NULL;
	}
	room = output->buffer + output->held;
	memset(room, 0, len);
	output->held += len;
	return room;
}

static void encode_own(u8 *entry, const struct profile *profile)
{
	memcpy(entry, profile->key.comm.text, COMM_LEN);
	memcpy(entry + 16, profile->key.exe.text, TAIL_LEN);
	for (int i = 0; i < TIERS; i++)
		put_u32(entry + 64 + i * 4, profile->tier_votes[i]);
	for (int i = 0; i < ROLES; i++)
		put_u32(entry + 76 + i * 4, profile->role_votes[i]);
	put_u32(entry + 108, profile->observations);
	put_u64(entry + 112, profile->figures.avg_runtime_ns);
	put_u64(entry + 120, profile->figures.runtime_dev_ns);
	put_u64(entry + 128, profile->figures.wakeup_freq);
	put_u64(entry + 136, profile->figures.csw_rate);
	put_u64(entry + 144, profile->first_seen_s);
	put_u64(entry + 152, profile->last_seen_s);
	put_u32(entry + USE_DAY_AT, profile->use_day);
	for (int i = 0; i < PROCDB_DAYS; i++) {
		put_u16(entry + DAYS_AT + i * DAY_BYTES, profile->days[i].day);
		for (int k = 0; k < TIERS; k++)
			put_u16(entry + DAYS_AT + i * DAY_BYTES + 2 + k * 2, profile->days[i].tier_votes[k]);
	}
	put_u32(entry + CRC_AT, checksum(entry, CRC_AT));
}

static void encode_pddb2(u8 *entry, const struct profile *profile)
{
	u64 votes = votes_sum(profile->tier_votes, TIERS);

	memcpy(entry, profile->key.comm.text, COMM_LEN);
	entry[16] = (u8)profile_tier(profile);
	put_u64(entry + 24, profile->figures.avg_runtime_ns);
	put_u64(entry + 32, profile->figures.runtime_dev_ns);
	put_u64(entry + 40, profile->figures.wakeup_freq);
	put_u64(entry + 48, profile->figures.csw_rate);
	put_u32(entry + 56, profile->observations);
	put_u32(entry + 60, votes > 0xffffffffu ? 0xffffffffu : (u32)votes);
}

static long encode_all(const struct procdb *db, u32 version, u64 now_s, struct output *output)
{
	bool own = version == PDDB_OWN;
	size_t count = 0;
	int error = 0;
	u8 *room;

	for (size_t i = 0; i < db->len; i++)
		count += own || profile_is_confident(&db->all[i]);
	if (count > 0xffffffffu)
		return -EFBIG;
	room = give(output, own ? PDDB_OWN_HEADER_BYTES : PDDB_HEADER_BYTES, &error);
	if (!room)
		return error;
	memcpy(room, "PDDB", 4);
	put_u32(room + 4, version);
	put_u32(room + 8, (u32)count);
	if (own) {
		put_u32(room + 12, PDDB_OWN_ENTRY_BYTES);
		put_u64(room + 16, clock_is_plausible(now_s) ? now_s : db->saved_s);
		put_u32(room + 24, db->use_days);
		put_u32(room + 28, checksum(room, 28));
	}
	for (size_t i = 0; i < db->len; i++) {
		if (!own && !profile_is_confident(&db->all[i]))
			continue;
		room = give(output, own ? PDDB_OWN_ENTRY_BYTES : PDDB_2_ENTRY_BYTES, &error);
		if (!room)
			return error;
		if (own)
			encode_own(room, &db->all[i]);
		else
			encode_pddb2(room, &db->all[i]);
	}
	if (own && db->origin) {
		room = give(output, PDDB_ORIGIN_BYTES, &error);
		if (!room)
			return error;
		memcpy(room, "ORIG", 4);
		put_u64(room + 4, db->origin);
		put_u32(room + 12, checksum(room, 12));
	}
	error = flush(output);
	return error ? error : (long)count;
}

long procdb_encode(const struct procdb *db, u32 version, u64 now_s,
		   int (*write)(void *data, const void *bytes, size_t len), void *data)
{
	struct output output = { .write = write, .data = data };
	struct procdb by_name;
	long result = 0;

	if (version == PDDB_OWN) {
		long error, count = encode_all(db, version, now_s, &output);

		for (size_t i = 0; count >= 0 && i < db->parts_len; i++) {
			error = encode_all(&db->parts[i], version, now_s, &output);
			count = error < 0 ? error : count;
		}
		return count;
	}
	/* PDDB does not distinguish programs: kinds of one name are one kind there. */
	procdb_init(&by_name, 0);
	for (size_t i = 0; !result && i < db->len; i++) {
		struct profile profile = db->all[i];

		profile.key.exe = (struct tail){ 0 };
		result = procdb_add(&by_name, &profile);
	}
	if (!result)
		result = encode_all(&by_name, version, now_s, &output);
	procdb_free(&by_name);
	return result;
}
