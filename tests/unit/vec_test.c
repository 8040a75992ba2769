// SPDX-License-Identifier: GPL-2.0
/* Arrays that grow: how far, what stays, and what happens where they can't. */
#include "../../src/base/vec.h"

#include "../../core/types.h"
#include "tap.h"

struct wide {
	char bytes[4096];
};

static void test_doubled(void)
{
	is(vec_doubled(0, 1, 16), 16, "room for one in an empty array is the least room");
	is(vec_doubled(16, 17, 16), 32, "room for one more than there is doubles");
	is(vec_doubled(16, 100, 16), 128, "room for many more doubles until they fit");
	is(vec_doubled(0, 100, 16), 128, "room for many in an empty array doubles the least until they fit");
	is(vec_doubled(0, 3, 0), 4, "room without a least begins with one");
	is(vec_doubled(1, SIZE_MAX, 1), 0, "room for more than can be counted is none");
}

static void test_reserve(void)
{
	size_t room = 0, len = 0, moves = 0;
	u32 *all = NULL;
	bool kept = true;

	for (u32 i = 0; i < 1000; i++) {
		size_t before = room;

		if (!vec_reserve(all, room, len + 1, 16))
			break;
		moves += room != before;
		all[len++] = i;
	}
	for (u32 i = 0; i < len; i++)
		kept &= all[i] == i;
	is(len, 1000, "an array that reserves before each of 1000 has room for all");
	is(room, 1024, "an array of 1000 that began with 16 has room for 1024");
	is(moves, 7, "an array of 1000 that began with 16 grew seven times");
	ok(kept, "what is in an array is still there after it grew");
	ok(vec_reserve(all, room, 5, 16), "fewer than an array has room for are granted");
	is(room, 1024, "an array with room for more than is wanted keeps its room");
	free(all);
}

static void test_refused(void)
{
	struct wide *wide = malloc(sizeof(*wide)), *before = wide;
	size_t room = 1;
	u8 small_room = 128;
	char *bytes = malloc(128);

	ok(!vec_reserve(wide, room, SIZE_MAX / 2, 1), "an array of more bytes than can be counted is refused");
	ok(!vec_reserve(wide, room, SIZE_MAX, 1), "an array of more elements than can be counted is refused");
	ok(wide == before, "an array that could not grow is where it was");
	is(room, 1, "an array that could not grow has the room that it had");
	ok(!vec_reserve(bytes, small_room, 129, 1), "room that does not fit in its variable is refused");
	is(small_room, 128, "room that could not grow is as it was");
	free(wide);
	free(bytes);
}

static void test_one_more(void)
{
	u64 *all = NULL;
	u32 len = 0;

	for (u32 i = 0; i < 20; i++) {
		if (!vec_one_more(all, len))
			break;
		all[len++] = i * 3;
	}
	is(len, 20, "an array without a room of its own takes one more each time");
	is(all[0] + all[19], 57, "an array without a room of its own keeps its first and its last");
	free(all);
}

static void test_lengthen(void)
{
	u64 *all = NULL, sum = 0;
	u32 len = 0;

	ok(vec_lengthen(all, len, 10), "an empty array can be lengthened");
	is(len, 10, "an array that was lengthened has the wanted length");
	for (u32 i = 0; i < len; i++)
		sum += all[i];
	is(sum, 0, "what is new in an array that was lengthened is zero");
	all[9] = 7;
	ok(vec_lengthen(all, len, 64), "an array can be lengthened again");
	for (u32 i = 0; i < len; i++)
		sum += all[i];
	is(sum, 7, "what an array held before it was lengthened is all that is not zero in it");
	ok(vec_lengthen(all, len, 3), "an array that is longer than wanted is long enough");
	is(len, 64, "an array that is longer than wanted keeps its length");
	ok(!vec_lengthen(all, len, (u64)1 << 32), "a length that does not fit in its variable is refused");
	is(len, 64, "an array that could not be lengthened keeps its length");
	free(all);
}

int main(void)
{
	test_doubled();
	test_reserve();
	test_refused();
	test_one_more();
	test_lengthen();
	return tap_end();
}
