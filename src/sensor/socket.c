// SPDX-License-Identifier: GPL-2.0
/* The socket sensor: loads bpf/socket.bpf.c, which counts wake-ups that a thread spends on network sockets, at the
 * protocols' own functions or, where the kernel's policy refuses that, at a tracepoint of all sockets. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sensor_set.h"
#include "kernel_types.h"
#include "kinds.h"
#include "sched.h"
#include "socket.skel.h"

enum socket_hook { HOOK_FEXIT, HOOK_TP_BTF, HOOK_KPROBE };

static bool probe_tracepoint(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_has_tracepoint("sock_recv_length"))
		return true;
	reason_set(why, "this kernel has no such tracepoint (it takes Linux 6.3 or later)");
	return false;
}

static bool probe_function(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_has_function("inet_recvmsg"))
		return true;
	reason_set(why, "this kernel has no function inet_recvmsg (CONFIG_INET)");
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_FEXIT] = { "fexit/inet_recvmsg", NULL, probe_function },
	[HOOK_TP_BTF] = { "tp_btf/sock_recv_length", "sending and receiving by other sockets costs a little too",
			  probe_tracepoint },
	[HOOK_KPROBE] = { "kprobe/inet_recvmsg", "each send and receive costs about a microsecond more",
			  probe_kprobes },
	{ 0 },
};

/* What every program is for. `optional`: not there where the kernel is built without IPv6. */
static const struct {
	const char *name;
	enum socket_hook hook;
	const char *optional;
} programs[] = {
	{ "on_send_length", HOOK_TP_BTF, NULL },
	{ "on_recv_length", HOOK_TP_BTF, NULL },
	{ "after_inet_sendmsg", HOOK_FEXIT, NULL },
	{ "after_inet_recvmsg", HOOK_FEXIT, NULL },
	{ "after_inet6_sendmsg", HOOK_FEXIT, "inet6_sendmsg" },
	{ "after_inet6_recvmsg", HOOK_FEXIT, "inet6_recvmsg" },
	{ "probed_inet_sendmsg", HOOK_KPROBE, NULL },
	{ "probed_inet_recvmsg", HOOK_KPROBE, NULL },
	{ "probed_inet6_sendmsg", HOOK_KPROBE, "inet6_sendmsg" },
	{ "probed_inet6_recvmsg", HOOK_KPROBE, "inet6_recvmsg" },
};

static void choose_programs(const struct bpf_object *object, int hook)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i].name);

		bpf_program__set_autoload(program,
					  (int)programs[i].hook == hook &&
						  (!programs[i].optional || kernel_has_function(programs[i].optional)));
	}
}

#define NO_IPV6 "threads that serve sockets of IPv6 are not known by them"
static const struct load_optional optional[] = {
	{ "after_inet6_sendmsg", NO_IPV6 },
	{ "after_inet6_recvmsg", NO_IPV6 },
	{ "probed_inet6_sendmsg", NO_IPV6 },
	{ "probed_inet6_recvmsg", NO_IPV6 },
	{ NULL, NULL },
};

struct wishes {
	const struct sensor *sched;
	int hook;
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	struct socket_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	choose_programs(skeleton->obj, wishes->hook);
	return sched_share(wishes->sched, skeleton->obj);
}

LOADABLE(socket);

static int socket_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct wishes wishes = { settings ? settings->sched : NULL, hook };
	const struct load_plan plan = { &socket_loadable, optional, configure, &wishes };
	int error;

	*out = load_programs(&plan, &error, why);
	return error;
}

static int socket_attach(void *data, int hook, struct reason *why)
{
	(void)hook;
	(void)why;
	return load_attach(data, optional);
}

static void socket_close(void *data)
{
	socket_bpf__destroy(data);
}

static void socket_hits(const void *data, u64 hits[HITS])
{
	const struct socket_bpf *skeleton = data;
	int cpus = libbpf_num_possible_cpus();
	u64 *turns = cpus > 0 ? calloc((size_t)cpus, sizeof(*turns)) : NULL;
	u32 zero = 0;

	if (turns &&
	    !bpf_map__lookup_elem(skeleton->maps.turns, &zero, sizeof(zero), turns, (size_t)cpus * sizeof(*turns), 0))
		for (int cpu = 0; cpu < cpus; cpu++)
			hits[HIT_NETWORK_TURNS] += turns[cpu];
	free(turns);
}

const struct sensor_kind socket_kind = {
	.name = "socket",
	.subject = "threads that serve network sockets",
	.hooks = hooks,
	.open = socket_open,
	.attach = socket_attach,
	.close = socket_close,
	.groups = EVENTS_ROLES,
	.hits = socket_hits,
};
