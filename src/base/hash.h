/* SPDX-License-Identifier: GPL-2.0 */
/* Hashes of what others choose, under a key that is another in each process: nobody can choose names that fall
 * together. Such a hash is for one process alone; it is neither kept nor shown. */
#ifndef TACTUS_BASE_HASH_H
#define TACTUS_BASE_HASH_H

#include <stddef.h>

#include "../../core/types.h"

/* The key: what the kernel gave this process at its start, which it can't refuse. */
void hash_key(u64 key[2]);

/* SipHash-1-3 of these bytes under this key. */
u64 hash_under(const u64 key[2], const void *bytes, size_t len);

/* The same under this process's key. */
u64 hash_keyed(const void *bytes, size_t len);

#endif
