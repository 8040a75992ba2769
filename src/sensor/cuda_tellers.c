// SPDX-License-Identifier: GPL-2.0
/* Memory is made here and sealed, so that a program can neither cut it short nor make it grow; a program that is over
 * is read a last time and let go of, so that there are never more descriptors than processes that live. */
#include "cuda_tellers.h"

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

enum { BACKLOG = 128 };

int cuda_tellers_open(struct cuda_tellers *tellers, const char *path, mode_t mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int error = 0;

	tellers->listen_fd = -1;
	tellers->cpus = possible_cpus();
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	tellers->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (tellers->listen_fd < 0)
		return -errno;
	if (bind(tellers->listen_fd, (const struct sockaddr *)&address, sizeof(address)) || chmod(path, mode) ||
	    listen(tellers->listen_fd, BACKLOG))
		error = -errno;
	if (error) {
		close(tellers->listen_fd);
		tellers->listen_fd = -1;
	}
	return error;
}

void cuda_tellers_close(struct cuda_tellers *tellers)
{
	if (tellers->listen_fd >= 0)
		close(tellers->listen_fd);
	for (u32 i = 0; i < tellers->len; i++) {
		close(tellers->all[i].ring.fd);
		free(tellers->all[i].seen);
	}
	cuda_told_free(&tellers->told);
	free(tellers->gone);
}

struct reading {
	struct cuda_tellers *tellers;
	struct cuda_teller *teller;
};

static void take_row(void *data, u32 number, const struct detour_row *row)
{
	struct reading *reading = data;
	struct detour_seen *seen = &reading->teller->seen[number];

	if (seen->is_refused)
		return;
	if (!seen->function && !reading->tellers->find(reading->tellers->data, row, seen)) {
		seen->is_refused = true;
		reading->teller->is_broken = true;
		return;
	}
	detour_seen_take(seen, row);
}

static void read_counts(struct cuda_tellers *tellers, struct cuda_teller *teller)
{
	static char bytes[DETOUR_COUNTS_BYTES];
	u64 most = detour_most_calls(clock_now_ns() - teller->ring.met_ns, tellers->cpus);
	struct reading reading = { tellers, teller };
	ssize_t got = pread(teller->ring.fd, bytes, sizeof(bytes), 0);

	if (!teller->seen)
		teller->seen = calloc(DETOUR_ROWS, sizeof(*teller->seen));
	if (!teller->seen || got < 0)
		return;
	if (detour_counts_read(bytes, (size_t)got, most, take_row, &reading) >= 0)
		teller->has_counted = true;
	/* All zeros until the program has begun. */
	else if (teller->has_counted || bytes[0])
		teller->is_broken = true;
}

static bool make_gone(struct cuda_tellers *tellers, u32 function)
{
	u32 len = (function | 63u) + 1;
	struct detour_seen *gone;

	if (function < tellers->gone_len)
		return true;
	gone = realloc(tellers->gone, len * sizeof(*gone));
	if (!gone)
		return false;
	memset(gone + tellers->gone_len, 0, (len - tellers->gone_len) * sizeof(*gone));
	tellers->gone = gone;
	tellers->gone_len = len;
	return true;
}

static void keep_counts(struct cuda_tellers *tellers, const struct cuda_teller *teller)
{
	tellers->gone_processes += teller->has_counted;
	tellers->gone_broken += teller->is_broken;
	for (u32 i = 0; teller->seen && i < DETOUR_ROWS; i++) {
		const struct detour_seen *seen = &teller->seen[i];
		struct detour_seen *sum;

		if (!seen->function || !make_gone(tellers, seen->function))
			continue;
		sum = &tellers->gone[seen->function];
		sum->function = seen->function;
		sum->calls = detour_sum(sum->calls, seen->calls);
		sum->returned = detour_sum(sum->returned, seen->returned);
		sum->failed = detour_sum(sum->failed, seen->failed);
		tellers->gone_calls = detour_sum(tellers->gone_calls, seen->calls);
	}
}

/* Reads what it left and lets go of it; the last takes its place. */
static void let_go(struct cuda_tellers *tellers, u32 at)
{
	struct cuda_told_wishes wishes = { tellers->functions, true, clock_now_ns, CUDA_TOLD_HELD_LAST };
	struct cuda_teller *teller = &tellers->all[at];

	read_counts(tellers, teller);
	keep_counts(tellers, teller);
	if (tellers->tell) {
		tellers->lost += cuda_told_read(&tellers->told, &teller->ring, &wishes);
		cuda_told_end(&tellers->told);
	}
	close(teller->ring.fd);
	free(teller->seen);
	*teller = tellers->all[--tellers->len];
}

