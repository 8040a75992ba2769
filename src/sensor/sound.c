// SPDX-License-Identifier: GPL-2.0
/* The sound sensor: who plays into a sound card (bpf/sound.bpf.c), who sends sound to a server
 * (bpf/sound_server.bpf.c), and, once a thread runs like one of sound's, whether its process has to do with sound at
 * all. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/open_files.h"
#include "../base/owner.h"
#include "../base/allowance.h"
#include "sensor_set.h"
#include "kernel_types.h"
#include "kinds.h"
#include "peers.h"
#include "sched.h"
#include "sound.skel.h"
#include "sound_server.skel.h"

enum sound_hook {
	HOOK_FENTRY,
	HOOK_KPROBE,
	HOOK_SERVER_FENTRY,
	HOOK_SERVER_TP_BTF,
	HOOK_SERVER_KPROBE,
	HOOK_FILES,
};

enum { LOOKS_KEPT = 64, LOOK_AGAIN_S = 10, SERVERS_MAX = 4 };
/* A look takes up to a few milliseconds. At most a fiftieth of a CPU's time goes to one user for long. */
enum { BURST_MS = 100, PAYS_PARTS = 50 };

/* A process that was looked at. */
struct look {
	u32 pid;
	u64 time_ns;
};

struct sound_state {
	struct sensor *sched;
	struct sound_bpf *card;
	struct sound_server_bpf *server;
	int server_hook; /* that it is to be watched by once there is one; HOOK_FILES: none can be */
	struct look looks[LOOKS_KEPT];
	u32 looks_next;
	struct allowance allowance;
	u64 unseen; /* processes that were not looked at, or not at all that they have open */
};

static bool probe_server_tp(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_has_tracepoint("sock_send_length"))
		return true;
	reason_set(why, "this kernel has no such tracepoint (it takes Linux 6.3 or later)");
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_FENTRY] = { "fentry/snd_pcm_ioctl", NULL, probe_btf },
	[HOOK_KPROBE] = { "kprobe/snd_pcm_ioctl", "each request to a sound card costs about a microsecond more",
			  probe_kprobes },
	[HOOK_SERVER_FENTRY] = { "fentry/unix_stream_sendmsg",
				 "who plays into a sound card is known by what its process has open", probe_btf },
	[HOOK_SERVER_TP_BTF] = { "tp_btf/sock_send_length",
				 "who plays into a sound card is known by what its process has open", probe_server_tp },
	[HOOK_SERVER_KPROBE] = { "kprobe/unix_stream_sendmsg",
				 "who plays into a sound card is known by what its process has open", probe_kprobes },
	[HOOK_FILES] = { "files", "sound is known by threads' clocks and by what their process has open", NULL },
	{ 0 },
};

/* Programs come in pairs, one a hook. The first function is there wherever there is sound. */
static const char *const card_functions[] = { "snd_pcm_ioctl", "snd_pcm_ioctl_compat", "snd_pcm_poll",
					      "snd_pcm_write", "snd_pcm_writev",       "snd_pcm_read" };
static const char *const card_programs[][2] = {
	{ "on_pcm_ioctl", "probed_pcm_ioctl" },	  { "on_pcm_ioctl_compat", "probed_pcm_ioctl_compat" },
	{ "on_pcm_poll", "probed_pcm_poll" },	  { "on_pcm_write", "probed_pcm_write" },
	{ "on_pcm_writev", "probed_pcm_writev" }, { "on_pcm_read", "probed_pcm_read" },
};
enum { CARD_FUNCTIONS = sizeof(card_functions) / sizeof(card_functions[0]) };

static bool has_function(const struct btf *types, const char *name)
{
	return types && btf__find_by_name_kind(types, name, BTF_KIND_FUNC) > 0;
}

/* Takes those programs whose functions this kernel, or its module for sound, has. */
static int choose_card_programs(const struct sound_bpf *card, int hook, struct reason *why)
{
	const struct btf *kernel = kernel_types();
	struct btf *module = NULL;
	int error = 0;

	if (!has_function(kernel, card_functions[0]))
		module = btf__load_module_btf("snd_pcm", (struct btf *)kernel);
	for (int i = 0; i < CARD_FUNCTIONS; i++) {
		bool there = has_function(module ? module : kernel, card_functions[i]);

		for (int j = 0; j < 2; j++)
			bpf_program__set_autoload(bpf_object__find_program_by_name(card->obj, card_programs[i][j]),
						  there && j == hook);
		if (!i && !there) {
			reason_set(why, "this kernel has no sound (CONFIG_SND_PCM), or its module is not loaded");
			error = -ENOENT;
		}
	}
	btf__free(module);
	return error;
}

