// SPDX-License-Identifier: GPL-2.0
/* core/detour.h: how functions may begin, and marks; model/detour.c: files of counts, right ones and broken ones. */
#include <errno.h>
#include <stdlib.h>

#include "../../src/model/detour.h"
#include "tap.h"

static void test_beginnings(void)
{
	static const struct {
		u8 code[CUDA_CODE_BYTES];
		int can;
		u32 reg, shift, behind;
		const char *what;
	} all[] = {
		{ { 0x55, 0x48, 0x89, 0xe5 }, 1, 5, 0, 1, "push rbp" },
		{ { 0x50 }, 1, 0, 0, 1, "push rax" },
		{ { 0x41, 0x57, 0x41, 0x56 }, 1, 15, 0, 2, "push r15" },
		{ { 0x41, 0x50 }, 1, 8, 0, 2, "push r8" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x53 }, 1, 3, 4, 5, "endbr64, push rbx" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54 }, 1, 12, 4, 6, "endbr64, push r12" },
		{ { 0x41, 0x52 }, 0, 0, 0, 0, "push r10, which is in use" },
		{ { 0x41, 0x53 }, 0, 0, 0, 0, "push r11, which is in use" },
		{ { 0x48, 0x83, 0xec, 0x08 }, 0, 0, 0, 0, "sub" },
		{ { 0x41, 0x89, 0xd0 }, 0, 0, 0, 0, "mov with the prefix of a push" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0 }, 0, 0, 0, 0, "endbr64, xor" },
		{ { 0xe9, 0x55, 0x55 }, 0, 0, 0, 0, "jmp" },
		{ { 0x90, 0x55 }, 0, 0, 0, 0, "nop, push" },
		{ { 0xcc }, 0, 0, 0, 0, "a breakpoint" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct detour_place place = { 0 };

		is(detour_place_of(&place, all[i].code), all[i].can, "whether %s can be moved is right", all[i].what);
		is(place.reg, all[i].reg, "moved instruction keeps its register");
		is(place.shift, all[i].shift, "moved instruction tells where the probe is");
		is(place.behind, all[i].behind, "moved instruction tells what follows it");
	}
}

static void test_marks(void)
{
	u64 probe = 0x7f1234567890;

	is(detour_mark_of(DETOUR_MARK ^ probe, probe), DETOUR_SENT, "mark of a call that is sent says so");
	is(detour_mark_of(DETOUR_MARK ^ probe ^ 1ULL << 62, probe), DETOUR_COUNTED,
	   "mark of a call that is only counted says so");
	is(detour_mark_of(DETOUR_MARK ^ probe, probe + 64), DETOUR_NONE, "mark of another function is none");
	is(detour_mark_of(0x246, probe), DETOUR_NONE, "register that a system call leaves is no mark");
	is(detour_mark_of(0, probe), DETOUR_NONE, "zero is no mark");
}

enum { MOST = 1 << 30 };

struct sums {
	u64 rows, calls, sent, trapped, failed, numbers;
};

static void add_row(void *data, u32 number, const struct detour_row *row)
{
	struct sums *sums = data;

	sums->numbers += number;
	sums->rows++;
	sums->calls += row->calls;
	sums->sent += row->sent;
	sums->trapped += row->trapped;
	sums->failed += row->failed;
}

