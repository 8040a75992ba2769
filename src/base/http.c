// SPDX-License-Identifier: GPL-2.0
/* Lines end with CR and LF, as RFC 9112 has it; what it allows besides (folded lines, bare LF) no browser sends, and is
 * where readers of HTTP come to disagree. */
#include "http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct words {
	const char *at, *end;
};

static bool is_token_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       (byte && strchr("!#$%&'*+-.^_`|~", byte));
}

/* The bytes up to that one, which is passed; false: it is not there. */
static bool take_until(struct words *words, char byte, const char **from, size_t *len)
{
	const char *at = memchr(words->at, byte, (size_t)(words->end - words->at));

	if (!at)
		return false;
	*from = words->at;
	*len = (size_t)(at - words->at);
	words->at = at + 1;
	return true;
}

static bool copy(char *into, size_t size, const char *from, size_t len)
{
	if (len >= size)
		return false;
	memcpy(into, from, len);
	into[len] = '\0';
	return true;
}

static bool is_word(const char *from, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(from, word, len);
}

static bool take_target(const char *from, size_t len, struct http_request *request)
{
	const char *mark = memchr(from, '?', len);
	size_t path_len = mark ? (size_t)(mark - from) : len;

	if (!len || from[0] != '/')
		return false;
	for (size_t i = 0; i < len; i++)
		if (from[i] <= ' ' || from[i] > '~')
			return false;
	return copy(request->path, sizeof(request->path), from, path_len) &&
	       (!mark || copy(request->query, sizeof(request->query), mark + 1, len - path_len - 1));
}

/* METHOD SP TARGET SP HTTP/1.x */
static enum http_found take_first_line(const char *line, size_t len, struct http_request *request)
{
	struct words words = { line, line + len };
	const char *method, *target;
	size_t method_len, target_len, version_len;

	if (!take_until(&words, ' ', &method, &method_len) || !take_until(&words, ' ', &target, &target_len))
		return HTTP_BAD;
	version_len = (size_t)(words.end - words.at);
	if (!is_word(words.at, version_len, "HTTP/1.1") && !is_word(words.at, version_len, "HTTP/1.0"))
		return HTTP_BAD;
	for (size_t i = 0; i < method_len; i++)
		if (method[i] < 'A' || method[i] > 'Z')
			return HTTP_BAD;
	if (!method_len || !target_len)
		return HTTP_BAD;
	request->is_head = is_word(method, method_len, "HEAD");
	if (!request->is_head && !is_word(method, method_len, "GET"))
		return HTTP_OTHER_METHOD;
	return take_target(target, target_len, request) ? HTTP_WHOLE : HTTP_BAD;
}

static bool is_field(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && !strncasecmp(name, wanted, len);
}

/* Other ways to say who one is are none. */
static bool take_bearer(const char *from, size_t len, struct http_request *request)
{
	static const char scheme[] = "Bearer ";

	if (len <= strlen(scheme) || strncasecmp(from, scheme, strlen(scheme)) != 0)
		return true;
	return !request->bearer[0] &&
	       copy(request->bearer, sizeof(request->bearer), from + strlen(scheme), len - strlen(scheme));
}

static bool take_field(const char *line, size_t len, struct http_request *request)
{
	struct words words = { line, line + len };
	const char *name, *end = line + len;
	size_t name_len;

	if (!take_until(&words, ':', &name, &name_len) || !name_len)
		return false;
	for (size_t i = 0; i < name_len; i++)
		if (!is_token_byte(name[i]))
			return false;
	while (words.at < end && (*words.at == ' ' || *words.at == '\t'))
		words.at++;
	while (end > words.at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	/* There is nothing that a body could be for. */
	if (is_field(name, name_len, "transfer-encoding"))
		return false;
	if (is_field(name, name_len, "content-length"))
		return is_word(words.at, (size_t)(end - words.at), "0");
	if (is_field(name, name_len, "authorization"))
		return take_bearer(words.at, (size_t)(end - words.at), request);
	if (is_field(name, name_len, "accept"))
		request->wants_openmetrics |= memmem(words.at, (size_t)(end - words.at), "application/openmetrics-text",
						     strlen("application/openmetrics-text")) != NULL;
	if (!is_field(name, name_len, "host"))
		return true;
	return !request->host[0] && end > words.at &&
	       copy(request->host, sizeof(request->host), words.at, (size_t)(end - words.at));
}

/* A line without its end; false: there is none any more, or it is no line. */
static bool take_line(struct words *words, const char **line, size_t *len)
{
	if (!take_until(words, '\n', line, len) || !*len || (*line)[*len - 1] != '\r')
		return false;
	(*len)--;
	return true;
}

/* Text, and ends of lines. */
static bool is_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		bool ends_line = byte == '\r' ? i + 1 == len || bytes[i + 1] == '\n'
					      : byte == '\n' && i && bytes[i - 1] == '\r';

		if ((byte < ' ' && byte != '\t' && !ends_line) || byte == 0x7f)
			return false;
	}
	return true;
}

