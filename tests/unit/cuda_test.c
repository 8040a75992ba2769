// SPDX-License-Identifier: GPL-2.0
/* core/cuda.h, model/cuda.c, cuda_api.c and nvidia.c: names, ioctls with real numbers, spans that lie inside each other
 * and those that do not, memory, errors. */
#include <errno.h>

#include <stdlib.h>
#include <string.h>

#include "../../src/model/cuda.h"
#include "../../src/model/nvidia.h"
#include "tap.h"

enum {
	TID = 10,
	OTHER = 11,
	PID = 10,
	INIT = 1,
	ALLOC = 2,
	FREE = 3,
	WAIT = 4,
	LAUNCH = 5,
	COPY = 6,
	ALLOC_HOST = 7,
	DRIVER = 8
};

static struct threads threads;
static struct cuda cuda;
static struct cpu_topology topology[1];

static void take(struct event_header *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	cuda_handle(&cuda, &threads, event);
}

static void name(u32 what, u64 handle, u64 same_as, const char *text)
{
	struct event_cuda_name event = { .head = { 1, TID, 0, EVENT_CUDA_NAME, 0 },
					 .handle = handle,
					 .same_as = same_as,
					 .what = what,
					 .pid = PID };

	memcpy(event.name.text, text, strlen(text));
	take(&event.head);
}

