// SPDX-License-Identifier: GPL-2.0
/* Statuses over a local socket of whole packets. The run never waits for a reader.
 * A socket file that nobody serves any more, as a killed run leaves it, is replaced. */
#include "feed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc.h"

/* One user can't keep others out, and all users together not root, for whom the last READERS_PER_USER places are. */
enum { READERS_MAX = 64, READERS_PER_USER = 8 };
/* Who calls again and again neither fills the queue for long nor holds the run up. Ten times a second. */
enum { CALLERS_MAX = 4096, CALLERS_AT_A_TIME = CALLERS_MAX / 8 + READERS_MAX };
/* Whose user a caller is takes a look at its process, and holds for a while. Who comes by more users than this waits.
 */
enum { LOOKS_AT_A_TIME = 64, KNOWN_USERS = 64 };
#define KNOWN_NS (10ull * NSEC_PER_SEC)
/* Who called and asks for nothing goes. */
#define SILENT_MOST_NS (10ull * NSEC_PER_SEC)

struct reader {
	int fd;
	uid_t uid, charged;
	unsigned long number; /* in the order of coming */
	u64 called_ns;
	bool follows, has_asked;
};

/* A user, and who is charged for it. */
struct known_user {
	uid_t uid, charged;
	u64 found_ns; /* 0: none is here */
};

struct feed {
	int fd;
	struct known_user known[KNOWN_USERS];
	struct reader readers[READERS_MAX];
	int readers_len;
	int next; /* whose request is heard first */
	unsigned long dropped, let_in, refused;
	struct sockaddr_un address;
};

const char *feed_path(void)
{
	const char *path = getenv("TACTUS_FEED");

	return path && *path ? path : "/run/tactus/run.sock";
}

static int feed_address(struct sockaddr_un *address, struct reason *why)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(feed_path()) >= sizeof(address->sun_path)) {
		reason_set(why, "the path %s is too long for a socket", feed_path());
		return -ENAMETOOLONG;
	}
	strcpy(address->sun_path, feed_path());
	return 0;
}

static int call(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/* True if the file is a socket that nobody serves; then it is gone. */
static bool clear_stale(const struct sockaddr_un *address)
{
	struct stat found;
	int fd;

	if (lstat(address->sun_path, &found) || !S_ISSOCK(found.st_mode))
		return false;
	fd = call(address);
	if (fd >= 0) {
		close(fd);
		return false;
	}
	return fd == -ECONNREFUSED && !unlink(address->sun_path);
}

static int serve(struct feed *feed)
{
	const struct sockaddr *address = (const struct sockaddr *)&feed->address;
	char folder[sizeof(feed->address.sun_path)];
	char *slash;
	int error = 0;
	mode_t mask;

	strcpy(folder, feed->address.sun_path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = '\0';
		mkdir(folder, 0755);
		/* Who made it for himself, before there was something in it for others, let nobody else in. */
		if (!getenv("TACTUS_FEED"))
			chmod(folder, 0755);
	}
	feed->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (feed->fd < 0)
		return -errno;
	/* Who may ask for what is decided by who asks. The file gets the socket's rights as it is made: by its name
	 * somebody's link might be meant already. */
	fchmod(feed->fd, 0666);
	mask = umask(0);
	if (bind(feed->fd, address, sizeof(feed->address)))
		error = -errno;
	if (error == -EADDRINUSE && clear_stale(&feed->address))
		error = bind(feed->fd, address, sizeof(feed->address)) ? -errno : 0;
	umask(mask);
	if (error)
		return error;
	return listen(feed->fd, CALLERS_MAX) ? -errno : 0;
}

int feed_open(struct feed **out, struct reason *why)
{
	struct feed *feed = calloc(1, sizeof(*feed));
	int error;

	*out = NULL;
	if (!feed) {
		reason_set(why, "out of memory");
		return -ENOMEM;
	}
	feed->fd = -1;
	error = feed_address(&feed->address, why);
	if (!error) {
		error = serve(feed);
		if (error)
			reason_set(why, "%s: %s", feed_path(),
				   error == -EADDRINUSE ? "another run serves it" : strerror(-error));
	}
	if (error) {
		if (feed->fd >= 0)
			close(feed->fd);
		free(feed);
		return error;
	}
	*out = feed;
	return 0;
}

static void let_go(struct feed *feed, int place)
{
	close(feed->readers[place].fd);
	feed->readers[place] = feed->readers[--feed->readers_len];
}

static int oldest_of(const struct feed *feed, uid_t charged, int *len)
{
	int oldest = -1;

	*len = 0;
	for (int i = 0; i < feed->readers_len; i++) {
		if (feed->readers[i].charged != charged)
			continue;
		(*len)++;
		if (oldest < 0 || feed->readers[i].number < feed->readers[oldest].number)
			oldest = i;
	}
	return oldest;
}

/* A user may have made a namespace with thousands of users of his own: they are one here. False: it has gone already.
 */
static bool charge(struct feed *feed, const struct ucred *who, uid_t *charged, int *looks)
{
	struct known_user *place = &feed->known[0];
	u64 now_ns = clock_now_ns();
	u32 real, owner;

	*charged = who->uid;
	if (!who->uid)
		return true;
	for (int i = 0; i < KNOWN_USERS; i++) {
		struct known_user *one = &feed->known[i];

		if (one->found_ns && one->uid == who->uid && now_ns - one->found_ns < KNOWN_NS) {
			*charged = one->charged;
			return true;
		}
		if (one->found_ns < place->found_ns)
			place = one;
	}
	(*looks)++;
	if (proc_real_uid((u32)who->pid, &real) || process_charged_to((u32)who->pid, &owner))
		return false;
	/* Another process may have the number by now. */
	if (real == who->uid)
		*charged = owner;
	*place = (struct known_user){ who->uid, *charged, now_ns };
	return true;
}

/* A user who has all that it may have loses its oldest connection, and so does root where all places are taken. Who is
 * neither finds the places taken. */
static void let_in(struct feed *feed)
{
	int looks = 0;

	for (int calls = 0; calls < CALLERS_AT_A_TIME && looks < LOOKS_AT_A_TIME; calls++) {
		int fd = accept4(feed->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred who;
		socklen_t bytes = sizeof(who);
		int own, oldest;
		uid_t charged;

		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) || !charge(feed, &who, &charged, &looks)) {
			close(fd);
			continue;
		}
		oldest = oldest_of(feed, charged, &own);
		if (own >= READERS_PER_USER)
			let_go(feed, oldest);
		else if (feed->readers_len >= READERS_MAX - (who.uid ? READERS_PER_USER : 0)) {
			close(fd);
			continue;
		}
		feed->readers[feed->readers_len++] = (struct reader){ .fd = fd,
								      .uid = who.uid,
								      .charged = charged,
								      .number = ++feed->let_in,
								      .called_ns = clock_now_ns() };
	}
}

