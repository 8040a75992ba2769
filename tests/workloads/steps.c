// SPDX-License-Identifier: GPL-2.0
/* A training loop of which every delay is known: `steps LIBRARY STEPS EVERY MS KIND`. A process "loader" hands it a
 * batch each step, it launches kernels by the libcuda of that path and waits for the GPU. Every so many steps it is
 * delayed by so many milliseconds: data (the loader sleeps), lock (the thread "holder" keeps a mutex), hog (a process
 * "hog" of real-time priority runs on its CPU), copy (one that returns when it is done), sync (the GPU takes longer),
 * or none. It prints from when to when each such step was. With a sixth word it begins each step with a range of
 * NVTX's, by a double of NVTX's headers: "ranges" by its name, "domain" by one that it has registered. A seventh is how
 * many kernels a step launches. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_US = 1000 };

typedef int (*launch_fn)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
			 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,
			 void **extra);
static launch_fn launch;
static int (*synchronize)(void *stream);
static int (*copy_from)(void *to, uint64_t from, size_t bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int to_loader[2], from_loader[2], to_holder[2], from_holder[2], to_hog[2];
static useconds_t delay_us;
static const char *ranges;
static uintptr_t kernels = 6;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "steps: %s failed\n", what);
	exit(1);
}

static void load(void)
{
	char wish;

	prctl(PR_SET_NAME, "loader");
	while (read(to_loader[0], &wish, 1) == 1) {
		usleep(wish == 'd' ? delay_us : 200);
		must(write(from_loader[1], &wish, 1) == 1, "write");
	}
	_exit(0);
}

static void *hold(void *unused)
{
	char wish;

	(void)unused;
	prctl(PR_SET_NAME, "holder");
	while (read(to_holder[0], &wish, 1) == 1) {
		pthread_mutex_lock(&lock);
		must(write(from_holder[1], &wish, 1) == 1, "write");
		usleep(delay_us);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double now_s(void)
{
	return (double)now_ns() / 1e9;
}

static void be_hog(void)
{
	struct sched_param param = { .sched_priority = 1 };
	char wish;

	prctl(PR_SET_NAME, "hog");
	must(!sched_setscheduler(0, SCHED_FIFO, &param), "sched_setscheduler");
	while (read(to_hog[0], &wish, 1) == 1)
		for (double end_s = now_s() + delay_us / 1e6; now_s() < end_s;)
			;
	_exit(0);
}

/* What NVTX 3's headers make of a program, by their documented protocol: pointers to functions, which at the first call
 * of one the library that the environment names may replace; what it leaves does nothing. */
typedef void (*any_function)(void);
enum { CORE = 1, CORE2 = 5, CORE_PUSH_A = 9, CORE2_PUSH_EX = 4, CORE2_REGISTER_A = 10, SLOTS = 16 };
enum { MESSAGE_REGISTERED = 3 };

struct attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static any_function functions[2][SLOTS], *slots[2][SLOTS + 1];

static int functions_of(int module, any_function ***table, unsigned int *len)
{
	int at = module == CORE2;

	if (module != CORE && module != CORE2)
		return 0;
	*table = slots[at];
	*len = SLOTS;
	return 1;
}

static const void *exported(uint32_t table)
{
	static const struct {
		size_t bytes;
		int (*functions_of)(int module, any_function ***table, unsigned int *len);
	} callbacks = { sizeof(callbacks), functions_of };

	return table == 1 ? &callbacks : NULL;
}

static void begin_ranges(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const void *(*)(uint32_t)) =
		library ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2") : NULL;

	for (int i = 1; i < SLOTS; i++) {
		slots[0][i] = &functions[0][i];
		slots[1][i] = &functions[1][i];
	}
	must(init && init(exported), "NVTX_INJECTION64_PATH");
}

/* "step 17", or where ranges are to be registered the same name each time, whose text is then gone. */
static void push_range(const char *how, int number)
{
	static int has_begun;
	static const void *handle;
	struct attributes attributes = { .version = 2,
					 .bytes = sizeof(attributes),
					 .message_type = MESSAGE_REGISTERED };
	const void *(*reg)(void *, const char *);
	char name[32];

	if (!has_begun++)
		begin_ranges();
	snprintf(name, sizeof(name), how[0] == 'd' ? "step" : "step %d", number);
	if (how[0] != 'd') {
		if (functions[0][CORE_PUSH_A])
			((int (*)(const char *))functions[0][CORE_PUSH_A])(name);
		return;
	}
	reg = (const void *(*)(void *, const char *))functions[1][CORE2_REGISTER_A];
	if (!handle && reg)
		handle = reg(NULL, name);
	attributes.message = handle;
	if (functions[1][CORE2_PUSH_EX])
		((int (*)(void *, const void *))functions[1][CORE2_PUSH_EX])(NULL, &attributes);
}

static void one_step(const char *kind, int number)
{
	char wish = kind[0] == 'd' ? 'd' : 'x';

	if (ranges)
		push_range(ranges, number);
	must(write(to_loader[1], &wish, 1) == 1 && read(from_loader[0], &wish, 1) == 1, "the loader");
	for (uintptr_t kernel = 1; kernel <= kernels; kernel++)
		launch((void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	if (kind[0] == 'l')
		must(write(to_holder[1], &wish, 1) == 1 && read(from_holder[0], &wish, 1) == 1, "the holder");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (kind[0] == 'h')
		must(write(to_hog[1], &wish, 1) == 1, "the hog");
	if (kind[0] == 'c')
		copy_from(NULL, 1, (size_t)delay_us << 10);
	synchronize((void *)(uintptr_t)(kind[0] == 's' ? delay_us : SYNC_US));
}

int main(int argc, char **argv)
{
	void *library = argc >= 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*init)(unsigned int flags) = library ? (int (*)(unsigned int))dlsym(library, "cuInit") : NULL;
	cpu_set_t own;
	pthread_t holder;

	must(library && init, "dlopen");
	launch = (launch_fn)dlsym(library, "cuLaunchKernel");
	synchronize = (int (*)(void *))dlsym(library, "cuStreamSynchronize");
	copy_from = (int (*)(void *, uint64_t, size_t))dlsym(library, "cuMemcpyDtoH_v2");
	must(launch && synchronize && copy_from && !init(0), "libcuda");
	ranges = argc > 6 ? argv[6] : NULL;
	kernels = argc > 7 ? (uintptr_t)atoi(argv[7]) : kernels;
	delay_us = (useconds_t)atoi(argv[4]) * 1000;
	must(!pipe(to_loader) && !pipe(from_loader) && !pipe(to_holder) && !pipe(from_holder) && !pipe(to_hog), "pipe");
	if (fork() == 0) {
		close(to_loader[1]);
		load();
	}
	/* The hog and the loop on one CPU, the others where they like. */
	pthread_create(&holder, NULL, hold, NULL);
	if (argv[5][0] == 'h') {
		CPU_ZERO(&own);
		CPU_SET(sched_getcpu(), &own);
		must(!sched_setaffinity(0, sizeof(own), &own), "sched_setaffinity");
		if (fork() == 0) {
			close(to_loader[1]);
			close(to_hog[1]);
			be_hog();
		}
	}
	for (int step = 1; step <= atoi(argv[2]); step++) {
		uint64_t from_ns = now_ns();

		one_step(step % atoi(argv[3]) ? "none" : argv[5], step);
		if (step % atoi(argv[3]) == 0)
			fprintf(stderr, "delayed %llu %llu\n", (unsigned long long)from_ns,
				(unsigned long long)now_ns());
	}
	return 0;
}
