// SPDX-License-Identifier: GPL-2.0
/* Games in 'tactus run': each is reported in a line when it shows frames, with what its threads are for and what serves
 * it; and while one is in front, others may wait longer for its sake. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc.h"
#include "../base/say.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "game_words.h"
#include "run.h"

void run_game_program(void *data, const struct program_seen *seen)
{
	struct run *run = data;

	if (run->games)
		games_saw(run->games, seen, clock_now_ns());
}

void run_game_role(struct run *run, const struct event_role *event)
{
	struct comm comm = { "" };
	u32 pid, user = 0;

	if (!run->games || !games_want(run->games, event))
		return;
	pid = proc_pid(event->head.tid);
	if (!pid || (!games_find(run->games, pid) && process_charged_to(pid, &user)))
		return;
	proc_comm(pid, &comm);
	games_role(run->games, pid, user, comm.text, event, clock_now_ns());
}

/* 0: it has ended. */
static u32 threads_of(u32 pid)
{
	char path[64];
	struct dirent *entry;
	u32 len = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		len += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return len;
}

static void print_json(FILE *out, const struct game *game, u32 threads)
{
	struct json json = { .out = out };

	json_record(&json, "game", false);
	json_u64(&json, "pid", game->pid);
	json_string(&json, "comm", game->comm);
	json_string(&json, "why", game->why);
	json_u64(&json, "threads", threads);
	json_object(&json, "threads_by_role");
	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		json_u64(&json, role_name(role), game->by_role[role]);
	json_object_end(&json);
	json_array(&json, "helpers");
	for (u32 i = 0; i < game->helpers_len; i++) {
		json_object(&json, NULL);
		json_u64(&json, "pid", game->helpers[i].pid);
		json_string(&json, "comm", game->helpers[i].comm);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

static void report_game(struct run *run, const struct game *game, u32 threads)
{
	char words[GAME_WORDS_SIZE], plain[GAME_WORDS_SIZE];
	size_t len = 0;
	char *text = NULL;
	FILE *out;

	game_words(words, game, threads);
	format_plain(plain, sizeof(plain), words);
	note_about(&(struct say_about){ "game", game->pid, game->comm, false }, "game: %s", plain);
	if (!run->options->json)
		return;
	out = open_memstream(&text, &len);
	if (!out)
		return;
	print_json(out, game, threads);
	if (!fclose(out))
		lines_put(run->lines_out, text, len);
	free(text);
}

void run_game_tick(struct run *run)
{
	const struct game *game;
	u32 threads;

	if (!run->games)
		return;
	while ((game = games_due(run->games, clock_now_ns()))) {
		threads = threads_of(game->pid);
		if (threads)
			report_game(run, game, threads);
		else
			games_end(run->games, game->pid);
	}
	/* Their pids may be others' one day. */
	games_drop_ended(run->games, threads_of);
}

void run_game_end(struct run *run)
{
	u64 refused = run->control.games_refused + (run->games ? games_refused(run->games) : 0);

	if (refused)
		note("games: %" PRIu64 " were not noted as such: their users have as many as one user may", refused);
	games_free(run->games);
	run->games = NULL;
}

void run_game_row(struct run *run, const struct wait_row *row)
{
	if (row->has_audience && run->games && games_find(run->games, row->pid))
		run->game_next = row->pid;
}

bool run_game_may_cost(const struct run *run, const struct effect_finding *finding)
{
	return run->game_pid && finding->pid != run->game_pid &&
	       !effect_is_too_long_for_game(finding->acted_p99_ns, finding->held_p99_ns);
}