/* False: it has gone. */
static bool hear_one(struct feed *feed, int place, feed_answer answer, void *data)
{
	struct reader *reader = &feed->readers[place];
	struct control_request request;
	ssize_t got = recv(reader->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	struct feed_asker asker = { .fd = reader->fd, .uid = reader->uid, .charged = reader->charged };

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return reader->has_asked || clock_now_ns() - reader->called_ns < SILENT_MOST_NS;
	if (got <= 0)
		return false;
	reader->has_asked = true;
	if (!control_request_is_sound(&request, (size_t)got)) {
		feed->refused++;
		return false;
	}
	if (!answer(data, &asker, &request)) {
		feed->refused++;
		return true;
	}
	reader->follows |= request.verb == CONTROL_FOLLOW;
	return true;
}

void feed_hear(struct feed *feed, feed_answer answer, void *data)
{
	let_in(feed);
	if (!feed->readers_len)
		return;
	/* From another one each time: who asks for ever is not before all others for ever. */
	feed->next = (feed->next + 1) % feed->readers_len;
	for (int left = feed->readers_len, i = feed->next; left > 0; left--, i++) {
		if (i >= feed->readers_len)
			i = 0;
		if (!feed->readers_len)
			return;
		if (!hear_one(feed, i, answer, data))
			let_go(feed, i--);
	}
}

void feed_send(struct feed *feed, const void *packet, size_t bytes)
{
	for (int i = 0; i < feed->readers_len; i++) {
		if (!feed->readers[i].follows)
			continue;
		if (send(feed->readers[i].fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			continue;
		if (errno == EAGAIN) {
			feed->dropped++;
			continue;
		}
		let_go(feed, i--);
	}
}

unsigned long feed_dropped(const struct feed *feed)
{
	return feed->dropped;
}

unsigned long feed_refused(const struct feed *feed)
{
	return feed->refused;
}

void feed_close(struct feed *feed)
{
	if (!feed)
		return;
	unlink(feed->address.sun_path);
	for (int i = 0; i < feed->readers_len; i++)
		close(feed->readers[i].fd);
	close(feed->fd);
	free(feed);
}

int feed_call(struct reason *why)
{
	struct sockaddr_un address;
	int fd = feed_address(&address, why);

	if (fd)
		return fd;
	fd = call(&address);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		reason_set(why, "no 'tactus run' is at work here (%s: %s)", feed_path(), strerror(-fd));
	else if (fd < 0)
		reason_set(why, "%s: %s", feed_path(), strerror(-fd));
	return fd;
}

int feed_listen(struct reason *why)
{
	int fd = feed_call(why), error;

	if (fd < 0)
		return fd;
	error = control_ask(fd, CONTROL_FOLLOW, 0);
	if (!error)
		return fd;
	reason_set(why, "%s: %s", feed_path(), strerror(-error));
	close(fd);
	return error;
}
