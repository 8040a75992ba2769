/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow. Each of these is true if there is room now; false for want of memory, or where the count would not
 * fit in its variable: then array and count are as they were. Arguments are evaluated more than once. */
#ifndef TACTUS_BASE_VEC_H
#define TACTUS_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Doubled from `room`, or from `least` where there is none, until `wanted` fit. 0: there is no such number. */
static inline size_t vec_doubled(size_t room, size_t wanted, size_t least)
{
	if (!room)
		room = least ? least : 1;
	while (room < wanted) {
		if (room > SIZE_MAX / 2)
			return 0;
		room *= 2;
	}
	return room;
}

static inline void *vec_moved(void *array, size_t len, size_t each_bytes)
{
	return len && len <= PTRDIFF_MAX / each_bytes ? realloc(array, len * each_bytes) : NULL;
}

#define vec_resized(array, count, to)                                                          \
	({                                                                                     \
		size_t vec_to = (to);                                                          \
		bool vec_fits = (__typeof__(count))vec_to == vec_to;                           \
		void *vec_at = vec_fits ? vec_moved((array), vec_to, sizeof(*(array))) : NULL; \
		if (vec_at) {                                                                  \
			(array) = vec_at;                                                      \
			(count) = (__typeof__(count))vec_to;                                   \
		}                                                                              \
		vec_at != NULL;                                                                \
	})

/* Room for `wanted` in all, where `room` is how many fit at present. */
#define vec_reserve(array, room, wanted, least) \
	((wanted) <= (room) || vec_resized(array, room, vec_doubled((room), (wanted), (least))))

/* Room for one behind the `len` that are there, in an array that stays short: `len` is all that is kept of it. */
#define vec_one_more(array, len)                                 \
	({                                                       \
		size_t vec_room = (len);                         \
		vec_resized(array, vec_room, (size_t)(len) + 1); \
	})

/* At least `wanted` of them, the new ones all zeroes. */
#define vec_lengthen(array, len, wanted)                                                  \
	({                                                                                \
		size_t vec_had = (len);                                                   \
		bool vec_longer = (wanted) <= vec_had || vec_resized(array, len, wanted); \
		for (size_t vec_i = vec_had; vec_i < (len); vec_i++)                      \
			memset(&(array)[vec_i], 0, sizeof(*(array)));                     \
		vec_longer;                                                               \
	})

#endif
