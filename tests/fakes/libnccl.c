// SPDX-License-Identifier: GPL-2.0
/* A double of NVIDIA's libnccl.so.2: functions of the same names and arguments that take as many microseconds as there
 * are elements, refuse a negative root or peer as the real ones do, and communicate nothing. With $FAKE_NCCL_BARRIER, a
 * file, and $WORLD_SIZE an all-reduce also waits until that many processes are in one. */
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* How many have come in this round, and how many rounds there were. */
struct barrier {
	int arrived, round;
};

static void meet(void)
{
	static struct barrier *barrier;
	const char *path = getenv("FAKE_NCCL_BARRIER"), *size = getenv("WORLD_SIZE");
	int round;

	if (!path || !size)
		return;
	if (!barrier) {
		int fd = open(path, O_RDWR);
		void *shared = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		close(fd);
		if (shared == MAP_FAILED)
			abort();
		barrier = shared;
	}
	round = __atomic_load_n(&barrier->round, __ATOMIC_SEQ_CST);
	if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_SEQ_CST) == atoi(size)) {
		__atomic_store_n(&barrier->arrived, 0, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&barrier->round, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &barrier->round, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
		return;
	}
	while (__atomic_load_n(&barrier->round, __ATOMIC_SEQ_CST) == round)
		syscall(SYS_futex, &barrier->round, FUTEX_WAIT, round, NULL, NULL, 0);
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
	if (!comm || type < 0)
		return INVALID_ARGUMENT;
	meet();
	return pass(count);
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

#define RANKED_SIX(name)                                                                                 \
	api result name(const void *from, void *to, size_t count, int type, int rank_or_op, handle comm, \
			handle stream)                                                                   \
	{                                                                                                \
		(void)from, (void)to, (void)type, (void)stream;                                          \
		return rank_or_op < 0 || !comm ? INVALID_ARGUMENT : pass(count);                         \
	}
RANKED_SIX(ncclBroadcast)
RANKED_SIX(ncclReduceScatter)
RANKED_SIX(ncclGather)
RANKED_SIX(ncclScatter)

#define RANKED_ONE(name)                                                                            \
	api result name(void *buffer, size_t count, int type, int rank, handle comm, handle stream) \
	{                                                                                           \
		(void)buffer, (void)type, (void)stream;                                             \
		return rank < 0 || !comm ? INVALID_ARGUMENT : pass(count);                          \
	}
RANKED_ONE(ncclRecv)
RANKED_ONE(ncclBcast)

api result ncclAlltoAll(const void *from, void *to, size_t count, int type, handle comm, handle stream)
{
	(void)from;
	(void)to;
	(void)type;
	(void)stream;
	return comm ? pass(count) : INVALID_ARGUMENT;
}

api result ncclGroupStart(void)
{
	return SUCCESS;
}

api result ncclGroupEnd(void)
{
	return pass(100);
}
