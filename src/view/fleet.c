// SPDX-License-Identifier: GPL-2.0
/* tactus fleet: which rank of a training job on many machines holds the others up, and by what, as Prometheus knows it.
 * Everything that it says comes from figures that 'tactus serve --cuda' gave there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/https.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../model/fleet_answer.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "view.h"

enum {
	KEY_PROMETHEUS = 0x200,
	KEY_JOB,
	KEY_WINDOW,
	KEY_TOKEN_FILE,
	KEY_CA_FILE,
	QUERY_SIZE = 512,
	PATIENCE_MS = 15000,
	JOBS_SHOWN = 8,
	PORT = 9090
};

struct chosen {
	const char *url, *job, *token_file, *ca_file;
	u64 window_ns;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_WINDOW)
		return parse_span(value, &chosen->window_ns);
	if (key == KEY_PROMETHEUS) {
		chosen->url = value;
		return NULL;
	}
	if (key == KEY_TOKEN_FILE || key == KEY_CA_FILE) {
		*(key == KEY_CA_FILE ? &chosen->ca_file : &chosen->token_file) = value;
		return NULL;
	}
	chosen->job = value;
	/* It becomes a part of a query. */
	return value[0] && strlen(value) < JOB_NAME_SIZE &&
			       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@/#") ==
				       strlen(value)
		       ? NULL
		       : "is no job's name: letters, digits and -_.:@/#, 47 at most";
}

static const struct argp_option own_options[] = {
	{ "prometheus", KEY_PROMETHEUS, "URL", 0, "Ask this Prometheus, or what speaks its protocol", 0 },
	{ "job", KEY_JOB, "NAME", 0, "Of this training job, as SLURM, torchrun or MPI call it", 0 },
	{ "token-file", KEY_TOKEN_FILE, "FILE", 0, "Send the token in FILE: by https, or to this machine", 0 },
	{ "ca-file", KEY_CA_FILE, "FILE", 0,
	  "With https: trust the authorities, or the one certificate, in FILE (the system's)", 0 },
	{ "window", KEY_WINDOW, "SPAN", 0, "Of the last SPAN (5m)", 0 },
	{ 0 },
};

