// SPDX-License-Identifier: GPL-2.0
/* Makes calls of libcuda in known numbers, against the double or the real one, through dlopen as most programs do.
 * Usage: cuda_calls LIBRARY WHAT [N]. Prints what it did, so that a test can compare. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t CUdeviceptr;

struct launch_config {
	unsigned int grid[3], block[3], shared;
	void *stream;
	void *attributes;
	unsigned int attributes_len;
};

static void *library, *kernel, *context;
static long times = 1;

static int (*init)(unsigned int);
static int (*create)(void **, unsigned int, int);
static int (*get_function)(void **, void *, const char *);
static int (*allocate)(CUdeviceptr *, size_t);
static int (*allocate_host)(void **, size_t, unsigned int);
static int (*release)(CUdeviceptr);
static int (*synchronize)(void *);
static int (*to_device)(CUdeviceptr, const void *, size_t);
static int (*to_host)(void *, CUdeviceptr, size_t);
static int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		     unsigned int, void *, void **, void **);
static int (*launch_ex)(const struct launch_config *, void *, void **, void **);

static void *find(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "cuda_calls: %s\n", dlerror());
		exit(3);
	}
	return found;
}

static void load(const char *path)
{
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "cuda_calls: %s\n", dlerror());
		exit(3);
	}
	init = find("cuInit");
	create = find("cuCtxCreate_v2");
	get_function = find("cuModuleGetFunction");
	allocate = find("cuMemAlloc_v2");
	allocate_host = find("cuMemHostAlloc");
	release = find("cuMemFree_v2");
	synchronize = find("cuStreamSynchronize");
	to_device = find("cuMemcpyHtoD_v2");
	to_host = find("cuMemcpyDtoH_v2");
	launch = find("cuLaunchKernel");
	launch_ex = find("cuLaunchKernelEx");
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void start(void)
{
	init(0);
	create(&context, 0, 0);
	get_function(&kernel, context, "saxpy");
}

static void launches(void)
{
	for (long i = 0; i < times; i++)
		launch(kernel, 7, 2, 1, 128, 2, 1, 256, (void *)0x5, NULL, NULL);
}

static void *in_thread(void *unused)
{
	launches();
	synchronize((void *)1000);
	return unused;
}

static void threads(void)
{
	pthread_t two[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&two[i], NULL, in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(two[i], NULL);
}

static void leak(void)
{
	CUdeviceptr kept, given_back;
	void *host;

	for (int i = 0; i < 3; i++)
		allocate(&kept, 1 << 20);
	allocate(&given_back, 5 << 20);
	release(given_back);
	allocate_host(&host, 4096, 0);
}

static void errors(void)
{
	CUdeviceptr address;
	void *none;

	allocate(&address, (size_t)1 << 41);
	launch(kernel, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL);
	get_function(&none, context, "missing");
}

static void copies(void)
{
	char *buffer = calloc(1, 1 << 20);
	CUdeviceptr address;

	allocate(&address, 1 << 20);
	for (long i = 0; i < times; i++) {
		to_device(address, buffer, 1 << 20);
		to_host(buffer, address, 1 << 20);
	}
	release(address);
	free(buffer);
}

static void after_fork(void)
{
	pid_t child;

	launches();
	fflush(stdout);
	child = fork();
	if (!child) {
		CUdeviceptr address;

		allocate(&address, 4096);
		launches();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void waits(void)
{
	uint64_t before = now_ns();

	for (long i = 0; i < times; i++)
		synchronize((void *)(uintptr_t)20000);
	printf("waited_ns=%llu\n", (unsigned long long)(now_ns() - before));
}

static void with_config(void)
{
	struct launch_config config = { { 3, 2, 1 }, { 64, 1, 1 }, 48, (void *)0x9, NULL, 0 };

	for (long i = 0; i < times; i++)
		launch_ex(&config, kernel, NULL, NULL);
}

/* "_Z176kkk...ki" of this length: a function of one long name that takes an int. */
static void make_name(char *name, size_t len)
{
	int digits = snprintf(NULL, 0, "%zu", len - 6);

	memset(name, 'k', len);
	name[sprintf(name, "_Z%zu", len - 3 - (size_t)digits)] = 'k';
	name[len - 1] = 'i';
	name[len] = '\0';
}

