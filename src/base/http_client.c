// SPDX-License-Identifier: GPL-2.0
/* HTTP/1.0 is asked for, so that the answer ends where the connection does and comes in one piece.
 */
#include "http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "loop.h"

enum { HEAD_SIZE = 2048, FIRST_ROOM = 16 << 10, HOSTS_LINE = 1024 };

static bool is_address(const char *host, u32 port, struct http_address *address)
{
	char text[HTTP_NAME_SIZE + 16];

	snprintf(text, sizeof(text), "%s:%u", host, port);
	return http_address_parse(text, address);
}

/* Names of /etc/hosts alone: what else finds names needs libraries that a static program has not. */
static bool find_in_hosts(const char *host, char found[HTTP_NAME_SIZE])
{
	FILE *file = fopen("/etc/hosts", "re");
	char line[HOSTS_LINE];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		char *rest, *address, *name;

		line[strcspn(line, "#\n")] = '\0';
		address = strtok_r(line, " \t", &rest);
		while (address && !is_found && (name = strtok_r(NULL, " \t", &rest)))
			is_found = !strcasecmp(name, host);
		if (is_found)
			snprintf(found, HTTP_NAME_SIZE, strchr(address, ':') ? "[%s]" : "%s", address);
	}
	if (file)
		fclose(file);
	return is_found;
}

int http_target_find(struct http_target *target, const char *url, u32 default_port, struct reason *why)
{
	char host[HTTP_NAME_SIZE], found[HTTP_NAME_SIZE];
	u32 port;

	if (!strncmp(url, "https://", 8)) {
		reason_set(why, "%s: there is no TLS here: name a proxy on this machine that has it, by http://", url);
		return -EINVAL;
	}
	if (!http_target_parse(target, url, default_port, host, &port)) {
		reason_set(why, "%s: is no address such as http://127.0.0.1:9090", url);
		return -EINVAL;
	}
	if (is_address(host, port, &target->address) ||
	    (!strcasecmp(host, "localhost") && is_address("127.0.0.1", port, &target->address)) ||
	    (find_in_hosts(host, found) && is_address(found, port, &target->address)))
		return 0;
	reason_set(why, "%s: /etc/hosts has no '%s': name it by its address", url, host);
	return -ENOENT;
}

/* False: its time is over, or it is. */
static bool wait_until(int fd, short events, u64 until_ns)
{
	u64 now_ns = clock_now_ns();
	struct pollfd one = { .fd = fd, .events = events };

	if (now_ns >= until_ns) {
		errno = ETIMEDOUT;
		return false;
	}
	if (poll(&one, 1, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
		return true;
	errno = errno == EINTR ? EINTR : ETIMEDOUT;
	return false;
}

static int call(const struct http_target *target, u64 until_ns)
{
	const struct http_address *address = &target->address;
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	socklen_t len = sizeof(error);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address->socket, address->len) && errno != EINPROGRESS)
		error = errno;
	else if (!wait_until(fd, POLLOUT, until_ns))
		error = errno;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (!error)
		return fd;
	close(fd);
	return -error;
}

static int send_all(int fd, const char *bytes, size_t len, u64 until_ns)
{
	while (len) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (sent < 0 && !wait_until(fd, POLLOUT, until_ns))
			return -errno;
		if (sent > 0) {
			bytes += sent;
			len -= (size_t)sent;
		}
	}
	return 0;
}

static char *hear_all(int fd, u64 until_ns, size_t *len, int *error)
{
	size_t room = FIRST_ROOM;
	char *bytes = malloc(room + 1), *grown;

	*len = 0;
	*error = bytes ? 0 : ENOMEM;
	while (!*error) {
		ssize_t got;

		if (*len == room) {
			room *= 2;
			grown = room > HTTP_ANSWER_MOST ? NULL : realloc(bytes, room + 1);
			if (!grown) {
				*error = EFBIG;
				break;
			}
			bytes = grown;
		}
		got = recv(fd, bytes + *len, room - *len, MSG_DONTWAIT);
		if (got == 0)
			break;
		if (got > 0)
			*len += (size_t)got;
		else if (errno != EAGAIN && errno != EINTR)
			*error = errno;
		else if (!wait_until(fd, POLLIN, until_ns))
			*error = errno;
	}
	if (!*error) {
		bytes[*len] = '\0';
		return bytes;
	}
	free(bytes);
	return NULL;
}

static int send_question(int fd, const struct http_question *question, u64 until_ns)
{
	const struct http_target *target = question->target;
	char head[HEAD_SIZE];
	int len, error;

	len = snprintf(head, sizeof(head),
		       "%s %s%s HTTP/1.0\r\nHost: %s\r\nUser-Agent: tactus\r\nConnection: close\r\n",
		       question->type ? "POST" : "GET", target->path, question->path, target->name);
	if (question->bearer[0] && len < HEAD_SIZE)
		len += snprintf(head + len, sizeof(head) - (size_t)len, "Authorization: Bearer %s\r\n",
				question->bearer);
	if (question->type && len < HEAD_SIZE)
		len += snprintf(head + len, sizeof(head) - (size_t)len, "Content-Type: %s\r\nContent-Length: %zu\r\n",
				question->type, question->body_len);
	if (len + 2 >= HEAD_SIZE)
		return -EMSGSIZE;
	memcpy(head + len, "\r\n", 2);
	error = send_all(fd, head, (size_t)len + 2, until_ns);
	if (!error && question->type)
		error = send_all(fd, question->body, question->body_len, until_ns);
	return error;
}

char *http_ask(const struct http_question *question, u32 *status, size_t *len, struct reason *why)
{
	u64 until_ns = clock_now_ns() + (u64)question->patience_ms * NSEC_PER_MSEC;
	int fd = call(question->target, until_ns), error = fd < 0 ? fd : 0;
	char *bytes = NULL;
	size_t all = 0, body_at = 0;

	if (!error)
		error = send_question(fd, question, until_ns);
	if (!error) {
		bytes = hear_all(fd, until_ns, &all, &error);
		error = -error;
	}
	if (fd >= 0)
		close(fd);
	if (error) {
		reason_set(why, "http://%s: %s", question->target->name, strerror(-error));
		return NULL;
	}
	*status = http_answer_status(bytes, all, &body_at);
	if (!*status) {
		reason_set(why, "http://%s: what it answers is no HTTP", question->target->name);
		free(bytes);
		return NULL;
	}
	*len = all - body_at;
	memmove(bytes, bytes + body_at, *len + 1);
	return bytes;
}
