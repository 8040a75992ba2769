/* SPDX-License-Identifier: GPL-2.0 */
/* What a browser asks for: the head of an HTTP request, and where to be asked. Of HTTP there is as much as a page that
 * only shows needs: no body, no escapes in paths, nothing that is kept from one request to the next. Whatever does not
 * look as a browser writes it is refused. */
#ifndef TACTUS_BASE_HTTP_H
#define TACTUS_BASE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "../../core/types.h"

enum { HTTP_HEAD_MOST = 4096, HTTP_PATH_SIZE = 64, HTTP_QUERY_SIZE = 128, HTTP_HOST_SIZE = 128 };
enum { HTTP_TOKEN_SIZE = 33, HTTP_URL_SIZE = 128, HTTP_BEARER_SIZE = 129, HTTP_TOKEN_LEAST = 16 };

/* Not whole yet; whole; and why it is refused. */
enum http_found { HTTP_MORE, HTTP_WHOLE, HTTP_BAD, HTTP_TOO_LONG, HTTP_OTHER_METHOD };

struct http_request {
	bool is_head; /* no body is wanted */
	char path[HTTP_PATH_SIZE];
	char query[HTTP_QUERY_SIZE];   /* what stands behind '?'; "": nothing */
	char host[HTTP_HOST_SIZE];     /* "": not said */
	char bearer[HTTP_BEARER_SIZE]; /* the token of "Authorization: Bearer"; "": none */
	bool wants_openmetrics;
};

/* Of all bytes that have come. *request is filled if they are whole. */
enum http_found http_parse(const char *bytes, size_t len, struct http_request *request);

/* Whether the request was sent to this very machine by its address, and not by a name, which anybody may have made to
 * lead here from a page of his. */
bool http_host_is_loopback(const char *host);

/* Whether a query has that token, in as long whatever it has. */
bool http_has_token(const char *query, const char *token);

/* The same of a token that was sent by itself. */
bool http_is_token(const char *sent, const char *token);

/* Whether a text may be a token: of some length, and of signs that a header may have. */
bool http_token_is_sound(const char *token);

struct http_address {
	struct sockaddr_storage socket;
	socklen_t len;
	bool is_loopback;
};

/* "127.0.0.1:8080", "[::1]:8080", "8080" for this machine alone. False: it is no such thing. */
bool http_address_parse(const char *text, struct http_address *address);

/* Where a browser finds it. `token` may be "". */
void http_url(char into[HTTP_URL_SIZE], const struct http_address *address, bool is_encrypted, const char *token);

#endif
