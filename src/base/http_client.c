// SPDX-License-Identifier: GPL-2.0
/* HTTP/1.0 is asked for, so that the answer ends where the connection does and comes in one piece.
 */
#include "http_client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

enum { HEAD_SIZE = 2048, FIRST_ROOM = 16 << 10, HOSTS_LINE = 1024, NAME_PATIENCE_MS = 10000 };

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

static void be_getent(int out, const char *host)
{
	char *const words[] = { "getent", "ahosts", (char *)host, NULL }, *const environment[] = { "LC_ALL=C", NULL };

	dup2(out, STDOUT_FILENO);
	execve("/usr/bin/getent", words, environment);
	_exit(EXIT_FAILURE);
}

/* By a program that every C library brings: what finds names needs libraries that a static program has not. */
static bool find_by_getent(const char *host, char found[HTTP_NAME_SIZE])
{
	char line[HOSTS_LINE] = "";
	struct pollfd ready;
	int fds[2];
	pid_t child;

	/* Nothing that it may take for an option. */
	if (!isalnum((unsigned char)host[0]) || pipe2(fds, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		be_getent(fds[1], host);
	close(fds[1]);
	ready = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	if (child > 0 && poll(&ready, 1, NAME_PATIENCE_MS) > 0 && read(fds[0], line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fds[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	line[strcspn(line, " \t\n")] = '\0';
	snprintf(found, HTTP_NAME_SIZE, strchr(line, ':') ? "[%s]" : "%s", line);
	return line[0];
}

int http_target_find(struct http_target *target, const char *url, u32 default_port, struct reason *why)
{
	char host[HTTP_NAME_SIZE], found[HTTP_NAME_SIZE];
	u32 port;

	if (!http_target_parse(target, url, default_port, host, &port)) {
		reason_set(why, "%s: is no address such as http://127.0.0.1:9090", url);
		return -EINVAL;
	}
	snprintf(target->host, sizeof(target->host), "%.*s", (int)strcspn(host + (host[0] == '['), "]"),
		 host + (host[0] == '['));
	if (is_address(host, port, &target->address) ||
	    (!strcasecmp(host, "localhost") && is_address("127.0.0.1", port, &target->address)) ||
	    (find_in_hosts(host, found) && is_address(found, port, &target->address)) ||
	    (find_by_getent(host, found) && is_address(found, port, &target->address)))
		return 0;
	reason_set(why, "%s: no address of '%s' is found, in /etc/hosts or by 'getent ahosts'", url, host);
	return -ENOENT;
}

int http_read_token(const char *path, char token[HTTP_BEARER_SIZE], struct reason *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd < 0 ? -1 : read(fd, token, HTTP_BEARER_SIZE - 1);
	int error = got < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (error) {
		reason_set(why, "%s: %s", path, strerror(error));
		return -error;
	}
	token[got] = '\0';
	token[strcspn(token, "\r\n")] = '\0';
	if (http_token_is_sound(token))
		return 0;
	reason_set(why, "%s: its first line is no token: 16 to 128 letters, digits and -._~+/=", path);
	return -EINVAL;
}

/* What goes to the server and comes from it. */
struct wire {
	int fd;
	const struct http_secrecy *secrecy; /* NULL: none */
	void *session;
	u64 until_ns;
};

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

/* Keys that are agreed on come and go whichever way the rest does. */
static bool wait_for_wire(const struct wire *wire, short events)
{
	if (wire->session)
		events = wire->secrecy->waits_to_send(wire->session) ? POLLOUT : POLLIN;
	return wait_until(wire->fd, events, wire->until_ns);
}

static ssize_t wire_send(const struct wire *wire, const char *bytes, size_t len)
{
	return wire->session ? wire->secrecy->send(wire->session, bytes, len)
			     : send(wire->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t wire_receive(const struct wire *wire, char *into, size_t size)
{
	return wire->session ? wire->secrecy->receive(wire->session, into, size)
			     : recv(wire->fd, into, size, MSG_DONTWAIT);
}

static int send_all(const struct wire *wire, const char *bytes, size_t len)
{
	while (len) {
		ssize_t sent = wire_send(wire, bytes, len);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (sent < 0 && !wait_for_wire(wire, POLLOUT))
			return -errno;
		if (sent > 0) {
			bytes += sent;
			len -= (size_t)sent;
		}
	}
	return 0;
}

static char *hear_all(const struct wire *wire, size_t *len, int *error)
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
		got = wire_receive(wire, bytes + *len, room - *len);
		if (got == 0)
			break;
		if (got > 0)
			*len += (size_t)got;
		else if (errno != EAGAIN && errno != EINTR)
			*error = errno;
		else if (!wait_for_wire(wire, POLLIN))
			*error = errno;
	}
	if (!*error) {
		bytes[*len] = '\0';
		return bytes;
	}
	free(bytes);
	return NULL;
}

static int send_question(const struct wire *wire, const struct http_question *question)
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
	error = send_all(wire, head, (size_t)len + 2);
	if (!error && question->type)
		error = send_all(wire, question->body, question->body_len);
	return error;
}

static char *ask_over(struct wire *wire, const struct http_question *question, size_t *all, int *error,
		      struct reason *of_secrecy)
{
	char *bytes = NULL;

	if (wire->secrecy) {
		wire->session = wire->secrecy->begin(wire->secrecy->with, wire->fd);
		*error = wire->session ? 0 : -ENOMEM;
	}
	if (!*error)
		*error = send_question(wire, question);
	if (!*error) {
		bytes = hear_all(wire, all, error);
		*error = -*error;
	}
	if (wire->session && *error && !wire->secrecy->explain(wire->session, of_secrecy) && *error == -EPROTO)
		reason_set(of_secrecy, "it speaks no TLS that is known here");
	if (wire->session)
		wire->secrecy->end(wire->session);
	return bytes;
}

char *http_ask(const struct http_question *question, u32 *status, size_t *len, struct reason *why)
{
	const struct http_target *target = question->target;
	const char *scheme = target->is_encrypted ? "https" : "http";
	struct wire wire = { .secrecy = target->is_encrypted ? question->secrecy : NULL,
			     .until_ns = clock_now_ns() + (u64)question->patience_ms * NSEC_PER_MSEC };
	struct reason of_secrecy = { "" };
	size_t all = 0, body_at = 0;
	char *bytes = NULL;
	int error;

	wire.fd = call(target, wire.until_ns);
	error = wire.fd < 0 ? wire.fd : 0;
	if (!error) {
		bytes = ask_over(&wire, question, &all, &error, &of_secrecy);
		close(wire.fd);
	}
	if (error) {
		reason_set(why, "%s://%s: %s", scheme, target->name,
			   of_secrecy.text[0] ? of_secrecy.text : strerror(-error));
		return NULL;
	}
	*status = http_answer_status(bytes, all, &body_at);
	if (!*status) {
		reason_set(why, "%s://%s: what it answers is no HTTP", scheme, target->name);
		free(bytes);
		return NULL;
	}
	*len = all - body_at;
	memmove(bytes, bytes + body_at, *len + 1);
	return bytes;
}
