// SPDX-License-Identifier: GPL-2.0
/* Shares of a step's time are compared, since all ranks' steps take the same time. deploy/prometheus/ has the same
 * rules for alerts. */
#include "fleet.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"

enum { STEPS_LEAST = 3, RANKS_LEAST = 3, SHARE_MOST = 1000 };
/* Seconds, or counts: what is larger comes from nobody who counted. */
#define VALUE_MOST 1e15
/* It waits less than the median by so much of a step, by so many times what ranks differ from it anyway, and less than
 * that part of it; and what it does instead is at least half of that. */
static const double waits_less_least = 0.10, spreads_least = 3, waits_part_most = 0.7, cause_part_least = 0.5;
/* And so much of a step, whatever a full machine's share of it. */
static const double cause_least = 0.05;
/* Waits for CPUs are the machine's: a rank's own are so many times as long as is usual there. */
static const double cpu_times_least = 1.5;
/* Of a step: who does less than that is not asked what it waits for. */
static const double does_least = 0.01;

const char *fleet_cause_name(enum fleet_cause cause)
{
	static const char *const names[FLEET_CAUSES] = { "none", "cpu", "data", "lock", "gpu", "work", "not_it" };

	return names[cause < FLEET_CAUSES ? cause : FLEET_NONE];
}

const char *fleet_cause_words(enum fleet_cause cause)
{
	static const char *const words[FLEET_CAUSES] = { "nothing", "its CPU",	    "its DataLoader", "its lock",
							 "its GPU", "its own work", "not it" };

	return words[cause < FLEET_CAUSES ? cause : FLEET_NONE];
}

/* As 'tactus serve' has them. Others may have figures of these names too. */
static bool is_rank(const char *rank)
{
	size_t len = strlen(rank);

	return len && len < RANK_NAME_SIZE && strspn(rank, "0123456789") == len;
}

static struct fleet_rank *rank_of(struct fleet *fleet, const char *host, const char *rank)
{
	struct fleet_rank *one;

	for (size_t i = 0; i < fleet->len; i++)
		if (!strcmp(fleet->ranks[i].rank, rank) && !strcmp(fleet->ranks[i].host, host))
			return &fleet->ranks[i];
	if (fleet->len >= FLEET_RANKS_MOST || strlen(host) >= FLEET_HOST_SIZE || !is_rank(rank) ||
	    !vec_reserve(fleet->ranks, fleet->room, fleet->len + 1, 16)) {
		fleet->refused++;
		return NULL;
	}
	one = &fleet->ranks[fleet->len++];
	memset(one, 0, sizeof(*one));
	memcpy(one->host, host, strlen(host));
	memcpy(one->rank, rank, strlen(rank));
	return one;
}

static void take_part(struct fleet_rank *rank, const char *part, double value)
{
	if (!strcmp(part, "all"))
		rank->step_s = value;
	for (u32 i = 0; i < STEP_PARTS; i++)
		if (!strcmp(part, step_part_name(i)))
			rank->parts_s[i] = value;
}

bool fleet_take(struct fleet *fleet, const char *host, const char *rank, enum fleet_figure figure, const char *part,
		double value)
{
	struct fleet_rank *one = rank_of(fleet, host, rank);
	double *const places[] = { one ? &one->steps : NULL, one ? &one->slow_steps : NULL, one ? &one->launches : NULL,
				   one ? &one->wait_s : NULL, one ? &one->cpu_s : NULL };

	if (!one)
		return false;
	/* Neither is a number that is none. */
	if (!(value >= 0 && value < VALUE_MOST))
		value = 0;
	if (figure == FLEET_STEP_S)
		take_part(one, part, value);
	else
		*places[figure] = value;
	return true;
}

/* Of a step's time: more than a thousand of them are none. */
static double share_of(double part_s, double step_s)
{
	double share = part_s / step_s;

	return share < SHARE_MOST ? share : SHARE_MOST;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t len)
{
	sort_rows(values, len, sizeof(*values), by_value);
	return len % 2 ? values[len / 2] : (values[len / 2 - 1] + values[len / 2]) / 2;
}

/* What a rank does of a step, but for waiting for others and for CPUs. */
static double does(const struct fleet_rank *rank)
{
	double share = 1 - rank->shares[STEP_COLLECTIVE] - rank->shares[STEP_CPU_WAIT];

	return share > 0 ? share : 0;
}

static double crowding_of(const struct fleet_rank *rank)
{
	double share = does(rank);

	return rank->shares[STEP_CPU_WAIT] / (share > does_least ? share : does_least);
}

static void find_medians(struct fleet *fleet, double *values)
{
	for (u32 part = 0; part <= STEP_PARTS + 1; part++) {
		size_t len = 0;
		double found;

		for (size_t i = 0; i < fleet->len; i++) {
			const struct fleet_rank *rank = &fleet->ranks[i];

			if (rank->is_judged)
				values[len++] = part < STEP_PARTS    ? rank->shares[part]
						: part == STEP_PARTS ? rank->step_s / rank->steps
								     : crowding_of(rank);
		}
		if (!len)
			return;
		found = median(values, len);
		*(part < STEP_PARTS    ? &fleet->medians[part]
		  : part == STEP_PARTS ? &fleet->step_s
				       : &fleet->crowding) = found;
	}
}

