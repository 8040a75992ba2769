// SPDX-License-Identifier: GPL-2.0
/* The learned sensor: keeps the kernel's map of predictions in step with the database, and once a second takes what the
 * kernel half observed into it. Its programs are the sched sensor's (bpf/learn.h). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/sort.h"
#include "../store/procdb_store.h"
#include "sensor_set.h"
#include "learned.h"
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

/* A prediction that is in the kernel's map, with what decides who goes first. */
struct slot {
	u64 last_seen_s;
	u32 observations;
	u16 used;
	u16 place;
	struct kind_key key;
};

struct learned_state {
	struct sensor_settings settings;
	struct procdb_store store;
	bool open, pinned;
	int observed_fd, predicted_fd;
	int folder_fd; /* of the pins, locked while they are ours; 0: not */
	struct ring_buffer *tier_updates;
	u32 flags;
	struct slot slots[PROCDB_KERNEL_KINDS];
	u32 slots_len; /* used or free again; those after it were never used */
	u32 free[PROCDB_KERNEL_KINDS], free_len;
	struct slot leaving[PROCDB_KERNEL_KINDS]; /* those in use, who goes first before all others */
	u32 leaving_len, leaving_at;
	u64 drained_at_ns;
	u64 drained, lost;
	u64 loaded;    /* profiles at the start */
	u64 confident; /* of those that there are now */
	s64 hits, misses;
	struct reason reported; /* the last trouble, so that it is printed once */
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
	if (strcmp(state->reported.text, why->text) != 0)
		note("what was learned: %s", why->text);
	state->reported = *why;
}

static int on_tier_update(void *data, void *bytes, size_t size)
{
	const struct learned_tier *learned = bytes;
	struct learned_state *state = data;

	(void)size;
	state->settings.on_tier(state->settings.data, learned->tid, learned->tier, learned->run_ns, learned->time_ns);
	return 0;
}

static int learned_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	static const struct procdb_settings none = { 0 };
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
	state->loaded = state->store.db.len;
	state->confident = procdb_summary(&state->store.db).confident;
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

/* By the order of eviction. */
static int by_certainty(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->last_seen_s != y->last_seen_s)
		return x->last_seen_s < y->last_seen_s ? -1 : 1;
	if (x->observations != y->observations)
		return x->observations < y->observations ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static void unpredict(struct learned_state *state, u32 place)
{
	struct profile *profile = procdb_find(&state->store.db, &state->slots[place].key);

	bpf_map_delete_elem(state->predicted_fd, &state->slots[place].key);
	state->slots[place].used = 0;
	state->free[state->free_len++] = place;
	if (profile)
		profile->predicted = 0;
}

/* Takes out who is worth the least. They are put into that order once for many: who was seen again since is passed
 * over, and who came since is worth more than all of them. */
static void make_place(struct learned_state *state)
{
	struct slot *next;

	while (!state->free_len) {
		if (state->leaving_at == state->leaving_len) {
			memcpy(state->leaving, state->slots, sizeof(state->slots));
			state->leaving_len = PROCDB_KERNEL_KINDS;
			state->leaving_at = 0;
			sort_rows(state->leaving, state->leaving_len, sizeof(state->leaving[0]), by_certainty);
		}
		next = &state->leaving[state->leaving_at++];
		if (!memcmp(&state->slots[next->place], next, sizeof(*next)))
			unpredict(state, next->place);
	}
}

static u32 take_place(struct learned_state *state)
{
	if (state->slots_len < PROCDB_KERNEL_KINDS)
		return state->slots_len++;
	make_place(state);
	return state->free[--state->free_len];
}

static void predict(struct learned_state *state, struct profile *profile)
{
	struct kind_guess guess = profile_guess(profile);
	u32 place = profile->predicted ? profile->predicted - 1 : take_place(state);

	state->slots[place] = (struct slot){ profile->last_seen_s, profile->observations, 1, (u16)place, profile->key };
	profile->predicted = place + 1;
	if (!profile->key.exe.text[0])
		state->flags |= LEARN_ANY_PROGRAM;
	if (bpf_map_update_elem(state->predicted_fd, &profile->key, &guess, BPF_ANY))
		state->lost++;
}

/* All predictions anew: as many as the kernel has room for, the best of them. */
static void predict_all(struct learned_state *state)
{
	struct profile *best[PROCDB_KERNEL_KINDS];
	long len = procdb_best(&state->store.db, best, PROCDB_KERNEL_KINDS);

	for (size_t i = 0; i < state->store.db.len; i++)
		state->store.db.all[i].predicted = 0;
	state->slots_len = len > 0 ? (u32)len : 0;
	state->free_len = state->leaving_len = state->leaving_at = 0;
	for (u32 i = 0; i < state->slots_len; i++)
		best[i]->predicted = i + 1;
	remove_stale(state);
	state->flags &= (u32)~LEARN_ANY_PROGRAM;
	for (u32 i = 0; i < state->slots_len; i++)
		predict(state, best[i]);
	sched_set_learning(state->settings.sched, state->flags);
}

