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
#include "../base/process.h"
#include "../base/say.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "game_words.h"
#include "run.h"

/* Anybody may have many threads that play sound, and games that are about to be told. */
enum { SOUND_LOOKED_AT_MOST = 512, SOUND_LOOKED_AT_OF_USER = 64 };
#define SOUND_LOOKED_EVERY_NS (1ull * NSEC_PER_SEC)

/* What is loading has time to compile shaders. */
static void tell_loading(struct run *run)
{
	bool is_loading;
	u32 pid;

	/* Programs are looked at before everything is in place, and told of then. */
	while (run->sched && (pid = games_next_loading(run->games, clock_now_ns(), &is_loading)))
		sched_assign(run->sched, pid, 0, is_loading ? ORDER_PROCESS : ORDER_NOT_PROCESS, PROCESS_LOADING);
}

void run_game_program(void *data, const struct program_seen *seen)
{
	struct run *run = data;

	if (!run->games)
		return;
	games_saw(run->games, seen, clock_now_ns());
	tell_loading(run);
}

static int read_traits(struct process_texts *texts, u32 pid, struct process_traits *traits)
{
	int error = process_read(texts, pid);

	*traits = (struct process_traits){ .pid = pid,
					   .comm = texts->comm,
					   .exe = texts->exe,
					   .words = texts->words,
					   .words_len = error ? 0 : texts->words_len,
					   .environ = texts->environ,
					   .environ_len = error ? 0 : texts->environ_len };
	return error;
}

/* One that was not known for a game has the whole screen. */
static void on_whole_screen(struct run *run, u32 pid, u32 user, const struct event_role *event)
{
	static struct process_texts texts;
	struct process_traits traits;

	if (read_traits(&texts, pid, &traits) || rules_deny_game(run->capture.rules, &traits))
		return;
	games_role(run->games, pid, user, texts.comm, event, clock_now_ns());
	if (games_find(run->games, pid))
		sched_assign(run->sched, pid, 0, ORDER_PROCESS, PROCESS_GAME);
}

void run_game_role(struct run *run, const struct event_role *event)
{
	u32 pid, user = 0;

	if (!run->games || !games_want(run->games, event))
		return;
	pid = proc_pid(event->head.tid);
	if (!pid || (!games_find(run->games, pid) && process_charged_to(pid, &user)))
		return;
	if (games_find(run->games, pid))
		games_role(run->games, pid, user, "", event, clock_now_ns());
	else
		on_whole_screen(run, pid, user, event);
	tell_loading(run);
}

struct listener {
	struct run *run;
	u32 left; /* threads that are still looked at; */
	u32 last; /* of those the last */
	struct {
		u32 user, looked;
	} users[GAMES_KEPT_MAX]; /* who have games */
	u32 users_len;
};

/* Of whoever has no game nothing is looked for, and of each other user only so much. */
static bool may_look(struct listener *listener, u32 user)
{
	u32 i = 0;

	while (i < listener->users_len && listener->users[i].user != user)
		i++;
	if (i == listener->users_len) {
		if (i == GAMES_KEPT_MAX || !games_has_user(listener->run->games, user))
			return false;
		listener->users[listener->users_len++].user = user;
	}
	return listener->users[i].looked++ < SOUND_LOOKED_AT_OF_USER;
}

static int take_sound(void *data, const void *bytes)
{
	static struct process_texts texts;
	const struct event_role *event = bytes;
	struct listener *listener = data;
	struct process_traits traits;
	u32 parents[GAME_PARENTS_MAX];
	struct sound_seen seen = { .tid = event->head.tid, .parents = parents };
	struct comm comm;

	if (event->head.kind != EVENT_ROLE || event->role != ROLE_AUDIO || event->confidence < ROLE_TRUSTED ||
	    (event->process & PROCESS_SOUND_SERVER) || seen.tid <= listener->run->sound_after || !listener->left)
		return 0;
	listener->left--;
	listener->last = seen.tid;
	seen.pid = proc_pid(seen.tid);
	if (!seen.pid || process_charged_to(seen.pid, &seen.user) || !may_look(listener, seen.user) ||
	    read_traits(&texts, seen.pid, &traits))
		return 0;
	seen.family = rules_family(&traits);
	seen.parents_len = proc_parents(seen.pid, parents, GAME_PARENTS_MAX);
	proc_comm(games_find(listener->run->games, seen.pid) ? seen.tid : seen.pid, &comm);
	seen.comm = comm.text;
	games_sound(listener->run->games, &seen);
	return 0;
}

struct counted_game {
	struct run *run;
	u32 pid;
};

static int take_role_of_game(void *data, const void *bytes)
{
	const struct counted_game *of = data;
	struct event_role event;

	if (!run_role_is_sound(bytes))
		return 0;
	event = *(const struct event_role *)bytes;
	/* In the stream this says that the thread has ended; here it has not. */
	event.head.flags &= ~EVENT_FLAG_CLOSING;
	games_role(of->run->games, of->pid, 0, "", &event, clock_now_ns());
	return 0;
}

/* For all games at once; where there are too many threads it goes on behind the last one the next time. */
static void look_for_sound(struct run *run, u64 now_ns)
{
	struct listener listener = { .run = run, .left = SOUND_LOOKED_AT_MOST };

	if (run->sound_looked_ns && now_ns < run->sound_looked_ns + SOUND_LOOKED_EVERY_NS)
		return;
	run->sound_looked_ns = now_ns;
	sched_read_roles(run->sched, 0, take_sound, &listener);
	run->sound_after = listener.left ? 0 : listener.last;
}

/* What was told of its threads before it was known for a game went by. */
static void read_again(struct run *run, u32 pid)
{
	sched_read_roles(run->sched, pid, take_role_of_game, &(struct counted_game){ run, pid });
	look_for_sound(run, clock_now_ns());
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
	json_array(&json, "sound");
	for (u32 i = 0; i < game->sound_len; i++) {
		json_object(&json, NULL);
		json_u64(&json, "pid", game->sound[i].pid);
		json_u64(&json, "tid", game->sound[i].tid);
		json_string(&json, "comm", game->sound[i].comm);
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
		if (!threads) {
			games_end(run->games, game->pid);
			continue;
		}
		read_again(run, game->pid);
		if (games_report(run->games, game->pid, !run->sound_after, clock_now_ns()))
			report_game(run, game, threads);
	}
	/* Their pids may be others' one day. */
	games_drop_ended(run->games, threads_of);
	tell_loading(run);
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
	if (row->has_audience && run->games)
		games_shows(run->games, row->pid);
}

void run_game_window_ends(struct run *run)
{
	run->game_pid = run->games ? games_front(run->games, run->game_pid) : 0;
}

bool run_game_has(void *data, u32 pid)
{
	const struct run *run = data;

	return run->games && games_belongs(run->games, pid);
}
