// SPDX-License-Identifier: GPL-2.0
/* Calls of NCCL's by function, type and communicator; sizes of types, names of results, and more communicators than
 * there is room for. */
#include "../../src/model/collectives.h"

#include "tap.h"

static struct cpu_topology topology[1];
static struct threads threads;
static struct cuda cuda;
static struct collectives collectives;

static void name(u64 number, const char *text)
{
	struct event_cuda_name event = { .head = { .time_ns = 1, .kind = EVENT_CUDA_NAME },
					 .handle = number,
					 .what = CUDA_NAMED_FUNCTION };

	memcpy(event.name.text, text, strlen(text));
	cuda_handle(&cuda, &threads, &event.head);
}

static void called(u32 function, u64 communicator, u32 type, u64 bytes, u32 result)
{
	struct event_cuda_call event = { .head = { .time_ns = 1000, .tid = 10, .kind = EVENT_CUDA_CALL },
					 .duration_ns = 50,
					 .bytes = bytes,
					 .address = communicator,
					 .function = function,
					 .copy = type,
					 .result = result,
					 .pid = 10 };

	collectives_handle(&collectives, &cuda, &event.head);
}

int main(void)
{
	threads_init(&threads, topology, 1);
	cuda_init(&cuda);
	name(1, "ncclAllReduce");
	name(2, "cuLaunchKernel");
	name(3, "ncclGroupEnd");
	called(1, 7, 7, 400, 0);
	called(1, 7, 7, 400, 0);
	called(1, 7, 6, 100, 0);
	called(1, 8, 7, 400, 5);
	called(2, 7, 7, 400, 0);
	called(3, 0, 0, 0, 0);
	called(99, 7, 7, 400, 0);
	is(collectives.len, 4, "calls of NCCL are told by function, type and communicator, and others are left out");
	is(collectives.all[0].count, 2, "calls of one kind are counted together");
	is(collectives.all[0].bytes, 800, "bytes of one kind of call are added");
	is(collectives.all[2].bytes, 0, "call of NCCL that failed has sent nothing");
	is(collectives.all[2].failed, 1, "call of NCCL that failed is counted as such");
	is(collectives.all[3].type, NCCL_TYPES, "call of NCCL without data has no type");
	for (u64 i = 0; i < 5000; i++)
		called(1, 100 + i, 7, 1, 0);
	is(collectives.len, COLLECTIVES_MAX, "communicators are kept up to a number");
	ok(collectives.failed, "more communicators than that are told of");
	for (u32 type = 0, wrong = 0; type <= 300; type++) {
		wrong += (nccl_type_bytes(type) != 0) != (type < NCCL_TYPES);
		if (type == 300)
			is(wrong, 0, "every type of NCCL's that has a name has a size, and no other has");
	}
	is_text(nccl_type_name(7), "float32", "type 7 of NCCL is float32");
	is(nccl_type_bytes(7), 4, "float32 of NCCL has four bytes");
	is_text(cuda_result_name_of("ncclSend", 5), "ncclInvalidUsage", "result of NCCL has a name of NCCL's");
	is_text(cuda_result_name_of("cuMemAlloc_v2", 2), "CUDA_ERROR_OUT_OF_MEMORY",
		"result of libcuda has a name of CUDA's");
	collectives_free(&collectives);
	cuda_free(&cuda);
	threads_free(&threads);
	return tap_end();
}
