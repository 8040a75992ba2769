// SPDX-License-Identifier: GPL-2.0
/* The learned sensor: keeps the kernel's map of predictions in step with the database, and once a second takes what the
 * kernel half observed into it. Its programs are the sched sensor's (bpf/learn.h). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../model/procdb_store.h"
#include "evidence.h"
#include "kinds.h"
#include "sched.h"

#define PIN_ROOT "/sys/fs/bpf"
#define PIN_FOLDER PIN_ROOT "/tactus"

enum learned_hook { HOOK_PINNED, HOOK_UNPINNED };

enum { DRAIN_MOST = 2 * PROCDB_KERNEL_KINDS };

static const struct {
	const char *map, *path;
} pins[] = {
	{ "observed", PIN_FOLDER "/observed" },
	{ "predicted", PIN_FOLDER "/predicted" },
};
enum { PINS = sizeof(pins) / sizeof(pins[0]) };

struct learned_state {
	struct evidence_settings settings;
	struct procdb_store store;
	bool open, pinned;
	int observed_fd, predicted_fd;
	struct ring_buffer *hurried;
	u32 flags;
	bool replan; /* profiles may have come or gone */
	u64 drained_at_ns;
	u64 drained, lost;
	struct reason told; /* the last trouble, so that it is told once */
	struct kind_key keys[DRAIN_MOST];
	struct kind_seen seen[DRAIN_MOST];
};

static bool probe_bpffs(struct reason *why)
{
	struct statfs info;

	if (statfs(PIN_ROOT, &info) == 0 && info.f_type == BPF_FS_MAGIC)
		return true;
	reason_set(why, "no bpf file system there: mount -t bpf bpf " PIN_ROOT);
	return false;
}

static const struct sensor_hook hooks[] = {
	[HOOK_PINNED] = { "maps in " PIN_FOLDER, NULL, probe_bpffs },
	[HOOK_UNPINNED] = { "maps without a name", "bpftool finds the maps by number only", NULL },
	{ 0 },
};

static u64 wall_clock_s(void)
{
	return (u64)time(NULL);
}

static void trouble(struct learned_state *state, const struct reason *why)
{
	if (strcmp(state->told.text, why->text) != 0)
		note("what was learned: %s", why->text);
	state->told = *why;
}

static int on_hurried(void *data, void *bytes, size_t size)
{
	const struct learned_tier *learned = bytes;
	struct learned_state *state = data;

	(void)size;
	state->settings.on_tier(state->settings.data, learned->tid, learned->tier);
	return 0;
}

static int learned_open(void **out, int hook, const void *data, struct reason *why)
{
	static const struct procdb_settings none = { 0 };
	const struct evidence_settings *settings = data;
	struct learned_state *state = calloc(1, sizeof(*state));
	int error;

	(void)hook;
	*out = state;
	if (!state)
		return -ENOMEM;
	if (!settings)
		return 0;
	state->settings = *settings;
	error = store_open(&state->store, settings->db ? settings->db : &none, wall_clock_s(), why);
	if (error) {
		/* Refused, or broken: this is something to know, not just to look up. */
		note("what was learned is left out: %s", why->text[0] ? why->text : strerror(-error));
		return error;
	}
	state->open = true;
	return 0;
}

/* Takes out of the kernel what is predicted no more. */
static void remove_stale(struct learned_state *state)
{
	struct kind_key keys[PROCDB_KERNEL_KINDS], *before = NULL;
	size_t len = 0;

	while (len < PROCDB_KERNEL_KINDS && !bpf_map_get_next_key(state->predicted_fd, before, &keys[len]))
		before = &keys[len++];
	for (size_t i = 0; i < len; i++) {
		const struct profile *profile = procdb_find(&state->store.db, &keys[i]);

		if (!profile || !profile->predicted)
			bpf_map_delete_elem(state->predicted_fd, &keys[i]);
	}
}

static int predict(struct learned_state *state, struct profile *profile)
{
	struct kind_guess guess = profile_guess(profile);

	if (bpf_map_update_elem(state->predicted_fd, &profile->key, &guess, BPF_ANY))
		return -errno;
	profile->predicted = 1;
	if (!profile->key.exe.text[0])
		state->flags |= LEARN_ANY_PROGRAM;
	return 0;
}

/* All predictions anew: as many as the kernel has room for, the best of them. */
static void predict_all(struct learned_state *state)
{
	struct profile *best[PROCDB_KERNEL_KINDS];
	long len = procdb_best(&state->store.db, best, PROCDB_KERNEL_KINDS);

	for (size_t i = 0; i < state->store.db.len; i++)
		state->store.db.all[i].predicted = 0;
	for (long i = 0; i < len; i++)
		best[i]->predicted = 1;
	remove_stale(state);
	state->flags &= (u32)~LEARN_ANY_PROGRAM;
	for (long i = 0; i < len; i++)
		predict(state, best[i]);
	sched_set_learning(state->settings.sched, state->flags);
	state->replan = false;
}

