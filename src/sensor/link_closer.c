// SPDX-License-Identifier: GPL-2.0
/* A few threads that end when there is nothing left to close. They touch nothing but their links. */
#include "link_closer.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../base/vec.h"

/* The kernel closes probes of perf one after another, with a lock that everybody who puts one on waits for, on the
 * whole machine: a crowd in front of it would keep others out for seconds. All others share their waiting. */
static struct pool {
	struct bpf_link **links;
	size_t len, room;
	int threads, threads_most;
} pools[] = { [LINK_OF_PERF] = { .threads_most = 1 }, [LINK_OF_MANY] = { .threads_most = 16 } };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_ended = PTHREAD_COND_INITIALIZER;

static void *close_links(void *data)
{
	struct pool *pool = data;

	pthread_mutex_lock(&lock);
	while (pool->len) {
		struct bpf_link *link = pool->links[--pool->len];

		pthread_mutex_unlock(&lock);
		bpf_link__destroy(link);
		pthread_mutex_lock(&lock);
	}
	pool->threads--;
	pthread_cond_broadcast(&some_ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Signals are for the program's own thread. */
static void start_thread(struct pool *pool)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, close_links, pool)) {
		pthread_detach(thread);
		pool->threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void link_close_soon(struct bpf_link *link, enum link_kind kind)
{
	struct pool *pool = &pools[kind];

	pthread_mutex_lock(&lock);
	if (vec_reserve(pool->links, pool->room, pool->len + 1, 64)) {
		pool->links[pool->len++] = link;
		link = NULL;
		if (pool->threads < pool->threads_most)
			start_thread(pool);
		if (!pool->threads)
			link = pool->links[--pool->len];
	}
	pthread_mutex_unlock(&lock);
	bpf_link__destroy(link);
}

void links_wait_closed(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		struct pool *pool = &pools[i];

		while (pool->threads)
			pthread_cond_wait(&some_ended, &lock);
		free(pool->links);
		pool->links = NULL;
		pool->len = pool->room = 0;
	}
	pthread_mutex_unlock(&lock);
}
