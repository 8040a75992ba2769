// SPDX-License-Identifier: GPL-2.0
/* Games that say so by GameMode's interface: believed for the process that it is about, if its own user asks, up to a
 * number for each user, until it ends or takes it back. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../base/loop.h"
#include "../base/proc.h"
#include "../base/say.h"
#include "run.h"

#define LOOKED_AGAIN_NS NSEC_PER_SEC

static struct run_registered *find(struct run *run, u32 pid)
{
	for (u32 i = 0; i < run->control.games_len; i++)
		if (run->control.games[i].pid == pid)
			return &run->control.games[i];
	return NULL;
}

static void forget(struct run *run, const struct run_registered *one)
{
	struct run_control *control = &run->control;

	control->games[one - control->games] = control->games[control->games_len - 1];
	control->games_len--;
}

static u32 count_of(const struct run *run, uid_t charged)
{
	u32 len = 0;

	for (u32 i = 0; i < run->control.games_len; i++)
		len += run->control.games[i].charged == charged;
	return len;
}

static bool send_value(const struct feed_asker *asker, u32 verb, enum control_status status, u32 value,
		       const char *words)
{
	struct control_reply answer = {
		.magic = CONTROL_REPLIES, .version = CONTROL_VERSION, .verb = verb, .status = status, .value = value
	};

	snprintf(answer.words, sizeof(answer.words), "%s", words);
	send(asker->fd, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
	return status != CONTROL_REFUSED;
}

static bool add(struct run *run, const struct feed_asker *asker, u32 pid)
{
	struct run_registered one = { .pid = pid, .charged = asker->charged, .start_ticks = proc_start_ticks(pid) };
	struct comm comm;

	if (find(run, pid))
		return send_value(asker, CONTROL_GAME, CONTROL_FAILED, 0, "it is registered already");
	if (!one.start_ticks || proc_pid(pid) != pid)
		return send_value(asker, CONTROL_GAME, CONTROL_FAILED, 0, "there is no such process");
	if (run->control.games_len == RUN_GAMES_MAX || count_of(run, asker->charged) >= RUN_GAMES_OF_USER) {
		run->control.games_refused++;
		return send_value(asker, CONTROL_GAME, CONTROL_FAILED, 0, "too many games are registered");
	}
	one.was_game = run->games && games_find(run->games, pid);
	sched_assign(run->sched, pid, 0, ORDER_PROCESS, PROCESS_GAME);
	/* Another may have the number by now: it is none that anybody spoke for. */
	if (proc_start_ticks(pid) != one.start_ticks) {
		sched_assign(run->sched, pid, 0, ORDER_NOT_PROCESS, PROCESS_GAME);
		return send_value(asker, CONTROL_GAME, CONTROL_FAILED, 0, "there is no such process");
	}
	proc_comm(pid, &comm);
	run->control.games[run->control.games_len++] = one;
	if (run->games && !one.was_game)
		games_saw(run->games,
			  &(struct program_seen){ .pid = pid,
						  .bits = PROCESS_GAME,
						  .comm = comm.text,
						  .why = "it asked GameMode",
						  .user = asker->charged },
			  clock_now_ns());
	return send_value(asker, CONTROL_GAME, CONTROL_DONE, 2, "");
}

static void take_back(struct run *run, const struct run_registered *one)
{
	u32 pid = one->pid;
	bool was_game = one->was_game;

	forget(run, one);
	if (was_game)
		return;
	sched_assign(run->sched, pid, 0, ORDER_NOT_PROCESS, PROCESS_GAME);
	if (run->games)
		games_end(run->games, pid);
}

bool run_register_game(struct run *run, const struct feed_asker *asker, const struct control_request *request)
{
	struct run_registered *one = find(run, request->pid);

	if (request->verb == CONTROL_GAME)
		return add(run, asker, request->pid);
	if (request->verb == CONTROL_IS_GAME)
		return send_value(asker, CONTROL_IS_GAME, CONTROL_DONE, one ? 2 : run->control.games_len ? 1 : 0, "");
	if (!one)
		return send_value(asker, CONTROL_NO_GAME, CONTROL_FAILED, 0, "it is not registered");
	take_back(run, one);
	return send_value(asker, CONTROL_NO_GAME, CONTROL_DONE, 0, "");
}

void run_forget_games(struct run *run)
{
	u64 now_ns = clock_now_ns();

	if (!run->control.games_len || now_ns - run->control.games_looked_ns < LOOKED_AGAIN_NS)
		return;
	run->control.games_looked_ns = now_ns;
	for (u32 i = run->control.games_len; i-- > 0;)
		if (proc_start_ticks(run->control.games[i].pid) != run->control.games[i].start_ticks)
			forget(run, &run->control.games[i]);
}
