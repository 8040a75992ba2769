// SPDX-License-Identifier: GPL-2.0
/* The first packet is the reply to the request to follow; statuses come after it. */
#include "status_hear.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../stream/control.h"
#include "../stream/feed.h"

enum { RUN_TELLS_MS = 1500 };

enum status_heard status_next(int fd, struct run_status *status)
{
	union {
		struct run_status status;
		struct control_reply reply;
	} heard;
	ssize_t got;

	while ((got = recv(fd, &heard, sizeof(heard), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		if (control_reply_is_sound(&heard, (size_t)got) && heard.reply.status == CONTROL_DONE)
			continue;
		if (!status_is_sound(&heard, (size_t)got))
			return STATUS_ENDED;
		*status = heard.status;
		return STATUS_HEARD;
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? STATUS_NONE_YET : STATUS_ENDED;
}

bool status_ask(struct run_status *status)
{
	enum status_heard heard = STATUS_NONE_YET;
	struct reason why;
	int fd = feed_listen(&why);
	struct pollfd said = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return false;
	for (int looks = 0; looks < 2 && heard == STATUS_NONE_YET && poll(&said, 1, RUN_TELLS_MS) > 0; looks++)
		heard = status_next(fd, status);
	close(fd);
	return heard == STATUS_HEARD;
}
