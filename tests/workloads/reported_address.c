// SPDX-License-Identifier: GPL-2.0
/* Two processes over one library that neither may write to. The liar asks a library called libEGL for a function, which
 * answers with a place in the first one; the victim computes with it all the while.
 *   reported_address liar LIBEGL LIBRARY FUNCTION OFFSET   calls eglGetProcAddress after each newline, and says "asked"
 *   reported_address victim LIBRARY FUNCTION               calls it after each newline, and says what it returned
 *   reported_address presents LIBVULKAN FRAMES             asks where to present in one thread, presents in another */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
	fprintf(stderr, "reported_address: %s\n", what);
	exit(1);
}

static void *function(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW), *found = library ? dlsym(library, name) : NULL;

	if (!found)
		die(dlerror());
	return found;
}

static int lie(char **argv)
{
	void *(*ask)(const char *) = function(argv[2], "eglGetProcAddress");
	char **answer = function(argv[2], "answer");

	*answer = (char *)function(argv[3], argv[4]) + atoi(argv[5]);
	puts("mapped");
	fflush(stdout);
	while (getchar() != EOF) {
		ask("eglSwapBuffersWithDamageKHR");
		puts("asked");
		fflush(stdout);
	}
	return 0;
}

static int compute(char **argv)
{
	long (*victim)(long) = function(argv[2], argv[3]);

	puts("mapped");
	fflush(stdout);
	while (getchar() != EOF) {
		printf("computed %ld\n", victim(1));
		fflush(stdout);
	}
	return 0;
}

static void (*present)(void);
static long frames;

static void *present_all(void *unused)
{
	(void)unused;
	for (long i = 0; i < frames; i++)
		present();
	return NULL;
}

static int present_as_reported(char **argv)
{
	void *(*ask)(void *, const char *) = function(argv[2], "vkGetDeviceProcAddr");
	pthread_t thread;

	frames = atol(argv[3]);
	puts("mapped");
	fflush(stdout);
	while (getchar() != EOF) {
		if (present) {
			if (pthread_create(&thread, NULL, present_all, NULL))
				die("no thread");
			pthread_join(thread, NULL);
		}
		present = (void (*)(void))ask(NULL, "vkQueuePresentKHR");
		printf("asked %p\n", (void *)(size_t)present);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "liar"))
		return lie(argv);
	if (argc == 4 && !strcmp(argv[1], "victim"))
		return compute(argv);
	if (argc == 4 && !strcmp(argv[1], "presents"))
		return present_as_reported(argv);
	die("usage: reported_address liar LIBEGL LIBRARY FUNCTION OFFSET | victim LIBRARY FUNCTION | presents "
	    "LIBVULKAN "
	    "FRAMES");
}
