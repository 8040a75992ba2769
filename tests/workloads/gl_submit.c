// SPDX-License-Identifier: GPL-2.0
/* A thread that draws by a real OpenGL without a screen and presents nothing: gl_submit LIBRARY COUNT. It makes a
 * context by EGL without a surface, on whatever Mesa has (llvmpipe on machines without a GPU), and waits for a line on
 * standard input when the library is mapped; then its thread "gl-submits" clears a small picture and calls glFlush and
 * glFinish by turns, COUNT calls in all. The little of EGL and OpenGL that it needs is declared here. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	EGL_SURFACELESS = 0x31DD,
	EGL_ES_API = 0x30A0,
	EGL_GL_API = 0x30A2,
	EGL_RENDERABLE = 0x3040,
	EGL_ES2_BIT = 4,
	EGL_GL_BIT = 8,
	EGL_SURFACE_TYPE = 0x3033,
	EGL_CLIENT_VERSION = 0x3098,
	EGL_NONE = 0x3038,
	GL_RENDERER = 0x1F01,
	GL_TEXTURE_2D = 0x0DE1,
	GL_RGBA = 0x1908,
	GL_UNSIGNED_BYTE = 0x1401,
	GL_FRAMEBUFFER = 0x8D40,
	GL_COLOR_ATTACHMENT0 = 0x8CE0,
	GL_COLOR_BUFFER_BIT = 0x4000,
	SIZE = 64
};

static void *egl, *gl, *display, *context;
static int calls;

static void die(const char *what)
{
	fprintf(stderr, "gl_submit: %s\n", what);
	exit(1);
}

static void *must_find(void *library, const char *name)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function)
		die(name);
	return function;
}
#define CALL(library, type, name) ((type)must_find(library, #name))

static void make_context(int is_es)
{
	const int wanted[] = { EGL_SURFACE_TYPE, 0, EGL_RENDERABLE, is_es ? EGL_ES2_BIT : EGL_GL_BIT, EGL_NONE };
	const int of_es[] = { EGL_CLIENT_VERSION, 2, EGL_NONE }, none[] = { EGL_NONE };
	void *config = NULL;
	int found = 0;

	display = CALL(egl, void *(*)(unsigned, void *, const void *), eglGetPlatformDisplay)(EGL_SURFACELESS, NULL,
											      NULL);
	if (!display || !CALL(egl, unsigned (*)(void *, int *, int *), eglInitialize)(display, NULL, NULL))
		die("no EGL without a surface");
	if (!CALL(egl, unsigned (*)(unsigned), eglBindAPI)(is_es ? EGL_ES_API : EGL_GL_API))
		die("eglBindAPI");
	if (!CALL(egl, unsigned (*)(void *, const int *, void **, int, int *), eglChooseConfig)(display, wanted,
												&config, 1, &found) ||
	    !found)
		die("eglChooseConfig");
	context = CALL(egl, void *(*)(void *, void *, void *, const int *), eglCreateContext)(display, config, NULL,
											      is_es ? of_es : none);
	if (!context)
		die("eglCreateContext");
}

/* A picture in memory to draw on. */
static void make_picture(void)
{
	unsigned picture = 0, target = 0;

	CALL(gl, void (*)(int, unsigned *), glGenTextures)(1, &picture);
	CALL(gl, void (*)(unsigned, unsigned), glBindTexture)(GL_TEXTURE_2D, picture);
	CALL(gl, void (*)(unsigned, int, int, int, int, int, unsigned, unsigned, const void *), glTexImage2D)
	(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	CALL(gl, void (*)(int, unsigned *), glGenFramebuffers)(1, &target);
	CALL(gl, void (*)(unsigned, unsigned), glBindFramebuffer)(GL_FRAMEBUFFER, target);
	CALL(gl, void (*)(unsigned, unsigned, unsigned, unsigned, int), glFramebufferTexture2D)
	(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture, 0);
}

static void *submit(void *unused)
{
	void (*clear)(unsigned), (*flush)(void), (*finish)(void);

	prctl(PR_SET_NAME, "gl-submits");
	if (!CALL(egl, unsigned (*)(void *, void *, void *, void *), eglMakeCurrent)(display, NULL, NULL, context))
		die("eglMakeCurrent");
	make_picture();
	clear = CALL(gl, void (*)(unsigned), glClear);
	flush = CALL(gl, void (*)(void), glFlush);
	finish = CALL(gl, void (*)(void), glFinish);
	printf("renderer %s\n", CALL(gl, const char *(*)(unsigned), glGetString)(GL_RENDERER));
	for (int i = 0; i < calls; i++) {
		clear(GL_COLOR_BUFFER_BIT);
		(i % 2 ? finish : flush)();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	calls = atoi(argv[2]);
	egl = dlopen("libEGL.so.1", RTLD_NOW);
	gl = dlopen(argv[1], RTLD_NOW);
	if (!egl || !gl)
		die(dlerror());
	make_context(strstr(argv[1], "GLES") != NULL);
	setlinebuf(stdout);
	puts("mapped");
	if (getchar() == EOF || pthread_create(&thread, NULL, submit, NULL))
		return 1;
	pthread_join(thread, NULL);
	puts("done");
	getchar();
	return 0;
}