const struct command_usage fleet_usage = {
	.name = "fleet",
	.text = "Compares the ranks of one training job on many machines, from the figures that 'tactus serve --cuda' "
		"on "
		"each of them gave to Prometheus: which rank holds the others up, and whether by its CPU, its "
		"DataLoader, its lock, its GPU or its own work.\v"
		"Ranks wait for each other at the end of each step, so the one that waits less is late. OTHERS is the "
		"share of a step that a rank waited in collective calls, and the next columns what else it waited "
		"for. Needs no root.\n"
		"\n"
		"Examples:\n"
		"  tactus fleet --prometheus http://127.0.0.1:9090 --job 4711\n"
		"  tactus fleet --prometheus https://prom.example --token-file token --job 4711",
	.takes = TAKES_JSON | TAKES_TABLE | TAKES_ROWS,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

/* Shares are in hundredths of a percent. */
#define FLEET_TABLE(COLUMN, SHOWN)                                \
	COLUMN(FLEET, rank, "RANK", CELL_TEXT)                    \
	COLUMN(FLEET, host, "HOST", CELL_TEXT)                    \
	COLUMN(FLEET, steps, "STEPS", CELL_NUMBER)                \
	COLUMN(FLEET, step_ns, "STEP", CELL_TIME)                 \
	COLUMN(FLEET, others_percent, "OTHERS", CELL_PERCENT)     \
	COLUMN(FLEET, cpu_percent, "CPU", CELL_PERCENT)           \
	COLUMN(FLEET, data_percent, "DATA", CELL_PERCENT)         \
	COLUMN(FLEET, lock_percent, "LOCK", CELL_PERCENT)         \
	COLUMN(FLEET, gpu_percent, "GPU", CELL_PERCENT)           \
	COLUMN(FLEET, launches_per_step, "LAUNCHES", CELL_NUMBER) \
	COLUMN(FLEET, cause, NULL, CELL_TEXT)                     \
	SHOWN(FLEET, verdict, "HOLDS OTHERS UP BY", CELL_TEXT)
TABLE_OF(fleet_columns, FLEET);

const struct table_columns fleet_tables[] = { { fleet_columns, FLEET_CELLS }, { NULL, 0 } };

/* Whom, and by what. */
struct asked {
	struct http_target target;
	struct https https;
	char token[HTTP_BEARER_SIZE];
};

struct taking {
	struct fleet *fleet;
	enum fleet_figure figure;
};

static void take_sample(void *data, const struct fleet_sample *sample)
{
	struct taking *taking = data;

	if (sample->rank[0])
		fleet_take(taking->fleet, sample->host, sample->rank, taking->figure, sample->part, sample->value);
}

/* Returns 0, or 1 after a message. */
static int ask(const struct asked *asked, const char *query,
	       void (*take)(void *data, const struct fleet_sample *sample), void *data)
{
	struct http_question question = { .target = &asked->target,
					  .bearer = asked->token,
					  .patience_ms = PATIENCE_MS,
					  .secrecy = &asked->https.secrecy };
	char escaped[QUERY_SIZE * 3], path[QUERY_SIZE * 3 + 64], error[FLEET_ERROR_SIZE];
	struct reason why = { "" };
	char *body;
	size_t len;
	u32 status;
	long samples;

	http_escape(escaped, sizeof(escaped), query);
	snprintf(path, sizeof(path), "/api/v1/query?query=%s", escaped);
	question.path = path;
	body = http_ask(&question, &status, &len, &why);
	if (!body)
		return fail("fleet", "%s", why.text);
	samples = fleet_answer_parse(body, len, take, data, error);
	free(body);
	if (samples >= 0)
		return 0;
	format_plain(path, sizeof(path), error);
	return fail("fleet", "http%s://%s%s: status %u: %s", asked->target.is_encrypted ? "s" : "", asked->target.name,
		    asked->target.path, status, path);
}

/* What jobs there are, for who asks of one of which no step is known. */
struct jobs {
	const char *asked_for;
	bool is_known; /* that one */
	char names[JOBS_SHOWN][JOB_NAME_SIZE];
	size_t len, more;
};

static void take_job(void *data, const struct fleet_sample *sample)
{
	struct jobs *jobs = data;

	if (!strcmp(sample->job, jobs->asked_for))
		jobs->is_known = true;
	else if (sample->job[0] && jobs->len < JOBS_SHOWN)
		strcpy(jobs->names[jobs->len++], sample->job);
	else
		jobs->more += sample->job[0] != '\0';
}

/* Returns 1, after a message. */
static int say_what_is_known(const struct chosen *chosen, const struct asked *asked)
{
	struct jobs jobs = { .asked_for = chosen->job };
	char query[QUERY_SIZE], names[JOBS_SHOWN * (JOB_NAME_SIZE * 4 + 2)] = "", more[32] = "";
	size_t len = 0;

	snprintf(
		query, sizeof(query),
		"count by (training_job) (last_over_time({__name__=~\"tactus_rank_(cpu_seconds|steps)_total\"}[%" PRIu64
		"s]))",
		chosen->window_ns / NSEC_PER_SEC);
	if (ask(asked, query, take_job, &jobs))
		return EXIT_FAILURE;
	if (jobs.is_known)
		return fail("fleet",
			    "nothing is known of steps of job %s, but its ranks are: does 'tactus serve' or 'run' have "
			    "--cuda there, and had three steps their time?",
			    chosen->job);
	for (size_t i = 0; i < jobs.len; i++) {
		char plain[JOB_NAME_SIZE * 4];

		format_plain(plain, sizeof(plain), jobs.names[i]);
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", plain);
	}
	if (jobs.more)
		snprintf(more, sizeof(more), " and %zu more", jobs.more);
	if (jobs.len)
		return fail("fleet", "nothing is known of steps of job %s; known jobs: %s%s", chosen->job, names, more);
	return fail("fleet",
		    "nothing is known of steps of job %s, nor of another: are its machines scraped, and does 'tactus "
		    "serve' or 'run' have --cuda there?",
		    chosen->job);
}

/* Every file and name is looked up here. Returns 0, or -errno with the reason. */
static int find_whom_to_ask(struct asked *asked, const struct chosen *chosen, struct reason *why)
{
	int error = http_target_find(&asked->target, chosen->url, PORT, why);

	if (!error && asked->target.is_encrypted)
		error = https_open(&asked->https, &asked->target, chosen->ca_file, why);
	if (error || !chosen->token_file)
		return error;
	if (!asked->target.is_encrypted && !asked->target.address.is_loopback) {
		reason_set(why, "%s: others could read the token on its way: name it by https://", chosen->url);
		return -EPERM;
	}
	return http_read_token(chosen->token_file, asked->token, why);
}

static int ask_all(const struct chosen *chosen, const struct asked *asked, struct fleet *fleet)
{
	static const struct {
		enum fleet_figure figure;
		const char *metric;
	} questions[] = { { FLEET_STEP_S, "rank_step_seconds" },   { FLEET_STEPS, "rank_steps" },
			  { FLEET_SLOW_STEPS, "rank_slow_steps" }, { FLEET_LAUNCHES, "rank_launches" },
			  { FLEET_WAIT_S, "rank_wait_seconds" },   { FLEET_CPU_S, "rank_cpu_seconds" } };
	int status = 0;

	for (size_t i = 0; !status && i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct taking taking = { fleet, questions[i].figure };
		char query[QUERY_SIZE];

		snprintf(query, sizeof(query), "increase(tactus_%s_total{training_job=\"%s\"}[%" PRIu64 "s])",
			 questions[i].metric, chosen->job, chosen->window_ns / NSEC_PER_SEC);
		status = ask(asked, query, take_sample, &taking);
	}
	fleet_judge(fleet);
	return !status && !fleet->judged ? say_what_is_known(chosen, asked) : status;
}

/* Returns 0, or 1 after a message. */
static int find_out(const struct chosen *chosen, struct fleet *fleet)
{
	struct asked asked = { .token = "" };
	struct reason why = { "" };
	int status;

	if (find_whom_to_ask(&asked, chosen, &why)) {
		https_close(&asked.https);
		return fail("fleet", "%s", why.text);
	}
	/* Before anything of an answer is looked at. */
	privileges_give_up_but_asking();
	status = ask_all(chosen, &asked, fleet);
	https_close(&asked.https);
	explicit_bzero(asked.token, sizeof(asked.token));
	return status;
}

static u64 hundredths(double share)
{
	return share > 0 ? (u64)(share * 10000 + 0.5) : 0;
}

/* A server may say anything: what is no span of time here is the longest that there is. */
static u64 as_ns(double seconds)
{
	return seconds < 1e9 ? (u64)(seconds * 1e9) : (u64)1e18;
}

static void print_table(const struct fleet *fleet, const struct options *options)
{
	struct table table;

	table_open_for(&table, options, "fleet_rank", fleet_columns, FLEET_CELLS, ROWS_ALL, NULL);
	for (size_t i = 0; i < fleet->len; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];
		bool is_blamed = rank->cause != FLEET_NONE;
		const double *shares = rank->shares;

		if (!rank->is_judged)
			continue;
		table_row(&table,
			  (union cell[FLEET_CELLS]){
				  [FLEET_rank].text = rank->rank,
				  [FLEET_host].text = rank->host,
				  [FLEET_steps].number = (u64)(rank->steps + 0.5),
				  [FLEET_step_ns].number = as_ns(rank->step_s / rank->steps),
				  [FLEET_others_percent].number = hundredths(shares[STEP_COLLECTIVE]),
				  [FLEET_cpu_percent].number = hundredths(shares[STEP_CPU_WAIT]),
				  [FLEET_data_percent].number = hundredths(shares[STEP_DATA]),
				  [FLEET_lock_percent].number = hundredths(shares[STEP_LOCK]),
				  [FLEET_gpu_percent].number = hundredths(shares[STEP_SYNC] + shares[STEP_COPY]),
				  [FLEET_launches_per_step].number = (u64)(rank->launches / rank->steps + 0.5),
				  [FLEET_cause].text = fleet_cause_name(rank->cause),
				  [FLEET_verdict].text = is_blamed ? fleet_cause_words(rank->cause) : "" });
	}
	table_close(&table);
}

