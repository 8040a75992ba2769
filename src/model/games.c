// SPDX-License-Identifier: GPL-2.0
/* Keeps the games that are there, a few at a time; the threads of each with the role that they had last.
 * Texts come from other processes: whoever prints them makes them plain. */
#include "games.h"

#include <stdlib.h>
#include <string.h>

#define REPORTED_AFTER_FRAME_NS (1ull * NSEC_PER_SEC)
#define REPORTED_WITHOUT_SOUND_NS (3ull * NSEC_PER_SEC) /* it may have none */
#define REPORTED_AT_LATEST_NS (10ull * NSEC_PER_SEC)
#define REPORTED_UNSURE_NS (20ull * NSEC_PER_SEC) /* or so late, where there are too many threads to look at all */
#define LOOKED_AGAIN_NS (1ull * NSEC_PER_SEC)

struct helper {
	u32 pid, user;
	u64 family;
	char comm[COMM_LEN];
	bool compiles;
	bool is_loading; /* by what the kernel half was told */
};

struct games {
	struct game all[GAMES_KEPT_MAX];
	u32 len;
	/* Of any game: a launcher is there before it. */
	struct helper helpers[HELPERS_KEPT_MAX];
	u32 helpers_len;
	struct {
		u32 tid, pid, user, role;
	} threads[GAME_THREADS_MAX];
	u32 threads_len;
	u64 refused;
};

/* Cut where there is no room. */
static void copy_text(char *into, size_t size, const char *text)
{
	size_t len = strnlen(text, size - 1);

	memcpy(into, text, len);
	memset(into + len, 0, size - len);
}

struct games *games_new(void)
{
	return calloc(1, sizeof(struct games));
}

void games_free(struct games *games)
{
	free(games);
}

static struct game *find(struct games *games, u32 pid)
{
	for (u32 i = 0; i < games->len; i++)
		if (games->all[i].pid == pid)
			return &games->all[i];
	return NULL;
}

const struct game *games_find(const struct games *games, u32 pid)
{
	for (u32 i = 0; i < games->len; i++)
		if (games->all[i].pid == pid)
			return &games->all[i];
	return NULL;
}

static void give_helper(struct game *game, const struct helper *helper)
{
	if (!game->family || game->family != helper->family || game->user != helper->user || game->pid == helper->pid)
		return;
	for (u32 i = 0; i < game->helpers_len; i++)
		if (game->helpers[i].pid == helper->pid)
			return;
	if (game->helpers_len == GAME_HELPERS_MAX) {
		game->helpers_more++;
		return;
	}
	game->helpers[game->helpers_len].pid = helper->pid;
	memcpy(game->helpers[game->helpers_len++].comm, helper->comm, COMM_LEN);
}

/* Where it goes: the place that it has, or a free one. Where there is none, or its user has his part, the oldest goes,
 * which is among his own then. */
static u32 helper_place(struct games *games, const struct helper *helper)
{
	u32 own = 0, oldest = 0;

	for (u32 i = games->helpers_len; i-- > 0;) {
		if (games->helpers[i].pid == helper->pid)
			return i;
		if (games->helpers[i].user != helper->user)
			continue;
		own++;
		oldest = i;
	}
	if (own < HELPERS_OF_USER && games->helpers_len < HELPERS_KEPT_MAX)
		return games->helpers_len++;
	oldest = own < HELPERS_OF_USER ? 0 : oldest;
	memmove(games->helpers + oldest, games->helpers + oldest + 1,
		(games->helpers_len - oldest - 1) * sizeof(*helper));
	return games->helpers_len - 1;
}

static void saw_helper(struct games *games, const struct program_seen *seen)
{
	struct helper helper = {
		.pid = seen->pid, .user = seen->user, .family = seen->family, .compiles = seen->compiles
	};

	if (!seen->family && !seen->compiles)
		return;
	copy_text(helper.comm, sizeof(helper.comm), seen->comm);
	games->helpers[helper_place(games, &helper)] = helper;
	for (u32 i = 0; i < games->len; i++)
		give_helper(&games->all[i], &helper);
}

static u32 games_of(const struct games *games, u32 user)
{
	u32 len = 0;

	for (u32 i = 0; i < games->len; i++)
		len += games->all[i].user == user;
	return len;
}

bool games_has_user(const struct games *games, u32 user)
{
	return games_of(games, user) > 0;
}