static void begin(void)
{
	static const char *const names[] = { "cuInit",	       "cuMemAlloc_v2",
					     "cuMemFree_v2",   "cuStreamSynchronize",
					     "cuLaunchKernel", "cuMemcpyHtoD_v2",
					     "cuMemHostAlloc", "nvidia:rm_ioctl" };
	struct event_thread thread = { .head = { 1, TID, 0, EVENT_THREAD, 0 }, .start_ns = 1, .pid = PID };

	threads_init(&threads, topology, 1);
	cuda_init(&cuda);
	take(&thread.head);
	for (u32 i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		name(CUDA_NAMED_FUNCTION, i + 1, 0, names[i]);
}

static void end(void)
{
	cuda_free(&cuda);
	threads_free(&threads);
}

static struct event_cuda_call call_of(u32 tid, u32 function, u64 from_ns, u64 to_ns)
{
	struct event_cuda_call event = { .head = { to_ns, tid, 0, EVENT_CUDA_CALL, 0 },
					 .duration_ns = to_ns - from_ns,
					 .function = function,
					 .pid = PID };

	return event;
}

static void call(u32 tid, u32 function, u64 from_ns, u64 to_ns, u8 flags)
{
	struct event_cuda_call event = call_of(tid, function, from_ns, to_ns);

	event.head.flags = flags;
	take(&event.head);
}

static void ioctl_at(u32 tid, u64 from_ns, u64 to_ns, u32 status)
{
	struct event_cuda_ioctl event = { .head = { to_ns, tid, 0, EVENT_CUDA_IOCTL, 0 },
					  .duration_ns = to_ns - from_ns,
					  .cmd = 0xc020462a,
					  .detail = 0x20800110,
					  .inner_nr = 0x2a,
					  .device = NVIDIA_RM,
					  .status = status };

	take(&event.head);
}

static void memory(u32 function, u64 address, u64 bytes, u32 result)
{
	struct event_cuda_call event = call_of(TID, function, 100, 200);

	event.address = address;
	event.bytes = bytes;
	event.result = result;
	take(&event.head);
}

static void spans_that_nest(void)
{
	begin();
	ioctl_at(TID, 50, 60, 0);     /* before any call */
	ioctl_at(TID, 110, 120, 0);   /* inside cuInit */
	ioctl_at(OTHER, 115, 125, 0); /* of another thread, at the same time */
	ioctl_at(TID, 130, 150, 7);   /* inside the wait that is inside cuInit */
	call(TID, WAIT, 125, 160, EVENT_FLAG_NESTED);
	ioctl_at(TID, 170, 175, 0);
	call(TID, INIT, 100, 200, 0);
	ioctl_at(TID, 210, 230, 0); /* after it */
	cuda_end(&cuda);
	is(cuda.functions[INIT].ioctls, 2, "a call has the ioctls inside it");
	is(cuda.functions[INIT].ioctl_ns, 15, "call has the time of the ioctls inside it");
	is(cuda.functions[WAIT].ioctls, 1, "inner call has its own ioctls");
	is(cuda.functions[WAIT].ioctl_ns, 20, "inner call has the time of its own ioctls");
	is(cuda.functions[INIT].nested_ns, 35, "outer call has the time of the inner one apart");
	is(cuda.outside, 3, "before, after and of another thread: outside");
	is(cuda.outside_ns, 40, "ioctls outside calls have their time");
	is(cuda.inside_ns, 35, "inside is what is inside");
	is(cuda.ioctls->inside, 3, "row of an ioctl counts those inside calls");
	is(cuda.ioctls->durations.total, 6, "row of an ioctl command has all its durations");
	is(cuda.ioctls->refused, 1, "row of an ioctl command counts what the driver refused");
	is(cuda.ioctls->next == NULL, 1, "ioctls of one command are one row");
	end();
}

static void three_layers(void)
{
	begin();
	call(TID, DRIVER, 90, 95, EVENT_FLAG_NESTED);	/* before everything */
	call(TID, DRIVER, 125, 130, EVENT_FLAG_NESTED); /* inside another of the driver's */
	call(TID, DRIVER, 120, 140, EVENT_FLAG_NESTED);
	call(TID, DRIVER, 145, 146, EVENT_FLAG_NESTED);
	ioctl_at(TID, 110, 150, 0);
	call(TID, DRIVER, 160, 163, EVENT_FLAG_NESTED); /* in the call, in no ioctl */
	call(TID, INIT, 100, 200, 0);
	cuda_end(&cuda);
	is(cuda.driver_spans, 2, "outermost driver functions in an ioctl are counted");
	is(cuda.driver_ns, 21, "driver functions in an ioctl have their time");
	is(cuda.ioctls->driver_ns, 21, "ioctl has the time of its driver functions");
	is(cuda.functions[DRIVER].nested_ns, 5, "driver function inside another counts as nested in that");
	is(cuda.functions[INIT].driver_ns, 3, "driver function in no ioctl counts for the call");
	is(cuda.functions[INIT].ioctl_ns, 40, "ioctl with driver functions inside counts for the call");
	is(cuda.functions[INIT].nested_ns, 0, "driver functions are no calls inside a call");
	is(cuda.calls, 1, "driver functions are not counted as calls");
	end();
}

static void many_outside(void)
{
	begin();
	for (u32 i = 0; i < 2000; i++)
		ioctl_at(TID, i * 10, i * 10 + 5, 0);
	call(TID, INIT, 19980, 30000, 0);
	cuda_end(&cuda);
	is(cuda.functions[INIT].ioctls, 2, "ioctls inside a call are found after very many outside");
	is(cuda.outside, 1998, "ioctls outside calls are counted, however many");
	end();
}

static void memory_adds_up(void)
{
	const struct cuda_process *process;

	begin();
	memory(ALLOC, 0x1000, 4096, 0);
	memory(ALLOC, 0x2000, 1000, 0);
	memory(ALLOC, 0, 1ull << 41, 2);
	memory(FREE, 0x1000, 0, 0);
	memory(FREE, 0x9000, 0, 0);
	memory(FREE, 0, 0, 0);
	memory(ALLOC_HOST, 0x2000, 64, 0);
	memory(FREE, 0x2000, 0, 0);
	memory(ALLOC, 0x1000, 10, 0);
	process = cuda.processes;
	is(process->memory[MEMORY_DEVICE].allocations, 3, "an allocation that failed is none");
	is(process->memory[MEMORY_DEVICE].total_bytes, 5106, "device memory counts all bytes ever allocated");
	is(process->memory[MEMORY_DEVICE].peak_bytes, 5096, "device memory keeps its peak");
	is(process->memory[MEMORY_DEVICE].now_bytes, 10, "device memory counts what is allocated now");
	is(process->memory[MEMORY_HOST].now_bytes, 64, "host memory of the same address is another");
	is(process->unknown_frees, 1, "a free of what is not known is counted, one of nothing is not");
	is(cuda.errors->result, 2, "failed call has its error kept");
	is(cuda.errors->count, 1, "error that occurred once is counted once");
	is_text(cuda_result_name(cuda.errors->result), "CUDA_ERROR_OUT_OF_MEMORY", "error is told by its name");
	end();
}

static void launch(u64 kernel, u32 grid_x)
{
	struct event_cuda_launch event = { .head = { 500, TID, 0, EVENT_CUDA_LAUNCH, EVENT_FLAG_ENTRY },
					   .kernel = kernel,
					   .function = LAUNCH,
					   .grid_x = grid_x };

	take(&event.head);
}

static void launches_have_names(void)
{
	struct event_cuda_count count = { .head = { 900, 0, 0, EVENT_CUDA_COUNT, 0 },
					  .entered = 300,
					  .function = LAUNCH };

	begin();
	name(CUDA_NAMED_KERNEL, 0xaa, 0, "saxpy");
	name(CUDA_NAMED_SAME, 0xbb, 0xaa, "");
	name(CUDA_NAMED_SAME, 0xcc, 0xdd, "");
	launch(0xaa, 1);
	launch(0xbb, 2);
	launch(0xbb, 3);
	launch(0xee, 4);
	is(cuda.launches, 4, "launches are all counted");
	is(cuda.functions[LAUNCH].entries, 4, "launch counts as a call whose end is not watched");
	is_text(cuda_kernel_of(&cuda, PID, 0xbb)->name, "saxpy", "another handle of a kernel has its name");
	is(cuda_kernel_of(&cuda, PID, 0xbb)->launches, 2, "launches by another handle of a kernel are counted");
	is(cuda_kernel_of(&cuda, PID, 0xbb)->grid[0], 3, "kernel keeps the sizes of its last launch");
	ok(!cuda_kernel_of(&cuda, PID, 0xee)->name, "a kernel that nobody named has none");
	is(cuda_times_called(&cuda.functions[LAUNCH]), 4, "function without a count has as many calls as events");
	take(&count.head);
	is(cuda_times_called(&cuda.functions[LAUNCH]), 300, "sampled: the kernel's count is");
	end();
}

static void kernels_are_bounded(void)
{
	enum { MORE = 1000 };

	begin();
	for (u64 handle = 1; handle <= CUDA_KERNELS_OF_PROCESS + MORE; handle++)
		launch(handle, 1);
	is(cuda.kernels_len, CUDA_KERNELS_OF_PROCESS + 1, "kernels that a process makes up are so many and one more");
	is(cuda_kernel_of(&cuda, PID, 0)->launches, MORE, "launches of kernels beyond the bound are told as of one");
	is(cuda.launches, CUDA_KERNELS_OF_PROCESS + MORE, "launches of kernels beyond the bound are all counted");
	end();
}

static size_t name_len(u64 handle)
{
	return strlen(cuda_kernel_of(&cuda, PID, handle)->name);
}

static void long_names_come_in_pieces(void)
{
	char piece[CUDA_NAME_PIECE + 1];

	memset(piece, 'k', CUDA_NAME_PIECE);
	piece[CUDA_NAME_PIECE] = '\0';
	begin();
	name(CUDA_NAMED_KERNEL, 0xaa, 0, piece);
	name(CUDA_NAMED_MORE, 0xaa, cuda_more_of(PID, CUDA_NAME_PIECE), "and");
	is(name_len(0xaa), CUDA_NAME_PIECE + 3, "a piece goes behind the first");
	is_text(cuda_kernel_of(&cuda, PID, 0xaa)->name + CUDA_NAME_PIECE, "and",
		"second piece of a name reads as it was sent");
	name(CUDA_NAMED_MORE, 0xaa, cuda_more_of(PID, CUDA_NAME_PIECE * 2), "lost");
	is(name_len(0xaa), CUDA_NAME_PIECE + 3, "piece of a name behind a missing one is left out");
	name(CUDA_NAMED_MORE, 0xaa, cuda_more_of(PID, 0), "twice");
	name(CUDA_NAMED_MORE, 0xaa, cuda_more_of(PID + 1, CUDA_NAME_PIECE + 3), "another's");
	name(CUDA_NAMED_MORE, 0xdd, cuda_more_of(PID, 0), "nobody's");
	is(name_len(0xaa), CUDA_NAME_PIECE + 3, "pieces of names that belong nowhere are left out");
	name(CUDA_NAMED_KERNEL, 0xbb, 0, piece);
	for (u32 i = 1; i < 100; i++)
		name(CUDA_NAMED_MORE, 0xbb, cuda_more_of(PID, i * CUDA_NAME_PIECE), piece);
	is(name_len(0xbb), CUDA_NAME_MAX, "kernel name is no longer than is read");
	name(CUDA_NAMED_SAME, 0xcc, 0xbb, "");
	is(name_len(0xcc), CUDA_NAME_MAX, "another handle of that kernel has all of it");
	name(CUDA_NAMED_KERNEL, 0xbb, 0, "saxpy");
	is_text(cuda_kernel_of(&cuda, PID, 0xbb)->name, "saxpy", "handle of a kernel may get another name later");
	is(name_len(0xcc), CUDA_NAME_MAX, "handle of a kernel keeps its own long name");
	end();
}

/* Whatever a recording says, nothing is touched that is not there. */
static void hostile_events(void)
{
	struct event_cuda_call event;
	struct event_cuda_xid xid;

	begin();
	name(CUDA_NAMED_FUNCTION, ~0ull, 0, "cuInit");
	name(77, 1, 1, "?");
	call(TID, 0xffffffff, 1, 2, 0);
	call(TID, CUDA_FUNCTIONS_MAX - 1, 1, 2, 0);
	event = call_of(TID, COPY, 100, 50);
	event.copy = 99;
	take(&event.head);
	launch(~0ull, ~0u);
	memset(&xid, 0xff, sizeof(xid));
	xid.head = (struct event_header){ 5, 0, 0, EVENT_CUDA_XID, 0 };
	take(&xid.head);
	is(cuda.xids->code, ~0u, "an error of the GPU's is kept, also without a NUL");
	is(cuda.copies[COPY_UNKNOWN][0].count, 1, "a copy of no kind is one of unknown kind");
	is(cuda_function_name(&cuda, 0xffffffff) == NULL, 1, "a function out of range has no name");
	end();
}

static void names_of_functions(void)
{
	struct cuda_functions functions = { 0 };

	is(cuda_api_of("cuMemAlloc_v2")->class, CUDA_ALLOCATES, "a version is no part of the name");
	is(cuda_api_of("cuLaunchKernel_ptsz")->shape, SHAPE_LAUNCH,
	   "suffix of a per-thread stream is no part of a function's name");
	is(cuda_api_of("cuMemcpyHtoDAsync_v2_ptsz")->what, COPY_HOST_TO_DEVICE,
	   "version and stream suffix together are no part of a function's name");
	is(cuda_api_of("cuLaunchKernelEx")->shape, SHAPE_LAUNCH_EX, "function with a longer name is another");
	is(cuda_api_of("cuMemcpyBatchAsync")->class, CUDA_COPIES, "function is in a family by its beginning");
	is(cuda_api_of("cuMemGetInfo_v2")->class, CUDA_OTHER, "function that gets something is in no set");
	is(cuda_api_of("cuStreamQuery")->class, CUDA_OTHER, "function that polls is in no set");
	is(cuda_api_of("")->class, CUDA_OTHER, "empty function name is in no set");
	is(cuda_plain_length("_v2"), 3, "function name without its version is never empty");
	ok(!cuda_result_name(12345), "a result without a name has none");
	cuda_functions_add(&functions, "cuMemFree_v2_extra_name", 64, 64);
	cuda_functions_add(&functions, "cuMemFree_v2", 64, 64);
	cuda_functions_add(&functions, "cuInit", 128, 128);
	cuda_functions_add(&functions, "cuMemFreeElse", 64, 64);
	is(functions.len, 2, "names of one place are one function");
	is_text(functions.all[0].name, "cuMemFree_v2", "function of several names goes by the one that is known");
	is_text(functions.all[0].aliases, "cuMemFree_v2_extra_name,cuMemFreeElse",
		"function of several names has the others as aliases");
	cuda_functions_free(&functions);
}

/* Names are made by whoever makes the library. */
static void functions_are_bounded(void)
{
	struct cuda_functions functions = { 0 };
	char name[512];
	int error = 0;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	is(cuda_functions_add(&functions, name, 1, 1), 0, "name that is too long is passed over");
	is(functions.len, 0, "function of a name that is too long is none");
	for (u64 i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "cuGraphAlias%u", (u32)i);
		error |= cuda_functions_add(&functions, name, 4096, 4096);
	}
	is(error, 0, "function may have 2,000 names");
	ok(strlen(functions.all[0].aliases) < CUDA_ALIASES_LEN, "aliases of a function are bounded: %zu bytes",
	   strlen(functions.all[0].aliases));
	for (u64 i = 1; i < CUDA_FUNCTIONS_MAX; i++)
		error |= cuda_functions_add(&functions, "cuGraph", i << 20, i);
	is(error, 0, "library may have as many functions as there are numbers");
	is(functions.len, CUDA_FUNCTIONS_MAX, "functions of a library are all found");
	is(functions.all[CUDA_FUNCTIONS_MAX - 1].offset, (u64)(CUDA_FUNCTIONS_MAX - 1) << 20,
	   "function at the end has its offset");
	ok(cuda_functions_add(&functions, "cuGraph", 7, 7) == -E2BIG, "library with one function more is refused");
	for (u64 i = 0; !error && i <= CUDA_NAMES_MAX; i++)
		error = cuda_functions_add(&functions, "cuGraphB", 4096, 4096);
	ok(error == -E2BIG, "library with more names than any has is refused");
	cuda_functions_free(&functions);
}