enum http_found http_parse(const char *bytes, size_t len, struct http_request *request)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4), *line;
	size_t head_len = end ? (size_t)(end - bytes) + 2 : len, line_len;
	struct words words = { bytes, bytes + head_len };
	struct http_request found = { .is_head = false };
	enum http_found first;

	if (!is_text(bytes, head_len))
		return HTTP_BAD;
	if (!end)
		return len >= HTTP_HEAD_MOST ? HTTP_TOO_LONG : HTTP_MORE;
	if (head_len + 2 > HTTP_HEAD_MOST)
		return HTTP_TOO_LONG;
	if (!take_line(&words, &line, &line_len))
		return HTTP_BAD;
	first = take_first_line(line, line_len, &found);
	if (first != HTTP_WHOLE)
		return first;
	while (words.at < words.end)
		if (!take_line(&words, &line, &line_len) || !take_field(line, line_len, &found))
			return HTTP_BAD;
	*request = found;
	return HTTP_WHOLE;
}

bool http_host_is_loopback(const char *host)
{
	char name[HTTP_HOST_SIZE];
	struct in6_addr six;
	struct in_addr four;
	char *port;
	size_t len;

	if (!copy(name, sizeof(name), host, strlen(host)))
		return false;
	port = strrchr(name, ':');
	if (port && !strchr(port, ']')) {
		if (strspn(port + 1, "0123456789") != strlen(port + 1))
			return false;
		*port = '\0';
	}
	len = strlen(name);
	if (name[0] == '[' && name[len - 1] == ']') {
		name[len - 1] = '\0';
		return inet_pton(AF_INET6, name + 1, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
	}
	if (inet_pton(AF_INET, name, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	return !strcasecmp(name, "localhost");
}

bool http_is_token(const char *sent, const char *token)
{
	size_t len = strlen(token);
	unsigned char differs = 0;

	if (strlen(sent) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(sent[i] ^ token[i]);
	return !differs;
}

bool http_has_token(const char *query, const char *token)
{
	static const char name[] = "token=";

	return !strncmp(query, name, strlen(name)) && http_is_token(query + strlen(name), token);
}

bool http_token_is_sound(const char *token)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";
	size_t len = strlen(token);

	return len >= HTTP_TOKEN_LEAST && len < HTTP_BEARER_SIZE && strspn(token, signs) == len;
}

static bool parse_port(const char *text, u16 *port)
{
	unsigned long number = strtoul(text, NULL, 10);

	if (!text[0] || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text) || number > 0xffff)
		return false;
	*port = (u16)number;
	return true;
}

bool http_address_parse(const char *text, struct http_address *address)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&address->socket;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->socket;
	const char *colon = strrchr(text, ':');
	char name[HTTP_HOST_SIZE] = "127.0.0.1";
	size_t len;
	u16 port;

	memset(address, 0, sizeof(*address));
	if (!parse_port(colon ? colon + 1 : text, &port) ||
	    (colon && !copy(name, sizeof(name), text, (size_t)(colon - text))))
		return false;
	len = strlen(name);
	if (name[0] == '[' && len > 2 && name[len - 1] == ']') {
		name[len - 1] = '\0';
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		address->len = sizeof(*six);
		if (inet_pton(AF_INET6, name + 1, &six->sin6_addr) != 1)
			return false;
		address->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
		return true;
	}
	four->sin_family = AF_INET;
	four->sin_port = htons(port);
	address->len = sizeof(*four);
	if (inet_pton(AF_INET, name, &four->sin_addr) != 1)
		return false;
	address->is_loopback = ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return true;
}

void http_url(char into[HTTP_URL_SIZE], const struct http_address *address, bool is_encrypted, const char *token)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket;
	bool is_six = address->socket.ss_family == AF_INET6;
	char name[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->socket.ss_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, name,
		  sizeof(name));
	snprintf(into, HTTP_URL_SIZE, "http%s://%s%s%s:%u/%s%s", is_encrypted ? "s" : "", is_six ? "[" : "", name,
		 is_six ? "]" : "", ntohs(is_six ? six->sin6_port : four->sin_port), token[0] ? "?token=" : "", token);
}
