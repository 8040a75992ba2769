// SPDX-License-Identifier: GPL-2.0
/* Memory is made here and sealed, so that a program can neither cut it short nor make it grow; a program that is over
 * is read a last time and let go of, so that there are never more descriptors than processes that live. */
#include "cuda_reporters.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/proc.h"
#include "../base/system.h"
#include "../base/vec.h"

enum { BACKLOG = 128 };

int cuda_reporters_open(struct cuda_reporters *reporters, const char *path, mode_t mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int error = 0;

	reporters->listen_fd = -1;
	reporters->cpus = possible_cpus();
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	reporters->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (reporters->listen_fd < 0)
		return -errno;
	if (bind(reporters->listen_fd, (const struct sockaddr *)&address, sizeof(address)) || chmod(path, mode) ||
	    listen(reporters->listen_fd, BACKLOG))
		error = -errno;
	if (error) {
		close(reporters->listen_fd);
		reporters->listen_fd = -1;
	}
	return error;
}

void cuda_reporters_close(struct cuda_reporters *reporters)
{
	if (reporters->listen_fd >= 0)
		close(reporters->listen_fd);
	for (u32 i = 0; i < reporters->len; i++) {
		close(reporters->all[i].ring.fd);
		free(reporters->all[i].seen);
	}
	cuda_reports_free(&reporters->reports);
	free(reporters->gone);
}

struct reading {
	struct cuda_reporters *reporters;
	struct cuda_reporter *reporter;
};

static void take_row(void *data, u32 number, const struct detour_row *row)
{
	struct reading *reading = data;
	struct detour_seen *seen = &reading->reporter->seen[number];

	if (seen->is_refused)
		return;
	if (!seen->function && !reading->reporters->find(reading->reporters->data, row, seen)) {
		seen->is_refused = true;
		reading->reporter->is_broken = true;
		return;
	}
	detour_seen_take(seen, row);
}

static void read_counts(struct cuda_reporters *reporters, struct cuda_reporter *reporter)
{
	static char bytes[DETOUR_COUNTS_BYTES];
	u64 most = detour_most_calls(clock_now_ns() - reporter->ring.met_ns, reporters->cpus);
	struct reading reading = { reporters, reporter };
	ssize_t got = pread(reporter->ring.fd, bytes, sizeof(bytes), 0);

	if (!reporter->seen)
		reporter->seen = calloc(DETOUR_ROWS, sizeof(*reporter->seen));
	if (!reporter->seen || got < 0)
		return;
	if (detour_counts_read(bytes, (size_t)got, most, take_row, &reading) >= 0)
		reporter->has_counted = true;
	/* All zeros until the program has begun. */
	else if (reporter->has_counted || bytes[0])
		reporter->is_broken = true;
}

static bool make_gone(struct cuda_reporters *reporters, u32 function)
{
	return vec_lengthen(reporters->gone, reporters->gone_len, (function | 63u) + 1);
}

static void keep_counts(struct cuda_reporters *reporters, const struct cuda_reporter *reporter)
{
	reporters->gone_processes += reporter->has_counted;
	reporters->gone_broken += reporter->is_broken;
	for (u32 i = 0; reporter->seen && i < DETOUR_ROWS; i++) {
		const struct detour_seen *seen = &reporter->seen[i];
		struct detour_seen *sum;

		if (!seen->function || !make_gone(reporters, seen->function))
			continue;
		sum = &reporters->gone[seen->function];
		sum->function = seen->function;
		sum->calls = detour_sum(sum->calls, seen->calls);
		sum->returned = detour_sum(sum->returned, seen->returned);
		sum->failed = detour_sum(sum->failed, seen->failed);
		reporters->gone_calls = detour_sum(reporters->gone_calls, seen->calls);
	}
}

/* Reads what it left and lets go of it; the last takes its place. */
static void let_go(struct cuda_reporters *reporters, u32 at)
{
	struct cuda_reports_wishes wishes = { reporters->functions, true, clock_now_ns, CUDA_REPORTED_HELD_LAST };
	struct cuda_reporter *reporter = &reporters->all[at];

	read_counts(reporters, reporter);
	keep_counts(reporters, reporter);
	if (reporters->has_rings) {
		reporters->lost += cuda_reports_read(&reporters->reports, &reporter->ring, &wishes);
		cuda_reports_end(&reporters->reports);
	}
	close(reporter->ring.fd);
	free(reporter->seen);
	*reporter = reporters->all[--reporters->len];
}

/* That nothing can be read of a process does not say that it is over. */
static bool is_over(const struct cuda_reporter *reporter)
{
	u64 start_ticks = proc_start_ticks(reporter->ring.pid);

	return start_ticks ? start_ticks != reporter->start_ticks
			   : kill((pid_t)reporter->ring.pid, 0) < 0 && errno == ESRCH;
}

