// SPDX-License-Identifier: GPL-2.0
/* Two growing tables. Numbers are never given anew, since recordings and counts go by them; a file that nobody maps any
 * more is forgotten. */
#include "cuda_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../core/cuda.h"
#include "../base/vec.h"

void cuda_known_free(struct cuda_known *known)
{
	for (u32 i = 1; i < known->names_len; i++)
		free(known->names[i]);
	free(known->names);
	free(known->hashes);
	free(known->files);
}

static u32 hash_of(const char *name)
{
	u32 hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 16777619u;
	return hash;
}

static int make_room(struct cuda_known *known)
{
	/* Number 0 is nobody's. */
	u32 behind = known->names_len ? known->names_len : 1;

	if (!vec_one_more(known->names, behind) || !vec_one_more(known->hashes, behind))
		return -ENOMEM;
	if (!known->names_len)
		known->names[known->names_len++] = NULL;
	return 0;
}

u32 cuda_number_of(struct cuda_known *known, const char *name, bool is_roots)
{
	u32 hash = hash_of(name);

	for (u32 i = 1; i < known->names_len; i++)
		if (known->hashes[i] == hash && !strcmp(known->names[i], name))
			return i;
	if (known->names_len >= (u32)CUDA_FUNCTIONS_MAX / (is_roots ? 1 : 2) || make_room(known))
		return 0;
	known->names[known->names_len] = strdup(name);
	known->hashes[known->names_len] = hash;
	return known->names[known->names_len] ? known->names_len++ : 0;
}

static struct cuda_file *find_file(struct cuda_known *known, u64 device, u64 inode)
{
	for (u32 i = 0; i < known->files_len; i++)
		if (known->files[i].device == device && known->files[i].inode == inode)
			return &known->files[i];
	return NULL;
}

void cuda_forget_file(struct cuda_known *known, u64 device, u64 inode)
{
	struct cuda_file *file = find_file(known, device, inode);

	if (file)
		*file = known->files[--known->files_len];
}

bool cuda_was_probed(struct cuda_known *known, const struct stat *seen)
{
	struct cuda_file now = { 0 }, *before;

	now.device = seen->st_dev;
	now.inode = seen->st_ino;
	now.bytes = (u64)seen->st_size;
	now.changed_ns = (u64)seen->st_mtim.tv_sec * NSEC_PER_SEC + (u64)seen->st_mtim.tv_nsec;
	before = find_file(known, now.device, now.inode);
	if (before && !memcmp(before, &now, sizeof(now)))
		return true;
	if (before) {
		*before = now;
		return false;
	}
	if (!vec_one_more(known->files, known->files_len))
		return true;
	known->files[known->files_len++] = now;
	return false;
}