#define NOT_BY(what) "threads that feed a sound card by " what " are known by what their process has open"
static const struct load_optional card_optional[] = {
	{ "on_pcm_ioctl_compat", NOT_BY("a 32-bit program") },
	{ "probed_pcm_ioctl_compat", NOT_BY("a 32-bit program") },
	{ "on_pcm_poll", NOT_BY("mapped memory") },
	{ "probed_pcm_poll", NOT_BY("mapped memory") },
	{ "on_pcm_write", NOT_BY("write") },
	{ "probed_pcm_write", NOT_BY("write") },
	{ "on_pcm_writev", NOT_BY("writev") },
	{ "probed_pcm_writev", NOT_BY("writev") },
	{ "on_pcm_read", "threads that record from a sound card by read are not known by it" },
	{ "probed_pcm_read", "threads that record from a sound card by read are not known by it" },
	{ NULL, NULL },
};

struct wishes {
	const struct sound_state *state;
	int hook;
};

static int configure_card(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct sound_bpf *card = opened;
	int error = choose_card_programs(card, wishes->hook, why);

	(void)attempt;
	return error ? error : sched_share(wishes->state->sched, card->obj);
}

static int configure_server(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct sound_server_bpf *server = opened;

	(void)attempt;
	(void)why;
	bpf_program__set_autoload(server->progs.on_send_length, wishes->hook == HOOK_SERVER_TP_BTF);
	bpf_program__set_autoload(server->progs.on_stream_sendmsg, wishes->hook == HOOK_SERVER_FENTRY);
	bpf_program__set_autoload(server->progs.probed_stream_sendmsg, wishes->hook == HOOK_SERVER_KPROBE);
	return sched_share(wishes->state->sched, server->obj);
}

LOADABLE(sound);
LOADABLE(sound_server);

static int open_card(struct sound_state *state, int hook, struct reason *why)
{
	struct wishes wishes = { state, hook };
	const struct load_plan plan = { &sound_loadable, card_optional, configure_card, &wishes };
	int error;

	state->card = load_programs(&plan, &error, why);
	return error;
}

static int open_server(struct sound_state *state, int hook)
{
	struct wishes wishes = { state, hook };
	const struct load_plan plan = { &sound_server_loadable, NULL, configure_server, &wishes };
	struct sound_server_bpf *server;
	struct reason why = { "" };
	int error;

	server = load_programs(&plan, &error, &why);
	if (!error)
		error = load_attach(server, NULL);
	if (error)
		sound_server_bpf__destroy(server);
	else
		state->server = server;
	return error;
}

static int sound_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct sound_state *state = calloc(1, sizeof(*state));

	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = settings ? settings->sched : NULL;
	state->allowance = (struct allowance){ .burst_ns = BURST_MS * (u64)NSEC_PER_MSEC, .pays_parts = PAYS_PARTS };
	return hook <= HOOK_KPROBE ? open_card(state, hook, why) : 0;
}

/* Every send by a socket within the machine passes the hook: it is put there when there is a server to send to. */
static void watch_servers(struct sound_state *state)
{
	struct reason why;

	for (; !state->server && state->server_hook <= HOOK_SERVER_KPROBE; state->server_hook++)
		if (!sensor_hook_is_skipped("sound", hooks[state->server_hook].name) &&
		    hooks[state->server_hook].probe(&why) && !open_server(state, state->server_hook))
			return;
}

/* Whether a server listens already. */
static bool has_server(void)
{
	FILE *sockets = fopen("/proc/net/unix", "re");
	char line[512];
	bool found = false;

	while (sockets && !found && fgets(line, sizeof(line), sockets))
		found = strstr(line, "pulse/native") != NULL;
	if (sockets)
		fclose(sockets);
	return found;
}

/* Cards are one thing and servers another: where both can be watched, both are. */
static int sound_attach(void *data, int hook, struct reason *why)
{
	struct sound_state *state = data;
	int error = 0;

	(void)why;
	state->server_hook = hook <= HOOK_KPROBE ? HOOK_SERVER_FENTRY : hook;
	if (hook <= HOOK_KPROBE)
		error = load_attach(state->card, card_optional);
	else if (hook != HOOK_FILES)
		error = open_server(state, hook);
	/* That it can be done is known now. */
	if (!error && hook != HOOK_FILES && has_server()) {
		watch_servers(state);
	} else if (!error) {
		sound_server_bpf__destroy(state->server);
		state->server = NULL;
	}
	return error;
}

static void sound_close(void *data)
{
	struct sound_state *state = data;

	if (!state)
		return;
	sound_bpf__destroy(state->card);
	sound_server_bpf__destroy(state->server);
	free(state);
}

