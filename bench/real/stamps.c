// SPDX-License-Identifier: GPL-2.0
/* Preloaded into a program that shows frames or serves JACK: stamps each frame as soon as it is handed over, or each
 * cycle of sound as it begins. With PACE_US the program waits after each frame until the next is due, as for a display.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "stamp.h"

/* SDL's functions call each other and those of OpenGL: only the outermost hands a frame over. */
static __thread int depth;

#ifdef TAKE_DLSYM
static void *(*real_dlsym(void))(void *, const char *)
{
	static void *(*found)(void *, const char *);

	/* glibc 2.34 gave it a new version; looking for it by its name alone would find the one below. */
	if (!found)
		found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!found)
		found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!found)
		_exit(127);
	return found;
}

/* Those who ask for a function by its name are often in another library than the one that has it. */
static void *next_of(const char *name)
{
	static void *library;
	void *symbol = real_dlsym()(RTLD_NEXT, name);

	if (!library)
		library = dlopen(!strncmp(name, "glX", 3) ? "libGL.so.1" : "libEGL.so.1", RTLD_NOW);
	if (!symbol && library)
		symbol = real_dlsym()(library, name);
	if (!symbol)
		_exit(127);
	return symbol;
}
#else
static void *next_of(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (!symbol)
		_exit(127);
	return symbol;
}
#endif

static void pace(void)
{
	static int64_t period_ns = -1, due_ns;
	int64_t now_ns;

	if (period_ns < 0)
		period_ns = getenv("PACE_US") ? atoll(getenv("PACE_US")) * 1000 : 0;
	if (!period_ns)
		return;
	now_ns = stamp_now_ns();
	due_ns = due_ns ? due_ns + period_ns : now_ns;
	/* A display shows nothing between two of its own moments. */
	while (due_ns < now_ns)
		due_ns += period_ns;
	stamp_sleep_until(due_ns);
}

static void handed_over(void)
{
	if (depth)
		return;
	stamp_interval();
	pace();
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
	static void (*next)(void *, unsigned long);

	if (!next)
		next = next_of("glXSwapBuffers");
	next(display, drawable);
	handed_over();
}

unsigned eglSwapBuffers(void *display, void *surface)
{
	static unsigned (*next)(void *, void *);
	unsigned done;

	if (!next)
		next = next_of("eglSwapBuffers");
	done = next(display, surface);
	handed_over();
	return done;
}

void SDL_GL_SwapWindow(void *window)
{
	static void (*next)(void *);

	if (!next)
		next = next_of("SDL_GL_SwapWindow");
	depth++;
	next(window);
	depth--;
	handed_over();
}

void SDL_RenderPresent(void *renderer)
{
	static void (*next)(void *);

	if (!next)
		next = next_of("SDL_RenderPresent");
	depth++;
	next(renderer);
	depth--;
	handed_over();
}

static int (*process)(unsigned frames, void *arg);

static int stamped_process(unsigned frames, void *arg)
{
	stamp_interval();
	return process(frames, arg);
}

int jack_set_process_callback(void *client, int (*callback)(unsigned, void *), void *arg)
{
	int (*next)(void *, int (*)(unsigned, void *), void *) = next_of("jack_set_process_callback");

	process = callback;
	return next(client, stamped_process, arg);
}

#ifdef TAKE_DLSYM
void *glXGetProcAddressARB(const unsigned char *name)
{
	static void *(*next)(const unsigned char *);

	if (!strcmp((const char *)name, "glXSwapBuffers"))
		return (void *)glXSwapBuffers;
	if (!next)
		next = next_of("glXGetProcAddressARB");
	return next(name);
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	if (!strcmp(name, "glXSwapBuffers"))
		return (void *)glXSwapBuffers;
	if (!strcmp(name, "eglSwapBuffers"))
		return (void *)eglSwapBuffers;
	if (!strcmp(name, "glXGetProcAddressARB") || !strcmp(name, "glXGetProcAddress"))
		return (void *)glXGetProcAddressARB;
	return real_dlsym()(handle, name);
}
#endif
