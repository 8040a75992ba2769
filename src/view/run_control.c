// SPDX-License-Identifier: GPL-2.0
/* What others on the machine ask of a 'tactus run' by its socket: to follow it, how it stands, why a process runs as it
 * does, to pause, to go on, to read its configuration anew; and games that say so by GameMode's interface. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/notify.h"
#include "../base/power_profile.h"
#include "../base/proc.h"
#include "../base/say.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "../capture/role_options.h"
#include "../store/rules_file.h"
#include "run.h"

#define TRY_BUS_AGAIN_NS (10ULL * NSEC_PER_SEC)

/* A look goes over all threads of a process: a user gets a fiftieth of the run's time for them, and four a second. */
enum { LOOK_EVERY_NS = NSEC_PER_SEC / 4, LOOK_REST = 50 };

struct rows {
	struct run *run;
	u32 pid;
	struct control_thread *all;
	size_t len, room;
};

static bool put(const struct feed_asker *asker, const void *packet, size_t bytes)
{
	return send(asker->fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

static bool __attribute__((format(printf, 4, 5)))
reply(const struct feed_asker *asker, u32 verb, enum control_status status, const char *format, ...)
{
	struct control_reply answer = {
		.magic = CONTROL_REPLIES, .version = CONTROL_VERSION, .verb = verb, .status = status
	};
	va_list args;

	va_start(args, format);
	vsnprintf(answer.words, sizeof(answer.words), format, args);
	va_end(args);
	put(asker, &answer, sizeof(answer));
	return status != CONTROL_REFUSED;
}

static void name_into(char into[CONTROL_NAME_SIZE], const char *text)
{
	snprintf(into, CONTROL_NAME_SIZE, "%s", text);
}

static bool answer_status(const struct run *run, const struct feed_asker *asker)
{
	const char *config = options_config();
	struct control_state state = {
		.magic = CONTROL_STATE,
		.version = CONTROL_VERSION,
		.pid = (u32)getpid(),
		.is_paused = run->control.is_paused,
		.began_wall_ns = run->control.began_wall_ns,
		.reloads = run->control.reloads,
		.games_registered = run->control.games_len,
		.refused = run->feed ? feed_refused(run->feed) : 0,
		.hints = run->hints ? hints_counts(run->hints).urgent : 0,
	};

	name_into(state.tactus, TACTUS_VERSION);
	name_into(state.actuator, run_actuator_name(run));
	name_into(state.power, run_power_name(run->chosen.power));
	name_into(state.profile, run->control.profile);
	name_into(state.readers, run->chosen.only_root ? "root" : "all");
	snprintf(state.config, sizeof(state.config), "%s", config ? config : CONFIG_FILE);
	reply(asker, CONTROL_STATUS, CONTROL_DONE, "%s", "");
	return put(asker, &state, sizeof(state));
}

static u32 hint_of(const struct run *run, const struct control_thread *thread, struct hint *given)
{
	struct hint_standing standing;

	if (run->scx)
		return scx_standing(run->scx) == SCX_ACTS ? CONTROL_HINT_SCHEDULED : CONTROL_HINT_NONE;
	if (!run->hints)
		return CONTROL_HINT_NONE;
	standing = hints_standing(run->hints, thread->tid);
	*given = standing.hint;
	return standing.is_left_alone ? CONTROL_HINT_LEFT_ALONE
	       : standing.is_given    ? CONTROL_HINT_GIVEN
	       : standing.is_held     ? CONTROL_HINT_HELD
				      : CONTROL_HINT_NONE;
}

static int take_thread(void *data, const void *event)
{
	const struct event_role *role = event;
	struct rows *rows = data;
	struct control_thread *one;
	struct hint given = { 0 };

	/* Who records has not been told of this thread, and is not any more. */
	if (role->head.kind == EVENT_THREAD)
		capture_put(&rows->run->capture, event);
	if (role->head.kind != EVENT_ROLE || !vec_reserve(rows->all, rows->room, rows->len + 1, 64))
		return 0;
	one = &rows->all[rows->len++];
	*one = (struct control_thread){ .magic = CONTROL_THREAD,
					.version = CONTROL_VERSION,
					.tid = role->head.tid,
					.pid = rows->pid,
					.role = *role };
	one->hint = hint_of(rows->run, one, &given);
	one->nice = given.nice;
	one->slice_ns = given.slice_ns;
	return 0;
}

/* The most urgent first, and of those who ran most. */
static int by_urgency(const void *a, const void *b)
{
	const struct control_thread *x = a, *y = b;

	if (x->role.tier != y->role.tier)
		return x->role.tier > y->role.tier ? -1 : 1;
	return x->role.cpu_ns > y->role.cpu_ns ? -1 : x->role.cpu_ns < y->role.cpu_ns;
}

static void send_rows(const struct feed_asker *asker, struct rows *rows, const struct game *game)
{
	struct control_reply answer = { .magic = CONTROL_REPLIES, .version = CONTROL_VERSION, .verb = CONTROL_WHY };

	answer.rows = rows->len < CONTROL_THREADS_MOST ? (u32)rows->len : CONTROL_THREADS_MOST;
	answer.left_out = (u32)rows->len - answer.rows;
	if (rows->len)
		answer.value = rows->all[0].role.process;
	if (game)
		snprintf(answer.words, sizeof(answer.words), "a game: %s", game->why);
	if (!put(asker, &answer, sizeof(answer)))
		return;
	for (u32 i = 0; i < answer.rows; i++) {
		proc_comm(rows->all[i].tid, &rows->all[i].comm);
		if (!put(asker, &rows->all[i], sizeof(rows->all[i])))
			return;
	}
}

/* His place, or that of who may ask again for the longest time. NULL: he has just asked. */
static struct run_looker *looker_of(struct run *run, uid_t charged, u64 now_ns)
{
	struct run_looker *all = run->control.lookers, *found = &all[0];

	for (u32 i = 0; i < RUN_LOOKERS; i++) {
		if (all[i].next_ns && all[i].charged == charged)
			return now_ns < all[i].next_ns ? NULL : &all[i];
		if (all[i].next_ns < found->next_ns)
			found = &all[i];
	}
	return now_ns < found->next_ns ? NULL : found;
}

static bool answer_why(struct run *run, const struct feed_asker *asker, u32 pid)
{
	struct rows rows = { .run = run, .pid = proc_pid(pid) };
	u64 now_ns = clock_now_ns(), took_ns;
	struct run_looker *looker = asker->uid ? looker_of(run, asker->charged, now_ns) : NULL;
	int error;

	if (!rows.pid)
		return reply(asker, CONTROL_WHY, CONTROL_FAILED, "there is no process %u", pid);
	if (asker->uid && !looker)
		return reply(asker, CONTROL_WHY, CONTROL_FAILED, "you have just asked: try again");
	error = sched_read_roles(run->sched, rows.pid, take_thread, &rows);
	if (looker) {
		took_ns = (clock_now_ns() - now_ns) * LOOK_REST;
		*looker = (struct run_looker){ asker->charged,
					       now_ns + (took_ns > LOOK_EVERY_NS ? took_ns : LOOK_EVERY_NS) };
	}
	if (error) {
		free(rows.all);
		return reply(asker, CONTROL_WHY, CONTROL_FAILED, "the threads' roles can't be read now");
	}
	if (rows.len)
		sort_rows(rows.all, rows.len, sizeof(*rows.all), by_urgency);
	send_rows(asker, &rows, run->games ? games_find(run->games, rows.pid) : NULL);
	free(rows.all);
	return true;
}

static bool answer_pause(struct run *run, const struct feed_asker *asker, bool is_paused)
{
	const struct say_about about = { .topic = "control" };
	u32 verb = is_paused ? CONTROL_PAUSE : CONTROL_RESUME;

	if (run->control.is_paused == is_paused)
		return reply(asker, verb, CONTROL_DONE, "it %s already", is_paused ? "is paused" : "goes on");
	run->control.is_paused = is_paused;
	run_effect_settle(run);
	run_hold(run, is_paused ? RUN_IS_OUT : RUN_ACTS);
	note_about(&about, is_paused ? "paused: hints are taken back and the kernel's own scheduler is in charge"
				     : "resumed: acting goes on");
	return reply(asker, verb, CONTROL_DONE, is_paused ? "paused: threads have what they had" : "resumed");
}

static bool answer_reload(struct run *run, const struct feed_asker *asker)
{
	struct reason words = { "" };
	bool is_done;

	notify_send("RELOADING=1");
	is_done = run_reload(run, &words);
	run_tell_state(run, true);
	note_about(&(struct say_about){ .topic = "control", .is_warning = !is_done }, "%s", words.text);
	return reply(asker, CONTROL_RELOAD, is_done ? CONTROL_DONE : CONTROL_FAILED, "%s", words.text);
}

static bool answer(void *data, const struct feed_asker *asker, const struct control_request *request)
{
	struct run *run = data;
	bool has_owner = false;
	u32 owner = 0;

	if (request->pid)
		has_owner = !proc_real_uid(request->pid, &owner);
	if (!control_may(request->verb, asker->uid, has_owner ? (uid_t)owner : (uid_t)-1, !run->chosen.only_root))
		return reply(
			asker, request->verb, CONTROL_REFUSED, "%s",
			request->pid && request->verb != CONTROL_WHY
				? "that is for root, and for a user's own processes"
			: request->pid
				? "that is for root, and for a user's own processes where --readers lets users look"
			: request->verb <= CONTROL_STATUS ? "that is for root: --readers says so"
							  : "that is for root: try sudo");
	switch (request->verb) {
	case CONTROL_FOLLOW:
		return reply(asker, CONTROL_FOLLOW, CONTROL_DONE, "%s", "");
	case CONTROL_STATUS:
		return answer_status(run, asker);
	case CONTROL_WHY:
		return answer_why(run, asker, request->pid);
	case CONTROL_PAUSE:
	case CONTROL_RESUME:
		return answer_pause(run, asker, request->verb == CONTROL_PAUSE);
	case CONTROL_RELOAD:
		return answer_reload(run, asker);
	default:
		return run_register_game(run, asker, request);
	}
}

void run_tell_state(struct run *run, bool is_ready)
{
	const char *words = run->control.is_paused ? "Paused: the kernel's own scheduler is in charge"
			    : run->scx		   ? "Scheduling by sched_ext"
			    : run->hints	   ? "Giving hints to the kernel's scheduler"
						   : "Observing only";

	if (!is_ready && run->control.told == words)
		return;
	run->control.told = words;
	notify_status(is_ready, words);
}

void run_control_begin(struct run *run)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	run->control.began_wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
}

/* The system bus may be started again, by an upgrade or after a fault. */
static void listen_again(struct run *run)
{
	struct run_control *control = &run->control;
	u64 now_ns = clock_now_ns();

	if (!control->power_is_lost || control->power.fd > 0 || now_ns - control->power_tried_ns < TRY_BUS_AGAIN_NS)
		return;
	control->power_tried_ns = now_ns;
	power_profile_start_again(&control->power);
}

/* Changed by the desktop's own switch: counts where nobody said otherwise by --power. */
static void hear_power(struct run *run)
{
	char *profile = run->control.profile;
	struct scx_exit_record last;
	bool ended = false;
	u32 power;

	listen_again(run);
	if (run->control.power.fd <= 0)
		return;
	if (power_profile_heard(&run->control.power, profile, &ended)) {
		run->control.power_is_lost = false;
		power = run_power_of_profile(profile);
		note_about(&(struct say_about){ .topic = "power" }, "power-profiles-daemon: %s%s",
			   profile[0] ? profile : "gone", run->chosen.power_given ? "; --power says otherwise" : "");
		if (!run->chosen.power_given && power != run->chosen.power) {
			run->chosen.power = power;
			/* What it is for is fixed when it is loaded. */
			if (run->scx) {
				scx_stop(run->scx, &last);
				run->scx = NULL;
				run->tries = 1;
			}
		}
	}
	if (!ended)
		return;
	if (!run->control.power_is_lost)
		note("power-profiles-daemon is not heard: the system bus has gone, and is looked for again");
	run->control.power_is_lost = true;
	power_profile_end(&run->control.power);
}

void run_control_tick(struct run *run)
{
	hear_power(run);
	if (run->feed)
		feed_hear(run->feed, answer, run);
	run_forget_games(run);
	run_tell_state(run, false);
}
