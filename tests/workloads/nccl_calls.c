// SPDX-License-Identifier: GPL-2.0
/* Calls into a libnccl: `nccl_calls LIBRARY N`. N all-reduces of 1,000 float32 and of 500 bfloat16 on another
 * communicator, a reduce of 200 float64, an all-gather of 300 int64, a send of 400 int8, one that is refused, the
 * end of a group, and each other function once. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
typedef int (*init_fn)(handle *comm, int ranks, const char *id, int rank);
typedef int (*all_reduce_fn)(const void *from, void *to, size_t count, int type, int op, handle comm, handle stream);
typedef int (*reduce_fn)(const void *from, void *to, size_t count, int type, int op, int root, handle comm,
			 handle stream);
typedef int (*all_gather_fn)(const void *from, void *to, size_t count, int type, handle comm, handle stream);
typedef int (*send_fn)(const void *from, size_t count, int type, int peer, handle comm, handle stream);

enum {
	INT8 = 0,
	UINT8 = 1,
	INT32 = 2,
	UINT32 = 3,
	INT64 = 4,
	UINT64 = 5,
	FLOAT16 = 6,
	FLOAT32 = 7,
	FLOAT64 = 8,
	BFLOAT16 = 9
};

static void *library;

static void *must_find(const char *name)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		fprintf(stderr, "nccl_calls: %s: %s\n", name, dlerror());
		exit(1);
	}
	return function;
}

int main(int argc, char **argv)
{
	handle comms[2], stream = (handle)0x77;
	all_reduce_fn all_reduce;
	int wrong = 0;

	if (argc != 3)
		return 2;
	library = dlopen(argv[1], RTLD_NOW);
	all_reduce = (all_reduce_fn)must_find("ncclAllReduce");
	for (int rank = 0; rank < 2; rank++)
		wrong |= ((init_fn)must_find("ncclCommInitRank"))(&comms[rank], 2, "", rank);
	for (int i = 0; i < atoi(argv[2]); i++) {
		wrong |= all_reduce(NULL, NULL, 1000, FLOAT32, 0, comms[0], stream);
		wrong |= all_reduce(NULL, NULL, 500, BFLOAT16, 0, comms[1], stream);
	}
	wrong |= ((reduce_fn)must_find("ncclReduce"))(NULL, NULL, 200, FLOAT64, 0, 0, comms[1], stream);
	wrong |= ((all_gather_fn)must_find("ncclAllGather"))(NULL, NULL, 300, INT64, comms[0], stream);
	wrong |= ((send_fn)must_find("ncclSend"))(NULL, 400, INT8, 1, comms[0], stream);
	if (!((send_fn)must_find("ncclSend"))(NULL, 400, INT8, -1, comms[0], stream))
		wrong = 1;
	wrong |= ((int (*)(void))must_find("ncclGroupEnd"))();
	wrong |= ((all_reduce_fn)must_find("ncclBroadcast"))(NULL, NULL, 11, UINT8, 0, comms[0], stream);
	wrong |= ((all_reduce_fn)must_find("ncclReduceScatter"))(NULL, NULL, 12, INT32, 0, comms[1], stream);
	wrong |= ((all_reduce_fn)must_find("ncclGather"))(NULL, NULL, 13, UINT32, 0, comms[0], stream);
	wrong |= ((all_reduce_fn)must_find("ncclScatter"))(NULL, NULL, 14, UINT64, 0, comms[1], stream);
	wrong |= ((all_gather_fn)must_find("ncclAlltoAll"))(NULL, NULL, 15, FLOAT16, comms[0], stream);
	wrong |= ((send_fn)must_find("ncclRecv"))(NULL, 16, INT64, 1, comms[1], stream);
	wrong |= ((send_fn)must_find("ncclBcast"))(NULL, 17, BFLOAT16, 0, comms[0], stream);
	printf("calls %d\n", 2 * atoi(argv[2]));
	return wrong;
}
