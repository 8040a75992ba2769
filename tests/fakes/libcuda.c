// SPDX-License-Identifier: GPL-2.0
/* A double of NVIDIA's libcuda.so.1, for machines without a GPU: functions of the same names and arguments that hand
 * out numbers, sleep where the real ones wait, and make the real ones' ioctls on /dev/null and /dev/ptmx, which stand
 * for /dev/nvidiactl and /dev/nvidia-uvm (TACTUS_NVIDIA_MAJORS=1,5). It computes nothing. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define api __attribute__((visibility("default"), noinline))

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef void *handle;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NOT_FOUND = 500 };
enum { UVM_INITIALIZE = 0x30000001 };
#define RM_CONTROL 0xc020462a
#define RM_ALLOC 0xc030462b
#define RM_FREE 0xc0104629

static int control_fd = -1, uvm_fd = -1;
static pid_t initialized_in;
static uint64_t next_address = 0x700000000000;
static char kernels[16];
static uint32_t objects = 100;

struct rm_control {
	uint32_t client, object, cmd, flags;
	uint64_t params;
	uint32_t params_bytes, status;
};

struct rm_alloc {
	uint32_t root, parent, object, class;
	uint64_t params, rights;
	uint32_t params_bytes, flags, status, unused;
};

static void control(uint32_t cmd, uint32_t status)
{
	struct rm_control request = { .cmd = cmd, .status = status };

	ioctl(control_fd, RM_CONTROL, &request);
}

/* Memory in pieces of 2 MB, as the driver has it. */
static void allocate_by_driver(size_t bytes)
{
	uint64_t params[12] = { [8] = (bytes + (2 << 20) - 1) & ~(uint64_t)((2 << 20) - 1) };
	struct rm_alloc request = { .root = 7, .object = ++objects, .class = 0x40, .params = (uintptr_t)params };

	ioctl(control_fd, RM_ALLOC, &request);
}

static void free_by_driver(void)
{
	uint32_t request[4] = { 7, 0, objects--, 0 };

	ioctl(control_fd, RM_FREE, &request);
}

static void pass_us(long us)
{
	struct timespec span = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&span, NULL);
}

api CUresult cuInit(unsigned int flags)
{
	struct rm_alloc request = { .class = 0x41 };
	const char *device = getenv("CUDA_DOUBLE_CONTROL");

	if (initialized_in && initialized_in != getpid())
		return NOT_INITIALIZED;
	initialized_in = getpid();
	control_fd = open(device ? device : "/dev/null", O_RDWR | O_CLOEXEC);
	uvm_fd = open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY);
	ioctl(control_fd, RM_ALLOC, &request);
	control(0x20800110, 0);
	control(0x20801201, 0x56);
	ioctl(uvm_fd, UVM_INITIALIZE, 0);
	return flags ? INVALID_VALUE : SUCCESS;
}

api CUresult cuCtxCreate_v2(handle *context, unsigned int flags, int device)
{
	(void)flags;
	(void)device;
	*context = kernels;
	return initialized_in == getpid() ? SUCCESS : NOT_INITIALIZED;
}

api CUresult cuDriverGetVersion(int *version)
{
	*version = 12080;
	return SUCCESS;
}

api CUresult cuModuleLoadData(handle *module, const void *image)
{
	(void)image;
	*module = kernels;
	return SUCCESS;
}

api CUresult cuModuleGetFunction(handle *function, handle module, const char *name)
{
	(void)module;
	if (!strcmp(name, "missing"))
		return NOT_FOUND;
	*function = &kernels[strlen(name) % sizeof(kernels)];
	return SUCCESS;
}

api CUresult cuLibraryGetKernel(handle *kernel, handle library, const char *name)
{
	return cuModuleGetFunction(kernel, library, name);
}

api CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	if (initialized_in != getpid())
		return NOT_INITIALIZED;
	if (bytes > (size_t)1 << 40)
		return OUT_OF_MEMORY;
	control(0x00800201, 0);
	if (getenv("CUDA_DOUBLE_MEMORY"))
		allocate_by_driver(bytes);
	*address = __atomic_fetch_add(&next_address, (bytes + 511) & ~(size_t)511, __ATOMIC_RELAXED);
	return SUCCESS;
}

api CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
	(void)flags;
	return cuMemAlloc_v2(address, bytes);
}

api CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	(void)flags;
	*address = malloc(bytes);
	return *address ? SUCCESS : OUT_OF_MEMORY;
}

api CUresult cuMemFree_v2(CUdeviceptr address)
{
	if (getenv("CUDA_DOUBLE_MEMORY"))
		free_by_driver();
	return address ? SUCCESS : INVALID_VALUE;
}
/* The real one has several names for some functions. */
api CUresult cuMemFreeByAnotherName(CUdeviceptr address) __attribute__((alias("cuMemFree_v2")));

api CUresult cuMemFreeHost(void *address)
{
	free(address);
	return SUCCESS;
}

/* Waits as long as the stream's number says, in microseconds. */
api CUresult cuStreamSynchronize(handle stream)
{
	pass_us((long)(uintptr_t)stream);
	return SUCCESS;
}

api CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	pass_us((long)(bytes >> 10));
	return SUCCESS;
}

/* Waits by another function of the library, as the program would. */
api CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	(void)to;
	(void)from;
	return cuStreamSynchronize((handle)(uintptr_t)(bytes >> 10));
}

api CUresult cuLaunchKernel(handle function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
			    unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
			    handle stream, void **parameters, void **extra)
{
	(void)shared;
	(void)stream;
	(void)parameters;
	(void)extra;
	if (!function || !grid_x || !grid_y || !grid_z || block_x * block_y * block_z > 1024)
		return INVALID_VALUE;
	return SUCCESS;
}

struct launch_config {
	unsigned int grid[3], block[3], shared;
	handle stream;
	void *attributes;
	unsigned int attributes_len;
};

api CUresult cuLaunchKernelEx(const struct launch_config *config, handle function, void **parameters, void **extra)
{
	(void)parameters;
	(void)extra;
	return function && config->grid[0] ? SUCCESS : INVALID_VALUE;
}

api CUresult cuGraphLaunch(handle graph, handle stream)
{
	(void)stream;
	return graph ? SUCCESS : INVALID_VALUE;
}

/* Arguments on the stack, more than any real function has: whoever leads a call past something must hand them all on.
 */
api CUresult cuDoubleManyArguments(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
				   long k, long l, long m, long n, long o, long p, long q, long r, long s, long t,
				   long u, long v)
{
	long got[] = { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v };

	/* The stack is as the ABI has it, too. */
	if ((uintptr_t)__builtin_frame_address(0) % 16)
		return INVALID_VALUE;
	for (long at = 0; at < 22; at++)
		if (got[at] != at + 1)
			return INVALID_VALUE;
	return SUCCESS;
}

api CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

/* cudart asks for nearly all functions here, also for this one. */
api CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	static const struct {
		const char *name;
		void *function;
	} all[] = { { "cuLaunchKernel", (void *)cuLaunchKernel },
		    { "cuLaunchKernelEx", (void *)cuLaunchKernelEx },
		    { "cuMemAlloc", (void *)cuMemAlloc_v2 },
		    { "cuGetProcAddress", (void *)cuGetProcAddress_v2 } };

	(void)version;
	(void)flags;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name)) {
			*function = all[i].function;
			return SUCCESS;
		}
	return NOT_FOUND;
}

api CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
	CUresult result = cuGetProcAddress(name, function, version, flags);

	if (status)
		*status = result ? 1 : 0;
	return result;
}
