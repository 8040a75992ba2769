// SPDX-License-Identifier: GPL-2.0
/* Of asking a server by HTTP, what is text alone: addresses, queries, and the head of what it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_client.h"

bool http_target_parse(struct http_target *target, const char *url, u32 default_port, char host[HTTP_NAME_SIZE],
		       u32 *port)
{
	bool is_encrypted = !strncmp(url, "https://", 8);
	const char *from = url + (is_encrypted ? 8 : 7), *colon;
	size_t len, path_len;

	memset(target, 0, sizeof(*target));
	if (!is_encrypted && strncmp(url, "http://", 7) != 0)
		return false;
	target->is_encrypted = is_encrypted;
	len = strcspn(from, "/?#");
	path_len = strlen(from + len);
	while (path_len && from[len + path_len - 1] == '/')
		path_len--;
	if (!len || len >= sizeof(target->name) || path_len >= sizeof(target->path) || strpbrk(from, " ?#\r\n\t"))
		return false;
	memcpy(target->name, from, len);
	memcpy(target->path, from + len, path_len);
	snprintf(host, HTTP_NAME_SIZE, "%s", target->name);
	colon = strrchr(host, ':');
	*port = is_encrypted ? HTTPS_PORT : default_port;
	if (colon && !strchr(colon, ']')) {
		char *end;

		*port = (u32)strtoul(colon + 1, &end, 10);
		if (*end || !colon[1] || !*port || *port > 0xffff)
			return false;
		host[colon - host] = '\0';
	}
	return host[0];
}

bool http_escape(char *into, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text; text++) {
		bool is_plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
				(*text >= '0' && *text <= '9');

		if (at + 4 > size)
			return false;
		if (is_plain)
			into[at++] = *text;
		else
			at += (size_t)snprintf(into + at, size - at, "%%%02X", (unsigned char)*text);
	}
	into[at] = '\0';
	return true;
}

u32 http_answer_status(const char *bytes, size_t len, size_t *body_at)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);
	u32 status = 0;

	if (!end || len < 12 || memcmp(bytes, "HTTP/1.", 7) != 0 || bytes[8] != ' ')
		return 0;
	for (u32 i = 9; i < 12; i++) {
		if (bytes[i] < '0' || bytes[i] > '9')
			return 0;
		status = status * 10 + (u32)(bytes[i] - '0');
	}
	*body_at = (size_t)(end - bytes) + 4;
	return status;
}
