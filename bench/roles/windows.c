// SPDX-License-Identifier: GPL-2.0
/* A Windows program as games are: frames through OpenGL, sound at the highest priority, work in the background at the
 * lowest, a solver at the normal one. Usage: windows.exe FILE, which gets "LINUX-TID NAME" for each thread. */
#include <windows.h>
#include <GL/gl.h>
#include <stdio.h>

static CRITICAL_SECTION lock;
static const char *truth;
static volatile unsigned long long sink;

/* Wine gives Windows code no way to ask, so Linux is asked directly. */
static long linux_tid(void)
{
	long tid;

	__asm__ volatile("syscall" : "=a"(tid) : "a"(186) : "rcx", "r11", "memory");
	return tid;
}

static void note(const char *name)
{
	FILE *file;

	EnterCriticalSection(&lock);
	file = fopen(truth, "ab");
	if (file) {
		fprintf(file, "%ld %s\n", linux_tid(), name);
		fclose(file);
	}
	LeaveCriticalSection(&lock);
}

static void work_for(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += (unsigned long long)i * i;
}

__attribute__((noreturn)) static DWORD WINAPI mixer(void *name)
{
	note(name);
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
	for (;;) {
		Sleep(10);
		work_for(20000);
	}
}

/* Its creator asks for its priority. */
__attribute__((noreturn)) static DWORD WINAPI streamer(void *name)
{
	note(name);
	for (;;) {
		Sleep(21);
		work_for(50000);
	}
}

__attribute__((noreturn)) static DWORD WINAPI loader(void *name)
{
	note(name);
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_LOWEST);
	for (;;) {
		Sleep(30);
		work_for(400000);
	}
}

__attribute__((noreturn)) static DWORD WINAPI saver(void *name)
{
	note(name);
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_IDLE);
	for (;;) {
		Sleep(250);
		work_for(1000000);
	}
}

__attribute__((noreturn)) static DWORD WINAPI solver(void *name)
{
	note(name);
	for (;;)
		work_for(1000000);
}

static HDC window(void)
{
	PIXELFORMATDESCRIPTOR format = { .nSize = sizeof(format),
					 .nVersion = 1,
					 .dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL | PFD_DOUBLEBUFFER,
					 .cColorBits = 24,
					 .cDepthBits = 24 };
	HWND handle = CreateWindowA("static", "game", WS_POPUP | WS_VISIBLE, 0, 0, 320, 240, NULL, NULL, NULL, NULL);
	HDC dc = GetDC(handle);

	SetPixelFormat(dc, ChoosePixelFormat(dc, &format), &format);
	wglMakeCurrent(dc, wglCreateContext(dc));
	return dc;
}

int main(int argc, char **argv)
{
	HANDLE other;
	HDC dc;

	if (argc < 2)
		return 2;
	truth = argv[1];
	InitializeCriticalSection(&lock);
	note("renderer");
	for (int i = 0; i < 2; i++) {
		CreateThread(NULL, 0, mixer, "mixer", 0, NULL);
		other = CreateThread(NULL, 0, streamer, "streamer", 0, NULL);
		SetThreadPriority(other, THREAD_PRIORITY_TIME_CRITICAL);
	}
	CreateThread(NULL, 0, loader, "loader", 0, NULL);
	CreateThread(NULL, 0, saver, "saver", 0, NULL);
	CreateThread(NULL, 0, solver, "solver", 0, NULL);
	dc = window();
	for (float shade = 0;; shade = shade > 1 ? 0 : shade + 0.01f) {
		MSG message;

		while (PeekMessageA(&message, NULL, 0, 0, PM_REMOVE))
			DispatchMessageA(&message);
		glClearColor(shade, 0, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		SwapBuffers(dc);
		Sleep(15);
	}
}
