// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of HTTP requests: any bytes, as they come and cut anywhere. What is found must not depend on where
 * they were cut, must be text, and must fit. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/http.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int held)
{
	if (!held)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	size_t len = size < HTTP_HEAD_MOST ? size : HTTP_HEAD_MOST, cut = len ? data[0] % len : 0;
	char *bytes = malloc(len + 1), *text = malloc(len + 1);
	struct http_request whole = { .is_head = false }, part = { .is_head = false };
	enum http_found found, early;
	struct http_address address;
	char url[HTTP_URL_SIZE];

	require(bytes && text);
	memcpy(bytes, data, len);
	found = http_parse(bytes, len, &whole);
	early = http_parse(bytes, cut, &part);
	require(early == HTTP_MORE || early == found || (early == HTTP_WHOLE && found == HTTP_TOO_LONG));
	if (early == HTTP_WHOLE)
		require(!strcmp(part.path, whole.path) && !strcmp(part.query, whole.query) &&
			!strcmp(part.host, whole.host));
	if (found == HTTP_WHOLE) {
		require(whole.path[0] == '/' && !strchr(whole.path, '?') && !strpbrk(whole.path, " \r\n"));
		require(!strpbrk(whole.host, "\r\n") && !strpbrk(whole.query, " \r\n"));
		http_host_is_loopback(whole.host);
		http_has_token(whole.query, "0123456789abcdef0123456789abcdef");
	}
	memcpy(text, bytes, len);
	text[len] = '\0';
	if (http_address_parse(text, &address))
		http_url(url, &address, true, "0123456789abcdef0123456789abcdef");
	free(bytes);
	free(text);
	return 0;
}