static void test_counts(void)
{
	struct detour_counts *counts = calloc(1, DETOUR_COUNTS_BYTES + 1);
	struct sums sums = { 0 };
	char *odd;

	counts->magic = DETOUR_COUNTS_MAGIC;
	counts->version = DETOUR_VERSION;
	counts->len = DETOUR_ROWS;
	counts->rows[0] = (struct detour_row){ .calls = 1000, .sent = 10, .trapped = 3, .failed = 4, .used = 1 };
	counts->rows[7] = (struct detour_row){ .calls = 50, .sent = 1 };
	counts->rows[DETOUR_ROWS - 1] = (struct detour_row){ .calls = 5, .sent = 1, .used = 1 };
	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES, MOST, add_row, &sums), 2,
	   "rows of counts in use are all read");
	is(sums.rows, 2, "rows of counts in use are handed over");
	is(sums.numbers, DETOUR_ROWS - 1, "rows of counts are handed over with their numbers");
	is(sums.calls, 1005, "rows of counts have their calls");
	is(sums.sent + sums.trapped + sums.failed, 18, "rows of counts tell what became of the calls");

	/* A program may write anything: what can't be true is made less, never negative. */
	sums = (struct sums){ 0 };
	counts->rows[0] = (struct detour_row){ .calls = 5, .sent = ~0ULL, .trapped = 9, .failed = ~0ULL, .used = 1 };
	counts->rows[1] = (struct detour_row){ .calls = 5, .sent = 2, .trapped = ~0ULL, .failed = 1, .used = 1 };
	counts->rows[2] = (struct detour_row){ .calls = 5, .failed = 6, .used = 1 };
	detour_counts_read(counts, DETOUR_COUNTS_BYTES, MOST, add_row, &sums);
	is(sums.calls, 20, "absurd rows: their calls");
	is(sums.sent, 8, "absurd row has not more calls sent than made");
	is(sums.trapped, 3, "absurd row has not more calls trapped than made");
	is(sums.failed, 5, "absurd row has not more calls failed than made");

	sums = (struct sums){ 0 };
	counts->rows[0].calls = counts->rows[1].calls = ~0ULL;
	detour_counts_read(counts, DETOUR_COUNTS_BYTES, 100, add_row, &sums);
	is(sums.calls, 100, "rows that claim more calls than there was time for have together as many as that");
	is(sums.sent + sums.trapped + sums.failed, 100, "calls that were cut are divided once");

	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES - 1, MOST, add_row, &sums), -EINVAL,
	   "file of counts that is cut is refused");
	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES + 1, MOST, add_row, &sums), -EINVAL,
	   "file of counts that is too long is refused");
	is(detour_counts_read(counts, 0, MOST, add_row, &sums), -EINVAL, "empty file of counts is refused");
	/* At an odd address, as a file that was read may lie. */
	odd = malloc(DETOUR_COUNTS_BYTES + 1);
	memcpy(odd + 1, counts, DETOUR_COUNTS_BYTES);
	is(detour_counts_read(odd + 1, DETOUR_COUNTS_BYTES, MOST, add_row, &sums), 4, "bytes that are not aligned");
	counts->len = DETOUR_ROWS + 1;
	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES, MOST, add_row, &sums), -EINVAL,
	   "file of counts with another number of rows is refused");
	counts->len = DETOUR_ROWS;
	counts->version++;
	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES, MOST, add_row, &sums), -EINVAL,
	   "file of counts of another version is refused");
	counts->version--;
	counts->magic ^= 1;
	is(detour_counts_read(counts, DETOUR_COUNTS_BYTES, MOST, add_row, &sums), -EINVAL,
	   "file that has no counts is refused");
	free(odd);
	free(counts);
}

static void test_growth(void)
{
	struct detour_row row = { .calls = 100, .sent = 10, .failed = 5, .used = 1 };
	struct detour_seen seen = { .function = 1, .is_whole = true };

	detour_seen_take(&seen, &row);
	is(seen.returned, 90, "calls that were not sent into the probe have returned here");
	row = (struct detour_row){ .calls = 7, .used = 1 };
	detour_seen_take(&seen, &row);
	is(seen.calls, 100, "calls that go backwards stay as they were");
	is(seen.returned, 90, "returns that go backwards stay as they were");
	is(seen.failed, 5, "failures that go backwards stay as they were");
	row = (struct detour_row){ .calls = 120, .sent = 120, .used = 1 };
	detour_seen_take(&seen, &row);
	is(seen.calls, 120, "calls that grow are taken");
	is(seen.returned, 90, "calls that grow do not take back what has returned");
	is(detour_sum(~0ULL - 1, 5), ~0ULL, "sums that do not fit stay at the highest number");
	is(detour_sum(2, 3), 5, "sums that fit are sums");
	is(detour_most_calls(1000, 4), 4000, "four CPUs make four calls a nanosecond at most");
	is(detour_most_calls(~0ULL / 2, 4), ~0ULL, "time without end has the highest number of calls");
	is(detour_most_calls(5, 0), 0, "no CPU makes no call");
}