/* For people: who it is, in a sentence each. */
static void print_words(const struct fleet *fleet, const char *job)
{
	char host[FLEET_HOST_SIZE * 4];
	bool is_any_late = false;

	for (size_t i = 0; i < fleet->len; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];

		is_any_late |= rank->cause != FLEET_NONE;
		format_plain(host, sizeof(host), rank->host);
		if (rank->cause == FLEET_NOT_IT)
			printf("rank %s on %s is late and does nothing longer than the others: what it waits for is "
			       "elsewhere\n",
			       rank->rank, host);
		else if (rank->cause != FLEET_NONE)
			printf("rank %s on %s holds the job up by %s: %.0f %% of a step, the median %.0f %%; it waits "
			       "%.0f %% of a step for the others, the median %.0f %%\n",
			       rank->rank, host, fleet_cause_words(rank->cause), rank->cause_share * 100,
			       rank->cause_median * 100, rank->shares[STEP_COLLECTIVE] * 100,
			       fleet->medians[STEP_COLLECTIVE] * 100);
	}
	if (!is_any_late)
		printf("no rank of %s holds the others up (%zu compared)\n", job, fleet->judged);
}

int view_fleet(int argc, char **argv)
{
	struct chosen chosen = { .window_ns = 300ULL * NSEC_PER_SEC };
	struct fleet fleet = { 0 };
	struct options options;
	int status;

	options_parse(&options, &fleet_usage, &chosen, argc, argv);
	table_check(&options, "fleet", fleet_tables);
	if (!chosen.url || !chosen.job) {
		fail("fleet", "%s",
		     !chosen.url ? "whom to ask? give --prometheus URL" : "of which job? give --job NAME");
		return EXIT_USAGE;
	}
	if (chosen.window_ns < NSEC_PER_SEC) {
		fail("fleet", "--window is at least a second");
		return EXIT_USAGE;
	}
	status = find_out(&chosen, &fleet);
	if (!status) {
		print_table(&fleet, &options);
		if (!options.json)
			print_words(&fleet, chosen.job);
		if (fleet.refused)
			note("%zu figures had no room", fleet.refused);
	}
	fleet_free(&fleet);
	return status;
}
