// SPDX-License-Identifier: GPL-2.0
/* From numbers to places: what is found, what is not, and what growing leaves. */
#include "../../src/base/map.h"

#include "tap.h"

enum { KEYS = 5000 };

/* Of many kinds: small, far apart, and such that differ only in bits that a hash may lose. */
static u64 key_of(u32 i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? (u64)i << 40 : ~(u64)i * 4096;
}

static void test_empty(void)
{
	struct map map = { 0 };

	is(map_get(&map, 0), 0, "key 0 is not in a map that never held anything");
	map_clear(&map);
	is(map.len, 0, "a map that never held anything can be cleared");
	ok(map_set(&map, 0, 9), "key 0 can be set");
	is(map_get(&map, 0), 9, "key 0 has the place that it was given");
	is(map_get(&map, 1), 0, "a key that was never set has no place");
	map_free(&map);
	is(map_get(&map, 0), 0, "a key is gone after its map was freed");
}

static void test_many(void)
{
	struct map map = { 0 };
	u32 wrong = 0;

	for (u32 i = 0; i < KEYS; i++)
		wrong += !map_set(&map, key_of(i), i + 1);
	for (u32 i = 0; i < KEYS; i++)
		wrong += map_get(&map, key_of(i)) != i + 1;
	is(wrong, 0, "every one of %d keys has its own place after the map grew", KEYS);
	is(map.len, KEYS, "a map counts each key once");
	ok(map.slots_len >= map.len * 2, "a map has at least twice as many slots as keys");
	is(map_get(&map, (u64)1 << 63), 0, "a key that was never set has no place among many");
	map_set(&map, key_of(7), 70000);
	is(map_get(&map, key_of(7)), 70000, "a key that is set again has its new place");
	is(map.len, KEYS, "a key that is set again is counted once");
	map_clear(&map);
	for (u32 i = wrong = 0; i < KEYS; i++)
		wrong += map_get(&map, key_of(i)) != 0;
	is(wrong, 0, "no key has a place after its map was cleared");
	map_free(&map);
}

/* How many slots are looked at to find all keys. */
static u64 steps_of(const struct map *map)
{
	u64 steps = 0;

	for (size_t at = 0; at < map->slots_len; at++) {
		struct map_slot only = map->slots[at], *slots;
		struct map alone = *map;
		size_t wanted;

		if (!only.place)
			continue;
		/* In a map without others it is where it would like to be. */
		slots = calloc(map->slots_len, sizeof(*slots));
		alone.slots = slots;
		wanted = (size_t)(map_slot_of(&alone, only.key) - slots);
		free(slots);
		steps += ((at - wanted) & (map->slots_len - 1)) + 1;
	}
	return steps;
}

/* Whoever knows how keys are scattered without a secret can choose them so that they all fall on one slot. */
static void test_chosen_keys(void)
{
	u64 inverse = 1, steps;
	struct map map = { 0 };

	for (int i = 0; i < 6; i++)
		inverse *= 2 - 0x9e3779b97f4a7c15ULL * inverse;
	for (u32 i = 0; i < KEYS; i++)
		map_set(&map, inverse * i, i + 1);
	steps = steps_of(&map);
	printf("# measured: %llu slots looked at to find %d keys that were chosen to fall together\n",
	       (unsigned long long)steps, KEYS);
	ok(steps < 4 * KEYS, "keys that were chosen to fall together are as far apart as others");
	map_free(&map);
}

static void test_reserve(void)
{
	struct map map = { 0 };
	struct map_slot *slots;

	ok(map_reserve(&map, 1000), "room for 1000 keys can be reserved");
	slots = map.slots;
	for (u32 i = 0; i < 1000; i++)
		map_set(&map, key_of(i), i + 1);
	ok(map.slots == slots, "a map does not move while it holds no more keys than were reserved");
	ok(!map_reserve(&map, SIZE_MAX / 2), "room for more keys than memory can hold is refused");
	is(map_get(&map, key_of(999)), 1000, "a map that could not grow still has its keys");
	map_free(&map);
}

int main(void)
{
	test_empty();
	test_many();
	test_chosen_keys();
	test_reserve();
	return tap_end();
}
