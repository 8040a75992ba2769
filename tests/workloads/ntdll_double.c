// SPDX-License-Identifier: GPL-2.0
/* A double of Wine's ntdll.so, for machines where Wine can't run: the emulated CPU of a VM dies of how Wine returns
 * from its system calls. The functions have Wine's names, calling convention and order of arguments, and do what the
 * sensor sees of the real ones: make a Linux thread, hand out numbers. Speaks as tests/workloads-windows/priorities.c
 * does. To be run from a file named ntdll.so. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* As newer Wine has it, see ntdll_double_sysv.c. */
#if defined(__x86_64__) && !defined(SYSTEM_V)
#define windows_call __attribute__((ms_abi, noinline, noclone, used))
#else
#define windows_call __attribute__((noinline, noclone, used))
#endif

enum { THREAD_FIRST_ID = 0x100, HANDLE_FIRST = 0x40, NAME_CLASS = 38, PRIORITY_CLASS_CLASS = 18 };

static const uintptr_t this_process = (uintptr_t)-1, this_thread = (uintptr_t)-2;

struct client_id {
	uintptr_t process, thread;
};

struct attribute_list {
	uintptr_t bytes;
	struct {
		uintptr_t attribute, size;
		void *value;
		uintptr_t *returned;
	} entries[2];
};

struct windows_string {
	uint16_t bytes, room;
	const uint16_t *text;
};

static uintptr_t handles_made, threads_made;

static uintptr_t new_handle(void)
{
	return HANDLE_FIRST + 4 * __atomic_fetch_add(&handles_made, 1, __ATOMIC_RELAXED);
}

windows_call int NtSetInformationThread(uintptr_t handle, int class, const void *data, uint32_t length)
{
	/* Without an effect no compiler would call it. */
	__asm__ volatile("" ::"r"(data) : "memory");
	if (class == NAME_CLASS)
		__asm__ volatile("" ::"r"(*((const struct windows_string *)data)->text));
	return !handle || class < 0 || !length;
}

windows_call int NtSetInformationProcess(uintptr_t handle, int class, void *data, uint32_t length)
{
	__asm__ volatile("" ::"r"(data) : "memory");
	return !handle || class < 0 || !length;
}

windows_call int NtCreateThreadEx(uintptr_t *handle, uint32_t access, void *object, uintptr_t process,
				  void *(*start)(void *), void *data, uint32_t flags, uintptr_t zero, uintptr_t commit,
				  uintptr_t reserve, struct attribute_list *list)
{
	struct client_id *id = list->entries[1].value;
	pthread_t made;

	(void)access, (void)object, (void)flags, (void)zero, (void)commit, (void)reserve;
	if (process != this_process || pthread_create(&made, NULL, start, data))
		return -1;
	*handle = new_handle();
	id->process = 0x20;
	id->thread = THREAD_FIRST_ID + 4 * threads_made++;
	return 0;
}

windows_call int NtDuplicateObject(uintptr_t from, uintptr_t source, uintptr_t to, uintptr_t *handle, uint32_t access,
				   uint32_t attributes, uint32_t options)
{
	(void)access, (void)attributes, (void)options;
	if (from != this_process || to != this_process || !source)
		return -1;
	*handle = new_handle();
	return 0;
}

windows_call int NtOpenThread(uintptr_t *handle, uint32_t access, const void *object, const struct client_id *id)
{
	(void)access, (void)object;
	if (!id->thread)
		return -1;
	*handle = new_handle();
	return 0;
}

windows_call void __wine_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	__asm__ volatile("" ::: "memory");
}

enum way { BY_ITSELF, BY_HANDLE, BY_DUPLICATE, BY_ID, NAMES_ITSELF, NEVER };

struct worker {
	const char *name;
	enum way way;
	int priority;
	uintptr_t handle, duplicate;
	struct client_id id;
	int tid;
	uint64_t before_ns, after_ns;
};

static struct worker workers[] = {
	{ .name = "own-critical", .way = BY_ITSELF, .priority = 15 },
	{ .name = "own-highest", .way = BY_ITSELF, .priority = 2 },
	{ .name = "own-normal", .way = BY_ITSELF, .priority = 0 },
	{ .name = "own-below", .way = BY_ITSELF, .priority = -1 },
	{ .name = "own-lowest", .way = BY_ITSELF, .priority = -2 },
	{ .name = "own-idle", .way = BY_ITSELF, .priority = -15 },
	{ .name = "own-invalid", .way = BY_ITSELF, .priority = 0x1000f },
	{ .name = "handle-critical", .way = BY_HANDLE, .priority = 15 },
	{ .name = "handle-lowest", .way = BY_HANDLE, .priority = -2 },
	{ .name = "duplicate-critical", .way = BY_DUPLICATE, .priority = 15 },
	{ .name = "id-critical", .way = BY_ID, .priority = 15 },
	{ .name = "own-named", .way = NAMES_ITSELF },
	{ .name = "never", .way = NEVER },
};
enum { WORKERS = sizeof(workers) / sizeof(workers[0]) };

