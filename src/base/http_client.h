/* SPDX-License-Identifier: GPL-2.0 */
/* Asks a server by HTTP, once: Prometheus, and what takes OTLP. What is answered is bounded in bytes and time. How it
 * is encrypted is for others to say (https.h). */
#ifndef TACTUS_BASE_HTTP_CLIENT_H
#define TACTUS_BASE_HTTP_CLIENT_H

#include "http.h"
#include "say.h"

enum { HTTP_ANSWER_MOST = 32 << 20, HTTP_NAME_SIZE = 256, HTTP_TARGET_SIZE = 256, HTTPS_PORT = 443 };

/* "http://127.0.0.1:9090/prefix" */
struct http_target {
	char name[HTTP_NAME_SIZE];   /* with its port, as a request says it */
	char path[HTTP_TARGET_SIZE]; /* without a '/' at its end; "": none */
	char host[HTTP_NAME_SIZE];   /* of that, without its port */
	bool is_encrypted;
	struct http_address address;
};

/* Finds out where that is: an address, "localhost", or a name that /etc/hosts or this machine's resolver knows, which
 * is asked by its own program, getent. Returns 0, or -errno with the reason. */
int http_target_find(struct http_target *target, const char *url, u32 default_port, struct reason *why);

/* Of the text alone; *host is what is to be looked up. False: it is none. */
bool http_target_parse(struct http_target *target, const char *url, u32 default_port, char host[HTTP_NAME_SIZE],
		       u32 *port);

/* What goes over a socket that does not block, as recv() and send() do. */
struct http_secrecy {
	const void *with;
	void *(*begin)(const void *with, int fd);
	ssize_t (*receive)(void *session, void *into, size_t size);
	ssize_t (*send)(void *session, const void *from, size_t len);
	bool (*waits_to_send)(const void *session);
	bool (*explain)(const void *session, struct reason *why);
	void (*end)(void *session);
};

struct http_question {
	const struct http_target *target;
	const char *path;   /* with its query, behind the target's own */
	const char *bearer; /* "": none */
	const char *type;   /* of the body; NULL: there is none, and it is GET */
	const char *body;
	size_t body_len;
	u32 patience_ms;
	const struct http_secrecy *secrecy; /* of a target that is encrypted */
};

/* The first line of the file, which has to be a token. Returns 0, or -errno with the reason. */
int http_read_token(const char *path, char token[HTTP_BEARER_SIZE], struct reason *why);

/* The body of the answer with a 0 behind it, which the caller frees, and its status. NULL with the reason. */
char *http_ask(const struct http_question *question, u32 *status, size_t *len, struct reason *why);

/* The status of an answer's head, and where its body begins; 0: it is no answer. */
u32 http_answer_status(const char *bytes, size_t len, size_t *body_at);

/* Text as a part of a query: what is neither letter nor digit as %XX. False: there is no room. */
bool http_escape(char *into, size_t size, const char *text);

#endif
