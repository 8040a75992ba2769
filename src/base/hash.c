// SPDX-License-Identifier: GPL-2.0
/* SipHash, by Aumasson and Bernstein: one round a word and three at the end.
 */
#include "hash.h"

#include <string.h>
#include <sys/auxv.h>

void hash_key(u64 key[2])
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(key, random, 2 * sizeof(*key));
	else
		key[0] = key[1] = 0;
}

static u64 turned(u64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void round_of(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turned(v[1], 13) ^ v[0];
	v[3] = turned(v[3], 16) ^ v[2];
	v[0] = turned(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turned(v[1], 17) ^ v[2];
	v[3] = turned(v[3], 21) ^ v[0];
	v[2] = turned(v[2], 32);
}

u64 hash_under(const u64 key[2], const void *bytes, size_t len)
{
	u64 v[4] = { key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL, key[0] ^ 0x6c7967656e657261ULL,
		     key[1] ^ 0x7465646279746573ULL };
	const unsigned char *at = bytes;
	u64 word, last = (u64)len << 56;
	size_t left = len;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		v[3] ^= word;
		round_of(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < left; i++)
		last |= (u64)at[i] << (8 * i);
	v[3] ^= last;
	round_of(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		round_of(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

u64 hash_keyed(const void *bytes, size_t len)
{
	static u64 key[2];

	if (!key[0])
		hash_key(key);
	return hash_under(key, bytes, len);
}
