// SPDX-License-Identifier: GPL-2.0
/* Presents a known number of frames. By EGL into a surface of its own, from several threads at once, without a display:
 *   present egl THREADS FRAMES
 * or by calling a function of a library, some milliseconds after it is mapped, or after each newline on standard input,
 * with threads besides that each bear a name and wake so often to work for a tenth of that:
 *   present call LIBRARY FUNCTION FRAMES [MS|wait [NAME:EVERY_US]...] */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The little of EGL that is needed, so that it takes no headers. */
enum {
	EGL_HEIGHT = 0x3056,
	EGL_WIDTH = 0x3057,
	EGL_SURFACE_TYPE = 0x3033,
	EGL_PBUFFER_BIT = 1,
	EGL_NONE = 0x3038,
	EGL_OPENGL_ES_API = 0x30A0,
	EGL_RENDERABLE_TYPE = 0x3040,
	EGL_OPENGL_ES2_BIT = 4,
	EGL_CONTEXT_CLIENT_VERSION = 0x3098,
	EGL_PLATFORM_SURFACELESS = 0x31DD,
};

static struct {
	void *(*get_platform_display)(unsigned, void *, const long *);
	unsigned (*initialize)(void *, int *, int *);
	unsigned (*bind_api)(unsigned);
	unsigned (*choose_config)(void *, const int *, void **, int, int *);
	void *(*create_pbuffer)(void *, void *, const int *);
	void *(*create_context)(void *, void *, void *, const int *);
	unsigned (*make_current)(void *, void *, void *, void *);
	unsigned (*swap)(void *, void *);
} egl;

static void *display, *config;
static long frames;

static void die(const char *what)
{
	fprintf(stderr, "present: %s\n", what);
	exit(1);
}

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		die(name);
	return found;
}

static void *present_by_egl(void *unused)
{
	static const int size[] = { EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE };
	static const int version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
	void *surface, *context;

	(void)unused;
	egl.bind_api(EGL_OPENGL_ES_API);
	surface = egl.create_pbuffer(display, config, size);
	context = egl.create_context(display, config, NULL, version);
	if (!surface || !context || !egl.make_current(display, surface, surface, context))
		die("no surface");
	for (long i = 0; i < frames; i++)
		if (!egl.swap(display, surface))
			die("eglSwapBuffers failed");
	return NULL;
}

static void set_up_egl(void)
{
	static const int wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT,
				      EGL_NONE };
	void *library = dlopen("libEGL.so.1", RTLD_NOW);
	int found = 0;

	if (!library)
		die(dlerror());
	egl.get_platform_display = function(library, "eglGetPlatformDisplay");
	egl.initialize = function(library, "eglInitialize");
	egl.bind_api = function(library, "eglBindAPI");
	egl.choose_config = function(library, "eglChooseConfig");
	egl.create_pbuffer = function(library, "eglCreatePbufferSurface");
	egl.create_context = function(library, "eglCreateContext");
	egl.make_current = function(library, "eglMakeCurrent");
	egl.swap = function(library, "eglSwapBuffers");
	display = egl.get_platform_display(EGL_PLATFORM_SURFACELESS, NULL, NULL);
	if (!display || !egl.initialize(display, NULL, NULL) ||
	    !egl.choose_config(display, wanted, &config, 1, &found) || !found)
		die("no EGL display");
}

static int present_threads(int threads)
{
	pthread_t all[64];

	set_up_egl();
	for (int i = 0; i < threads && i < 64; i++)
		if (pthread_create(&all[i], NULL, present_by_egl, NULL))
			die("no thread");
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(all[i], NULL);
	return 0;
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void *work_beside(void *word)
{
	const char *colon = strrchr(word, ':');
	long long every_us = colon ? atoll(colon + 1) : 0, next_us = now_us();
	char name[16];

	if (every_us < 1000)
		die("NAME:EVERY_US");
	snprintf(name, sizeof(name), "%.*s", (int)(colon - (char *)word), (char *)word);
	prctl(PR_SET_NAME, name);
	for (;; next_us += every_us) {
		struct timespec at = { .tv_sec = next_us / 1000000, .tv_nsec = next_us % 1000000 * 1000 };
		long long until_us;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		until_us = now_us() + every_us / 10;
		while (now_us() < until_us)
			;
	}
	return NULL;
}

static int present_calls(const char *path, const char *name, const char *pause)
{
	void *library = dlopen(path, RTLD_NOW);
	int waits = pause && !strcmp(pause, "wait");
	unsigned (*swap)(void *, void *);

	if (!library)
		die(dlerror());
	swap = function(library, name);
	puts("mapped");
	fflush(stdout);
	if (pause && !waits)
		usleep((useconds_t)atoi(pause) * 1000);
	do {
		if (waits && getchar() == EOF)
			break;
		for (long i = 0; i < frames; i++)
			swap(NULL, NULL);
		puts("presented");
		fflush(stdout);
	} while (waits);
	return 0;
}

int main(int argc, char **argv)
{
	frames = argc > 3 ? atol(argv[argc > 4 ? 4 : 3]) : 0;
	if (argc == 4 && !strcmp(argv[1], "egl"))
		return present_threads(atoi(argv[2]));
	for (int i = 6; i < argc; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work_beside, argv[i]))
			die("no thread");
	}
	if (argc >= 5 && !strcmp(argv[1], "call"))
		return present_calls(argv[2], argv[3], argc > 5 ? argv[5] : NULL);
	die("usage: present egl THREADS FRAMES | present call LIBRARY FUNCTION FRAMES [MS|wait [NAME:EVERY_US]...]");
}
