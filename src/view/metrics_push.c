// SPDX-License-Identifier: GPL-2.0
/* What is not taken is not sent again: the next has all of it, since counts only grow.
 */
#include "metrics_push.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/confine.h"
#include "../base/loop.h"
#include "../base/serve.h"
#include "../sink/otlp.h"

enum {
	PORT = 4318,
	PATIENCE_MS = 10000,
	HOST_SIZE = 65,
	MESSAGE_MOST = 16 << 20,
	SENDER_BYTES = 64 << 20,
	DESCRIPTORS = 16,
	PROCESSES = 1,
};

/* What became of a message. */
struct outcome {
	u32 is_taken;
	struct reason why;
};

static void post(const struct metrics_push *push, const char *body, size_t len, struct outcome *outcome)
{
	struct http_question question = { .target = &push->target,
					  .path = "",
					  .bearer = "",
					  .type = OTLP_TYPE,
					  .body = body,
					  .body_len = len,
					  .patience_ms = PATIENCE_MS };
	size_t answer_len;
	u32 status = 0;
	char *answer = http_ask(&question, &status, &answer_len, &outcome->why);

	outcome->is_taken = answer && status / 100 == 2;
	if (answer && !outcome->is_taken)
		reason_set(&outcome->why, "http://%s: it answers with status %u", push->target.name, status);
	free(answer);
}

/* To hear what is to be sent, to call, send and hear, and to know the time. */
static const int sender_calls[] = {
#ifdef SYS_poll /* newer machines have ppoll alone */
	SYS_poll,
#endif
	SYS_ppoll,	   SYS_recvmsg, SYS_recvfrom,	     SYS_sendto,     SYS_socket, SYS_connect,
	SYS_getsockopt,	   SYS_close,	SYS_munmap,	     SYS_mremap,     SYS_brk,	 SYS_madvise,
	SYS_clock_gettime, SYS_getppid, SYS_restart_syscall, SYS_exit_group,
};

/* The sender's side: does not return. */
static void be_sender(const struct metrics_push *push, int channel, pid_t parent)
{
	struct pollfd told = { .fd = channel, .events = POLLIN };
	bool ended = false, is_another;
	sigset_t every;

	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	confine_files(channel);
	prctl(PR_SET_NAME, "tactus-otlp");
	is_another = confine_user();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	confine_limits(SENDER_BYTES, DESCRIPTORS, PROCESSES);
	if (!confine_calls(sender_calls, sizeof(sender_calls) / sizeof(sender_calls[0])) && !is_another && !geteuid())
		_exit(EXIT_FAILURE);
	while (!ended && getppid() == parent && poll(&told, 1, -1) >= 0) {
		struct serve_message message = { 0 };
		struct outcome outcome = { .is_taken = 0 };
		int fd = serve_receive(channel, &message, &ended);
		void *body = fd < 0 || !message.len || message.len > MESSAGE_MOST
				     ? MAP_FAILED
				     : mmap(NULL, message.len, PROT_READ, MAP_PRIVATE, fd, 0);

		if (fd < 0)
			continue;
		close(fd);
		if (body != MAP_FAILED) {
			post(push, body, message.len, &outcome);
			munmap(body, message.len);
		}
		if (send(channel, &outcome, sizeof(outcome), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(EXIT_SUCCESS);
}

int metrics_push_open(struct metrics_push *push, const char *url, u64 every_ns, struct reason *why)
{
	int error = http_target_find(&push->target, url, PORT, why), channel[2];
	pid_t self = getpid();
	struct timespec wall;

	if (error)
		return error;
	if (push->target.is_encrypted) {
		reason_set(
			why,
			"%s: there is no TLS here: name a collector or a proxy on this machine that has it, by http://",
			url);
		return -EINVAL;
	}
	if (!push->target.address.is_loopback) {
		reason_set(why,
			   "%s: others could read and change what is sent there in plain text: name a collector or a "
			   "proxy on this machine, by http://127.0.0.1",
			   url);
		return -EINVAL;
	}
	if (!push->target.path[0])
		strcpy(push->target.path, "/v1/metrics");
	clock_gettime(CLOCK_REALTIME, &wall);
	push->start_wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
	push->every_ns = every_ns;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		reason_set(why, "cannot make a process that sends: %s", strerror(errno));
		return -errno;
	}
	push->sender = fork();
	if (!push->sender)
		be_sender(push, channel[1], self);
	close(channel[1]);
	push->channel = channel[0];
	push->is_wanted = true;
	if (push->sender > 0)
		return 0;
	push->sender = 0;
	reason_set(why, "cannot make a process that sends: %s", strerror(errno));
	return -EAGAIN;
}

static void hear(struct metrics_push *push)
{
	struct outcome outcome;

	if (recv(push->channel, &outcome, sizeof(outcome), MSG_DONTWAIT) != (ssize_t)sizeof(outcome))
		return;
	/* Who sends hears what strangers answer. */
	outcome.why.text[sizeof(outcome.why.text) - 1] = '\0';
	push->is_sending = false;
	push->taken += outcome.is_taken != 0;
	push->failed += !outcome.is_taken;
	/* Once: who takes figures may be away for hours. */
	if (!outcome.is_taken && !push->is_told)
		note("figures could not be sent: %s", outcome.why.text);
	push->is_told = !outcome.is_taken;
}

bool metrics_push_is_due(struct metrics_push *push, u64 now_ns)
{
	if (!push->is_wanted)
		return false;
	hear(push);
	if (push->is_sending || now_ns < push->due_ns)
		return false;
	push->due_ns = now_ns + push->every_ns;
	return true;
}

void metrics_push_send(struct metrics_push *push, const struct metrics_reading *reading)
{
	struct openmetrics metrics = { .form = FORM_OTLP };
	int fd = memfd_create("tactus-otlp", MFD_CLOEXEC);
	char host[HOST_SIZE] = "";
	long len = 0;

	metrics.out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (metrics.out) {
		gethostname(host, sizeof(host) - 1);
		otlp_begin(&metrics, host, TACTUS_VERSION, push->start_wall_ns, reading->wall_ns);
		metrics_print(&metrics, reading);
		otlp_end(&metrics);
		len = ftell(metrics.out);
		if (fclose(metrics.out))
			len = 0;
	}
	if (len > 0 && !serve_send(push->channel, fd, &(struct serve_message){ .len = (u64)len }))
		push->is_sending = true;
	else
		push->failed++;
	if (fd >= 0)
		close(fd);
}

void metrics_push_end(struct metrics_push *push)
{
	if (!push->sender)
		return;
	close(push->channel);
	kill(push->sender, SIGKILL);
	waitpid(push->sender, NULL, 0);
	push->sender = 0;
}