static void ioctls_by_name(void)
{
	static const struct {
		u32 device, cmd, nr, detail;
		const char *words;
	} seen[] = {
		{ NVIDIA_RM, 0xc020462a, 0x2a, 0x20800110, "RM_CONTROL GPU_GET_NAME_STRING" },
		{ NVIDIA_RM, 0xc020462a, 0x2a, 0x2080ffff, "RM_CONTROL 0x2080ffff" },
		{ NVIDIA_RM, 0xc030462b, 0x2b, 0xc86f, "RM_ALLOC HOPPER_CHANNEL_GPFIFO_A" },
		{ NVIDIA_RM, 0xc0104629, 0x29, 0, "RM_FREE" },
		{ NVIDIA_RM, 0xc01046d3, 0x2b, 0x80, "RM_ALLOC NV01_DEVICE_0" },
		{ NVIDIA_RM, 0xc00446c9, 0xc9, 0, "REGISTER_FD" },
		{ NVIDIA_RM, 0xc0044601, 0x01, 0, "NV_ESC 0x1" },
		{ NVIDIA_RM, 0x5401, 0x01, 0, "ioctl 0x5401" },
		{ NVIDIA_UVM, 37, 0, 0, "UVM_REGISTER_GPU" },
		{ NVIDIA_UVM, 0x30000001, 0, 0, "UVM_INITIALIZE" },
		{ NVIDIA_UVM, 9999, 0, 0, "UVM 0x270f" },
	};
	char words[64], narrow[6];

	for (u32 i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		nvidia_describe(words, sizeof(words), seen[i].device, seen[i].cmd, seen[i].nr, seen[i].detail);
		is_text(words, seen[i].words, "ioctl 0x%x reads as words", seen[i].cmd);
	}
	nvidia_describe(narrow, sizeof(narrow), NVIDIA_RM, 0xc020462a, 0x2a, 1);
	is_text(narrow, "RM_CO", "words are cut where there is no room");
	is(nvidia_status_offset(0x2b, 32), 28, "status of the short form lies at byte 28");
	is(nvidia_status_offset(0x2b, 48), 40, "status of the long form lies at byte 40");
	is(nvidia_status_offset(0xc9, 4), NO_OFFSET, "ioctl without a status has no offset");
	is(ioc_size(0xc030462b), 48, "size of the long form is in its command");
}

