// SPDX-License-Identifier: GPL-2.0
/* The launch sensor: learns of each program that starts, reads what /proc says of it, asks the rules what it is, and
 * has that noted with all of its threads. Programs that are there already are looked at once at the start. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/launch_config.h"
#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc_apart.h"
#include "../base/process.h"
#include "../base/system.h"
#include "../model/later.h"
#include "sensor_set.h"
#include "exec_notices.h"
#include "kinds.h"
#include "sched.h"
#include "launch.skel.h"

enum launch_hook { HOOK_LSM, HOOK_TP_BTF, HOOK_TRACEPOINT, HOOK_CONNECTOR, HOOK_SCAN };

enum { STEPS = 4 };

/* When a program is looked at again that may not have said all yet: its command line is not there before its exec is
 * over, and Wine's loader writes another one when it knows what it runs. */
static const u64 later_ns[STEPS] = { 2 * NSEC_PER_MSEC, 50 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC,
				     3000ULL * NSEC_PER_MSEC };

struct launch_state {
	struct launch_bpf *skeleton;
	struct ring_buffer *ring;
	struct proc_scan *scan;
	int connector_fd;
	int epoll_fd;
	int timer_fd;
	u32 awaited_pid; /* of the trial; 0: none is on */
	bool arrived;
	struct sensor *sched;
	const struct rules *rules;
	void (*on_program)(void *data, const struct program_seen *seen);
	void *data; /* its */
	struct later later;
	u64 forgotten; /* rules that there was no room for, and execs that the kernel could not report */
	struct process_texts texts;
};

static bool probe_lsm(struct reason *why)
{
	char list[256];

	if (!probe_btf(why))
		return false;
	/* Where the list can't be read, the trial after attaching shows it. */
	if (read_line_at(AT_FDCWD, "/sys/kernel/security/lsm", list, sizeof(list)) < 0)
		return true;
	for (char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, "bpf", 3) && (at[3] == ',' || !at[3]))
			return true;
	reason_set(why, "bpf is not among this kernel's security modules: %.100s (its command line's lsm= names them)",
		   list);
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_LSM] = { "lsm/bprm_committed_creds", NULL, probe_lsm },
	[HOOK_TP_BTF] = { "tp_btf/sched_process_exec",
			  "programs called by a path that does not begin with / are all looked at", probe_btf },
	[HOOK_TRACEPOINT] = { "tracepoint/sched/sched_process_exec",
			      "programs called by a path that does not begin with / are all looked at, and each costs "
			      "more",
			      probe_tracefs },
	[HOOK_CONNECTOR] = { "netlink process connector",
			     "every program that starts is looked at, and launches are in no recording", NULL },
	[HOOK_SCAN] = { "/proc once a second",
			"programs are noticed up to a second late, and launches are in no recording", NULL },
	{ 0 },
};

/* What a process is now. Returns its PROCESS_* bits; *whole is whether it had a command line. */
static u32 look_at(struct launch_state *state, u32 pid, bool *whole)
{
	struct process_texts *texts = &state->texts;
	struct process_traits traits = {
		.pid = pid,
		.comm = texts->comm,
		.exe = texts->exe,
		.words = texts->words,
		.environ = texts->environ,
	};
	const char *why;
	u32 bits, user = 0;

	*whole = true;
	/* Gone, or a thread of the kernel's: nothing to say. */
	if (!state->sched || process_read(texts, pid) < 0)
		return 0;
	traits.words_len = texts->words_len;
	traits.environ_len = texts->environ_len;
	*whole = texts->words_len != 0;
	bits = rules_process(state->rules, &traits, &why);
	if (bits)
		sched_assign(state->sched, pid, 0, ORDER_PROCESS, (s32)bits);
	if (state->on_program && (bits & (PROCESS_GAME | PROCESS_HELPER)) && !process_charged_to(pid, &user))
		state->on_program(state->data, &(struct program_seen){ .pid = pid,
								       .bits = bits,
								       .family = rules_family(&traits),
								       .comm = texts->comm,
								       .why = why,
								       .user = user,
								       .compiles = rules_compiles(texts->comm) });
	return bits;
}