static struct game *add(struct games *games, u32 pid, u32 user, u64 family, u64 now_ns)
{
	struct game *game;

	if (games->len == GAMES_KEPT_MAX || games_of(games, user) >= GAMES_OF_USER) {
		games->refused++;
		return NULL;
	}
	game = &games->all[games->len++];
	*game = (struct game){ .pid = pid, .user = user, .family = family, .found_ns = now_ns };
	for (u32 i = 0; i < games->helpers_len; i++)
		give_helper(game, &games->helpers[i]);
	return game;
}

void games_saw(struct games *games, const struct program_seen *seen, u64 now_ns)
{
	struct game *game = find(games, seen->pid);

	if (!(seen->bits & PROCESS_GAME)) {
		if (seen->bits & PROCESS_HELPER)
			saw_helper(games, seen);
		/* A loader that turned out to run something else. */
		if (game && !game->is_reported)
			games_end(games, seen->pid);
		return;
	}
	game = game ? game : add(games, seen->pid, seen->user, seen->family, now_ns);
	if (!game)
		return;
	/* An exec forgets what was told of the process. */
	game->is_loading = false;
	/* Wine's loader says later what it runs. */
	copy_text(game->comm, sizeof(game->comm), seen->comm);
	copy_text(game->why, sizeof(game->why), seen->why);
}

static bool shows_all(const struct event_role *event)
{
	return has_whole_screen(event->present_api, event->presents, event->process);
}

bool games_want(const struct games *games, const struct event_role *event)
{
	return (games->len && (event->process & PROCESS_GAME)) || shows_all(event);
}

/* Which role the thread had, so far as it is known; and from now on. */
static void take_role(struct games *games, struct game *game, u32 tid, u32 role)
{
	u32 place = 0, own = 0;

	for (; place < games->threads_len && games->threads[place].tid != tid; place++)
		own += games->threads[place].user == game->user;
	if (place == GAME_THREADS_MAX || (place == games->threads_len && own >= THREADS_OF_USER))
		return;
	if (place < games->threads_len && games->threads[place].pid == game->pid) {
		if (game->by_role[games->threads[place].role])
			game->by_role[games->threads[place].role]--;
	}
	if (place == games->threads_len)
		games->threads_len++;
	games->threads[place].tid = tid;
	games->threads[place].pid = game->pid;
	games->threads[place].user = game->user;
	games->threads[place].role = role;
	game->by_role[role]++;
}

void games_role(struct games *games, u32 pid, u32 user, const char *comm, const struct event_role *event, u64 now_ns)
{
	struct game *game = find(games, pid);

	if (!game && shows_all(event)) {
		game = add(games, pid, user, 0, now_ns);
		if (game) {
			copy_text(game->comm, sizeof(game->comm), comm);
			copy_text(game->why, sizeof(game->why), "it has the whole screen");
		}
	}
	if (!game || event->role >= ROLES)
		return;
	if (event->presents && !game->first_frame_ns)
		game->first_frame_ns = now_ns;
	take_role(games, game, event->head.tid, event->head.flags & EVENT_FLAG_CLOSING ? ROLE_UNKNOWN : event->role);
}

static void add_sound(struct game *game, const struct sound_seen *seen)
{
	for (u32 i = 0; i < game->sound_len; i++)
		if (game->sound[i].tid == seen->tid || (game->sound[i].pid == seen->pid && seen->pid != game->pid))
			return;
	if (game->sound_len == GAME_SOUND_MAX) {
		game->sound_more++;
		return;
	}
	game->sound[game->sound_len].tid = seen->tid;
	game->sound[game->sound_len].pid = seen->pid;
	copy_text(game->sound[game->sound_len++].comm, COMM_LEN, seen->comm);
}

static bool is_helper_of(const struct games *games, const struct game *game, u32 pid)
{
	for (u32 i = 0; i < games->helpers_len; i++)
		if (games->helpers[i].pid == pid)
			return game->family && games->helpers[i].family == game->family &&
			       games->helpers[i].user == game->user;
	return false;
}

static bool is_in_tree(const struct games *games, const struct game *game, const struct sound_seen *seen)
{
	if (seen->pid == game->pid || (game->family && seen->family == game->family))
		return true;
	for (u32 i = 0; i < seen->parents_len; i++)
		if (seen->parents[i] == game->pid || is_helper_of(games, game, seen->parents[i]))
			return true;
	return false;
}

