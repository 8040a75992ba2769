// SPDX-License-Identifier: GPL-2.0
/* A Windows program whose threads get priorities in every way there is: by themselves, through handles from
 * CreateThread, DuplicateHandle and OpenThread; with the word idle, high or realtime its process gets that class. Waits
 * for a line on its standard input before each step: threads, class and priorities, end. Then it prints a line a
 * thread: name, Linux tid, clock before and after the call. */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { BY_ITSELF, BY_HANDLE, WHILE_SUSPENDED, BY_DUPLICATE, BY_ID, NAMES_ITSELF, NAMED_BY_HANDLE, NEVER };

enum { MANY_MAX = 1000 };

struct worker {
	const char *name;
	enum way way;
	int priority;
	HANDLE handle;
	HANDLE duplicate; /* of its own handle, made by itself */
	DWORD id;
	long long linux_tid;
	long long before_ns, after_ns;
};

static HANDLE go, end;
static DWORD class; /* of the process; 0: it asks for none */
static volatile LONG ready, done;

/* Linux's own identity of a thread and its clock, which Windows functions do not tell. */
#ifdef __i386__
enum { LINUX_GETTID = 224, LINUX_CLOCK_GETTIME = 403 };

static long long linux_call(long number, long first, void *second)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second) : "memory");
	return result;
}
#else
enum { LINUX_GETTID = 186, LINUX_CLOCK_GETTIME = 228 };

static long long linux_call(long long number, long long first, void *second)
{
	long long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
	return result;
}
#endif

static long long linux_tid(void)
{
	return linux_call(LINUX_GETTID, 0, NULL);
}

static long long linux_clock_ns(void)
{
	long long time[2] = { 0, 0 };

	linux_call(LINUX_CLOCK_GETTIME, 1, time);
	return time[0] * 1000000000 + time[1];
}

/* Not in every version of Windows, so not in every import library. */
static void set_name(struct worker *worker, HANDLE handle, const wchar_t *name)
{
	HRESULT(WINAPI * set)(HANDLE, PCWSTR);
	FARPROC found = GetProcAddress(GetModuleHandleA("kernelbase.dll"), "SetThreadDescription");

	if (!found)
		return;
	memcpy(&set, &found, sizeof(set));
	worker->before_ns = linux_clock_ns();
	set(handle, name);
	worker->after_ns = linux_clock_ns();
}

static void set_priority(struct worker *worker, HANDLE handle)
{
	worker->before_ns = linux_clock_ns();
	if (!SetThreadPriority(handle, worker->priority))
		printf("refused %s %lu\n", worker->name, GetLastError());
	worker->after_ns = linux_clock_ns();
}

static DWORD WINAPI work(void *data)
{
	struct worker *worker = data;

	worker->linux_tid = linux_tid();
	if (worker->way == BY_DUPLICATE)
		DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &worker->duplicate, 0,
				FALSE, DUPLICATE_SAME_ACCESS);
	InterlockedIncrement(&ready);
	WaitForSingleObject(go, INFINITE);
	if (worker->way == BY_ITSELF)
		set_priority(worker, GetCurrentThread());
	if (worker->way == NAMES_ITSELF)
		set_name(worker, GetCurrentThread(), L"AudioMixer of the game");
	InterlockedIncrement(&done);
	WaitForSingleObject(end, INFINITE);
	return 0;
}

static void start(struct worker *worker)
{
	DWORD suspended = worker->way == WHILE_SUSPENDED ? CREATE_SUSPENDED : 0;

	worker->handle = CreateThread(NULL, 1 << 16, work, worker, suspended, &worker->id);
	if (worker->handle)
		return;
	printf("no thread %s: %lu\n", worker->name, GetLastError());
	exit(1);
}

