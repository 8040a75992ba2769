// SPDX-License-Identifier: GPL-2.0
/* tactus stats: what a 'tactus run' in another terminal, or as a service, says of each second.
 * Needs no rights: it only listens. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../capture/watch.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "status.h"
#include "../stream/feed.h"
#include "view.h"

enum { LINES_PER_HEAD = 20 };

const struct command_usage stats_usage = {
	.name = "stats",
	.text = "Prints the status lines of a running 'tactus run' in another terminal, and ends with that run.\v"
		"'tactus run --help' explains the columns.\n"
		"\n"
		"Examples:\n"
		"  tactus stats              until Ctrl-C or the end of the run\n"
		"  tactus stats -d 1.5       one line\n"
		"  tactus stats --json       an object a second",
	.takes = TAKES_DURATION | TAKES_JSON,
};

/* The reply to what it asked for, then statuses. */
union heard {
	struct control_reply reply;
	struct run_status status;
};

struct listener {
	const struct options *options;
	int fd;
	u64 lines;
	struct run_status last;
	bool ended; /* the run did */
	int status;
};

static void show(struct listener *listener, const struct run_status *status)
{
	char words[DETECTION_WORDS_SIZE];

	if (status->effect_worse > listener->last.effect_worse) {
		effect_words(words, &status->last);
		note("%s", words);
	}
	listener->last = *status;
	if (!listener->options->json && !listener->lines) {
		learned_words(words, status);
		note("the run: %s", words);
		detection_words(words, status);
		note("the run: %s", words);
	}
	if (listener->options->json)
		status_print_json(stdout, status);
	else if (listener->lines % LINES_PER_HEAD == 0)
		status_print_head(stdout);
	if (!listener->options->json)
		status_print_line(stdout, status);
	listener->lines++;
}

static bool on_tick(void *data)
{
	struct listener *listener = data;
	union heard heard;
	ssize_t got;

	while ((got = recv(listener->fd, &heard, sizeof(heard), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		if (control_reply_is_sound(&heard, (size_t)got)) {
			if (heard.reply.status == CONTROL_DONE)
				continue;
			listener->status = fail("stats", "%s", heard.reply.words);
			return false;
		}
		if (!status_is_sound(&heard, (size_t)got)) {
			listener->status = fail("stats", "the run is of another version of tactus");
			return false;
		}
		show(listener, &heard.status);
	}
	if (fflush(stdout))
		return false;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	listener->ended = true;
	return false;
}

int view_stats(int argc, char **argv)
{
	struct options options;
	struct listener listener = { .options = &options };
	struct reason why = { "" };
	struct watch watch;
	char words[200];

	options_parse(&options, &stats_usage, NULL, argc, argv);
	listener.fd = feed_listen(&why);
	if (listener.fd < 0)
		return fail("stats", "%s", why.text);
	privileges_give_up_all();
	if (!watch_prepare(&watch, &options))
		watch_wait(&watch, 0, listener.fd, on_tick, &listener);
	status_refusals(words, sizeof(words), &listener.last);
	if (words[0])
		note("the run: %s", words);
	if (listener.ended)
		note("the run has ended");
	close(listener.fd);
	return listener.status;
}
