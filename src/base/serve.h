/* SPDX-License-Identifier: GPL-2.0 */
/* A page for browsers, from a process apart that has no rights and no way to get any: it answers requests with what it
 * was last given, asks for more when somebody looks, and can do nothing else. */
#ifndef TACTUS_BASE_SERVE_H
#define TACTUS_BASE_SERVE_H

#include <sys/types.h>

#include "http.h"
#include "say.h"

struct tls;

/* What stands around the records in the page. It is there for as long as the server is. */
struct serve_page {
	const char *before, *after;
	size_t before_len, after_len;
};

struct serve {
	int fd; /* readable when somebody wants news, or the server has ended; -1: there is none */
	pid_t pid;
	char url[HTTP_URL_SIZE];
};

/* The same without a page: figures at /metrics. What is given to it is both forms, one behind the other. `token`: asked
 * for; "": by nobody. `tls`: NULL: what is sent is not encrypted. An address that others reach needs both. */
int serve_start_metrics(struct serve *serve, const struct http_address *address, const char *token,
			const struct tls *tls, struct reason *why);

/* Listens, and forks the server. An address that others reach asks for a token, which is in the URL; `wants_token`:
 * this machine's own does too. Returns 0, or -errno with the reason. */
int serve_start(struct serve *serve, const struct http_address *address, bool wants_token,
		const struct serve_page *page, struct reason *why);

/* Whether somebody wants news since the last time that this was asked. *ended: the server is gone. */
bool serve_is_asked(const struct serve *serve, bool *ended);

/* So many bytes of a file are the records from now on. Returns 0 or -errno. */
int serve_give(const struct serve *serve, int records_fd, u64 len);
/* Of figures: so many in OpenMetrics, and behind them so many in the older format. */
int serve_give_metrics(const struct serve *serve, int fd, u64 len, u64 plain_len);

void serve_stop(struct serve *serve);

/* The server's side: does not return. `channel`: to who started it, from whom it gets the socket that it listens on. */
struct serve_settings {
	const struct serve_page *page; /* NULL: figures, and none */
	const struct tls *tls;	       /* NULL: none */
	char token[HTTP_BEARER_SIZE];  /* "": none is asked for */
};
void serve_be_server(int channel, const struct serve_settings *settings) __attribute__((noreturn));

/* A descriptor and how long its file is, over a channel. */
struct serve_message {
	u64 len; /* 0: it is the socket to listen on */
	u64 plain_len;
};
int serve_send(int channel, int fd, const struct serve_message *message);
/* -1: none came, or with *ended, none will. */
int serve_receive(int channel, struct serve_message *message, bool *ended);

#endif