/* What a thread does not ask for itself, this one asks for it. */
static void set_for(struct worker *worker)
{
	HANDLE opened;

	switch (worker->way) {
	case BY_HANDLE:
		set_priority(worker, worker->handle);
		break;
	case WHILE_SUSPENDED:
		set_priority(worker, worker->handle);
		ResumeThread(worker->handle);
		break;
	case BY_DUPLICATE:
		set_priority(worker, worker->duplicate);
		break;
	case BY_ID:
		opened = OpenThread(THREAD_SET_INFORMATION, FALSE, worker->id);
		set_priority(worker, opened);
		CloseHandle(opened);
		break;
	case NAMED_BY_HANDLE:
		set_name(worker, worker->handle, L"RenderThread 0");
		break;
	default:
		break;
	}
}

static void wait_until(volatile LONG *count, LONG wanted)
{
	while (*count < wanted)
		Sleep(1);
}

static void wait_for_line(const char *say)
{
	char line[64];

	puts(say);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

static int run(struct worker *workers, int len)
{
	LONG suspended = 0;

	wait_for_line("up");
	go = CreateEventA(NULL, TRUE, FALSE, NULL);
	end = CreateEventA(NULL, TRUE, FALSE, NULL);
	for (int i = 0; i < len; i++) {
		start(&workers[i]);
		suspended += workers[i].way == WHILE_SUSPENDED;
	}
	wait_until(&ready, len - suspended);
	wait_for_line("ready");
	if (class)
		SetPriorityClass(GetCurrentProcess(), class);
	for (int i = 0; i < len; i++)
		set_for(&workers[i]);
	SetEvent(go);
	wait_until(&done, len);
	for (int i = 0; i < len; i++)
		printf("thread %s %lld %lld %lld\n", workers[i].name, workers[i].linux_tid, workers[i].before_ns,
		       workers[i].after_ns);
	wait_for_line("set");
	SetEvent(end);
	return 0;
}

int main(int argc, char **argv)
{
	static struct worker mixed[] = {
		{ "own-critical", BY_ITSELF, THREAD_PRIORITY_TIME_CRITICAL },
		{ "own-highest", BY_ITSELF, THREAD_PRIORITY_HIGHEST },
		{ "own-above", BY_ITSELF, THREAD_PRIORITY_ABOVE_NORMAL },
		{ "own-normal", BY_ITSELF, THREAD_PRIORITY_NORMAL },
		{ "own-below", BY_ITSELF, THREAD_PRIORITY_BELOW_NORMAL },
		{ "own-lowest", BY_ITSELF, THREAD_PRIORITY_LOWEST },
		{ "own-idle", BY_ITSELF, THREAD_PRIORITY_IDLE },
		{ "handle-critical", BY_HANDLE, THREAD_PRIORITY_TIME_CRITICAL },
		{ "handle-lowest", BY_HANDLE, THREAD_PRIORITY_LOWEST },
		{ "suspended-critical", WHILE_SUSPENDED, THREAD_PRIORITY_TIME_CRITICAL },
		{ "duplicate-critical", BY_DUPLICATE, THREAD_PRIORITY_TIME_CRITICAL },
		{ "id-critical", BY_ID, THREAD_PRIORITY_TIME_CRITICAL },
		{ "own-named", NAMES_ITSELF, 0 },
		{ "handle-named", NAMED_BY_HANDLE, 0 },
		{ "never", NEVER, 0 },
	};
	static struct worker many[MANY_MAX];
	int len = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 1 && !strcmp(argv[1], "idle"))
		class = IDLE_PRIORITY_CLASS;
	if (argc > 1 && !strcmp(argv[1], "high"))
		class = HIGH_PRIORITY_CLASS;
	if (argc > 1 && !strcmp(argv[1], "realtime"))
		class = REALTIME_PRIORITY_CLASS;
	if (len <= 0)
		return run(mixed, sizeof(mixed) / sizeof(mixed[0]));
	if (len > MANY_MAX)
		len = MANY_MAX;
	for (int i = 0; i < len; i++) {
		many[i].name = "one-of-many";
		many[i].way = i % 2 ? BY_HANDLE : BY_ITSELF;
		many[i].priority = THREAD_PRIORITY_TIME_CRITICAL;
	}
	return run(many, len);
}
