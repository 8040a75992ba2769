/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of libcuda's functions by their names: what each is for, how its arguments are read, whether it is
 * watched by default. And CUresult by name. */
#ifndef TACTUS_MODEL_CUDA_API_H
#define TACTUS_MODEL_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/cuda.h"
#include "../base/map.h"

enum cuda_class {
	CUDA_OTHER,
	CUDA_LAUNCHES,
	CUDA_COPIES,
	CUDA_ALLOCATES,
	CUDA_FREES,
	CUDA_WAITS, /* synchronisation: the CPU waits for the GPU */
	CUDA_GRAPHS,
	CUDA_CONTEXTS,
	CUDA_MODULES,
	CUDA_COLLECTIVES, /* NCCL's, of libnccl */
	CUDA_RANGES,	  /* NVTX's: what the program itself names */
	CUDA_DRIVER,	  /* no function of libcuda's: one of the kernel's, called MODULE:NAME */
	CUDA_CLASSES
};

/* Kinds of memory. */
enum cuda_memory { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_HOST, MEMORY_HANDLE, MEMORY_KINDS };

struct cuda_api {
	const char *
		name; /* without a version or a suffix for streams; one that ends in '*' stands for all that begin so */
	enum cuda_class class;
	u32 shape;     /* enum cuda_shape */
	u32 what;      /* copies: enum cuda_copy; memory: enum cuda_memory */
	bool is_async; /* copies: it returns before it is done */
};

/* What is known of a function; never NULL. */
const struct cuda_api *cuda_api_of(const char *function);

/* The length of a name without _v2, _v3, _ptsz, _ptds. */
size_t cuda_plain_length(const char *function);

/* How many bytes of memory that a function allocates or frees are meant by "device memory" and so on. */
const char *cuda_memory_name(enum cuda_memory memory);
const char *cuda_copy_name(enum cuda_copy copy);

/* Which way a call copies: what it said itself, else what its function stands for. */
enum cuda_copy cuda_copy_of(const struct cuda_api *api, u32 said);
const char *cuda_class_name(enum cuda_class class);

/* "CUDA_ERROR_OUT_OF_MEMORY"; NULL for a number that has no name here. */
const char *cuda_result_name(u32 result);

/* The same of what this function returned: NCCL's have other numbers. */
const char *cuda_result_name_of(const char *function, u32 result);

/* "float32"; "?" for a number that has no name here. */
const char *nccl_type_name(u32 type);

/* One function of a library: all names that lead to its code. */
struct cuda_function {
	char *name;    /* the one that it goes by */
	char *aliases; /* the others, with commas between; NULL: there are none */
	u64 offset;    /* in the file */
	u64 address;   /* in memory, from where the library is loaded */
};

/* More than any libcuda has: names longer than that are passed over, as are further aliases. */
enum { CUDA_NAME_LEN = 128, CUDA_ALIASES_LEN = 1024, CUDA_NAMES_MAX = 16384 };

struct cuda_functions {
	struct cuda_function *all;
	size_t len, room;
	size_t names;	      /* that were added, aliases and all */
	struct map by_offset; /* one more than a function's place in `all` */
};

/* Adds a function that the library exports; one at the same place is the same function by another name. Returns 0,
 * -ENOMEM, or -E2BIG: there are more than any libcuda has. */
int cuda_functions_add(struct cuda_functions *functions, const char *name, u64 offset, u64 address);
void cuda_functions_free(struct cuda_functions *functions);

#endif
