// SPDX-License-Identifier: GPL-2.0
/* Names and order of roles.
 * Numbers come from recordings too, so each is checked before it is an index. */
#include "roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"

static const char *const role_names[ROLES] = {
	[ROLE_UNKNOWN] = "unknown",	  [ROLE_RENDER] = "render",	  [ROLE_INPUT] = "input",
	[ROLE_AUDIO] = "audio",		  [ROLE_NETWORK] = "network",	  [ROLE_COMPOSITOR] = "compositor",
	[ROLE_BACKGROUND] = "background", [ROLE_CPU_BOUND] = "cpu-bound",
};

static const char *const tier_names[TIERS] = {
	[TIER_BATCH] = "batch",
	[TIER_INTERACTIVE] = "interactive",
	[TIER_LATENCY_CRITICAL] = "latency-critical",
};

static const char *const evidence_names[EVIDENCES] = {
	[EVIDENCE_NONE] = "none",	[EVIDENCE_NAME] = "name", [EVIDENCE_LEARNED] = "learned",
	[EVIDENCE_RUNTIME] = "runtime", [EVIDENCE_IO] = "io",	  [EVIDENCE_GPU] = "gpu",
	[EVIDENCE_WINE] = "wine",	[EVIDENCE_USER] = "user",
};

const char *role_name(u32 role)
{
	return role < ROLES ? role_names[role] : "?";
}

const char *tier_name(u32 tier)
{
	return tier < TIERS ? tier_names[tier] : "?";
}

const char *evidence_name(u32 evidence)
{
	return evidence < EVIDENCES ? evidence_names[evidence] : "?";
}

u32 role_parse(const char *word)
{
	u32 role = 0;

	while (role < ROLES && strcmp(word, role_names[role]))
		role++;
	return role;
}

static int most_urgent_first(const void *a, const void *b)
{
	const struct thread *x = *(const struct thread *const *)a, *y = *(const struct thread *const *)b;

	if ((x->role->role == ROLE_UNKNOWN) != (y->role->role == ROLE_UNKNOWN))
		return y->role->role == ROLE_UNKNOWN ? -1 : 1;
	if (x->role->tier != y->role->tier)
		return x->role->tier > y->role->tier ? -1 : 1;
	if (x->role->boost != y->role->boost)
		return x->role->boost > y->role->boost ? -1 : 1;
	if (x->role->role != y->role->role)
		return x->role->role < y->role->role ? -1 : 1;
	if (x->role->cpu_ns != y->role->cpu_ns)
		return x->role->cpu_ns > y->role->cpu_ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int role_rows_from(struct role_rows *rows, const struct threads *threads)
{
	*rows = (struct role_rows){ .all = calloc(threads->len ? threads->len : 1, sizeof(*rows->all)) };
	if (!rows->all)
		return -ENOMEM;
	for (size_t i = 0; i < threads->len; i++)
		if (threads->all[i]->role && !threads->all[i]->bystander)
			rows->all[rows->len++] = threads->all[i];
	sort_rows(rows->all, rows->len, sizeof(*rows->all), most_urgent_first);
	return 0;
}

void role_rows_free(struct role_rows *rows)
{
	free(rows->all);
	*rows = (struct role_rows){ 0 };
}