/* What only programs have open that play or mix sound: a card, or memory shared with a server. */
static bool is_of_sound(const char *target)
{
	static const char *const beginnings[] = { "/dev/snd/pcm", "/dev/shm/jack", "/dev/shm/pulse-shm-",
						  "/memfd:pipewire-memfd", "/memfd:pulseaudio" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(target, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static bool look_for_sound(void *data, int folder_fd, const char *name)
{
	bool *found = data;
	char target[128];

	open_file_target(folder_fd, name, target, sizeof(target));
	*found = is_of_sound(target);
	return !*found;
}

static bool has_sound_open(u32 pid, bool *is_cut)
{
	bool found = false;

	*is_cut |= open_files_each(pid, look_for_sound, &found) == -E2BIG;
	return found;
}

/* Whom a process talks to of the world of sound. */
struct talks {
	u32 servers[SERVERS_MAX];
	int servers_len;
	bool of_sound;
};

/* A server's socket. JACK's server is a client of its clients' sockets too, so that only its own name identifies it. */
static bool is_server_socket(const char *name, size_t dir_len)
{
	return !strncmp(name, "pipewire-", 9) || !strncmp(name, "jack_default_", 13) ||
	       (!strcmp(name, "native") && dir_len >= 6 && !strncmp(name - 6, "pulse/", 6));
}

static void note_peer(void *data, const struct peer *peer)
{
	const char *slash = strrchr(peer->path, '/');
	struct talks *talks = data;

	if (!slash)
		return;
	if (is_server_socket(slash + 1, (size_t)(slash + 1 - peer->path))) {
		int pid = talks->servers_len < SERVERS_MAX ? peer_process(peer) : 0;

		talks->of_sound = true;
		if (pid > 0)
			talks->servers[talks->servers_len++] = (u32)pid;
	}
}

static bool was_looked_at(struct sound_state *state, u32 pid)
{
	u64 now_ns = clock_now_ns();

	for (int i = 0; i < LOOKS_KEPT; i++)
		if (state->looks[i].pid == pid && now_ns - state->looks[i].time_ns < LOOK_AGAIN_S * (u64)NSEC_PER_SEC)
			return true;
	state->looks[state->looks_next++ % LOOKS_KEPT] = (struct look){ pid, now_ns };
	return false;
}

/* Looks at a process, and at whom it talks to. Returns whether all that they have open was seen. */
static bool look_at(struct sound_state *state, u32 pid)
{
	struct talks talks = { .of_sound = false };
	bool is_cut = false;
	struct reason why;

	peers_of(pid, note_peer, &talks, &is_cut, &why);
	if (talks.of_sound)
		watch_servers(state);
	else if (!has_sound_open(pid, &is_cut))
		return !is_cut;
	sched_assign(state->sched, pid, 0, ORDER_PROCESS, PROCESS_SOUND_CLIENT);
	/* Whoever listens for a server that is started on demand has no sound of its own. */
	for (int i = 0; i < talks.servers_len; i++)
		if (has_sound_open(talks.servers[i], &is_cut))
			sched_assign(state->sched, talks.servers[i], 0, ORDER_PROCESS, PROCESS_SOUND_SERVER);
	return !is_cut;
}

/* A thread runs as one of sound's does, or was seen to feed sound: its process is looked at. */
static void sound_handle(void *data, const struct event_role *event)
{
	struct sound_state *state = data;
	u64 began_ns = clock_now_ns();
	u32 pid, uid;

	if (event->process & PROCESS_SOUND_SERVER)
		watch_servers(state);
	if (event->role != ROLE_AUDIO || !state->sched || (event->head.flags & EVENT_FLAG_CLOSING) ||
	    (event->evidence != EVIDENCE_RUNTIME && event->evidence != EVIDENCE_IO))
		return;
	pid = process_of(event->head.tid);
	if (!pid || was_looked_at(state, pid) || process_charged_to(pid, &uid))
		return;
	if (!allowance_may_work(&state->allowance, uid, began_ns)) {
		state->unseen++;
		return;
	}
	state->unseen += !look_at(state, pid);
	allowance_worked(&state->allowance, uid, began_ns, clock_now_ns() - began_ns);
}

static u64 sound_lost(const void *data)
{
	return ((const struct sound_state *)data)->unseen;
}

static void sound_hits(const void *data, u64 hits[HITS])
{
	const struct sound_state *state = data;

	hits[HIT_SOUND_WRITES] += (state->card ? state->card->bss->writes_seen : 0) +
				  (state->server ? state->server->bss->sends_seen : 0);
}

const struct sensor_kind sound_kind = {
	.name = "sound",
	.subject = "threads that feed a sound device",
	.hooks = hooks,
	.open = sound_open,
	.attach = sound_attach,
	.close = sound_close,
	.groups = EVENTS_ROLES,
	.handle = sound_handle,
	.lost = sound_lost,
	.hits = sound_hits,
};
