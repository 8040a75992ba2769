// SPDX-License-Identifier: GPL-2.0
/* Nothing is kept of a thread from one reading to the next but what it belongs to.
 */
#include "metrics.h"

#include <errno.h>
#include <string.h>

#include "../base/vec.h"

int metrics_init(struct metrics *metrics, u32 groups_most)
{
	*metrics = (struct metrics){ .groups_most = groups_most < METRICS_GROUPS_MOST ? groups_most
										      : METRICS_GROUPS_MOST };
	metrics->groups = calloc(metrics->groups_most ? metrics->groups_most : 1, sizeof(*metrics->groups));
	return metrics->groups ? 0 : -ENOMEM;
}

void metrics_free(struct metrics *metrics)
{
	free(metrics->groups);
	free(metrics->rows);
	map_free(&metrics->by_id);
	map_free(&metrics->by_pid);
	map_free(&metrics->by_tid);
	memset(metrics, 0, sizeof(*metrics));
}

u32 metrics_bucket(u64 value_ns)
{
	u32 octave = value_ns ? log2_floor(value_ns) : 0;

	if (octave < METRICS_FIRST_OCTAVE)
		return 0;
	octave -= METRICS_FIRST_OCTAVE - 1;
	return octave < METRICS_OCTAVES ? octave : METRICS_OCTAVES;
}

u64 metrics_bucket_ns(u32 bucket)
{
	return bucket < METRICS_OCTAVES ? (1ULL << (METRICS_FIRST_OCTAVE + bucket)) - 1 : ~0ULL;
}

static void keep_example(struct metrics_hist *hist, const struct metrics_example *example)
{
	struct metrics_example *place = &hist->examples[metrics_bucket(example->value_ns)];

	if (example->value_ns > place->value_ns)
		*place = *example;
}

void metrics_hist_add(struct metrics_hist *hist, u64 value_ns, const struct metrics_example *example)
{
	hist->counts[metrics_bucket(value_ns)]++;
	hist->total++;
	hist->sum_ns += value_ns;
	if (example)
		keep_example(hist, example);
}

static void add_sums(struct metrics_sums *sums, const struct sums_row *row)
{
	sums->cpu_ns += row->head.cpu_ns;
	sums->wait_ns += row->head.wait_ns;
	sums->waits += row->sums.waits;
	sums->runs += row->head.runs;
	sums->wakeups += row->head.wakeups;
}

/* Slots of core/sums.h lie within octaves, and each octave within a bucket. */
static void add_waits(struct metrics_hist *hist, const struct sums_row *row)
{
	for (u32 slot = 0; slot < SUMS_SLOTS; slot++) {
		u32 count = row->sums.counts[slot];

		if (!count)
			continue;
		hist->counts[metrics_bucket(hist_slot_low(slot + SUMS_FIRST_SLOT))] += count;
		hist->total += count;
	}
	hist->sum_ns += row->head.wait_ns;
}

bool metrics_wants_group(const struct metrics *metrics, u64 cgroup)
{
	return !map_get(&metrics->by_id, cgroup);
}

/* What is known of a process is in the low byte: 1 it is of no rank, else its place plus two; above it stands which
 * program that was of, by its first thread's name. */
enum { KNOWN_MASK = 0xff, KNOWN_NONE = 1, KNOWN_SHIFT = 8, ENDED_BIT = 0x800000 };

static u32 hash_of(const struct comm *comm)
{
	u32 hash = 2166136261u;

	for (u32 i = 0; i < COMM_LEN && comm->text[i]; i++)
		hash = (hash ^ (u8)comm->text[i]) * 16777619u;
	return hash & (ENDED_BIT - 1);
}

bool metrics_knows_process(const struct metrics *metrics, u32 pid)
{
	return map_get(&metrics->by_pid, pid);
}

/* An exec may have changed the environment, and shows in the name. */
bool metrics_wants_rank(const struct metrics *metrics, const struct sums_head *head)
{
	u32 known = map_get(&metrics->by_pid, head->pid);

	return !known || (head->tid == head->pid && known >> KNOWN_SHIFT != hash_of(&head->comm));
}

static u32 find_group(const struct metrics *metrics, const struct group_name *name)
{
	for (u32 i = 0; i < metrics->groups_len; i++)
		if (metrics->groups[i].name.kind == name->kind && !strcmp(metrics->groups[i].name.text, name->text))
			return i;
	return metrics->groups_len;
}

static u32 groups_of(const struct metrics *metrics, u32 user)
{
	u32 len = 0;

	for (u32 i = 0; i < metrics->groups_len; i++)
		len += metrics->groups[i].name.user == user;
	return len;
}

/* A place that nobody has, or that of who did nothing for the longest time. A user makes groups of his own as he likes:
 * he has half of the places. */