/* What a program is by the rules that hold now, and no longer is by those before. */
struct change_of_rules {
	struct launch_state *state;
	const struct rules *before;
};

static void look_by_other_rules(void *data, u32 pid)
{
	const struct change_of_rules *change = data;
	struct process_texts *texts = &change->state->texts;
	struct process_traits traits = {
		.pid = pid, .comm = texts->comm, .exe = texts->exe, .words = texts->words, .environ = texts->environ
	};
	const char *why;
	u32 was, is;
	bool whole;

	if (process_read(texts, pid) < 0)
		return;
	traits.words_len = texts->words_len;
	traits.environ_len = texts->environ_len;
	was = rules_process(change->before, &traits, &why);
	is = rules_process(change->state->rules, &traits, &why);
	if (was & ~is)
		sched_assign(change->state->sched, pid, 0, ORDER_NOT_PROCESS, (s32)(was & ~is));
	if (is != was)
		look_at(change->state, pid, &whole);
}

static void look_once(void *data, u32 pid)
{
	bool whole;

	look_at(data, pid, &whole);
}

/* Sets the timer for whoever is due first. */
static void wind_timer(struct launch_state *state)
{
	struct itimerspec at = { 0 };
	u64 first_ns = 0;

	for (u32 i = 0; i < state->later.len; i++) {
		u64 due_ns = state->later.all[i].started_ns + later_ns[state->later.all[i].step];

		if (!first_ns || due_ns < first_ns)
			first_ns = due_ns;
	}
	at.it_value.tv_sec = (time_t)(first_ns / NSEC_PER_SEC);
	at.it_value.tv_nsec = (long)(first_ns % NSEC_PER_SEC);
	timerfd_settime(state->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Which of the later looks comes next after so many, or STEPS: none. What it was held for is reported again at the
 * second look, since an early answer may have come before the kernel half forgot what the process was before. */
static u32 step_after(u32 looks, u32 bits, bool whole)
{
	if (looks == 0)
		return whole ? bits ? 1 : STEPS : 0;
	if (looks == 1)
		return bits || !whole ? 1 : STEPS;
	if (looks == 2)
		return (bits & PROCESS_WINE) || !whole ? 2 : STEPS;
	/* On a busy machine Wine takes its time. */
	return looks == 3 && bits == PROCESS_WINE ? 3 : STEPS;
}

static void on_launch(void *data, u32 pid)
{
	struct launch_state *state = data;
	struct later_look next = { .pid = pid };
	bool whole;
	u32 bits;

	later_forget(&state->later, pid);
	bits = look_at(state, pid, &whole);
	next.step = step_after(0, bits, whole);
	next.started_ns = clock_now_ns();
	/* Who has ended is not looked at again. */
	if (next.step != STEPS && !process_charged_to(pid, &next.user) && later_add(&state->later, &next))
		wind_timer(state);
}

static void look_later(struct launch_state *state)
{
	u64 now_ns = clock_now_ns(), expirations;

	if (read(state->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return;
	for (u32 i = 0; i < state->later.len;) {
		struct later_look *one = &state->later.all[i];
		bool whole;
		u32 bits;

		if (one->started_ns + later_ns[one->step] > now_ns) {
			i++;
			continue;
		}
		bits = look_at(state, one->pid, &whole);
		one->step = step_after(one->step + 1, bits, whole);
		if (one->step == STEPS)
			*one = state->later.all[--state->later.len];
		else
			i++;
	}
	wind_timer(state);
}

static int on_event(void *context, void *data, size_t size)
{
	const struct event_exec *event = data;
	struct launch_state *state = context;

	(void)size;
	if (state->awaited_pid)
		state->arrived |= event->pid == state->awaited_pid;
	else
		on_launch(state, event->pid);
	return 0;
}

static void on_notice(void *data, u32 pid)
{
	struct launch_state *state = data;

	if (state->awaited_pid)
		state->arrived |= pid == state->awaited_pid;
	else
		on_launch(state, pid);
}

static void launch_work(void *data)
{
	struct launch_state *state = data;

	if (state->ring)
		ring_buffer__consume(state->ring);
	if (state->connector_fd >= 0)
		state->forgotten += connector_read(state->connector_fd, on_notice, state);
	if (state->scan)
		proc_scan_changes(state->scan, on_notice, state);
	look_later(state);
}

/* Maps refuse what is too much; what they have then is looked at more than needed, or not at all. */
static void add_rule(void *data, const struct launch_rule *rule)
{
	struct launch_state *state = data;
	struct folder_key folder = { .bits = 0 };
	struct name_key name = { .bits = 0 };
	size_t len = rule->len;
	u32 look = rule->look;
	int error;

	if (rule->is_path) {
		len = len < FOLDER_LEN ? len : FOLDER_LEN;
		folder.bits = (u32)len * 8;
		memcpy(folder.path, rule->text, len);
		error = bpf_map__update_elem(state->skeleton->maps.folders, &folder, sizeof(folder), &look,
					     sizeof(look), 0);
	} else {
		len = len < COMM_LEN ? len : COMM_LEN - 1;
		/* An exact name includes the NUL after it. */
		name.bits = (u32)(len + (rule->exact ? 1 : 0)) * 8;
		memcpy(name.comm.text, rule->text, len);
		error = bpf_map__update_elem(state->skeleton->maps.programs, &name, sizeof(name), &look, sizeof(look),
					     0);
	}
	state->forgotten += error != 0;
}

struct wishes {
	const struct sensor *sched;
	int hook;
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct launch_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	bpf_program__set_autoload(skeleton->progs.on_committed_creds, wishes->hook == HOOK_LSM);
	bpf_program__set_autoload(skeleton->progs.on_exec, wishes->hook == HOOK_TP_BTF);
	bpf_program__set_autoload(skeleton->progs.on_exec_plain, wishes->hook == HOOK_TRACEPOINT);
	return sched_share(wishes->sched, skeleton->obj);
}

LOADABLE(launch);

static int open_programs(struct launch_state *state, int hook, struct reason *why)
{
	struct wishes wishes = { state->sched, hook };
	const struct load_plan plan = { &launch_loadable, NULL, configure, &wishes };
	int error;

	state->skeleton = load_programs(&plan, &error, why);
	if (error)
		return error;
	if (state->rules)
		rules_launches(state->rules, add_rule, state);
	state->ring = ring_buffer__new(bpf_map__fd(state->skeleton->maps.launches), on_event, state, NULL);
	return state->ring ? 0 : -errno;
}

static int launch_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct launch_state *state = calloc(1, sizeof(*state));

	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = settings ? settings->sched : NULL;
	state->rules = settings ? settings->rules : NULL;
	state->on_program = settings ? settings->on_program : NULL;
	state->data = settings ? settings->data : NULL;
	state->connector_fd = -1;
	state->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	state->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (state->epoll_fd < 0 || state->timer_fd < 0)
		return -errno;
	switch (hook) {
	case HOOK_CONNECTOR:
		state->connector_fd = connector_open(why);
		return state->connector_fd < 0 ? state->connector_fd : 0;
	case HOOK_SCAN:
		state->scan = proc_scan_new();
		return state->scan ? 0 : -ENOMEM;
	default:
		return open_programs(state, hook, why);
	}
}

/* A program that does nothing, called by a path that is never passed over. Returns its pid or -errno. */
static int run_trial(void)
{
	static char *const words[] = { "sh", "-c", ":", NULL };
	int pid, error = posix_spawn(&pid, "/proc/self/root/bin/sh", NULL, NULL, words, environ);

	if (error)
		return -error;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return pid;
}

/* Some kernels let a hook be attached and never call it. */
static int try_hook_out(struct launch_state *state, struct reason *why)
{
	int pid = run_trial();

	if (pid < 0) {
		reason_set(why, "no program could be started to try it: %s", strerror(-pid));
		return pid;
	}
	state->awaited_pid = (u32)pid;
	if (state->ring)
		ring_buffer__consume(state->ring);
	else
		connector_read(state->connector_fd, on_notice, state);
	state->awaited_pid = 0;
	/* The trial is none of what is to be counted. */
	if (state->skeleton)
		state->skeleton->bss->seen = state->skeleton->bss->sent = 0;
	if (state->arrived)
		return 0;
	reason_set(why, "it can be attached, but this kernel never calls it");
	return -ENOTSUP;
}

static void add_fd(const struct launch_state *state, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	epoll_ctl(state->epoll_fd, EPOLL_CTL_ADD, fd, &readable);
}

static int launch_attach(void *data, int hook, struct reason *why)
{
	struct launch_state *state = data;
	int error = 0;

	if (hook == HOOK_TRACEPOINT) {
		state->skeleton->links.on_exec_plain = sensor_attach_tracepoint(state->skeleton->progs.on_exec_plain,
										"sched", "sched_process_exec");
		error = state->skeleton->links.on_exec_plain ? 0 : -errno;
	} else if (state->skeleton) {
		error = load_attach(state->skeleton, NULL);
	}
	if (!error && hook != HOOK_SCAN)
		error = try_hook_out(state, why);
	if (error)
		return error;
	add_fd(state, state->timer_fd);
	if (state->ring)
		add_fd(state, bpf_map__fd(state->skeleton->maps.launches));
	if (state->connector_fd >= 0)
		add_fd(state, state->connector_fd);
	/* Only now, so that a program that starts meanwhile is seen by the one or the other. */
	if (state->scan)
		proc_scan_changes(state->scan, look_once, state);
	else if (state->sched)
		processes_each(look_once, state);
	return 0;
}

static void forget_rules(int map_fd, size_t key_size)
{
	char key[sizeof(struct folder_key) + sizeof(struct name_key)];

	while (key_size <= sizeof(key) && !bpf_map_get_next_key(map_fd, NULL, key) && !bpf_map_delete_elem(map_fd, key))
		;
}

static void launch_set_rules(void *data, const struct rules *rules)
{
	struct launch_state *state = data;
	struct change_of_rules change = { state, state->rules };

	state->rules = rules;
	if (state->skeleton) {
		forget_rules(bpf_map__fd(state->skeleton->maps.folders), sizeof(struct folder_key));
		forget_rules(bpf_map__fd(state->skeleton->maps.programs), sizeof(struct name_key));
		rules_launches(rules, add_rule, state);
	}
	processes_each(look_by_other_rules, &change);
}

static void launch_close(void *data)
{
	struct launch_state *state = data;

	if (!state)
		return;
	if (sensor_is_verbose() && state->ring && state->sched)
		note("launch: %" PRIu64 " programs started, %" PRIu64 " of them were worth a look",
		     (uint64_t)state->skeleton->bss->seen, (uint64_t)state->skeleton->bss->sent);
	ring_buffer__free(state->ring);
	launch_bpf__destroy(state->skeleton);
	connector_close(state->connector_fd);
	proc_scan_free(state->scan);
	if (state->epoll_fd >= 0)
		close(state->epoll_fd);
	if (state->timer_fd >= 0)
		close(state->timer_fd);
	free(state);
}

static int launch_fd(const void *data)
{
	const struct launch_state *state = data;

	return state->epoll_fd;
}

static u64 launch_lost(const void *data)
{
	const struct launch_state *state = data;

	return state->forgotten + state->later.refused + proc_apart_unanswered() +
	       (state->skeleton ? state->skeleton->bss->lost : 0);
}

const struct sensor_kind launch_kind = {
	.name = "launch",
	.subject = "programs that start",
	.hooks = hooks,
	.open = launch_open,
	.attach = launch_attach,
	.close = launch_close,
	.groups = EVENTS_ROLES,
	.fd = launch_fd,
	.work = launch_work,
	.lost = launch_lost,
	.set_rules = launch_set_rules,
};