static int ready, go, done;

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void set_priority(struct worker *worker, uintptr_t handle)
{
	int32_t value = worker->priority;

	worker->before_ns = clock_ns();
	NtSetInformationThread(handle, 3, &value, sizeof(value));
	worker->after_ns = clock_ns();
}

/* The text lies in a file that nobody has read through this mapping: its page is not there before the call touches it.
 */
static void name_from_untouched_page(struct worker *worker)
{
	static const uint16_t name[] = { 'A', 'u', 'd', 'i', 'o', 'M', 'i', 'x', 'e', 'r' };
	int fd = memfd_create("name", 0);
	struct windows_string string = { sizeof(name), sizeof(name), NULL };

	if (fd < 0 || write(fd, name, sizeof(name)) != sizeof(name))
		exit(1);
	string.text = mmap(NULL, sizeof(name), PROT_READ, MAP_SHARED, fd, 0);
	if (string.text == MAP_FAILED)
		exit(1);
	worker->before_ns = clock_ns();
	NtSetInformationThread(this_thread, NAME_CLASS, &string, sizeof(string));
	worker->after_ns = clock_ns();
	close(fd);
}

static void wait_until(const int *count, int wanted)
{
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < wanted)
		usleep(1000);
}

static void *work(void *data)
{
	struct worker *worker = data;

	worker->tid = gettid();
	if (worker->way == BY_DUPLICATE)
		NtDuplicateObject(this_process, this_thread, this_process, &worker->duplicate, 0, 0, 2);
	__atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
	wait_until(&go, 1);
	if (worker->way == BY_ITSELF)
		set_priority(worker, this_thread);
	if (worker->way == NAMES_ITSELF)
		name_from_untouched_page(worker);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static void start(struct worker *worker)
{
	struct attribute_list list = { .bytes = sizeof(list), .entries = { { 0x20005, 16, "", NULL } } };

	list.entries[1].attribute = 0x10003;
	list.entries[1].size = sizeof(worker->id);
	list.entries[1].value = &worker->id;
	if (NtCreateThreadEx(&worker->handle, 0, NULL, this_process, work, worker, 0, 0, 0, 0, &list))
		exit(1);
}

static void set_for(struct worker *worker)
{
	static const uint16_t name[] = { 'n', 'a', 'm', 'e', 'd' };
	struct windows_string string = { sizeof(name), sizeof(name), name };
	uintptr_t opened = 0;

	if (worker->way == BY_HANDLE) {
		NtSetInformationThread(worker->handle, NAME_CLASS, &string, sizeof(string));
		set_priority(worker, worker->handle);
	} else if (worker->way == BY_DUPLICATE) {
		set_priority(worker, worker->duplicate);
	} else if (worker->way == BY_ID) {
		NtOpenThread(&opened, 0, NULL, &worker->id);
		set_priority(worker, opened);
	}
}

static void wait_for_line(const char *say)
{
	char line[64];

	puts(say);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

/* Found by a probe only once it is mapped: as the real one, it takes its time before it does anything; or it waits
 * until there is a file of that name. */
static void wait_for_probes(void)
{
	const char *gate = getenv("NTDLL_DOUBLE_GATE");

	if (!gate)
		usleep(500000);
	for (int i = 0; gate && i < 10000 && access(gate, F_OK); i++)
		usleep(10000);
}

/* ntdll.so [CLASS [UNFIT [late]]]: gives its process a priority class first, or last, and makes so many calls whose
 * arguments can be none. */
int main(int argc, char **argv)
{
	uint8_t class[2] = { 0, (uint8_t)(argc > 1 ? atoi(argv[1]) : 0) };

	__wine_main(argc, argv);
	wait_for_probes();
	for (int i = 0; i < WORKERS; i++)
		start(&workers[i]);
	wait_until(&ready, WORKERS);
	wait_for_line("ready");
	if (class[1] && argc < 4)
		NtSetInformationProcess(this_process, PRIORITY_CLASS_CLASS, class, sizeof(class));
	for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
		NtSetInformationThread(0x123456789abc, 0x7654321, (void *)0x1234567890abcdef, 0x7654321);
	for (int i = 0; i < WORKERS; i++)
		set_for(&workers[i]);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	wait_until(&done, WORKERS);
	if (class[1] && argc > 3)
		NtSetInformationProcess(this_process, PRIORITY_CLASS_CLASS, class, sizeof(class));
	for (int i = 0; i < WORKERS; i++)
		printf("thread %s %d %llu %llu\n", workers[i].name, workers[i].tid,
		       (unsigned long long)workers[i].before_ns, (unsigned long long)workers[i].after_ns);
	wait_for_line("set");
	return 0;
}
