// SPDX-License-Identifier: GPL-2.0
/* Records are made by a child of the moment: it ends what is counted as if all were over, which the parent's is not. At
 * most one a second, and only while somebody looks. */
#include "report_live.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/serve.h"
#include "../base/system.h"
#include "../capture/watch.h"
#include "../sink/page.h"
#include "../stream/feed.h"
#include "status_hear.h"

enum { RUN_SECONDS = 180, FOLLOW_TICK_NS = 100 * NSEC_PER_MSEC };
#define RECORDS_EVERY_NS (1ULL * NSEC_PER_SEC)
#define RECORDS_MOST_NS (30ULL * NSEC_PER_SEC)
#define LOOK_AGAIN_NS (1ULL * NSEC_PER_SEC)

struct report_live {
	struct report_show *show;
	struct serve serve;
	struct serve_page page;
	bool watches;
	bool wanted;   /* somebody looks */
	pid_t maker;   /* of the records; 0: none is at work */
	int made_fd;   /* what it makes */
	u64 made_ns;   /* when it began */
	int feed_fd;   /* of a 'tactus run'; -1: none */
	u64 looked_ns; /* for one */
	size_t threads_len;
	u32 seconds_len, seconds_next;
	struct run_status seconds[RUN_SECONDS];
	int status;
};

bool report_live_watches(const struct report_live *live)
{
	return live->watches;
}

bool report_live_begins_anew(struct report_live *live, const struct threads *threads)
{
	bool is_less = threads->len < live->threads_len;

	live->threads_len = threads->len;
	return is_less;
}

void report_live_print_run(const struct report_live *live)
{
	u32 first = live->seconds_next + RUN_SECONDS - live->seconds_len;

	for (u32 i = 0; i < live->seconds_len; i++)
		status_print_json(stdout, &live->seconds[(first + i) % RUN_SECONDS]);
}

static void hear_run(struct report_live *live, u64 now_ns)
{
	struct run_status status;
	struct reason why;
	enum status_heard heard;

	if (live->feed_fd < 0 && now_ns - live->looked_ns >= LOOK_AGAIN_NS) {
		live->looked_ns = now_ns;
		live->feed_fd = feed_listen(&why);
	}
	if (live->feed_fd < 0)
		return;
	while ((heard = status_next(live->feed_fd, &status)) == STATUS_HEARD) {
		live->seconds[live->seconds_next] = status;
		live->seconds_next = (live->seconds_next + 1) % RUN_SECONDS;
		live->seconds_len += live->seconds_len < RUN_SECONDS;
	}
	if (heard == STATUS_NONE_YET)
		return;
	close(live->feed_fd);
	live->feed_fd = -1;
}

/* In the child. */
static void write_records(struct report_show *show, int fd)
{
	FILE *out = fdopen(fd, "w"), *data = out ? page_data_open(out) : NULL;
	bool is_made;

	privileges_give_up_all();
	if (!data)
		_exit(EXIT_FAILURE);
	show->capture.losses.events = show->capture.threads.lost;
	is_made = !report_finish_models(show);
	stdout = data;
	is_made = is_made && report_print_records(show) >= 0;
	_exit(fclose(data) || fflush(out) || !is_made ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void begin_records(struct report_live *live, u64 now_ns)
{
	live->made_fd = memfd_create("tactus-records", MFD_CLOEXEC);
	if (live->made_fd < 0)
		return;
	fflush(NULL);
	live->maker = fork();
	if (!live->maker)
		write_records(live->show, live->made_fd);
	if (live->maker < 0) {
		live->maker = 0;
		close(live->made_fd);
		return;
	}
	live->made_ns = now_ns;
	live->wanted = false;
}

static void hand_over(struct report_live *live, u64 now_ns)
{
	struct stat file;
	int how;

	if (!live->maker)
		return;
	if (waitpid(live->maker, &how, WNOHANG) != live->maker) {
		if (now_ns - live->made_ns > RECORDS_MOST_NS)
			kill(live->maker, SIGKILL);
		return;
	}
	live->maker = 0;
	/* Who was not told asks again. */
	if (WIFEXITED(how) && !WEXITSTATUS(how) && !fstat(live->made_fd, &file) && file.st_size > 0)
		serve_give(&live->serve, live->made_fd, (u64)file.st_size);
	else
		live->wanted = true;
	close(live->made_fd);
}

static bool on_tick(void *data)
{
	struct report_live *live = data;
	u64 now_ns = clock_now_ns();
	bool has_ended = false;

	hear_run(live, now_ns);
	live->wanted |= serve_is_asked(&live->serve, &has_ended);
	if (has_ended) {
		live->status = fail("report", "the process that serves the page has ended");
		return false;
	}
	hand_over(live, now_ns);
	if (live->wanted && !live->maker && now_ns - live->made_ns >= RECORDS_EVERY_NS)
		begin_records(live, now_ns);
	return true;
}

static void say_where(const struct report_live *live)
{
	note("the page is at %s", live->serve.url);
}

static bool on_open(void *data, struct sensor *sched)
{
	(void)sched;
	say_where(((struct report_show *)data)->live);
	return true;
}

static bool on_capture_tick(void *data)
{
	return on_tick(((struct report_show *)data)->live);
}

void report_live_join(struct report_live *live, struct capture_request *request)
{
	request->on_open = on_open;
	request->on_tick = on_capture_tick;
	request->also_fd = live->serve.fd;
	request->forgets_many = true;
}

int report_live_follow(struct report_live *live)
{
	struct report_show *show = live->show;
	struct watch watch;
	int status = watch_prepare(&watch, &show->options);

	snprintf(show->capture.info.kernel, sizeof(show->capture.info.kernel), "%s", kernel_release());
	show->capture.info.cpus_len = possible_cpus();
	if (status)
		return status;
	say_where(live);
	status = watch_start(&watch);
	if (!status)
		watch_wait(&watch, FOLLOW_TICK_NS, live->serve.fd, on_tick, live);
	return live->status;
}

int report_live_open(struct report_live **out, struct report_show *show, const struct http_address *address,
		     bool wants_token)
{
	struct report_live *live = calloc(1, sizeof(*live));
	struct report_page_parts parts;
	struct reason why = { "" };

	*out = live;
	if (!live)
		return fail("report", "out of memory");
	live->show = show;
	live->serve.fd = live->feed_fd = -1;
	if (!report_page_served(&parts))
		return fail("report", "the page in the program is broken");
	live->page = (struct serve_page){ parts.before, parts.after, parts.before_len, parts.after_len };
	live->watches = geteuid() == 0;
	live->feed_fd = feed_listen(&why);
	if (live->feed_fd < 0 && !live->watches)
		return fail("report",
			    "needs root to watch threads; without it, it can show what a 'tactus run' tells, and there "
			    "is none: %s",
			    why.text);
	/* What root sees of others' threads is not for whoever can log in. */
	if (serve_start(&live->serve, address, wants_token || live->watches, &live->page, &why))
		return fail("report", "%s", why.text);
	return 0;
}

void report_live_close(struct report_live *live)
{
	if (!live)
		return;
	serve_stop(&live->serve);
	if (live->maker) {
		kill(live->maker, SIGKILL);
		waitpid(live->maker, NULL, 0);
		close(live->made_fd);
	}
	if (live->feed_fd >= 0)
		close(live->feed_fd);
	free(live);
}
