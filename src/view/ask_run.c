// SPDX-License-Identifier: GPL-2.0
/* One request to a 'tactus run', over its socket.
 */
#include "ask_run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../stream/feed.h"

/* A run on a machine that is full takes its time, and starting its scheduler anew takes some seconds. */
enum { PATIENCE_MS = 30000 };

size_t ask_run_next(int fd, void *packet, size_t size)
{
	struct pollfd ready = { fd, POLLIN, 0 };
	ssize_t got;

	if (poll(&ready, 1, PATIENCE_MS) <= 0)
		return 0;
	got = recv(fd, packet, size, MSG_TRUNC);
	return got > 0 ? (size_t)got : 0;
}

static int judge(const struct control_reply *reply, struct reason *why)
{
	if (reply->status == CONTROL_DONE)
		return 0;
	reason_set(why, "%s", reply->words);
	return reply->status == CONTROL_REFUSED ? -EPERM : -ECANCELED;
}

int ask_run(enum control_verb verb, u32 pid, struct control_reply *reply, struct reason *why)
{
	int fd = feed_call(why), error;
	size_t got;

	if (fd < 0)
		return fd;
	error = control_ask(fd, verb, pid);
	got = error ? 0 : ask_run_next(fd, reply, sizeof(*reply));
	if (error || !got)
		reason_set(why, "the run does not answer%s%s", error ? ": " : "", error ? strerror(-error) : "");
	else if (!control_reply_is_sound(reply, got))
		reason_set(why, "the run is of another version of tactus");
	if (!error && (!got || !control_reply_is_sound(reply, got)))
		error = -EPROTO;
	if (!error)
		error = judge(reply, why);
	if (!error)
		return fd;
	close(fd);
	return error;
}
