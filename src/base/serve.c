// SPDX-License-Identifier: GPL-2.0
/* The side of who has something to show. The socket is opened with whatever rights there are; what reads from it has
 * none (serve_apart.c). */
#include "serve.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

enum { WAITING_MOST = 32, SERVER_BYTES = 8 << 20, DESCRIPTORS = 128, PROCESSES = 1 };

union one_descriptor {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int serve_send(int channel, int fd, const struct serve_message *message)
{
	struct serve_message copy = *message;
	struct iovec bytes = { &copy, sizeof(copy) };
	union one_descriptor control = {
		.head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct msghdr packet = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(channel, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int serve_receive(int channel, struct serve_message *message, bool *ended)
{
	struct iovec bytes = { message, sizeof(*message) };
	union one_descriptor control;
	struct msghdr packet = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(channel, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *head;
	int fd = -1;

	if (got != (ssize_t)sizeof(*message)) {
		*ended = got >= 0 || (errno != EAGAIN && errno != EINTR);
		return -1;
	}
	head = CMSG_FIRSTHDR(&packet);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* An address that this machine may get later, as when it boots: it is listened to from then on. */
static int bind_early(int fd, const struct http_address *address, const char *url)
{
	int one = 1;

	/* It holds for both families. */
	if (setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&address->socket, address->len)) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	note("%s: this machine does not have that address yet; who asks there is answered once it does", url);
	return 0;
}

static int bind_to(int fd, const struct http_address *address, const char *url)
{
	if (!bind(fd, (const struct sockaddr *)&address->socket, address->len))
		return 0;
	return errno == EADDRNOTAVAIL ? bind_early(fd, address, url) : -1;
}

static int listen_at(struct http_address *address, struct reason *why)
{
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, error;
	char url[HTTP_URL_SIZE];

	http_url(url, address, false, "");
	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) && !bind_to(fd, address, url) &&
	    !listen(fd, WAITING_MOST) && !getsockname(fd, (struct sockaddr *)&address->socket, &address->len))
		return fd;
	error = errno;
	reason_set(why, "cannot listen at %s: %s%s", url, strerror(error),
		   error == EADDRINUSE	   ? " (port 0 finds a free one)"
		   : error == EAFNOSUPPORT ? " (as a service: add RestrictAddressFamilies=AF_INET AF_INET6 to its unit)"
					   : "");
	if (fd >= 0)
		close(fd);
	return -error;
}

static int make_token(char token[HTTP_TOKEN_SIZE])
{
	unsigned char bytes[(HTTP_TOKEN_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Signals are for who started it, and it ends with that one. */
static void be_apart(int channel, pid_t parent, const struct serve_settings *settings)
{
	sigset_t every;

	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	confine_files(channel);
	prctl(PR_SET_NAME, settings->page ? "tactus-page" : "tactus-metrics");
	confine_user();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	confine_limits(SERVER_BYTES, DESCRIPTORS, PROCESSES);
	serve_be_server(channel, settings);
}

/* What answers says one byte when it has given up its rights. */
static int wait_until_apart(int channel)
{
	char byte;
	ssize_t got;

	do
		got = recv(channel, &byte, 1, 0);
	while (got < 0 && errno == EINTR);
	return got == 1 ? 0 : got < 0 ? -errno : -ECHILD;
}

/* `settings` have all but a token that is made here. */
static int start(struct serve *serve, const struct http_address *address, bool makes_token,
		 struct serve_settings *settings, struct reason *why)
{
	struct http_address own = *address;
	const struct serve_message socket_follows = { 0 };
	int listening = listen_at(&own, why), channel[2], error = 0;
	pid_t self = getpid();

	serve->fd = -1;
	if (listening < 0)
		return listening;
	if ((makes_token && make_token(settings->token)) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		error = -errno;
		reason_set(why, "cannot make a server: %s", strerror(errno));
		close(listening);
		return error;
	}
	http_url(serve->url, &own, settings->tls, settings->page ? settings->token : "");
	serve->pid = fork();
	if (!serve->pid)
		be_apart(channel[1], self, settings);
	error = serve->pid < 0 ? -errno : serve_send(channel[0], listening, &socket_follows);
	close(listening);
	close(channel[1]);
	serve->fd = channel[0];
	if (!error)
		error = wait_until_apart(channel[0]);
	if (error) {
		reason_set(why, "cannot make a server: %s",
			   error == -ECHILD ? "its process has ended as it began" : strerror(-error));
		serve_stop(serve);
	}
	return error;
}

int serve_start(struct serve *serve, const struct http_address *address, bool wants_token,
		const struct serve_page *page, struct reason *why)
{
	struct serve_settings settings = { .page = page };

	return start(serve, address, wants_token || !address->is_loopback, &settings, why);
}

int serve_start_metrics(struct serve *serve, const struct http_address *address, const char *token,
			const struct tls *tls, struct reason *why)
{
	struct serve_settings settings = { .tls = tls };

	serve->fd = -1;
	if (!address->is_loopback && (!token[0] || !tls)) {
		reason_set(why,
			   "others reach that address: give %s%s%s, or serve on 127.0.0.1 behind a proxy that has TLS",
			   token[0] ? "" : "a token with --token-file", token[0] || tls ? "" : " and ",
			   tls ? "" : "a certificate with --tls-cert and --tls-key");
		return -EPERM;
	}
	snprintf(settings.token, sizeof(settings.token), "%s", token);
	return start(serve, address, false, &settings, why);
}

bool serve_is_asked(const struct serve *serve, bool *ended)
{
	bool is_asked = false;
	char bytes[16];
	ssize_t got;

	while ((got = recv(serve->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		is_asked = true;
	*ended = got == 0 || (errno != EAGAIN && errno != EINTR);
	return is_asked;
}

int serve_give(const struct serve *serve, int records_fd, u64 len)
{
	return serve_send(serve->fd, records_fd, &(struct serve_message){ .len = len });
}

int serve_give_metrics(const struct serve *serve, int fd, u64 len, u64 plain_len)
{
	return serve_send(serve->fd, fd, &(struct serve_message){ len, plain_len });
}

void serve_stop(struct serve *serve)
{
	if (serve->fd < 0)
		return;
	close(serve->fd);
	serve->fd = -1;
	if (serve->pid > 0) {
		/* It ends by itself when it hears that; a kernel that is busy need not be waited for. */
		kill(serve->pid, SIGKILL);
		waitpid(serve->pid, NULL, 0);
	}
}
