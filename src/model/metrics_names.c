// SPDX-License-Identifier: GPL-2.0
/* Names come out with letters, digits and few signs only: they become labels, tables and parts of queries.
 */
#include "metrics_names.h"

#include <string.h>

enum { ID_SHOWN = 12, ID_LEAST = 32 };

const char *group_kind_name(enum group_kind kind)
{
	static const char *const names[GROUP_KINDS] = { "cgroup", "unit", "container" };

	return kind < GROUP_KINDS ? names[kind] : "cgroup";
}

static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       (byte && strchr("-_.:@/", byte));
}

static void copy_plain(char *into, size_t size, const char *from, size_t len)
{
	size_t at = 0;

	for (; at < len && at + 1 < size; at++)
		into[at] = is_plain(from[at]) ? from[at] : '_';
	into[at] = '\0';
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

static size_t hex_len(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && ((text[at] >= '0' && text[at] <= '9') || (text[at] >= 'a' && text[at] <= 'f')))
		at++;
	return at;
}

/* "docker-0123...ef.scope", "cri-containerd-0123...ef.scope", "0123...ef", "lxc.payload.name": a container's. */
static bool take_container(struct group_name *name, const char *part, size_t len)
{
	static const char lxc[] = "lxc.payload.";
	const char *from = part;

	if (len > strlen(lxc) && !memcmp(part, lxc, strlen(lxc))) {
		copy_plain(name->text, sizeof(name->text), part + strlen(lxc), len - strlen(lxc));
		name->kind = GROUP_CONTAINER;
		return true;
	}
	if (ends_with(part, len, ".scope"))
		len -= strlen(".scope");
	for (size_t i = 0; i < len; i++)
		if (part[i] == '-')
			from = part + i + 1;
	len -= (size_t)(from - part);
	if (len < ID_LEAST || hex_len(from, len) != len)
		return false;
	copy_plain(name->text, sizeof(name->text), from, ID_SHOWN);
	name->kind = GROUP_CONTAINER;
	return true;
}

static bool take_unit(struct group_name *name, const char *part, size_t len)
{
	if (!ends_with(part, len, ".service") && !ends_with(part, len, ".scope"))
		return false;
	copy_plain(name->text, sizeof(name->text), part, len);
	name->kind = GROUP_UNIT;
	return true;
}

/* The innermost container wins, then the innermost unit. False: there is none. *at is where it is. */
static bool find_inner(struct group_name *name, const char *path, size_t len, size_t *at)
{
	struct group_name unit = { .kind = GROUP_CGROUP };
	size_t end = len;

	while (end > 0) {
		size_t from = end;

		while (from > 0 && path[from - 1] != '/')
			from--;
		if (take_container(name, path + from, end - from)) {
			*at = from;
			return true;
		}
		if (unit.kind == GROUP_CGROUP && take_unit(&unit, path + from, end - from))
			*at = from;
		end = from > 0 ? from - 1 : 0;
	}
	*name = unit;
	return unit.kind != GROUP_CGROUP;
}

/* The first that is a container or a unit. False: there is none before `most`. */
static bool find_outer(struct group_name *name, const char *path, size_t most)
{
	for (size_t from = 0, end; from < most; from = end + 1) {
		for (end = from; end < most && path[end] != '/';)
			end++;
		if (take_container(name, path + from, end - from) || take_unit(name, path + from, end - from))
			return true;
	}
	return false;
}

/* A unit or container in another unit or container has the name of both: who may make groups in one calls them what he
 * likes, such as another one. Where there is none, it is the path as it is. */
static void name_of_path(struct group_name *name, const char *path, size_t len)
{
	struct group_name inner, outer = { .kind = GROUP_CGROUP };
	size_t at = 0, outer_len;

	if (!find_inner(&inner, path, len, &at)) {
		*name = (struct group_name){ .kind = GROUP_CGROUP };
		copy_plain(name->text, sizeof(name->text), len ? path : "/", len ? len : 1);
		return;
	}
	*name = inner;
	if (!find_outer(&outer, path, at))
		return;
	outer_len = strnlen(outer.text, GROUP_NAME_SIZE / 2 - 1);
	memcpy(name->text, outer.text, outer_len);
	name->text[outer_len] = '/';
	copy_plain(name->text + outer_len + 1, GROUP_NAME_SIZE / 2, inner.text, strlen(inner.text));
}

/* "/user.slice/user-1000.slice/...": below it that user makes groups as he likes. */
static u32 user_of(const char *path, size_t len)
{
	static const char begins[] = "/user.slice/user-";
	size_t at = strlen(begins);
	u32 user = 0;

	if (len <= at || memcmp(path, begins, at) != 0)
		return 0;
	for (; at < len && path[at] >= '0' && path[at] <= '9'; at++)
		user = user * 10 + (u32)(path[at] - '0');
	return user;
}