/* That nothing can be read of a process does not say that it is over. */
static bool is_over(const struct cuda_teller *teller)
{
	u64 start_ticks = proc_start_ticks(teller->ring.pid);

	return start_ticks ? start_ticks != teller->start_ticks
			   : kill((pid_t)teller->ring.pid, 0) < 0 && errno == ESRCH;
}

static void sweep(struct cuda_tellers *tellers)
{
	for (u32 i = tellers->len; i > 0; i--)
		if (is_over(&tellers->all[i - 1]))
			let_go(tellers, i - 1);
	tellers->swept_ns = clock_now_ns();
}

static int make_memory(bool tell)
{
	/* Nothing is ever run from it; kernels before 6.3 do not know that wish. */
	int fd = memfd_create("tactus-counts", MFD_CLOEXEC | MFD_ALLOW_SEALING | 0x8U);
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("tactus-counts", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (!ftruncate(fd, tell ? DETOUR_TELLING_BYTES : DETOUR_COUNTS_BYTES) && !fcntl(fd, F_ADD_SEALS, seals))
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
static bool has_place(struct cuda_tellers *tellers, u32 pid)
{
	for (u32 i = 0; i < tellers->len; i++)
		if (tellers->all[i].ring.pid == pid) {
			let_go(tellers, i);
			break;
		}
	if (tellers->len == CUDA_TELLERS_MAX)
		sweep(tellers);
	return tellers->len < CUDA_TELLERS_MAX;
}

static void answer(struct cuda_tellers *tellers, int asker, u32 pid)
{
	struct cuda_teller teller = { .ring = { .fd = -1, .pid = pid, .met_ns = clock_now_ns() },
				      .start_ticks = proc_start_ticks(pid) };

	if (!teller.start_ticks || !has_place(tellers, pid))
		return;
	teller.ring.fd = make_memory(tellers->tell);
	if (teller.ring.fd >= 0 && send_memory(asker, teller.ring.fd, pid))
		tellers->all[tellers->len++] = teller;
	else if (teller.ring.fd >= 0)
		close(teller.ring.fd);
}

void cuda_tellers_serve(struct cuda_tellers *tellers, bool (*is_ours)(void *data, int pidfd), void *data)
{
	u64 paid_ns = tellers->answered_until_ns;

	while (detour_may_answer(&tellers->answered_until_ns, clock_now_ns())) {
		int asker = accept4(tellers->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), pidfd = -1;
		struct ucred peer = { 0 };
		socklen_t len = sizeof(peer);

		if (asker < 0) {
			/* It was nobody. */
			tellers->answered_until_ns = paid_ns;
			return;
		}
		if (!getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid > 0)
			pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
		/* Who gets no answer goes to the probes. */
		if (pidfd >= 0 && is_ours(data, pidfd))
			answer(tellers, asker, (u32)peer.pid);
		if (pidfd >= 0)
			close(pidfd);
		close(asker);
		paid_ns = tellers->answered_until_ns;
	}
}

void cuda_tellers_collect(struct cuda_tellers *tellers, bool all)
{
	struct cuda_told_wishes wishes = { .functions = tellers->functions, .all = all, .clock = clock_now_ns };
	size_t most = all ? CUDA_TOLD_HELD_LAST : CUDA_TOLD_HELD;

	if (clock_now_ns() - tellers->swept_ns >= NSEC_PER_SEC)
		sweep(tellers);
	if (!tellers->tell)
		return;
	cuda_told_begin(&tellers->told);
	/* What is left of the room is shared by those whose turn has not come. */
	for (u32 i = 0; i < tellers->len; i++) {
		struct cuda_told *told = &tellers->told;
		u64 left;

		wishes.most = told->len + (most > told->len ? most - told->len : 0) / (tellers->len - i);
		left = cuda_told_read(told, &tellers->all[(tellers->first + i) % tellers->len].ring, &wishes);
		tellers->lost += all ? left : 0;
	}
	tellers->first++;
	cuda_told_end(&tellers->told);
}

struct cuda_tellers_sum cuda_tellers_read(struct cuda_tellers *tellers,
					  void (*take)(void *data, const struct detour_seen *seen), void *data)
{
	struct cuda_tellers_sum sum = { tellers->gone_processes, tellers->gone_broken, tellers->gone_calls };

	for (u32 i = 0; i < tellers->gone_len; i++)
		if (tellers->gone[i].function)
			take(data, &tellers->gone[i]);
	for (u32 i = 0; i < tellers->len; i++) {
		struct cuda_teller *teller = &tellers->all[i];

		read_counts(tellers, teller);
		sum.processes += teller->has_counted;
		sum.broken += teller->is_broken;
		for (u32 row = 0; teller->seen && row < DETOUR_ROWS; row++)
			if (teller->seen[row].function) {
				sum.calls = detour_sum(sum.calls, teller->seen[row].calls);
				take(data, &teller->seen[row]);
			}
	}
	return sum;
}
