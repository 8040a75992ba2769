// SPDX-License-Identifier: GPL-2.0
/* The table of libcuda's functions that mean something here, the names of its results, and functions of a library
 * grouped by where their code is. */
#include "cuda_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"

/* clang-format off */
static const struct cuda_api apis[] = {
	{ "cuLaunchKernel", CUDA_LAUNCHES, SHAPE_LAUNCH, 0, true },
	{ "cuLaunchKernelEx", CUDA_LAUNCHES, SHAPE_LAUNCH_EX, 0, true },
	{ "cuLaunchCooperativeKernel", CUDA_LAUNCHES, SHAPE_LAUNCH, 0, true },
	{ "cuGraphLaunch", CUDA_LAUNCHES, SHAPE_LAUNCH_GRAPH, 0, true },
	{ "cuLaunchHostFunc", CUDA_LAUNCHES, SHAPE_LAUNCH_HOST, 0, true },

	{ "cuMemcpyHtoD", CUDA_COPIES, SHAPE_COPY, COPY_HOST_TO_DEVICE, false },
	{ "cuMemcpyDtoH", CUDA_COPIES, SHAPE_COPY, COPY_DEVICE_TO_HOST, false },
	{ "cuMemcpyDtoD", CUDA_COPIES, SHAPE_COPY, COPY_DEVICE_TO_DEVICE, false },
	{ "cuMemcpy", CUDA_COPIES, SHAPE_COPY, COPY_UNKNOWN, false },
	{ "cuMemcpyHtoDAsync", CUDA_COPIES, SHAPE_COPY, COPY_HOST_TO_DEVICE, true },
	{ "cuMemcpyDtoHAsync", CUDA_COPIES, SHAPE_COPY, COPY_DEVICE_TO_HOST, true },
	{ "cuMemcpyDtoDAsync", CUDA_COPIES, SHAPE_COPY, COPY_DEVICE_TO_DEVICE, true },
	{ "cuMemcpyAsync", CUDA_COPIES, SHAPE_COPY, COPY_UNKNOWN, true },
	{ "cuMemcpy2D", CUDA_COPIES, SHAPE_COPY_2D, COPY_UNKNOWN, false },
	{ "cuMemcpy2DUnaligned", CUDA_COPIES, SHAPE_COPY_2D, COPY_UNKNOWN, false },
	{ "cuMemcpy2DAsync", CUDA_COPIES, SHAPE_COPY_2D, COPY_UNKNOWN, true },
	{ "cuMemcpy3D", CUDA_COPIES, SHAPE_COPY_3D, COPY_UNKNOWN, false },
	{ "cuMemcpy3DAsync", CUDA_COPIES, SHAPE_COPY_3D, COPY_UNKNOWN, true },
	{ "cuMemcpyPeer*", CUDA_COPIES, SHAPE_NONE, COPY_PEER, true },
	{ "cuMemcpy3DPeer*", CUDA_COPIES, SHAPE_NONE, COPY_PEER, true },
	{ "cuMemcpy*", CUDA_COPIES, SHAPE_NONE, COPY_UNKNOWN, true },
	{ "cuMemPrefetch*", CUDA_COPIES, SHAPE_NONE, COPY_UNKNOWN, true },
	{ "cuMemsetD8", CUDA_COPIES, SHAPE_SET_8, COPY_SET, false },
	{ "cuMemsetD16", CUDA_COPIES, SHAPE_SET_16, COPY_SET, false },
	{ "cuMemsetD32", CUDA_COPIES, SHAPE_SET_32, COPY_SET, false },
	{ "cuMemsetD8Async", CUDA_COPIES, SHAPE_SET_8, COPY_SET, true },
	{ "cuMemsetD16Async", CUDA_COPIES, SHAPE_SET_16, COPY_SET, true },
	{ "cuMemsetD32Async", CUDA_COPIES, SHAPE_SET_32, COPY_SET, true },
	{ "cuMemset*", CUDA_COPIES, SHAPE_NONE, COPY_SET, true },

	{ "cuMemAlloc", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_DEVICE, false },
	{ "cuMemAllocPitch", CUDA_ALLOCATES, SHAPE_ALLOC_PITCH, MEMORY_DEVICE, false },
	{ "cuMemAllocAsync", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_DEVICE, true },
	{ "cuMemAllocFromPoolAsync", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_DEVICE, true },
	{ "cuMemAllocManaged", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_MANAGED, false },
	{ "cuMemAllocHost", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_HOST, false },
	{ "cuMemHostAlloc", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_HOST, false },
	{ "cuMemCreate", CUDA_ALLOCATES, SHAPE_ALLOC, MEMORY_HANDLE, false },
	{ "cuMemFree", CUDA_FREES, SHAPE_FREE, MEMORY_DEVICE, false },
	{ "cuMemFreeAsync", CUDA_FREES, SHAPE_FREE, MEMORY_DEVICE, true },
	{ "cuMemFreeHost", CUDA_FREES, SHAPE_FREE, MEMORY_HOST, false },
	{ "cuMemRelease", CUDA_FREES, SHAPE_FREE, MEMORY_HANDLE, false },

	{ "cuStreamSynchronize", CUDA_WAITS, SHAPE_OF_STREAM, 0, false },
	{ "cuEventSynchronize", CUDA_WAITS, SHAPE_OF_STREAM, 0, false },
	{ "cuCtxSynchronize", CUDA_WAITS, SHAPE_NONE, 0, false },

	{ "cuGraphInstantiate*", CUDA_GRAPHS, SHAPE_NONE, 0, false },
	{ "cuGraphExecUpdate", CUDA_GRAPHS, SHAPE_NONE, 0, false },
	{ "cuGraphExecDestroy", CUDA_GRAPHS, SHAPE_NONE, 0, false },
	{ "cuGraphUpload", CUDA_GRAPHS, SHAPE_NONE, 0, false },
	{ "cuStreamBeginCapture*", CUDA_GRAPHS, SHAPE_OF_STREAM, 0, false },
	{ "cuStreamEndCapture", CUDA_GRAPHS, SHAPE_OF_STREAM, 0, false },

	{ "cuInit", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuCtxCreate", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuCtxDestroy", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuDevicePrimaryCtxRetain", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuDevicePrimaryCtxRelease", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuDevicePrimaryCtxReset", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuStreamCreate*", CUDA_CONTEXTS, SHAPE_NONE, 0, false },
	{ "cuStreamDestroy", CUDA_CONTEXTS, SHAPE_OF_STREAM, 0, false },

	{ "cuModuleLoad*", CUDA_MODULES, SHAPE_NONE, 0, false },
	{ "cuModuleUnload", CUDA_MODULES, SHAPE_NONE, 0, false },
	{ "cuLibraryLoad*", CUDA_MODULES, SHAPE_NONE, 0, false },
	{ "cuLibraryUnload", CUDA_MODULES, SHAPE_NONE, 0, false },
	{ "cuModuleGetFunction", CUDA_MODULES, SHAPE_NAME, 0, false },
	{ "cuLibraryGetKernel", CUDA_MODULES, SHAPE_NAME, 0, false },
	{ "cuKernelGetName", CUDA_MODULES, SHAPE_NAME_OF, 0, false },
	{ "cuFuncGetName", CUDA_MODULES, SHAPE_NAME_OF, 0, false },
	{ "cuKernelGetFunction", CUDA_MODULES, SHAPE_SAME, 0, false },

	{ "ncclAllReduce", CUDA_COLLECTIVES, SHAPE_NCCL_6, 0, true },
	{ "ncclBroadcast", CUDA_COLLECTIVES, SHAPE_NCCL_6, 0, true },
	{ "ncclReduceScatter", CUDA_COLLECTIVES, SHAPE_NCCL_6, 0, true },
	{ "ncclGather", CUDA_COLLECTIVES, SHAPE_NCCL_6, 0, true },
	{ "ncclScatter", CUDA_COLLECTIVES, SHAPE_NCCL_6, 0, true },
	{ "ncclReduce", CUDA_COLLECTIVES, SHAPE_NCCL_7, 0, true },
	{ "ncclAllGather", CUDA_COLLECTIVES, SHAPE_NCCL_5, 0, true },
	{ "ncclAlltoAll", CUDA_COLLECTIVES, SHAPE_NCCL_5, 0, true },
	{ "ncclSend", CUDA_COLLECTIVES, SHAPE_NCCL_ONE, 0, true },
	{ "ncclRecv", CUDA_COLLECTIVES, SHAPE_NCCL_ONE, 0, true },
	{ "ncclBcast", CUDA_COLLECTIVES, SHAPE_NCCL_ONE, 0, true },
	{ "ncclGroupEnd", CUDA_COLLECTIVES, SHAPE_NONE, 0, true },
	{ "ncclCommInit*", CUDA_COLLECTIVES, SHAPE_NONE, 0, false },
	{ "ncclCommDestroy", CUDA_COLLECTIVES, SHAPE_NONE, 0, false },
	{ "ncclCommAbort", CUDA_COLLECTIVES, SHAPE_NONE, 0, false },

	{ "nvtxRangePushA", CUDA_RANGES, SHAPE_RANGE, 0, false },
	{ "nvtxRangePushEx", CUDA_RANGES, SHAPE_RANGE_EX, 0, false },
	{ "nvtxDomainRangePushEx", CUDA_RANGES, SHAPE_RANGE_DOMAIN, 0, false },
};
/* clang-format on */

