// SPDX-License-Identifier: GPL-2.0
/* The server: one request a connection, heads of bounded length, few connections, each for a bounded time. When all
 * places are taken, the oldest that has not even asked yet gives up its own, or the oldest that does not take its
 * answer, so that who only holds on keeps nobody out.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"
#include "loop.h"
#include "serve.h"
#include "tls.h"

enum { CONNECTIONS = 32, ANSWER_HEAD_SIZE = 512, PIECES = 4, ENCRYPTED_AT_ONCE = 16 << 10 };
/* How long one may take for its request, wait for news, take its answer, and close. */
#define REQUEST_NS (5ULL * NSEC_PER_SEC)
#define NEWS_NS (20ULL * NSEC_PER_SEC)
#define ANSWER_NS (60ULL * NSEC_PER_SEC)
#define LEAVE_NS (1ULL * NSEC_PER_SEC)
/* Who takes longer for its answer than this gives up its place when there is no other. */
#define SLOW_NS (5ULL * NSEC_PER_SEC)
/* What is not older than this is news. */
#define FRESH_NS (1ULL * NSEC_PER_SEC)

enum state { READING, WAITING, ANSWERING, LEAVING };

struct connection {
	int fd;
	struct tls_session *tls; /* NULL: what is sent is not encrypted */
	enum state state;
	u64 since_ns;	/* in this state */
	u64 arrived_ns; /* when it came */
	size_t len;	/* of the head that has come */
	struct http_request request;
	size_t head_len;
	int records_fd; /* -1: none is answered with */
	u64 records_from, records_len;
	bool in_page;
	u64 sent;
	char head[HTTP_HEAD_MOST];
	char answer[ANSWER_HEAD_SIZE];
};

struct server {
	const struct serve_settings *settings;
	int channel, listening;
	int records_fd; /* -1: none yet */
	u64 records_len, plain_len, records_ns;
	bool has_asked;
	u32 len;
	struct connection all[CONNECTIONS];
};

static void turn(struct connection *connection, enum state state)
{
	connection->state = state;
	connection->since_ns = clock_now_ns();
}

static void drop(struct server *server, u32 at)
{
	struct connection *connection = &server->all[at];

	tls_end(connection->tls);
	close(connection->fd);
	if (connection->records_fd >= 0)
		close(connection->records_fd);
	server->len--;
	if (at != server->len)
		*connection = server->all[server->len];
}

/* Who has not asked, or is done; and who has not taken its answer for a while. */
static bool may_go(const struct connection *connection, bool is_slow, u64 now_ns)
{
	if (is_slow)
		return connection->state == ANSWERING && now_ns - connection->since_ns > SLOW_NS;
	return connection->state == READING || connection->state == LEAVING;
}

static void make_room(struct server *server)
{
	u64 now_ns = clock_now_ns();
	u32 oldest = CONNECTIONS;

	for (int is_slow = 0; is_slow < 2 && oldest == CONNECTIONS; is_slow++)
		for (u32 i = 0; i < server->len; i++)
			if (may_go(&server->all[i], is_slow, now_ns) &&
			    (oldest == CONNECTIONS || server->all[i].arrived_ns < server->all[oldest].arrived_ns))
				oldest = i;
	if (oldest < CONNECTIONS)
		drop(server, oldest);
}

static void let_in(struct server *server)
{
	int fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection;
	struct tls_session *tls = NULL;

	if (fd < 0)
		return;
	if (server->len == CONNECTIONS)
		make_room(server);
	if (server->settings->tls && server->len < CONNECTIONS)
		tls = tls_begin(server->settings->tls, fd);
	if (server->len == CONNECTIONS || (server->settings->tls && !tls)) {
		close(fd);
		return;
	}
	connection = &server->all[server->len++];
	memset(connection, 0, offsetof(struct connection, head));
	connection->fd = fd;
	connection->tls = tls;
	connection->records_fd = -1;
	connection->arrived_ns = clock_now_ns();
	turn(connection, READING);
}

static void begin_answer(struct connection *connection, const char *status, const char *type, u64 len)
{
	int made = snprintf(connection->answer, sizeof(connection->answer),
			    "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %llu\r\n"
			    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
			    "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n%s"
			    "Connection: close\r\n\r\n",
			    status, type, (unsigned long long)len,
			    status[2] == '5' && status[0] == '4' ? "Allow: GET, HEAD\r\n" : "");

	connection->head_len = (size_t)made;
	turn(connection, ANSWERING);
}

/* A refusal is its status and nothing else. */
static void refuse(struct connection *connection, const char *status)
{
	begin_answer(connection, status, "text/plain", 0);
}

/* In the form that is asked for; both lie in one file. */
static void answer_metrics(struct server *server, struct connection *connection)
{
	bool is_plain = !connection->request.wants_openmetrics;

	connection->records_fd = connection->request.is_head ? -1 : fcntl(server->records_fd, F_DUPFD_CLOEXEC, 0);
	connection->records_from = is_plain ? server->records_len : 0;
	connection->records_len = is_plain ? server->plain_len : server->records_len;
	begin_answer(connection, "200 OK",
		     is_plain ? "text/plain; version=0.0.4" : "application/openmetrics-text; version=1.0.0",
		     connection->records_len);
}

