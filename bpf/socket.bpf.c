// SPDX-License-Identifier: GPL-2.0
/* The socket sensor's kernel half: whether a thread that woke went on to send or receive on a network socket.
 * It only counts; core/role.h judges the share of such wake-ups when it judges behaviour. */
#include "roles.h"

char LICENSE[] SEC("license") = "GPL";

enum { FAMILY_INET = 2, FAMILY_INET6 = 10 };

/* Turns that were counted, of all threads. Each CPU by itself: servers have hundreds of thousands a second. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} turns SEC(".maps");

static __always_inline void count_turn(void)
{
	u32 zero = 0;
	u64 *count = bpf_map_lookup_elem(&turns, &zero);

	if (count)
		(*count)++;
}

/* Once a wake-up; a thread that never sleeps counts once a tick. What failed, as a look into an empty socket, is
 * nothing.
 */
static __always_inline int served(int result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread;
	u64 turn;

	if (result < 0)
		return 0;
	thread = role_here(current);
	if (!thread)
		return 0;
	turn = net_turn(thread->account.wakeups, bpf_jiffies64());
	if (thread->role.net_turn != turn) {
		thread->role.net_turn = turn;
		thread->role.facts.net_wakes++;
		count_turn();
	}
	return 0;
}

static __always_inline int served_on(const struct sock *sk, int result)
{
	u16 family = sk->__sk_common.skc_family;

	return family == FAMILY_INET || family == FAMILY_INET6 ? served(result) : 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send_length, struct sock *sk, int result)
{
	return served_on(sk, result);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_recv_length, struct sock *sk, int result)
{
	return served_on(sk, result);
}

/* The protocols' own functions: other sockets, as those within the machine, cost nothing then. They are never inlined,
 * since sockets call them through their table. */
SEC("fexit/inet_sendmsg")
int BPF_PROG(after_inet_sendmsg, void *sock, void *message, u64 size, int result)
{
	return served(result);
}

SEC("fexit/inet_recvmsg")
int BPF_PROG(after_inet_recvmsg, void *sock, void *message, u64 size, int flags, int result)
{
	return served(result);
}

SEC("fexit/inet6_sendmsg")
int BPF_PROG(after_inet6_sendmsg, void *sock, void *message, u64 size, int result)
{
	return served(result);
}

SEC("fexit/inet6_recvmsg")
int BPF_PROG(after_inet6_recvmsg, void *sock, void *message, u64 size, int flags, int result)
{
	return served(result);
}

SEC("kretprobe/inet_sendmsg")
int BPF_KRETPROBE(probed_inet_sendmsg, int result)
{
	return served(result);
}

SEC("kretprobe/inet_recvmsg")
int BPF_KRETPROBE(probed_inet_recvmsg, int result)
{
	return served(result);
}

SEC("kretprobe/inet6_sendmsg")
int BPF_KRETPROBE(probed_inet6_sendmsg, int result)
{
	return served(result);
}

SEC("kretprobe/inet6_recvmsg")
int BPF_KRETPROBE(probed_inet6_recvmsg, int result)
{
	return served(result);
}