/* How far the waits of the ranks are from the median: the median of that. */
static double spread_of(const struct fleet *fleet, double *values)
{
	size_t len = 0;

	for (size_t i = 0; i < fleet->len; i++) {
		double less = fleet->medians[STEP_COLLECTIVE] - fleet->ranks[i].shares[STEP_COLLECTIVE];

		if (fleet->ranks[i].is_judged)
			values[len++] = less < 0 ? -less : less;
	}
	return len ? median(values, len) : 0;
}

/* What one part, or two, are more than the median's. Running and sleeping inside calls counts twice: what is more in
 * calls is taken off. */
static double more_of(const struct fleet *fleet, const struct fleet_rank *rank, enum step_part part)
{
	return rank->shares[part] - fleet->medians[part];
}

/* On a machine that is full everybody waits for CPUs, and who has more to do waits more often: that much is none of
 * its own. */
static double usual_cpu_wait(const struct fleet *fleet, const struct fleet_rank *rank)
{
	double usual = does(rank) * fleet->crowding;

	return usual > fleet->medians[STEP_CPU_WAIT] ? usual : fleet->medians[STEP_CPU_WAIT];
}

static void find_cause(const struct fleet *fleet, struct fleet_rank *rank)
{
	double cpu_wait = rank->shares[STEP_CPU_WAIT], usual = usual_cpu_wait(fleet, rank);
	double noise = (cpu_wait < usual ? cpu_wait : usual) - fleet->medians[STEP_CPU_WAIT];
	double gpu = more_of(fleet, rank, STEP_SYNC) + more_of(fleet, rank, STEP_COPY);
	double ran = more_of(fleet, rank, STEP_RAN) - (gpu > 0 ? gpu : 0);
	const struct {
		enum fleet_cause cause;
		double more, share;
	} all[] = {
		{ FLEET_CPU, cpu_wait < usual * cpu_times_least ? 0 : cpu_wait - usual, cpu_wait },
		{ FLEET_DATA, more_of(fleet, rank, STEP_DATA), rank->shares[STEP_DATA] },
		{ FLEET_LOCK, more_of(fleet, rank, STEP_LOCK), rank->shares[STEP_LOCK] },
		{ FLEET_GPU, gpu, rank->shares[STEP_SYNC] + rank->shares[STEP_COPY] },
		{ FLEET_WORK, ran, rank->shares[STEP_RAN] },
	};
	double most = (rank->waits_less - (noise > 0 ? noise : 0)) * cause_part_least;
	bool is_chance;

	most = most > cause_least ? most : cause_least;
	is_chance = cpu_wait - fleet->medians[STEP_CPU_WAIT] > most && cpu_wait < usual * cpu_times_least;

	rank->cause = is_chance ? FLEET_NONE : FLEET_NOT_IT;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].more > most) {
			most = all[i].more;
			rank->cause = all[i].cause;
			rank->cause_share = all[i].share;
			rank->cause_median = all[i].share - all[i].more;
		}
}

static int by_rank(const void *a, const void *b)
{
	const struct fleet_rank *x = a, *y = b;
	long first = atol(x->rank), second = atol(y->rank);

	return first != second ? (first < second ? -1 : 1) : strcmp(x->host, y->host);
}

void fleet_judge(struct fleet *fleet)
{
	double *values = calloc(fleet->len + 1, sizeof(*values)), spread;

	if (!values)
		return;
	fleet->judged = fleet->blamed = 0;
	for (size_t i = 0; i < fleet->len; i++) {
		struct fleet_rank *rank = &fleet->ranks[i];

		rank->is_judged = rank->steps >= STEPS_LEAST && rank->step_s > 0;
		fleet->judged += rank->is_judged;
		for (u32 part = 0; rank->is_judged && part < STEP_PARTS; part++)
			rank->shares[part] = share_of(rank->parts_s[part], rank->step_s);
	}
	find_medians(fleet, values);
	spread = spread_of(fleet, values);
	free(values);
	for (size_t i = 0; i < fleet->len; i++) {
		struct fleet_rank *rank = &fleet->ranks[i];
		double usual = fleet->medians[STEP_COLLECTIVE], own = rank->shares[STEP_COLLECTIVE];

		rank->cause = FLEET_NONE;
		rank->waits_less = rank->is_judged ? usual - own : 0;
		if (fleet->judged < RANKS_LEAST || rank->waits_less < waits_less_least ||
		    rank->waits_less < spread * spreads_least || own > usual * waits_part_most)
			continue;
		find_cause(fleet, rank);
		fleet->blamed += rank->cause != FLEET_NOT_IT && rank->cause != FLEET_NONE;
	}
	if (fleet->len)
		sort_rows(fleet->ranks, fleet->len, sizeof(*fleet->ranks), by_rank);
}

void fleet_free(struct fleet *fleet)
{
	free(fleet->ranks);
	memset(fleet, 0, sizeof(*fleet));
}
