// SPDX-License-Identifier: GPL-2.0
// Small CUDA programs with known numbers of everything, for 'tactus cuda' to be compared with.
// Usage: programs WHAT [N]. Prints what it did as KEY=VALUE.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(call)                                                                             \
	do {                                                                                    \
		cudaError_t error = (call);                                                     \
		if (error != cudaSuccess) {                                                     \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));          \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static long times = 1000;

__global__ void small_kernel(int *out)
{
	if (out && threadIdx.x == 0)
		out[blockIdx.x] = (int)blockIdx.x;
}

__global__ void spin_kernel(long long cycles)
{
	long long from = clock64();

	while (clock64() - from < cycles)
		;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void launches(void)
{
	uint64_t from = now_ns();

	for (long i = 0; i < times; i++)
		small_kernel<<<2, 64>>>(NULL);
	CHECK(cudaDeviceSynchronize());
	printf("launches=%ld ns_per_launch=%.0f\n", times, (double)(now_ns() - from) / (double)times);
}

static void streams(void)
{
	cudaStream_t stream[4];

	for (int i = 0; i < 4; i++)
		CHECK(cudaStreamCreate(&stream[i]));
	for (long i = 0; i < times; i++)
		small_kernel<<<1, 32, 0, stream[i % 4]>>>(NULL);
	for (int i = 0; i < 4; i++)
		CHECK(cudaStreamSynchronize(stream[i]));
	printf("launches=%ld stream_syncs=4\n", times);
}

static void graphs(void)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 10; i++)
		small_kernel<<<1, 32, 0, stream>>>(NULL);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (long i = 0; i < times; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphExecDestroy(exec));
	printf("graph_launches=%ld captured=10\n", times);
}

static void managed(void)
{
	int *shared;

	CHECK(cudaMallocManaged(&shared, 8 << 20));
	memset(shared, 1, 8 << 20);
	small_kernel<<<64, 64>>>(shared);
	CHECK(cudaDeviceSynchronize());
	printf("managed_bytes=%d first=%d\n", 8 << 20, shared[1]);
	CHECK(cudaFree(shared));
}

static void leak(void)
{
	void *kept, *given_back, *host;

	for (int i = 0; i < 3; i++)
		CHECK(cudaMalloc(&kept, 3 << 20));
	CHECK(cudaMalloc(&given_back, 64 << 20));
	CHECK(cudaMallocHost(&host, 1 << 20));
	CHECK(cudaFree(given_back));
	CHECK(cudaFreeHost(host));
	printf("device_allocations=4 device_bytes=%d leaked_bytes=%d host_bytes=%d\n", 9 * (1 << 20) + (64 << 20),
	       9 * (1 << 20), 1 << 20);
}

static void failures(void)
{
	void *never;
	cudaError_t error;

	small_kernel<<<1, 2048>>>(NULL);
	error = cudaGetLastError();
	printf("launch_error=%s\n", cudaGetErrorName(error));
	error = cudaMalloc(&never, (size_t)1 << 45);
	printf("malloc_error=%s\n", cudaGetErrorName(error));
	cudaGetLastError();
}

static void copies(void)
{
	size_t bytes = 64 << 20;
	void *device, *other, *host;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaMalloc(&other, bytes));
	CHECK(cudaMallocHost(&host, bytes));
	for (long i = 0; i < times; i++) {
		CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
		CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice));
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
		CHECK(cudaMemset(other, 0, bytes));
	}
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaFree(device));
	CHECK(cudaFree(other));
	CHECK(cudaFreeHost(host));
	printf("copies_of_each=%ld bytes_of_each=%zu\n", times, bytes);
}

static void waits(void)
{
	uint64_t waited_ns = 0, from;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamSynchronize(stream));
	for (long i = 0; i < times; i++) {
		spin_kernel<<<1, 1, 0, stream>>>(20 * 1000 * 1000);
		from = now_ns();
		CHECK(cudaStreamSynchronize(stream));
		waited_ns += now_ns() - from;
	}
	printf("stream_syncs=%ld waited_ns=%llu\n", times + 1, (unsigned long long)waited_ns);
}

// A store to nowhere, which ends the context and which the driver reports.
static void fault(void)
{
	small_kernel<<<1, 32>>>((int *)0x10);
	printf("fault=%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void *in_thread(void *unused)
{
	for (long i = 0; i < times; i++)
		small_kernel<<<1, 32>>>(NULL);
	CHECK(cudaStreamSynchronize(0));
	return unused;
}

static void two_threads(void)
{
	pthread_t two[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&two[i], NULL, in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(two[i], NULL);
	printf("launches=%ld\n", 2 * times);
}

static void after_fork(void)
{
	pid_t child;

	launches();
	fflush(stdout);
	child = fork();
	if (!child) {
		void *never;

		printf("child_error=%s\n", cudaGetErrorName(cudaMalloc(&never, 4096)));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = { { "launches", launches }, { "streams", streams }, { "graphs", graphs },   { "managed", managed },
		     { "leak", leak },	       { "failures", failures }, { "copies", copies }, { "waits", waits },
		     { "threads", two_threads }, { "fork", after_fork }, { "fault", fault } };

	times = argc > 2 ? atol(argv[2]) : times;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (argc > 1 && !strcmp(what[i].name, argv[1])) {
			what[i].run();
			return 0;
		}
	return 2;
}
