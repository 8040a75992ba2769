// SPDX-License-Identifier: GPL-2.0
/* A few threads that end when there is nothing left to close. They touch nothing but their links. */
#include "link_closer.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { THREADS_MAX = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_ended = PTHREAD_COND_INITIALIZER;
static struct bpf_link **links;
static size_t links_len, links_room;
static int threads;

static void *close_links(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (links_len) {
		struct bpf_link *link = links[--links_len];

		pthread_mutex_unlock(&lock);
		bpf_link__destroy(link);
		pthread_mutex_lock(&lock);
	}
	threads--;
	pthread_cond_broadcast(&some_ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Signals are for the program's own thread. */
static void start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, close_links, NULL)) {
		pthread_detach(thread);
		threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void link_close_soon(struct bpf_link *link)
{
	pthread_mutex_lock(&lock);
	if (links_len == links_room) {
		size_t room = links_room ? links_room * 2 : 64;
		struct bpf_link **more = realloc(links, room * sizeof(struct bpf_link *));

		if (more) {
			links = more;
			links_room = room;
		}
	}
	if (links_len < links_room) {
		links[links_len++] = link;
		link = NULL;
		if (threads < THREADS_MAX)
			start_thread();
		if (!threads)
			link = links[--links_len];
	}
	pthread_mutex_unlock(&lock);
	bpf_link__destroy(link);
}

void links_wait_closed(void)
{
	pthread_mutex_lock(&lock);
	while (threads)
		pthread_cond_wait(&some_ended, &lock);
	free(links);
	links = NULL;
	links_len = links_room = 0;
	pthread_mutex_unlock(&lock);
}