static void answer(struct server *server, struct connection *connection)
{
	const struct serve_page *page = server->settings->page;
	bool in_page = page && !strcmp(connection->request.path, "/");
	u64 len = server->records_len + (in_page ? page->before_len + page->after_len : 0);

	if (!page) {
		answer_metrics(server, connection);
		return;
	}
	connection->records_fd = connection->request.is_head ? -1 : fcntl(server->records_fd, F_DUPFD_CLOEXEC, 0);
	connection->records_len = server->records_len;
	connection->in_page = in_page && !connection->request.is_head;
	begin_answer(connection, "200 OK", in_page ? "text/html" : "application/x-ndjson", len);
}

static bool is_fresh(const struct server *server, const struct connection *connection)
{
	return server->records_fd >= 0 && server->records_ns + FRESH_NS >= connection->since_ns;
}

static void ask(struct server *server)
{
	if (!server->has_asked)
		server->has_asked = send(server->channel, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

static void take_request(struct server *server, struct connection *connection)
{
	const struct http_request *request = &connection->request;
	const char *token = server->settings->token;
	bool is_known;

	switch (http_parse(connection->head, connection->len, &connection->request)) {
	case HTTP_MORE:
		return;
	case HTTP_BAD:
		refuse(connection, "400 Bad Request");
		return;
	case HTTP_TOO_LONG:
		refuse(connection, "431 Request Header Fields Too Large");
		return;
	case HTTP_OTHER_METHOD:
		refuse(connection, "405 Method Not Allowed");
		return;
	case HTTP_WHOLE:
		break;
	}
	is_known = server->settings->page ? !strcmp(request->path, "/") || !strcmp(request->path, "/records")
					  : !strcmp(request->path, "/metrics");
	if (token[0] ? !http_has_token(request->query, token) && !http_is_token(request->bearer, token)
		     : !http_host_is_loopback(request->host))
		refuse(connection, "403 Forbidden");
	else if (!is_known)
		refuse(connection, "404 Not Found");
	else
		turn(connection, WAITING);
}

static ssize_t receive(struct connection *connection, char *into, size_t size)
{
	return connection->tls ? tls_receive(connection->tls, into, size)
			       : recv(connection->fd, into, size, MSG_DONTWAIT);
}

/* False: it is over. Of what was encrypted there may be more than the socket shows. */
static bool read_some(struct server *server, struct connection *connection)
{
	char unwanted[HTTP_HEAD_MOST];
	ssize_t got;

	do {
		bool is_wanted = connection->state == READING;

		got = is_wanted ? receive(connection, connection->head + connection->len,
					  sizeof(connection->head) - connection->len)
				: receive(connection, unwanted, sizeof(unwanted));
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (got < 0 || !is_wanted)
			return true;
		connection->len += (size_t)got;
		take_request(server, connection);
	} while (connection->state == READING);
	return true;
}

static ssize_t send_memory(struct connection *connection, const char *from, size_t len, int flags)
{
	return connection->tls ? tls_send(connection->tls, from, len)
			       : send(connection->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
}

static ssize_t send_records(struct connection *connection, off_t from, size_t len)
{
	char piece[ENCRYPTED_AT_ONCE];
	ssize_t got;

	if (!connection->tls)
		return sendfile(connection->fd, connection->records_fd, &from, len);
	got = pread(connection->records_fd, piece, len < sizeof(piece) ? len : sizeof(piece), from);
	/* A file in memory that is shorter than it was said to be. */
	if (got == 0)
		errno = EPIPE;
	return got > 0 ? tls_send(connection->tls, piece, (size_t)got) : -1;
}

/* The next of what is left to send: from memory, or from the records. */
static ssize_t send_next(const struct serve_page *page, struct connection *connection)
{
	bool has_records = connection->records_fd >= 0;
	struct {
		const char *from;
		u64 len;
	} pieces[PIECES] = { { connection->answer, connection->head_len },
			     { connection->in_page ? page->before : "", connection->in_page ? page->before_len : 0 },
			     { NULL, has_records ? connection->records_len : 0 },
			     { connection->in_page ? page->after : "", connection->in_page ? page->after_len : 0 } };
	u64 at = connection->sent;

	for (u32 i = 0; i < PIECES; i++) {
		off_t from = (off_t)(at + connection->records_from);

		if (at >= pieces[i].len) {
			at -= pieces[i].len;
			continue;
		}
		if (pieces[i].from)
			return send_memory(connection, pieces[i].from + at, pieces[i].len - at,
					   i + 1 < PIECES ? MSG_MORE : 0);
		return send_records(connection, from, pieces[i].len - at);
	}
	return 0;
}

static bool write_some(struct server *server, struct connection *connection)
{
	ssize_t sent;

	while ((sent = send_next(server->settings->page, connection)) > 0)
		connection->sent += (u64)sent;
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	if (connection->tls)
		tls_finish(connection->tls);
	/* What it sent and nobody read would take the answer away from it if this closed at once. */
	shutdown(connection->fd, SHUT_WR);
	turn(connection, LEAVING);
	return true;
}

static bool is_overdue(struct connection *connection, u64 now_ns)
{
	static const u64 most_ns[] = {
		[READING] = REQUEST_NS, [WAITING] = NEWS_NS, [ANSWERING] = ANSWER_NS, [LEAVING] = LEAVE_NS
	};

	return now_ns > connection->since_ns && now_ns - connection->since_ns > most_ns[connection->state];
}

static void look_at(struct server *server, const struct pollfd *ready)
{
	u64 now_ns = clock_now_ns();

	/* The last first: who goes leaves its place to one that was looked at. */
	for (u32 i = server->len; i-- > 0;) {
		struct connection *connection = &server->all[i];
		bool stays = true;

		if ((ready[i].revents & (POLLIN | POLLOUT | POLLERR | POLLHUP)) && connection->state != ANSWERING)
			stays = read_some(server, connection);
		if (stays && connection->state == WAITING && is_fresh(server, connection))
			answer(server, connection);
		if (stays && connection->state == WAITING)
			ask(server);
		if (stays && connection->state == ANSWERING)
			stays = write_some(server, connection);
		if (stays && connection->state == WAITING && is_overdue(connection, now_ns))
			refuse(connection, "503 Service Unavailable");
		else if (stays && is_overdue(connection, now_ns))
			stays = false;
		if (!stays)
			drop(server, i);
	}
}

static bool hear(struct server *server)
{
	struct serve_message message;
	bool ended = false;
	int fd;

	while ((fd = serve_receive(server->channel, &message, &ended)) >= 0) {
		if (server->records_fd >= 0)
			close(server->records_fd);
		server->records_fd = fd;
		server->records_len = message.len;
		server->plain_len = message.plain_len;
		server->records_ns = clock_now_ns();
		server->has_asked = false;
	}
	return !ended;
}

/* To listen, read and send, to be told, and to know the time; behind that, what it takes to encrypt. */
enum { CALLS_WITHOUT_TLS = 13 };
static const int server_calls[] = {
	SYS_ppoll,	   SYS_accept4,	     SYS_recvfrom,	  SYS_recvmsg, SYS_sendto,
	SYS_sendfile,	   SYS_shutdown,     SYS_close,		  SYS_fcntl,   SYS_brk,
	SYS_clock_gettime, SYS_exit_group,   SYS_restart_syscall, SYS_pread64, SYS_munmap,
	SYS_getrandom,	   SYS_gettimeofday,
#ifdef SYS_time
	SYS_time,
#endif
};

static short waits_for(const struct connection *connection)
{
	bool sends = connection->state == ANSWERING || (connection->tls && tls_waits_to_send(connection->tls));

	return sends ? POLLOUT : POLLIN;
}

void serve_be_server(int channel, const struct serve_settings *settings)
{
	static struct server server;
	struct serve_message first;
	struct pollfd told = { .fd = channel, .events = POLLIN };
	size_t calls = settings->tls ? sizeof(server_calls) / sizeof(server_calls[0]) : CALLS_WITHOUT_TLS;
	bool ended = false;

	server = (struct server){ .settings = settings, .channel = channel, .listening = -1, .records_fd = -1 };
	if (!confine_calls(server_calls, calls) && geteuid() == 0)
		_exit(EXIT_FAILURE);
	/* Nobody is told where to ask before what answers has given up its rights. */
	if (send(channel, "", 1, MSG_NOSIGNAL) != 1)
		_exit(EXIT_FAILURE);
	while (server.listening < 0 && !ended && ppoll(&told, 1, NULL, NULL) >= 0)
		server.listening = serve_receive(channel, &first, &ended);
	while (!ended) {
		struct pollfd ready[CONNECTIONS + 2];
		const struct timespec rest = { .tv_nsec = 250000000 };
		u32 len = server.len;

		for (u32 i = 0; i < len; i++)
			ready[i] = (struct pollfd){ .fd = server.all[i].fd, .events = waits_for(&server.all[i]) };
		ready[len] = (struct pollfd){ .fd = channel, .events = POLLIN };
		ready[len + 1] = (struct pollfd){ .fd = server.listening, .events = POLLIN };
		/* Somebody may have to go soon; without anybody there is nothing to wait for but somebody. */
		if (ppoll(ready, len + 2, len ? &rest : NULL, NULL) < 0)
			_exit(EXIT_FAILURE);
		if (ready[len].revents && !hear(&server))
			break;
		look_at(&server, ready);
		if (ready[len + 1].revents)
			let_in(&server);
	}
	_exit(EXIT_SUCCESS);
}
