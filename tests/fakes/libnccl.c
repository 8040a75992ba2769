// SPDX-License-Identifier: GPL-2.0
/* A double of NVIDIA's libnccl.so.2: functions of the same names and arguments that take as many microseconds as there
 * are elements, refuse a negative root or peer as the real ones do, and communicate nothing. */
#include <stddef.h>
#include <time.h>

#define api __attribute__((visibility("default"), noinline))

typedef int result;
typedef void *handle;

enum { SUCCESS = 0, INVALID_ARGUMENT = 4 };

static result pass(size_t us)
{
	struct timespec span = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	nanosleep(&span, NULL);
	return SUCCESS;
}

api result ncclCommInitRank(handle *comm, int ranks, const char *id, int rank)
{
	(void)id;
	*comm = (handle)(0x1000 + (size_t)rank);
	return ranks > 0 ? SUCCESS : INVALID_ARGUMENT;
}

api result ncclAllReduce(const void *from, void *to, size_t count, int type, int op, handle comm, handle stream)
{
	(void)from;
	(void)to;
	(void)op;
	(void)stream;
	return comm && type >= 0 ? pass(count) : INVALID_ARGUMENT;
}

api result ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, handle comm, handle stream)
{
	(void)from;
	(void)to;
	(void)type;
	(void)op;
	(void)stream;
	return root < 0 || !comm ? INVALID_ARGUMENT : pass(count);
}

api result ncclAllGather(const void *from, void *to, size_t count, int type, handle comm, handle stream)
{
	(void)from;
	(void)to;
	(void)type;
	(void)stream;
	return comm ? pass(count) : INVALID_ARGUMENT;
}

api result ncclSend(const void *from, size_t count, int type, int peer, handle comm, handle stream)
{
	(void)from;
	(void)type;
	(void)stream;
	return peer < 0 || !comm ? INVALID_ARGUMENT : pass(count);
}

api result ncclGroupStart(void)
{
	return SUCCESS;
}

api result ncclGroupEnd(void)
{
	return pass(100);
}