static void where_to_probe(void)
{
	static const struct {
		u8 code[CUDA_CODE_BYTES];
		u32 shift;
		const char *what;
	} functions[] = {
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48 }, 4, "endbr64 and a push: at the push" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57 }, 4, "of a high register too" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x10 }, 4, "a jump" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xeb, 0x10 }, 4, "a short one" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x48 }, 4, "a nop" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 0 }, 4, "one of five bytes" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 8 }, 0, "but not of other bytes" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83 }, 0, "something else behind it: at the beginning" },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x01 }, 0, "a prefix alone is no push" },
		{ { 0xf3, 0x0f, 0x1e, 0xfb, 0x55, 0x48 }, 0, "endbr32 is not endbr64" },
		{ { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54 }, 0, "cuLaunchKernel's own, of driver 580: at its push" },
		{ { 0xb8, 0x21, 0x03, 0x00, 0x00, 0xc3 }, 0, "a function that is not there in 580: at its beginning" },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		is(cuda_probe_shift(functions[i].code), functions[i].shift, functions[i].what);
	is(cuda_copy_of_types(1, 3), COPY_HOST_TO_DEVICE, "an array is the device's");
	is(cuda_copy_of_types(2, 4), COPY_UNKNOWN, "unified memory may be either");
}

int main(void)
{
	spans_that_nest();
	three_layers();
	many_outside();
	memory_adds_up();
	launches_have_names();
	kernels_are_bounded();
	long_names_come_in_pieces();
	hostile_events();
	names_of_functions();
	functions_are_bounded();
	ioctls_by_name();
	where_to_probe();
	return tap_end();
}
