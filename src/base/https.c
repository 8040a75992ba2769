// SPDX-License-Identifier: GPL-2.0
#include "https.h"

#include <string.h>

static void *begin(const void *with, int fd)
{
	return tls_begin(with, fd);
}

static ssize_t receive(void *session, void *into, size_t size)
{
	return tls_receive(session, into, size);
}

static ssize_t send_to(void *session, const void *from, size_t len)
{
	return tls_send(session, from, len);
}

static bool waits_to_send(const void *session)
{
	return tls_waits_to_send(session);
}

static bool explain(const void *session, struct reason *why)
{
	return tls_explain(session, why);
}

static void end(void *session)
{
	tls_finish(session);
	tls_end(session);
}

int https_open(struct https *https, const struct http_target *target, const char *authorities_path, struct reason *why)
{
	int error = tls_open_client(&https->tls, authorities_path, target->host, why);

	https->secrecy = (struct http_secrecy){ .with = https->tls,
						.begin = begin,
						.receive = receive,
						.send = send_to,
						.waits_to_send = waits_to_send,
						.explain = explain,
						.end = end };
	return error;
}

void https_close(struct https *https)
{
	tls_close(https->tls);
	memset(https, 0, sizeof(*https));
}
