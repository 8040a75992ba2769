// SPDX-License-Identifier: GPL-2.0
/* The sound sensor's second kernel half: threads that send sound to a server over its socket, as PulseAudio's clients
 * do. Those of PipeWire and JACK hand it over in shared memory, and are known by other means. */
#include "roles.h"

char LICENSE[] SEC("license") = "GPL";

enum { FAMILY_UNIX = 1 };

/* By all threads, to such servers. */
u64 sends_seen = 0;

/* How the address of such a server's socket ends, wherever it lies: PulseAudio's name for it, PipeWire's too. */
struct address_end {
	char text[12];
};

static __always_inline bool is_sound_server(const struct address_end *end)
{
	const char wanted[] = "pulse/native";

	for (u32 i = 0; i < sizeof(end->text); i++)
		if (end->text[i] != wanted[i])
			return false;
	return true;
}

/* `address` may be NULL. */
static __always_inline bool is_sound_address(struct unix_address *address)
{
	/* Of the whole address, with a NUL at the end. */
	u32 len = address ? (u32)FIELD_PROBED(address, len) : 0;
	struct address_end end;

	if (len < sizeof(u16) + sizeof(end) + 1 || len > 256)
		return false;
	if (bpf_probe_read_kernel(&end, sizeof(end),
				  (char *)address + bpf_core_field_offset(struct unix_address, name) + len -
					  sizeof(end) - 1))
		return false;
	return is_sound_server(&end);
}

/* Whom the socket leads to. This runs at every send: reading by plain loads is a third of reading by calls. */
static __always_inline struct unix_address *peer_address(struct sock *sk)
{
	struct unix_sock *own = bpf_skc_to_unix_sock(sk), *other;
	struct sock *peer = own ? own->peer : NULL;

	other = peer ? bpf_skc_to_unix_sock(peer) : NULL;
	return other ? other->addr : NULL;
}

static __always_inline struct unix_address *probed_peer_address(const struct sock *sk)
{
	struct unix_sock *peer = (struct unix_sock *)BPF_CORE_READ((struct unix_sock *)sk, peer);

	return peer ? BPF_CORE_READ(peer, addr) : NULL;
}

static __always_inline int sent(struct unix_address *to)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread;
	u64 now_ns;

	if (!is_sound_address(to))
		return 0;
	__sync_fetch_and_add(&sends_seen, 1);
	thread = role_here(current);
	if (!thread)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (sound_was_sent(&thread->role, now_ns))
		role_update(current, thread, now_ns);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send_length, struct sock *sk, int result)
{
	return result > 0 && sk->__sk_common.skc_family == FAMILY_UNIX ? sent(peer_address(sk)) : 0;
}

SEC("fentry/unix_stream_sendmsg")
int BPF_PROG(on_stream_sendmsg, struct socket *socket)
{
	return sent(peer_address(socket->sk));
}

SEC("kprobe/unix_stream_sendmsg")
int BPF_KPROBE(probed_stream_sendmsg, struct socket *socket)
{
	return sent(probed_peer_address(BPF_CORE_READ(socket, sk)));
}