static u32 make_place(struct metrics *metrics, u32 user, u64 now_ns)
{
	u32 idle = 0;

	if (user && groups_of(metrics, user) >= (metrics->groups_most + 1) / 2)
		return metrics->groups_most;
	if (metrics->groups_len < metrics->groups_most)
		return metrics->groups_len++;
	for (u32 i = 1; i < metrics->groups_len; i++)
		if (metrics->groups[i].active_ns < metrics->groups[idle].active_ns)
			idle = i;
	if (!metrics->groups_len || span_between(metrics->groups[idle].active_ns, now_ns) < METRICS_IDLE_NS)
		return metrics->groups_most;
	/* Its numbers would lead to somebody else. They are found anew as they come. */
	map_clear(&metrics->by_id);
	return idle;
}

void metrics_name_group(struct metrics *metrics, u64 cgroup, const struct group_name *name, u64 now_ns)
{
	u32 place = name ? find_group(metrics, name) : metrics->groups_most;

	if (metrics->by_id.len >= METRICS_IDS_MOST)
		map_clear(&metrics->by_id);
	if (name && place == metrics->groups_len) {
		place = make_place(metrics, name->user, now_ns);
		if (place < metrics->groups_most)
			metrics->groups[place] = (struct metrics_group){ .name = *name, .active_ns = now_ns };
		else
			metrics->groups_refused++;
	}
	map_set(&metrics->by_id, cgroup, place < metrics->groups_most ? place + 2 : 1);
}

static u32 find_rank(const struct metrics *metrics, const struct rank_name *name, u32 uid)
{
	for (u32 i = 0; i < metrics->ranks_len; i++)
		if (metrics->ranks[i].uid == uid && !strcmp(metrics->ranks[i].name.job, name->job) &&
		    !strcmp(metrics->ranks[i].name.rank, name->rank))
			return i;
	return metrics->ranks_len;
}

static bool is_active(const struct metrics_rank *rank, u64 now_ns)
{
	return span_between(rank->active_ns, now_ns) < METRICS_IDLE_NS;
}

/* Whoever likes can call his process a rank of any job, be it one that is still to come: what it does is nothing of
 * others' figures, and does not take their names. */
static bool job_is_anothers(const struct metrics *metrics, const struct rank_name *name, u32 uid, u64 now_ns)
{
	for (u32 i = 0; i < metrics->ranks_len; i++)
		if (is_active(&metrics->ranks[i], now_ns) && metrics->ranks[i].uid != uid &&
		    !strcmp(metrics->ranks[i].name.job, name->job))
			return true;
	return false;
}

static bool may_have_rank(const struct metrics *metrics, u32 uid, u64 now_ns)
{
	u32 own = 0;

	for (u32 i = 0; i < metrics->ranks_len; i++)
		own += is_active(&metrics->ranks[i], now_ns) && metrics->ranks[i].uid == uid;
	return own < METRICS_RANKS_OF_USER;
}

/* One of that name that was another's, or a new place. */
static u32 make_rank(struct metrics *metrics, const struct rank_name *name, u64 now_ns)
{
	u32 idle = 0;

	for (u32 i = 0; i < metrics->ranks_len; i++)
		if (!strcmp(metrics->ranks[i].name.job, name->job) &&
		    !strcmp(metrics->ranks[i].name.rank, name->rank)) {
			map_clear(&metrics->by_pid);
			return i;
		}
	if (metrics->ranks_len < METRICS_RANKS_MOST)
		return metrics->ranks_len++;
	for (u32 i = 1; i < metrics->ranks_len; i++)
		if (metrics->ranks[i].active_ns < metrics->ranks[idle].active_ns)
			idle = i;
	if (span_between(metrics->ranks[idle].active_ns, now_ns) < METRICS_IDLE_NS)
		return METRICS_RANKS_MOST;
	map_clear(&metrics->by_pid);
	return idle;
}

void metrics_name_rank(struct metrics *metrics, u32 pid, const struct comm *comm, const struct rank_name *name, u32 uid,
		       u64 now_ns)
{
	u32 place = name ? find_rank(metrics, name, uid) : METRICS_RANKS_MOST;
	struct rank_name apart;

	if (metrics->by_pid.len >= METRICS_PROCESSES_MOST)
		map_clear(&metrics->by_pid);
	if (name && place == metrics->ranks_len && job_is_anothers(metrics, name, uid, now_ns)) {
		metrics->ranks_apart++;
		rank_name_of_user(&apart, name, uid);
		name = &apart;
		place = find_rank(metrics, name, uid);
	}
	if (name && place == metrics->ranks_len) {
		place = may_have_rank(metrics, uid, now_ns) ? make_rank(metrics, name, now_ns) : METRICS_RANKS_MOST;
		if (place < METRICS_RANKS_MOST)
			metrics->ranks[place] = (struct metrics_rank){ .name = *name, .uid = uid, .active_ns = now_ns };
		else
			metrics->ranks_refused++;
	}
	map_set(&metrics->by_pid, pid,
		(place < METRICS_RANKS_MOST ? place + 2 : KNOWN_NONE) | hash_of(comm) << KNOWN_SHIFT);
}