static void sweep(struct cuda_reporters *reporters)
{
	for (u32 i = reporters->len; i > 0; i--)
		if (is_over(&reporters->all[i - 1]))
			let_go(reporters, i - 1);
	reporters->swept_ns = clock_now_ns();
}

static int make_memory(bool reports)
{
	/* Nothing is ever run from it; kernels before 6.3 do not know that wish. */
	int fd = memfd_create("tactus-counts", MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x8U);
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("tactus-counts", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (!ftruncate(fd, reports ? DETOUR_REPORTING_BYTES : DETOUR_COUNTS_BYTES) && !fcntl(fd, F_ADD_SEALS, seals))
		return fd;
	close(fd);
	return -1;
}

static bool send_memory(int to, int fd, u32 pid)
{
	struct detour_answer answer = { DETOUR_COUNTS_MAGIC, DETOUR_VERSION, pid };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(answer);
}

/* One that asks again has become another program: what it had before is over. */
static bool has_place(struct cuda_reporters *reporters, u32 pid)
{
	for (u32 i = 0; i < reporters->len; i++)
		if (reporters->all[i].ring.pid == pid) {
			let_go(reporters, i);
			break;
		}
	if (reporters->len == CUDA_REPORTERS_MAX)
		sweep(reporters);
	return reporters->len < CUDA_REPORTERS_MAX;
}

static void answer(struct cuda_reporters *reporters, int asker, u32 pid)
{
	struct cuda_reporter reporter = { .ring = { .fd = -1, .pid = pid, .met_ns = clock_now_ns() },
					  .start_ticks = proc_start_ticks(pid) };

	if (!reporter.start_ticks || !has_place(reporters, pid))
		return;
	reporter.ring.fd = make_memory(reporters->has_rings);
	if (reporter.ring.fd >= 0 && send_memory(asker, reporter.ring.fd, pid))
		reporters->all[reporters->len++] = reporter;
	else if (reporter.ring.fd >= 0)
		close(reporter.ring.fd);
}

void cuda_reporters_serve(struct cuda_reporters *reporters, bool (*is_ours)(void *data, int pidfd), void *data)
{
	u64 paid_ns = reporters->answered_until_ns;

	while (detour_may_answer(&reporters->answered_until_ns, clock_now_ns())) {
		int asker = accept4(reporters->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), pidfd = -1;
		struct ucred peer = { 0 };
		socklen_t len = sizeof(peer);

		if (asker < 0) {
			/* It was nobody. */
			reporters->answered_until_ns = paid_ns;
			return;
		}
		if (!getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid > 0)
			pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
		/* Who gets no answer goes to the probes. */
		if (pidfd >= 0 && is_ours(data, pidfd))
			answer(reporters, asker, (u32)peer.pid);
		if (pidfd >= 0)
			close(pidfd);
		close(asker);
		paid_ns = reporters->answered_until_ns;
	}
}

void cuda_reporters_collect(struct cuda_reporters *reporters, bool all)
{
	struct cuda_reports_wishes wishes = { .functions = reporters->functions, .all = all, .clock = clock_now_ns };
	size_t most = all ? CUDA_REPORTED_HELD_LAST : CUDA_REPORTED_HELD;

	if (clock_now_ns() - reporters->swept_ns >= NSEC_PER_SEC)
		sweep(reporters);
	if (!reporters->has_rings)
		return;
	cuda_reports_begin(&reporters->reports);
	/* What is left of the room is shared by those whose turn has not come. */
	for (u32 i = 0; i < reporters->len; i++) {
		struct cuda_reports *reports = &reporters->reports;
		u64 left;

		wishes.most = reports->len + (most > reports->len ? most - reports->len : 0) / (reporters->len - i);
		left = cuda_reports_read(reports, &reporters->all[(reporters->first + i) % reporters->len].ring,
					 &wishes);
		reporters->lost += all ? left : 0;
	}
	reporters->first++;
	cuda_reports_end(&reporters->reports);
}

struct cuda_reporters_sum cuda_reporters_read(struct cuda_reporters *reporters,
					      void (*take)(void *data, const struct detour_seen *seen), void *data)
{
	struct cuda_reporters_sum sum = { reporters->gone_processes, reporters->gone_broken, reporters->gone_calls };

	for (u32 i = 0; i < reporters->gone_len; i++)
		if (reporters->gone[i].function)
			take(data, &reporters->gone[i]);
	for (u32 i = 0; i < reporters->len; i++) {
		struct cuda_reporter *reporter = &reporters->all[i];

		read_counts(reporters, reporter);
		sum.processes += reporter->has_counted;
		sum.broken += reporter->is_broken;
		for (u32 row = 0; reporter->seen && row < DETOUR_ROWS; row++)
			if (reporter->seen[row].function) {
				sum.calls = detour_sum(sum.calls, reporter->seen[row].calls);
				take(data, &reporter->seen[row]);
			}
	}
	return sum;
}
