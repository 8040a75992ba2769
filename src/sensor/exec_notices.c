// SPDX-License-Identifier: GPL-2.0
/* The process connector with a socket filter that lets only execs pass, and a scan of /proc that remembers what each
 * process ran. Neither knows a program's path before it is asked for. */
#include "exec_notices.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/process.h"
#include "../base/system.h"
#include "../base/vec.h"

enum { RECEIVE_BYTES = 1 << 20, SCAN_AT_LEAST_EVERY = 10 };

/* struct cn_msg without the array of no length at its end, which may not stand before other members. */
struct message_head {
	struct cb_id id;
	u32 sequence, acknowledged;
	u16 len, flags;
};
_Static_assert(sizeof(struct message_head) == sizeof(struct cn_msg), "as the kernel lays it out");

struct notice {
	struct nlmsghdr head;
	struct message_head message;
	struct proc_event event;
} __attribute__((packed));

static int send_order(int fd, enum proc_cn_mcast_op what)
{
	struct {
		struct nlmsghdr head;
		struct message_head message;
		enum proc_cn_mcast_op what;
	} __attribute__((packed)) order = {
		.head = { .nlmsg_len = sizeof(order), .nlmsg_type = NLMSG_DONE },
		.message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(what) },
		.what = what,
	};

	return send(fd, &order, sizeof(order), 0) < 0 ? -errno : 0;
}

/* The kernel drops all but execs before anybody is woken. */
static int drop_all_but_execs(int fd)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct notice, event)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { .len = sizeof(steps) / sizeof(steps[0]), .filter = steps };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ? -errno : 0;
}

int connector_open(struct reason *why)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR), error, room;

	if (fd < 0) {
		error = -errno;
		reason_set(why, "this kernel has no process connector (CONFIG_PROC_EVENTS): %s", strerror(-error));
		return error;
	}
	room = RECEIVE_BYTES;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	error = drop_all_but_execs(fd);
	if (!error && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		error = -errno;
	if (!error)
		error = send_order(fd, PROC_CN_MCAST_LISTEN);
	if (!error)
		return fd;
	reason_set(why, "the process connector refuses: %s", strerror(-error));
	close(fd);
	return error;
}

void connector_close(int fd)
{
	if (fd < 0)
		return;
	send_order(fd, PROC_CN_MCAST_IGNORE);
	close(fd);
}

u64 connector_read(int fd, exec_noticed take, void *data)
{
	struct notice notice;
	u64 lost = 0;
	ssize_t got;

	for (;;) {
		got = recv(fd, &notice, sizeof(notice), MSG_DONTWAIT);
		if (got < 0 && errno == ENOBUFS)
			lost++;
		else if (got < 0 && errno != EINTR)
			return lost;
		if (got >= (ssize_t)(offsetof(struct notice, event.event_data) + sizeof(struct exec_proc_event)) &&
		    notice.message.id.idx == CN_IDX_PROC && notice.event.what == PROC_EVENT_EXEC)
			take(data, (u32)notice.event.event_data.exec.process_tgid);
	}
}

struct proc_entry {
	u32 pid;
	u32 program; /* a hash of its path */
};

/* What ran at the last look, and room for what runs at this one; both in the order of pids. */
struct proc_scan {
	struct proc_entry *before, *now;
	size_t before_len, now_len, now_room, at;
	char forks[64]; /* /proc/loadavg's last number, which every fork changes */
	int calls_since;
	exec_noticed take;
	void *data;
};

struct proc_scan *proc_scan_new(void)
{
	return calloc(1, sizeof(struct proc_scan));
}

void proc_scan_free(struct proc_scan *scan)
{
	if (!scan)
		return;
	free(scan->before);
	free(scan->now);
	free(scan);
}

static u32 hash_of(const char *text)
{
	u32 hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static void scan_one(void *data, u32 pid)
{
	struct proc_scan *scan = data;
	struct proc_entry entry = { .pid = pid };
	char exe[PROCESS_EXE_SIZE];

	if (process_read_exe(pid, exe, sizeof(exe)) < 0)
		return;
	entry.program = hash_of(exe);
	while (scan->at < scan->before_len && scan->before[scan->at].pid < pid)
		scan->at++;
	if (scan->at >= scan->before_len || scan->before[scan->at].pid != pid ||
	    scan->before[scan->at].program != entry.program)
		scan->take(scan->data, pid);
	/* What is not remembered is new again next time. */
	if (vec_reserve(scan->now, scan->now_room, scan->now_len + 1, 512))
		scan->now[scan->now_len++] = entry;
}

static bool something_happened(struct proc_scan *scan)
{
	char line[64] = "", *forks;
	bool changed;

	read_line_at(AT_FDCWD, "/proc/loadavg", line, sizeof(line));
	forks = strrchr(line, ' ');
	changed = !forks || strcmp(forks, scan->forks) != 0;
	if (forks)
		snprintf(scan->forks, sizeof(scan->forks), "%s", forks);
	return changed;
}

void proc_scan_changes(struct proc_scan *scan, exec_noticed take, void *data)
{
	bool forked = something_happened(scan);

	/* One look more after the forks have stopped: the last child may have been on its way to its exec. */
	if (forked)
		scan->calls_since = 0;
	else if (++scan->calls_since > 1 && scan->calls_since < SCAN_AT_LEAST_EVERY)
		return;
	if (scan->calls_since >= SCAN_AT_LEAST_EVERY)
		scan->calls_since = 1;
	scan->take = take;
	scan->data = data;
	scan->at = scan->now_len = 0;
	processes_each(scan_one, scan);
	free(scan->before);
	scan->before = scan->now;
	scan->before_len = scan->now_len;
	scan->now = NULL;
	scan->now_room = 0;
}