static void test_answers(void)
{
	u64 paid_ns = 0, now_ns = 5ULL * NSEC_PER_SEC, answered = 0;

	while (answered < 1000 && detour_may_answer(&paid_ns, now_ns))
		answered++;
	is(answered, 64, "programs that ask after a long pause are answered 64 at once");
	ok(!detour_may_answer(&paid_ns, now_ns + NSEC_PER_MSEC / 2),
	   "program that asks beyond those waits for its millisecond");
	ok(detour_may_answer(&paid_ns, now_ns + NSEC_PER_MSEC),
	   "program that asks beyond those is answered a millisecond later");
	for (answered = 0; now_ns < 6ULL * NSEC_PER_SEC; now_ns += NSEC_PER_MSEC / 10)
		answered += detour_may_answer(&paid_ns, now_ns);
	is_between(990, answered, 1000, "program that asks all the time is answered a thousand times a second");
}

static void test_stretches(void)
{
	is(detour_stretch(10, 4, 100), 6, "launches that were begun and not taken can be read");
	is(detour_stretch(500, 4, 100), 100, "launches are read so many at once");
	is(detour_stretch(DETOUR_REPORTS_LEN + 10, DETOUR_REPORTS_LEN - 3, 100), 3,
	   "launches are read up to the ring's end");
	is(detour_stretch(4, 10, 100), 0, "a beginning that went backwards has nothing to read");
	is(detour_stretch(~0ULL, 0, 100), 0, "a beginning that is absurdly far has nothing to read");
	is(detour_stretch(2, ~0ULL, 100), 1, "numbers of launches may go round");
	is(detour_stretch(7, 7, 100), 0, "a ring with nothing new has nothing to read");
}

static void test_launches(void)
{
	struct detour_launch launch = { .sequence = 8,
					.event = { .head = { .time_ns = 5, .tid = 3 }, .function = 9, .kernel = 77 } };
	struct event_cuda_launch event = { 0 };

	ok(detour_launch_read(&launch, 7, 10, 1, 9, &event), "launch that was told of is read");
	is(event.kernel, 77, "launch reads back with its kernel");
	is(event.head.kind, EVENT_CUDA_LAUNCH, "launch is a launch event whatever it says");
	is(event.head.flags, EVENT_FLAG_ENTRY, "launch is marked as seen at its entry");
	is(event.head.time_ns, 5, "launch that was told of a time within the window keeps it");
	detour_launch_read(&launch, 7, 10, 6, 9, &event);
	is(event.head.time_ns, 6, "launch told of a time before the process was met gets that time");
	launch.event.head.time_ns = ~0ULL;
	detour_launch_read(&launch, 7, 10, 6, 9, &event);
	is(event.head.time_ns, 9, "launch told of a time to come gets the present");
	ok(!detour_launch_read(&launch, 8, 10, 1, 9, &event), "launch of another turn is refused");
	ok(!detour_launch_read(&launch, 7, 9, 1, 9, &event), "a function that there is not");
	launch.event.function = 0;
	ok(!detour_launch_read(&launch, 7, 10, 1, 9, &event), "launch of no function is refused");
}

int main(void)
{
	test_beginnings();
	test_marks();
	test_counts();
	test_growth();
	test_stretches();
	test_answers();
	test_launches();
	return tap_end();
}