size_t cuda_plain_length(const char *function)
{
	size_t len = strlen(function);

	for (;;) {
		if (len > 3 && function[len - 3] == '_' && function[len - 2] == 'v' && function[len - 1] >= '2' &&
		    function[len - 1] <= '9')
			len -= 3;
		else if (len > 5 &&
			 (!strncmp(function + len - 5, "_ptsz", 5) || !strncmp(function + len - 5, "_ptds", 5)))
			len -= 5;
		else
			return len;
	}
}

const struct cuda_api *cuda_api_of(const char *function)
{
	static const struct cuda_api other = { "", CUDA_OTHER, SHAPE_NONE, 0, false };
	static const struct cuda_api driver = { "", CUDA_DRIVER, SHAPE_NONE, 0, false };
	size_t len = cuda_plain_length(function);

	if (strchr(function, ':'))
		return &driver;

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		size_t name_len = strlen(apis[i].name);
		bool is_prefix = apis[i].name[name_len - 1] == '*';

		name_len -= is_prefix;
		if ((is_prefix ? len >= name_len : len == name_len) && !strncmp(function, apis[i].name, name_len))
			return &apis[i];
	}
	return &other;
}

const char *cuda_memory_name(enum cuda_memory memory)
{
	static const char *const names[MEMORY_KINDS] = { "device", "managed", "host", "handle" };

	return names[memory];
}