/* Kernels whose names have one, two and more pieces, and more than are read. */
static void names(void)
{
	static const size_t lengths[] = { 183, 184, 366, 367, 1501, 3020, 4026, 5001 };
	char name[5100];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		make_name(name, lengths[i]);
		get_function(&kernel, context, name);
		launches();
		printf("name=%s\n", name);
	}
	get_function(
		&kernel, context,
		"_ZN2at6native29vectorized_elementwise_kernelILi16ENS0_21CUDAFunctorOnSelf_addIfEESt5arrayIPcLm2EEE"
		"EviT0_T1_");
	launches();
}

/* As cudart finds its functions: by cuGetProcAddress, which it asks for itself too. */
static void by_address(void)
{
	int (*get)(const char *, void **, int, uint64_t, int *) = find("cuGetProcAddress_v2");
	struct launch_config config = { { 3, 2, 1 }, { 64, 1, 1 }, 48, (void *)0x9, NULL, 0 };
	void *function = NULL;
	int status = 7;

	if (get("cuGetProcAddress", &function, 12080, 0, &status) || status)
		exit(4);
	get = function;
	if (get("cuNothing", &function, 12080, 0, &status) != 500 || status != 1)
		exit(4);
	if (get("cuLaunchKernel", &function, 12080, 0, NULL))
		exit(4);
	launch = function;
	launches();
	if (get("cuLaunchKernelEx", &function, 12080, 0, NULL))
		exit(4);
	launch_ex = function;
	for (long i = 0; i < times; i++)
		if (launch_ex(&config, kernel, NULL, NULL))
			exit(5);
}

static int (*many)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
		   long, long, long, long, long);

/* From wherever the stack may be in a page. */
static __attribute__((noinline)) void many_at(size_t depth)
{
	volatile char *room = __builtin_alloca(depth + 1);

	room[0] = 1;
	if (many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22))
		exit(5);
	room[depth] = 1;
}

static void arguments(void)
{
	many = find("cuDoubleManyArguments");
	for (long i = 0; i < times; i++)
		many_at((size_t)i * 16 % 8192);
}

static void failing(void)
{
	for (long i = 0; i < times; i++)
		if (launch(kernel, 1, 1, 1, i % 3 ? 64 : 2048, 1, 1, 0, NULL, NULL, NULL) != (i % 3 ? 0 : 1))
			exit(5);
}

static volatile long in_handler;

static void on_alarm(int number)
{
	(void)number;
	launch(kernel, 7, 2, 1, 128, 2, 1, 256, (void *)0x5, NULL, NULL);
	in_handler++;
}

/* A signal comes wherever a call may be, and its handler makes the same call. */
static void signals(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	launches();
	setitimer(ITIMER_REAL, &never, NULL);
	printf("launches=%ld in_handler=%ld\n", times + in_handler, in_handler);
}

static void killed(void)
{
	launches();
	kill(getpid(), SIGKILL);
}

static void load(const char *path);
static const char *library_path;

static void again(void)
{
	launches();
	dlclose(library);
	load(library_path);
	launches();
}

static void elsewhere(void)
{
	library = dlmopen(LM_ID_NEWLM, library_path, RTLD_NOW);
	if (!library)
		exit(3);
	launch = find("cuLaunchKernel");
	launches();
}

static void rate(void)
{
	uint64_t before = now_ns(), took;

	launches();
	took = now_ns() - before;
	printf("launch_ns=%.1f\n", (double)took / (double)times);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = { { "launches", launches },	 { "threads", threads },     { "leak", leak },
		     { "errors", errors },	 { "copies", copies },	     { "fork", after_fork },
		     { "waits", waits },	 { "rate", rate },	     { "config", with_config },
		     { "address", by_address },	 { "arguments", arguments }, { "failing", failing },
		     { "signals", signals },	 { "killed", killed },	     { "again", again },
		     { "elsewhere", elsewhere }, { "names", names } };
	char line[16];

	if (argc < 3)
		return 2;
	times = argc > 3 ? atol(argv[3]) : 1;
	/* A process that is there before it has anything to do with CUDA. */
	if (argc > 4 && !strcmp(argv[4], "later")) {
		printf("pid=%d\n", getpid());
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	library_path = argv[1];
	load(argv[1]);
	if (argc > 4 && !strcmp(argv[4], "loaded")) {
		printf("pid=%d\n", getpid());
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	start();
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(what[i].name, argv[2]))
			what[i].run();
	return 0;
}