static struct metrics_rank *rank_of(struct metrics *metrics, u32 pid, u64 now_ns)
{
	u32 place = map_get(&metrics->by_pid, pid) & KNOWN_MASK;

	if (place < 2 || place - 2 >= metrics->ranks_len)
		return NULL;
	metrics->ranks[place - 2].active_ns = now_ns;
	return &metrics->ranks[place - 2];
}

static void add_to_group(struct metrics *metrics, const struct sums_row *row, u64 now_ns)
{
	u32 place = map_get(&metrics->by_id, row->head.cgroup);
	struct metrics_group *group = place >= 2 && place - 2 < metrics->groups_len ? &metrics->groups[place - 2]
										    : NULL;

	if (group)
		group->active_ns = now_ns;
	add_sums(group ? &group->sums : &metrics->others, row);
}

static void keep_row(struct metrics *metrics, const struct sums_row *row)
{
	const struct sums_head *head = &row->head;

	if (metrics->rows_len >= METRICS_ROWS_MOST ||
	    !vec_reserve(metrics->rows, metrics->rows_room, metrics->rows_len + 1, 1024) ||
	    !map_set(&metrics->by_tid, head->tid, (u32)metrics->rows_len + 1)) {
		metrics->rows_refused++;
		return;
	}
	metrics->rows[metrics->rows_len++] = (struct metrics_row){ .tid = head->tid,
								   .pid = head->pid,
								   .role = head->role,
								   .tier = head->tier,
								   .behind_tid = row->sums.behind_tid,
								   .behind_ns = row->sums.behind_ns,
								   .longest = row->sums.longest,
								   .comm = head->comm };
}

void metrics_add(struct metrics *metrics, const struct sums_row *row, u64 now_ns)
{
	const struct sums_head *head = &row->head;
	u32 role = head->role < ROLES ? head->role : ROLE_UNKNOWN;
	u32 tier = head->tier < TIERS ? head->tier : TIER_INTERACTIVE;
	struct metrics_role *by_role = &metrics->roles[role][tier];
	struct metrics_rank *rank = rank_of(metrics, head->pid, now_ns);

	metrics->taken++;
	metrics->threads[role][tier]++;
	add_sums(&by_role->sums, row);
	add_waits(&by_role->waits, row);
	for (u32 far = 0; far < DISTANCES; far++)
		by_role->moved[far] += head->moved[far];
	add_to_group(metrics, row, now_ns);
	if (rank)
		add_sums(&rank->sums, row);
	keep_row(metrics, row);
	/* Its number may be another process's one day. */
	if (head->ended && head->tid == head->pid && map_get(&metrics->by_pid, head->pid))
		map_set(&metrics->by_pid, head->pid, KNOWN_NONE | (u32)ENDED_BIT << KNOWN_SHIFT);
}

static const struct metrics_row *row_of(const struct metrics *metrics, u32 tid)
{
	u32 place = tid ? map_get(&metrics->by_tid, tid) : 0;

	return place ? &metrics->rows[place - 1] : NULL;
}

void metrics_settle(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->rows_len; i++) {
		const struct metrics_row *row = &metrics->rows[i], *behind = row_of(metrics, row->behind_tid);
		struct metrics_role *role = &metrics->roles[row->role < ROLES ? row->role : ROLE_UNKNOWN]
							   [row->tier < TIERS ? row->tier : TIER_INTERACTIVE];
		struct metrics_example example = { .value_ns = row->longest.wait_ns,
						   .at_ns = row->longest.to_ns,
						   .pid = row->pid,
						   .comm = row->comm };

		if (behind && behind->tier < row->tier)
			role->inversion_ns += row->behind_ns;
		if (row->longest.wait_ns < SUMS_LONG_NS)
			continue;
		behind = row->longest.has_behind ? row_of(metrics, row->longest.behind_tid) : NULL;
		if (behind)
			example.behind = behind->comm;
		keep_example(&role->waits, &example);
	}
	metrics->rows_len = 0;
	map_clear(&metrics->by_tid);
}

void metrics_add_step(struct metrics *metrics, u32 pid, const struct step *step, u64 now_ns)
{
	struct metrics_rank *rank = rank_of(metrics, pid, now_ns);

	if (!rank)
		return;
	rank->steps++;
	rank->slow_steps += step->is_slow;
	rank->launches += step->launches;
	rank->step_ns += step->wall_ns;
	for (u32 part = 0; part < STEP_PARTS; part++)
		rank->parts_ns[part] += step->parts_ns[part];
}

void metrics_begin_anew(struct metrics *metrics)
{
	for (u32 role = 0; role < ROLES; role++)
		for (u32 tier = 0; tier < TIERS; tier++)
			memset(metrics->roles[role][tier].waits.examples, 0,
			       sizeof(metrics->roles[role][tier].waits.examples));
	memset(metrics->threads, 0, sizeof(metrics->threads));
}
