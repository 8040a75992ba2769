/* SPDX-License-Identifier: GPL-2.0 */
/* From a number to a place: an index of an array, or of anything else that is counted from 1 on.
 * Open addressing; at most half of the slots are in use, so that a free one is near, wherever others would like their
 * keys to fall: each process scatters them otherwise. Nothing is taken out by itself. */
#ifndef TACTUS_BASE_MAP_H
#define TACTUS_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/types.h"
#include "hash.h"

enum { MAP_LEAST_SLOTS = 256 };

/* All zeroes is an empty one. */
struct map {
	struct map_slot {
		u64 key;
		u32 place; /* 0: free */
	} * slots;
	size_t slots_len; /* a power of two, or 0 */
	size_t len;
	u64 secret[2]; /* by which keys are scattered */
};

static inline void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

/* Where the key is, or would be. */
static inline struct map_slot *map_slot_of(const struct map *map, u64 key)
{
	size_t mask = map->slots_len - 1, at;
	u64 mixed = (key ^ map->secret[0]) * (map->secret[1] | 1);

	mixed ^= mixed >> 32;
	at = (size_t)(mixed * 0x9e3779b97f4a7c15ULL >> 32) & mask;
	while (map->slots[at].place && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

/* 0: none. */
static inline u32 map_get(const struct map *map, u64 key)
{
	return map->slots_len ? map_slot_of(map, key)->place : 0;
}

/* Room for so many keys in all. False for want of memory: then all is as it was. */
static inline bool map_reserve(struct map *map, size_t keys)
{
	size_t slots_len = map->slots_len ? map->slots_len : MAP_LEAST_SLOTS;
	struct map grown = { .len = map->len, .secret = { map->secret[0], map->secret[1] } };

	if (keys > SIZE_MAX / 4)
		return false;
	while (slots_len < keys * 2)
		slots_len *= 2;
	if (slots_len == map->slots_len)
		return true;
	grown.slots = calloc(slots_len, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	grown.slots_len = slots_len;
	if (!map->slots_len)
		hash_key(grown.secret);
	for (size_t i = 0; i < map->slots_len; i++)
		if (map->slots[i].place)
			*map_slot_of(&grown, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = grown;
	return true;
}

/* In place of what the key had. False for want of memory, which can't be where room was reserved. */
static inline bool map_set(struct map *map, u64 key, u32 place)
{
	struct map_slot *slot;

	if (!map_reserve(map, map->len + 1))
		return false;
	slot = map_slot_of(map, key);
	map->len += !slot->place;
	*slot = (struct map_slot){ key, place };
	return true;
}

/* Forgets all keys, and keeps the room. */
static inline void map_clear(struct map *map)
{
	if (map->len)
		memset(map->slots, 0, map->slots_len * sizeof(*map->slots));
	map->len = 0;
}

#endif