void games_sound(struct games *games, const struct sound_seen *seen)
{
	for (u32 i = 0; i < games->len; i++)
		if (games->all[i].user == seen->user && is_in_tree(games, &games->all[i], seen))
			add_sound(&games->all[i], seen);
}

void games_shows(struct games *games, u32 pid)
{
	struct game *game = find(games, pid);

	if (game)
		game->is_shown = true;
}

u32 games_front(struct games *games, u32 before_pid)
{
	u32 pid = 0;

	for (u32 i = games->len; i-- > 0;) {
		struct game *game = &games->all[i];

		game->is_in_front = game->is_shown;
		game->is_shown = false;
		if (game->is_in_front && (!pid || pid != before_pid))
			pid = game->pid;
	}
	return pid;
}

static bool belongs(const struct games *games, const struct game *game, u32 pid)
{
	for (u32 i = 0; i < game->sound_len; i++)
		if (game->sound[i].pid == pid)
			return true;
	return pid == game->pid || is_helper_of(games, game, pid);
}

bool games_belongs(const struct games *games, u32 pid)
{
	for (u32 i = 0; i < games->len; i++)
		if (games->all[i].is_in_front && belongs(games, &games->all[i], pid))
			return true;
	return false;
}

const struct game *games_due(struct games *games, u64 now_ns)
{
	for (u32 i = 0; i < games->len; i++) {
		struct game *game = &games->all[i];

		if (game->is_reported || (game->looked_ns && now_ns < game->looked_ns + LOOKED_AGAIN_NS))
			continue;
		if ((game->first_frame_ns && now_ns >= game->first_frame_ns + REPORTED_AFTER_FRAME_NS) ||
		    now_ns >= game->found_ns + REPORTED_AT_LATEST_NS) {
			game->looked_ns = now_ns;
			return game;
		}
	}
	return NULL;
}

bool games_report(struct games *games, u32 pid, bool knows_sound, u64 now_ns)
{
	struct game *game = find(games, pid);

	if (!game || game->is_reported)
		return false;
	if (!knows_sound && !game->sound_len && now_ns < game->found_ns + REPORTED_UNSURE_NS)
		return false;
	game->is_reported = game->sound_len || now_ns >= game->found_ns + REPORTED_AT_LATEST_NS ||
			    (game->first_frame_ns && now_ns >= game->first_frame_ns + REPORTED_WITHOUT_SOUND_NS);
	return game->is_reported;
}

/* What is of no game's family may work for any of its user's. */
static bool helper_loads(const struct games *games, const struct helper *helper, u64 now_ns)
{
	for (u32 i = 0; i < games->len; i++) {
		const struct game *game = &games->all[i];

		if (game->user == helper->user && (!helper->family || game->family == helper->family) &&
		    !game_is_loading(game->first_frame_ns, game->found_ns, now_ns))
			return false;
	}
	return helper->compiles;
}

u32 games_next_loading(struct games *games, u64 now_ns, bool *is_loading)
{
	for (u32 i = 0; i < games->len; i++) {
		struct game *game = &games->all[i];

		*is_loading = game_is_loading(game->first_frame_ns, game->found_ns, now_ns);
		if (game->is_loading != *is_loading) {
			game->is_loading = *is_loading;
			return game->pid;
		}
	}
	for (u32 i = 0; i < games->helpers_len; i++) {
		struct helper *helper = &games->helpers[i];

		*is_loading = helper_loads(games, helper, now_ns);
		if (helper->is_loading != *is_loading) {
			helper->is_loading = *is_loading;
			return helper->pid;
		}
	}
	return 0;
}

void games_end(struct games *games, u32 pid)
{
	struct game *game = find(games, pid);
	u32 kept = 0;

	if (!game)
		return;
	*game = games->all[--games->len];
	for (u32 i = 0; i < games->threads_len; i++)
		if (games->threads[i].pid != pid)
			games->threads[kept++] = games->threads[i];
	games->threads_len = kept;
}

void games_drop_ended(struct games *games, u32 (*threads_of)(u32 pid))
{
	for (u32 i = games->len; i-- > 0;)
		if (!threads_of(games->all[i].pid))
			games_end(games, games->all[i].pid);
}

u64 games_refused(const struct games *games)
{
	return games->refused;
}