const char *cuda_copy_name(enum cuda_copy copy)
{
	static const char *const names[COPY_KINDS] = {
		"unknown", "host to device", "device to host", "device to device", "host to host", "peer to peer", "set"
	};

	return copy < COPY_KINDS ? names[copy] : names[COPY_UNKNOWN];
}

enum cuda_copy cuda_copy_of(const struct cuda_api *api, u32 said)
{
	u32 kind = said ? said : api->what;

	return kind < COPY_KINDS ? kind : COPY_UNKNOWN;
}

const char *cuda_class_name(enum cuda_class class)
{
	static const char *const names[CUDA_CLASSES] = {
		"other", "launch",  "copy",   "allocate",   "free",  "wait",
		"graph", "context", "module", "collective", "range", "driver"
	};

	return names[class];
}

/* As in cuda.h, without the prefix that all but the first have. */
static const struct {
	u32 result;
	const char *name;
} results[] = {
	{ 0, "CUDA_SUCCESS" },
	{ 1, "CUDA_ERROR_INVALID_VALUE" },
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY" },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED" },
	{ 4, "CUDA_ERROR_DEINITIALIZED" },
	{ 5, "CUDA_ERROR_PROFILER_DISABLED" },
	{ 34, "CUDA_ERROR_STUB_LIBRARY" },
	{ 46, "CUDA_ERROR_DEVICE_UNAVAILABLE" },
	{ 100, "CUDA_ERROR_NO_DEVICE" },
	{ 101, "CUDA_ERROR_INVALID_DEVICE" },
	{ 102, "CUDA_ERROR_DEVICE_NOT_LICENSED" },
	{ 200, "CUDA_ERROR_INVALID_IMAGE" },
	{ 201, "CUDA_ERROR_INVALID_CONTEXT" },
	{ 202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT" },
	{ 205, "CUDA_ERROR_MAP_FAILED" },
	{ 206, "CUDA_ERROR_UNMAP_FAILED" },
	{ 207, "CUDA_ERROR_ARRAY_IS_MAPPED" },
	{ 208, "CUDA_ERROR_ALREADY_MAPPED" },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU" },
	{ 210, "CUDA_ERROR_ALREADY_ACQUIRED" },
	{ 211, "CUDA_ERROR_NOT_MAPPED" },
	{ 212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY" },
	{ 213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER" },
	{ 214, "CUDA_ERROR_ECC_UNCORRECTABLE" },
	{ 215, "CUDA_ERROR_UNSUPPORTED_LIMIT" },
	{ 216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE" },
	{ 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" },
	{ 218, "CUDA_ERROR_INVALID_PTX" },
	{ 219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT" },
	{ 220, "CUDA_ERROR_NVLINK_UNCORRECTABLE" },
	{ 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" },
	{ 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" },
	{ 223, "CUDA_ERROR_JIT_COMPILATION_DISABLED" },
	{ 224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY" },
	{ 225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC" },
	{ 226, "CUDA_ERROR_CONTAINED" },
	{ 300, "CUDA_ERROR_INVALID_SOURCE" },
	{ 301, "CUDA_ERROR_FILE_NOT_FOUND" },
	{ 302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" },
	{ 303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED" },
	{ 304, "CUDA_ERROR_OPERATING_SYSTEM" },
	{ 400, "CUDA_ERROR_INVALID_HANDLE" },
	{ 401, "CUDA_ERROR_ILLEGAL_STATE" },
	{ 402, "CUDA_ERROR_LOSSY_QUERY" },
	{ 500, "CUDA_ERROR_NOT_FOUND" },
	{ 600, "CUDA_ERROR_NOT_READY" },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS" },
	{ 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT" },
	{ 703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING" },
	{ 704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" },
	{ 705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" },
	{ 708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" },
	{ 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED" },
	{ 710, "CUDA_ERROR_ASSERT" },
	{ 711, "CUDA_ERROR_TOO_MANY_PEERS" },
	{ 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" },
	{ 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" },
	{ 714, "CUDA_ERROR_HARDWARE_STACK_ERROR" },
	{ 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION" },
	{ 716, "CUDA_ERROR_MISALIGNED_ADDRESS" },
	{ 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE" },
	{ 718, "CUDA_ERROR_INVALID_PC" },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED" },
	{ 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" },
	{ 721, "CUDA_ERROR_TENSOR_MEMORY_LEAK" },
	{ 800, "CUDA_ERROR_NOT_PERMITTED" },
	{ 801, "CUDA_ERROR_NOT_SUPPORTED" },
	{ 802, "CUDA_ERROR_SYSTEM_NOT_READY" },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" },
	{ 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE" },
	{ 805, "CUDA_ERROR_MPS_CONNECTION_FAILED" },
	{ 806, "CUDA_ERROR_MPS_RPC_FAILURE" },
	{ 807, "CUDA_ERROR_MPS_SERVER_NOT_READY" },
	{ 808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED" },
	{ 809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED" },
	{ 810, "CUDA_ERROR_MPS_CLIENT_TERMINATED" },
	{ 811, "CUDA_ERROR_CDP_NOT_SUPPORTED" },
	{ 812, "CUDA_ERROR_CDP_VERSION_MISMATCH" },
	{ 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" },
	{ 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" },
	{ 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE" },
	{ 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" },
	{ 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" },
	{ 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION" },
	{ 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT" },
	{ 907, "CUDA_ERROR_CAPTURED_EVENT" },
	{ 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD" },
	{ 909, "CUDA_ERROR_TIMEOUT" },
	{ 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" },
	{ 911, "CUDA_ERROR_EXTERNAL_DEVICE" },
	{ 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE" },
	{ 913, "CUDA_ERROR_FUNCTION_NOT_LOADED" },
	{ 914, "CUDA_ERROR_INVALID_RESOURCE_TYPE" },
	{ 915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION" },
	{ 916, "CUDA_ERROR_KEY_ROTATION" },
	{ 999, "CUDA_ERROR_UNKNOWN" },
};

const char *cuda_result_name(u32 result)
{
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].result == result)
			return results[i].name;
	return NULL;
}

const char *cuda_result_name_of(const char *function, u32 result)
{
	static const char *const names[] = { "ncclSuccess",	  "ncclUnhandledCudaError", "ncclSystemError",
					     "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
					     "ncclRemoteError",	  "ncclInProgress" };

	if (!function || strncmp(function, "nccl", 4) != 0)
		return cuda_result_name(result);
	return result < sizeof(names) / sizeof(names[0]) ? names[result] : NULL;
}

const char *nccl_type_name(u32 type)
{
	static const char *const names[NCCL_TYPES] = { "int8",	  "uint8",    "int32",	    "uint32",
						       "int64",	  "uint64",   "float16",    "float32",
						       "float64", "bfloat16", "float8e4m3", "float8e5m2" };

	return type < NCCL_TYPES ? names[type] : "?";
}

/* Of two names for one function the one that says more of it: one that is known here, then the shorter. */
static bool is_better(const char *name, const char *than)
{
	bool known = cuda_api_of(name)->class != CUDA_OTHER, than_known = cuda_api_of(than)->class != CUDA_OTHER;
	size_t len = strlen(name), than_len = strlen(than);

	if (known != than_known)
		return known;
	return len != than_len ? len < than_len : strcmp(name, than) < 0;
}

static int add_alias(struct cuda_function *function, const char *name)
{
	size_t had = function->aliases ? strlen(function->aliases) + 1 : 0, len = strlen(name);
	char *aliases;

	/* The rest is no loss: a function goes by its name. */
	if (had + len >= CUDA_ALIASES_LEN)
		return 0;
	aliases = realloc(function->aliases, had + len + 1);
	if (!aliases)
		return -ENOMEM;
	if (had)
		aliases[had - 1] = ',';
	memcpy(aliases + had, name, len + 1);
	function->aliases = aliases;
	return 0;
}

static int add_name(struct cuda_function *function, const char *name)
{
	char *copy;
	int error;

	if (!is_better(name, function->name))
		return add_alias(function, name);
	copy = strdup(name);
	error = copy ? add_alias(function, function->name) : -ENOMEM;
	if (error) {
		free(copy);
		return error;
	}
	free(function->name);
	function->name = copy;
	return 0;
}

int cuda_functions_add(struct cuda_functions *functions, const char *name, u64 offset, u64 address)
{
	u32 place;
	char *copy;

	if (strnlen(name, CUDA_NAME_LEN) == CUDA_NAME_LEN)
		return 0;
	if (++functions->names > CUDA_NAMES_MAX)
		return -E2BIG;
	place = map_get(&functions->by_offset, offset);
	if (place)
		return add_name(&functions->all[place - 1], name);
	if (functions->len >= CUDA_FUNCTIONS_MAX)
		return -E2BIG;
	if (!vec_reserve(functions->all, functions->room, functions->len + 1, 256) ||
	    !map_reserve(&functions->by_offset, functions->len + 1))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	functions->all[functions->len++] = (struct cuda_function){ .name = copy, .offset = offset, .address = address };
	map_set(&functions->by_offset, offset, (u32)functions->len);
	return 0;
}

void cuda_functions_free(struct cuda_functions *functions)
{
	for (size_t i = 0; i < functions->len; i++) {
		free(functions->all[i].name);
		free(functions->all[i].aliases);
	}
	free(functions->all);
	map_free(&functions->by_offset);
	*functions = (struct cuda_functions){ 0 };
}