/* What the kernel half was given of a kind: by its name in this program, or in any. */
static const struct profile *prediction_of(const struct learned_state *state, const struct kind_key *key)
{
	const struct profile *profile = procdb_find(&state->store.db, key);
	struct kind_key any = { .comm = key->comm };

	if ((!profile || !profile->predicted) && (state->flags & LEARN_ANY_PROGRAM))
		profile = procdb_find(&state->store.db, &any);
	return profile && profile->predicted ? profile : NULL;
}

static void learn(struct learned_state *state, const struct kind_key *key, const struct kind_seen *seen, u64 now_s)
{
	const struct profile *predicted = prediction_of(state, key), *known = procdb_find(&state->store.db, key);
	bool was_confident = known && profile_is_confident(known);
	struct profile *profile;

	if (predicted)
		prediction_score(seen, profile_tier(predicted), &state->hits, &state->misses);
	profile = store_learn(&state->store, key, seen, now_s);
	state->drained += seen->notes;
	if (!profile) {
		state->lost += seen->notes;
		return;
	}
	state->confident += (u64)profile_is_confident(profile) - was_confident;
	if (profile_is_confident(profile))
		predict(state, profile);
	else if (profile->predicted)
		unpredict(state, profile->predicted - 1);
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

/* The folder belongs to one process at a time: what lies in it without a lock is what a killed one left. */
static int lock_folder(struct learned_state *state, struct reason *why)
{
	struct stat opened, found;
	int fd, error;

	if (mkdir(PIN_FOLDER, 0700) < 0 && errno != EEXIST) {
		error = -errno;
		reason_set(why, PIN_FOLDER ": %s", strerror(-error));
		return error;
	}
	fd = open(PIN_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		error = -errno;
		reason_set(why, PIN_FOLDER ": %s", strerror(-error));
		return error;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &opened) < 0 || stat(PIN_FOLDER, &found) < 0 ||
	    opened.st_ino != found.st_ino) {
		reason_set(why, "another tactus has its maps in " PIN_FOLDER);
		close(fd);
		return -EBUSY;
	}
	state->folder_fd = fd;
	return 0;
}

static int pin(struct learned_state *state, struct reason *why)
{
	int error = lock_folder(state, why);

	if (error)
		return error;
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
		state->tier_updates = ring_buffer__new(sched_map_fd(sched, "tier_updates"), on_tier_update, state,
						       NULL);
		state->flags |= state->tier_updates ? LEARN_TIER_UPDATES : 0;
	}
	predict_all(state);
	/* Threads that are there already. */
	sched_assign(sched, 0, 0, ORDER_PREDICT, 0);
	return 0;
}

static int learned_fd(const void *data)
{
	const struct learned_state *state = data;

	return state->tier_updates ? ring_buffer__epoll_fd(state->tier_updates) : -1;
}

static void learned_work(void *data)
{
	struct learned_state *state = data;
	u64 now_ns = clock_now_ns(), now_s;
	struct reason why = { "" };
	int changed;

	if (state->tier_updates)
		ring_buffer__consume(state->tier_updates);
	if (now_ns - state->drained_at_ns < NSEC_PER_SEC - 50 * NSEC_PER_MSEC)
		return;
	state->drained_at_ns = now_ns;
	now_s = wall_clock_s();
	if (state->store.learns)
		drain(state, now_s);
	changed = store_work(&state->store, now_s, &why);
	if (changed < 0)
		trouble(state, &why);
	if (changed > 0) {
		predict_all(state);
		state->confident = procdb_summary(&state->store.db).confident;
	}
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
	if (state->folder_fd)
		close(state->folder_fd);
	if (state->flags) {
		sched_set_learning(state->settings.sched, 0);
		if (state->store.learns)
			drain(state, wall_clock_s());
	}
	if (state->flags && sensor_is_verbose()) {
		struct sched_learned counts = sched_learned(state->settings.sched);

		note("learned: %" PRIu64 " threads were looked up, %" PRIu64 " of them of a known kind; %" PRIu64
		     " observations, %" PRIu64 " of them taken over",
		     counts.looks, counts.found, counts.notes, state->drained);
	}
	if (state->open && store_close(&state->store, wall_clock_s(), &why))
		trouble(state, &why);
	ring_buffer__free(state->tier_updates);
	free(state);
}

struct learned_counts learned_counts(const struct sensor *sensor)
{
	const struct learned_state *state = sensor && sensor->state != SENSOR_OFF ? sensor->data : NULL;
	struct learned_counts counts = { .path = "" };

	if (!state || !state->open)
		return counts;
	counts.profiles = state->store.db.len;
	counts.confident = state->confident;
	counts.loaded = state->loaded;
	counts.hits = state->hits > 0 ? (u64)state->hits : 0;
	counts.misses = state->misses > 0 ? (u64)state->misses : 0;
	counts.path = state->store.has_file ? state->store.file.path : "";
	return counts;
}

const struct sensor_kind learned_kind = {
	.name = "learned",
	.subject = "what kinds of threads were like before",
	.hooks = hooks,
	.open = learned_open,
	.attach = learned_attach,
	.close = learned_close,
	.groups = EVENTS_ROLES,
	.fd = learned_fd,
	.work = learned_work,
	.lost = learned_lost,
};