static void learn(struct learned_state *state, const struct kind_key *key, const struct kind_seen *seen, u64 now_s)
{
	struct profile *profile = store_learn(&state->store, key, seen, now_s);

	state->drained += seen->notes;
	if (!profile) {
		state->lost += seen->notes;
		return;
	}
	if (profile_is_confident(profile)) {
		/* Full: then who is worth the least must go. */
		if (predict(state, profile) == -E2BIG)
			state->replan = true;
	} else if (profile->predicted) {
		bpf_map_delete_elem(state->predicted_fd, key);
		profile->predicted = 0;
	}
}

static void drain(struct learned_state *state, u64 now_s)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	u32 count = DRAIN_MOST, at = 0;

	/* -ENOENT: that was all. */
	if (bpf_map_lookup_and_delete_batch(state->observed_fd, NULL, &at, state->keys, state->seen, &count,
					    &options) &&
	    errno != ENOENT)
		return;
	for (u32 i = 0; i < count; i++)
		learn(state, &state->keys[i], &state->seen[i], now_s);
}

static void unpin(const struct learned_state *state)
{
	struct bpf_map_info ours, there;
	u32 size;
	int fd;

	for (int i = 0; i < PINS; i++) {
		fd = bpf_obj_get(pins[i].path);
		if (fd < 0)
			continue;
		memset(&ours, 0, sizeof(ours));
		memset(&there, 0, sizeof(there));
		size = sizeof(ours);
		bpf_map_get_info_by_fd(i ? state->predicted_fd : state->observed_fd, &ours, &size);
		size = sizeof(there);
		/* Another tactus may have come meanwhile and put its own there. */
		if (!bpf_map_get_info_by_fd(fd, &there, &size) && ours.id == there.id)
			unlink(pins[i].path);
		close(fd);
	}
	rmdir(PIN_FOLDER);
}

static int pin(struct learned_state *state, struct reason *why)
{
	if (mkdir(PIN_FOLDER, 0700) < 0 && errno != EEXIST) {
		reason_set(why, PIN_FOLDER ": %s", strerror(errno));
		return -errno;
	}
	for (int i = 0; i < PINS; i++) {
		/* What a killed one left. */
		unlink(pins[i].path);
		if (bpf_obj_pin(i ? state->predicted_fd : state->observed_fd, pins[i].path)) {
			reason_set(why, "%s: %s", pins[i].path, strerror(errno));
			return -errno;
		}
	}
	state->pinned = true;
	return 0;
}

static int learned_attach(void *data, int hook, struct reason *why)
{
	struct learned_state *state = data;
	struct sensor *sched = state->settings.sched;
	int error;

	if (!sched)
		return 0;
	state->observed_fd = sched_map_fd(sched, "observed");
	state->predicted_fd = sched_map_fd(sched, "predicted");
	if (state->observed_fd < 0 || state->predicted_fd < 0)
		return -ENOENT;
	error = hook == HOOK_PINNED ? pin(state, why) : 0;
	if (error)
		return error;
	state->flags = LEARN_PREDICT | (state->store.learns ? LEARN_OBSERVE : 0);
	if (state->settings.on_tier) {
		state->hurried = ring_buffer__new(sched_map_fd(sched, "hurried"), on_hurried, state, NULL);
		state->flags |= state->hurried ? LEARN_HURRY : 0;
	}
	predict_all(state);
	/* Threads that are there already. */
	sched_assign(sched, 0, 0, ORDER_PREDICT, 0);
	return 0;
}

static int learned_fd(const void *data)
{
	const struct learned_state *state = data;

	return state->hurried ? ring_buffer__epoll_fd(state->hurried) : -1;
}

static void learned_work(void *data)
{
	struct learned_state *state = data;
	u64 now_ns = clock_now_ns(), now_s;
	struct reason why = { "" };
	int changed;

	if (state->hurried)
		ring_buffer__consume(state->hurried);
	if (now_ns - state->drained_at_ns < NSEC_PER_SEC - 50 * NSEC_PER_MSEC)
		return;
	state->drained_at_ns = now_ns;
	now_s = wall_clock_s();
	if (state->store.learns)
		drain(state, now_s);
	changed = store_work(&state->store, now_s, &why);
	if (changed < 0)
		trouble(state, &why);
	if (changed > 0 || state->replan)
		predict_all(state);
}

static u64 learned_lost(const void *data)
{
	const struct learned_state *state = data;

	return state->settings.sched ? state->lost + sched_learned(state->settings.sched).refused : 0;
}

static void learned_close(void *data)
{
	struct learned_state *state = data;
	struct reason why = { "" };

	if (!state)
		return;
	if (state->pinned)
		unpin(state);
	if (state->flags) {
		sched_set_learning(state->settings.sched, 0);
		if (state->store.learns)
			drain(state, wall_clock_s());
	}
	if (state->open && store_close(&state->store, wall_clock_s(), &why))
		trouble(state, &why);
	ring_buffer__free(state->hurried);
	free(state);
}

const struct sensor_kind learned_kind = {
	.name = "learned",
	.subject = "what kinds of threads were like before",
	.hooks = hooks,
	.open = learned_open,
	.attach = learned_attach,
	.close = learned_close,
	.gathers_evidence = true,
	.fd = learned_fd,
	.work = learned_work,
	.lost = learned_lost,
};