bool group_name_parse(struct group_name *name, const char *text, size_t len)
{
	const char *at = text, *end = text + len;

	memset(name, 0, sizeof(*name));
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t line_len = (size_t)((line_end ? line_end : end) - at);

		if (line_len > 3 && !memcmp(at, "0::/", 4)) {
			name_of_path(name, at + 3, line_len - 3);
			name->user = user_of(at + 3, line_len - 3);
			return true;
		}
		at += line_len + 1;
	}
	return false;
}

/* What says which rank a process is, from the surest to the least. Whoever starts a process last knows best: torchrun
 * in SLURM's tasks, or MPI's starter, has ranks of its own, and SLURM_PROCID is the number of the task that it runs in.
 */
static const struct {
	const char *rank, *beside; /* the second, if there is one, has to be there too */
} rank_variables[] = {
	{ "TACTUS_RANK", NULL },	  { "RANK", "LOCAL_RANK" }, { "RANK", "TORCHELASTIC_RUN_ID" },
	{ "OMPI_COMM_WORLD_RANK", NULL }, { "PMIX_RANK", NULL },    { "PMI_RANK", NULL },
	{ "SLURM_PROCID", NULL },	  { "RANK", NULL },
};

/* And of which job. What a scheduler calls it is its own among all machines. */
static const char *const job_variables[] = { "TACTUS_JOB",	    "SLURM_JOB_ID",   "PBS_JOBID",
					     "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "MASTER_ADDR" };

static const char *value_of(const char *environment, size_t len, const char *name, size_t *value_len)
{
	size_t name_len = strlen(name);
	const char *at = environment, *end = environment + len;

	while (at < end) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));
		size_t one = (size_t)((zero ? zero : end) - at);

		if (one > name_len && at[name_len] == '=' && !memcmp(at, name, name_len)) {
			*value_len = one - name_len - 1;
			return at + name_len + 1;
		}
		at += one + 1;
	}
	return NULL;
}

static bool is_number(const char *text, size_t len)
{
	if (!len || len >= RANK_NAME_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

static bool is_one_of(const char *text, size_t len, const char *const *all, size_t all_len)
{
	for (size_t i = 0; i < all_len; i++)
		if (strlen(all[i]) == len && !memcmp(text, all[i], len))
			return true;
	return false;
}

/* What every machine has alike names no job: torchrun's "none", where nobody gave it a name, and a machine's own
 * address for itself. */
static bool is_job(const char *text, size_t len)
{
	static const char *const none[] = { "none",	     "localhost", "localhost.localdomain",
					    "ip6-localhost", "::1",	  "[::1]",
					    "0.0.0.0",	     "::",	  "[::]" };

	return len && !is_one_of(text, len, none, sizeof(none) / sizeof(none[0])) &&
	       !(len > 4 && !memcmp(text, "127.", 4));
}

static bool find_rank(struct rank_name *name, const char *environment, size_t len)
{
	for (size_t i = 0; i < sizeof(rank_variables) / sizeof(rank_variables[0]); i++) {
		size_t rank_len = 0, beside_len = 0;
		const char *rank = value_of(environment, len, rank_variables[i].rank, &rank_len);
		const char *beside = rank_variables[i].beside;

		if (!rank || !is_number(rank, rank_len) || (beside && !value_of(environment, len, beside, &beside_len)))
			continue;
		copy_plain(name->rank, sizeof(name->rank), rank, rank_len);
		return true;
	}
	return false;
}

bool rank_name_parse(struct rank_name *name, const char *environment, size_t len)
{
	memset(name, 0, sizeof(*name));
	if (!find_rank(name, environment, len))
		return false;
	for (size_t i = 0; i < sizeof(job_variables) / sizeof(job_variables[0]); i++) {
		size_t job_len = 0;
		const char *job = value_of(environment, len, job_variables[i], &job_len);

		if (!job || !is_job(job, job_len))
			continue;
		copy_plain(name->job, sizeof(name->job), job, job_len);
		return true;
	}
	return false;
}

void rank_name_of_user(struct rank_name *apart, const struct rank_name *name, u32 uid)
{
	char number[] = "#4294967295";
	size_t at = sizeof(number) - 1, len = strnlen(name->job, sizeof(name->job) - sizeof(number));

	do
		number[--at] = (char)('0' + uid % 10);
	while (uid /= 10);
	number[--at] = '#';
	*apart = *name;
	memset(apart->job, 0, sizeof(apart->job));
	memcpy(apart->job, name->job, len);
	memcpy(apart->job + len, number + at, sizeof(number) - at);
}
