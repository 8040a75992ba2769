// SPDX-License-Identifier: GPL-2.0
/* model/games.c and view/game_words.c: which game is told when, with which threads and helpers; what compiles shaders
 * for it, and what plays its sound. */
#include "../../src/view/game_words.h"

#include <string.h>

#include "tap.h"

enum { SECOND = 1000 * 1000 * 1000 };

static struct event_role role_of(u32 tid, u32 role, u32 presents)
{
	return (struct event_role){ .head = { .tid = tid, .kind = EVENT_ROLE },
				    .role = (u8)role,
				    .presents = presents,
				    .process = PROCESS_GAME };
}

static void test_steam(void)
{
	struct games *games = games_new();
	struct program_seen reaper = { 10, PROCESS_HELPER, 480, "reaper", "*/reaper", 1000, false },
			    game = { 12,   PROCESS_GAME | PROCESS_WINE, 480, "game.exe", "a game's environment", 1000,
				     false },
			    server = { 13, PROCESS_HELPER, 480, "wineserver64", "wineserver64", 1000, false },
			    stranger = { 14, PROCESS_HELPER, 481, "wineserver64", "wineserver64", 1000, false },
			    anothers = { 15, PROCESS_HELPER, 480, "wineserver64", "wineserver64", 65534, false };
	struct event_role render = role_of(20, ROLE_RENDER, 1), audio = role_of(21, ROLE_AUDIO, 0);
	char words[GAME_WORDS_SIZE];
	const struct game *due;

	games_saw(games, &reaper, 1);
	ok(!games_want(games, &render), "roles are not asked after before a game is there");
	games_saw(games, &game, 1);
	games_saw(games, &game, 2);
	games_saw(games, &server, 2);
	games_saw(games, &stranger, 2);
	games_saw(games, &anothers, 2);
	ok(games_want(games, &render), "role of a game's thread is wanted");
	ok(!games_due(games, 3), "game is not told before its threads have shown what they are for");
	games_role(games, 12, 1000, "x", &render, SECOND);
	games_role(games, 12, 1000, "x", &audio, SECOND);
	audio.role = ROLE_BACKGROUND;
	games_role(games, 12, 1000, "x", &audio, SECOND);
	ok(!games_due(games, 2ull * SECOND - 1), "game is not told before a second after its first frame");
	due = games_due(games, 2ull * SECOND);
	is(due ? due->pid : 0, 12, "game is looked at a second after its first frame");
	ok(!games_report(games, 12, true, 2ull * SECOND),
	   "game whose sound is not known is not told a second after its first frame");
	ok(!games_due(games, 3ull * SECOND - 1), "game is looked at once a second");
	is(games_due(games, 4ull * SECOND)->pid, 12, "game that was not told is looked at again");
	ok(games_report(games, 12, true, 4ull * SECOND),
	   "game without sound is told three seconds after its first frame");
	ok(!games_report(games, 12, true, 30ull * SECOND), "game is told once");
	ok(!games_due(games, 30ull * SECOND), "game that was told is not looked at again");
	game_words(words, due, 5);
	ok(!strcmp(words,
		   "game.exe [12]: a game's environment; 5 threads: 1 render, 1 background, 3 unknown; with reaper "
		   "[10], wineserver64 [13]"),
	   "line of a game has its name, pid, reason, threads by role and helpers: %s", words);
	audio.head.flags = EVENT_FLAG_CLOSING;
	games_role(games, 12, 1000, "x", &audio, SECOND);
	is(games_find(games, 12)->by_role[ROLE_BACKGROUND], 0, "thread that ended is counted no more");
	games_end(games, 12);
	ok(!games_find(games, 12), "game that ended is none");
	games_free(games);
}

static void test_others(void)
{
	struct games *games = games_new();
	struct program_seen silent = { 30, PROCESS_GAME, 0, "silent", "--game", 1000, false },
			    server = { 31, PROCESS_HELPER, 0, "wineserver", "wineserver", 1000, false };
	struct event_role flips = role_of(40, ROLE_RENDER, 59);

	games_saw(games, &server, 0);
	games_saw(games, &silent, 0);
	ok(!games_due(games, 10ull * SECOND - 1), "game that presents nothing is not told early");
	is(games_due(games, 10ull * SECOND)->helpers_len, 0, "helper without a launcher's mark is nobody's");
	ok(!games_report(games, 30, false, 10ull * SECOND),
	   "game is not told while threads that play sound are to be looked at");
	ok(games_report(games, 30, true, 10ull * SECOND), "game that presents nothing is told after ten seconds");
	flips.process = 0;
	flips.present_api = PRESENT_DRM;
	games_role(games, 50, 1000, "kiosk", &flips, 0);
	ok(!games_find(games, 50), "program that flips a display a few times is no game");
	flips.presents = 60;
	ok(games_want(games, &flips), "who flips a display itself is looked at");
	games_role(games, 50, 1000, "kiosk", &flips, 0);
	ok(games_find(games, 50), "program that has the whole screen is a game");
	flips.process = PROCESS_PRESENTED_TO;
	games_role(games, 51, 1000, "mine", &flips, 0);
	ok(!games_find(games, 51), "compositor has the whole screen and is no game");
	for (u32 pid = 100; pid < 120; pid++) {
		silent.pid = pid;
		games_saw(games, &silent, 0);
	}
	is(games_refused(games), 20 - (GAMES_OF_USER - 2), "games beyond the room are counted");
	for (u32 tid = 0; tid < GAME_THREADS_MAX + 10; tid++) {
		struct event_role one = role_of(1000 + tid, tid % 300, 0);

		games_role(games, 30, 1000, "silent", &one, 0);
	}
	ok(games_find(games, 30)->by_role[ROLE_RENDER] <= GAME_THREADS_MAX, "threads beyond the room are left out");
	games_free(games);
}

static struct sound_seen sound_of(u32 tid, u32 pid, u32 user, u64 family, const char *comm)
{
	return (struct sound_seen){ .tid = tid, .pid = pid, .user = user, .family = family, .comm = comm };
}

static void test_sound(void)
{
	struct games *games = games_new();
	struct program_seen reaper = { 10, PROCESS_HELPER, 480, "reaper", "*/reaper", 1000, false },
			    game = { 12, PROCESS_GAME, 480, "game", "a game's environment", 1000, false },
			    pretender = { 70, PROCESS_GAME, 480, "his", "a game's environment", 65534, false };
	struct event_role render = role_of(20, ROLE_RENDER, 1);
	struct sound_seen own = sound_of(21, 12, 1000, 0, "data-loop.0"), child = sound_of(31, 30, 1000, 0, "mixer"),
			  sibling = sound_of(41, 40, 1000, 0, "voice"), family = sound_of(51, 50, 1000, 480, "wine"),
			  strangers = sound_of(61, 60, 1000, 481, "player"),
			  anothers = sound_of(71, 70, 65534, 480, "his");
	u32 by_game[] = { 12, 10, 1 }, by_reaper[] = { 11, 10, 1 }, by_init[] = { 1 };
	char words[GAME_WORDS_SIZE];

	games_saw(games, &reaper, 1);
	games_saw(games, &game, 1);
	games_role(games, 12, 1000, "x", &render, SECOND);
	strangers.parents = by_init;
	strangers.parents_len = 1;
	games_sound(games, &strangers);
	anothers.parents = by_game;
	anothers.parents_len = 3;
	games_sound(games, &anothers);
	is(games_find(games, 12)->sound_len, 0, "sound of a stranger and of another user is no game's");
	games_sound(games, &own);
	child.parents = by_game;
	child.parents_len = 3;
	games_sound(games, &child);
	sibling.parents = by_reaper;
	sibling.parents_len = 3;
	games_sound(games, &sibling);
	games_sound(games, &sibling);
	is(games_find(games, 12)->sound_len, 3,
	   "sound of a game's own thread, of its child and of its launcher's child is its own, once each");
	games_shows(games, 12);
	ok(!games_belongs(games, 12), "game is not in front until a window in which it has an audience is over");
	is(games_front(games, 0), 12, "game with an audience is in front");
	ok(games_belongs(games, 30), "process that plays the sound of a game in front is part of it");
	ok(games_belongs(games, 10), "helper of a game in front is part of it");
	ok(!games_belongs(games, 60), "stranger is no part of a game");
	games_saw(games, &pretender, 1);
	games_shows(games, 70);
	games_shows(games, 12);
	is(games_front(games, 12), 12, "game in front stays there beside another user's that has an audience too");
	ok(games_belongs(games, 10), "helper of a game in front is part of it beside another user's game in front");
	ok(games_belongs(games, 70), "game in front beside another is part of one in front");
	games_shows(games, 70);
	is(games_front(games, 12), 70, "another game is in front once the first has no audience any more");
	ok(!games_belongs(games, 10), "helper of a game that is not in front is no part of one in front");
	is(games_front(games, 70), 0, "no game is in front while none has an audience");
	ok(games_report(games, 12, true, 2ull * SECOND),
	   "game whose sound is known is told a second after its first frame");
	game_words(words, games_find(games, 12), 2);
	ok(!strcmp(words, "game [12]: a game's environment; 2 threads: 1 render, 1 unknown; with reaper [10]; sound by "
			  "data-loop.0 [21], mixer [31], voice [41]"),
	   "line of a game has what plays its sound: %s", words);
	family.parents_len = 0;
	games_sound(games, &family);
	family.pid = 80;
	family.tid = 81;
	games_sound(games, &family);
	is(games_find(games, 12)->sound_more, 1, "threads that play sound beyond the room are counted");
	games_free(games);
}

/* Tells all that is to be told, and returns how the process stands then: 1, 0, or 2 if nothing was told of it. */
static u32 loading_of(struct games *games, u32 pid, u64 now_ns)
{
	bool is_loading;
	u32 told = 2, one;

	while ((one = games_next_loading(games, now_ns, &is_loading)))
		if (one == pid)
			told = is_loading;
	return told;
}

static void test_loading(void)
{
	struct games *games = games_new();
	struct program_seen game = { 12, PROCESS_GAME, 480, "game", "a game's environment", 1000, false },
			    replay = { 13, PROCESS_HELPER, 0, "fossilize_repla", "fossilize_repla*", 1000, true },
			    kin = { 14, PROCESS_HELPER, 480, "fossilize_repla", "fossilize_repla*", 1000, true },
			    other = { 15, PROCESS_HELPER, 481, "fossilize_repla", "fossilize_repla*", 1000, true },
			    anothers = { 16, PROCESS_HELPER, 0, "fossilize_repla", "fossilize_repla*", 65534, true },
			    server = { 17, PROCESS_HELPER, 480, "wineserver", "wineserver", 1000, false };
	struct event_role render = role_of(20, ROLE_RENDER, 1);

	games_saw(games, &replay, 1);
	is(loading_of(games, 13, 1), 1, "shader compiler without a game is told to be loading");
	is(loading_of(games, 13, 2), 2, "what was told is not told again");
	games_saw(games, &kin, 2);
	games_saw(games, &other, 2);
	games_saw(games, &anothers, 2);
	games_saw(games, &server, 2);
	games_saw(games, &game, 2);
	is(loading_of(games, 12, 2), 1, "game without a frame is loading");
	games_saw(games, &game, 3);
	is(loading_of(games, 12, 3), 1, "game that was seen again, perhaps since an exec, is told again");
	games_role(games, 12, 1000, "x", &render, SECOND);
	is(loading_of(games, 12, SECOND), 0, "game is not loading after its first frame");
	games_end(games, 12);
	is(loading_of(games, 13, SECOND), 1, "shader compiler is loading again when its game has ended");
	games_saw(games, &game, SECOND);
	loading_of(games, 0, SECOND);
	games_role(games, 12, 1000, "x", &render, SECOND);
	is(loading_of(games, 14, SECOND), 0, "shader compiler of a game is not loading after the game's first frame");
	games_saw(games, &other, SECOND);
	is(loading_of(games, 15, SECOND), 1, "shader compiler of another game is loading after that frame");
	games_saw(games, &anothers, SECOND);
	is(loading_of(games, 16, SECOND), 1, "shader compiler of another user is loading after that frame");
	games_saw(games, &server, SECOND);
	is(loading_of(games, 17, SECOND), 2, "helper that compiles no shaders is never loading");
	games_end(games, 12);
	games_saw(games, &game, SECOND);
	is(loading_of(games, 12, SECOND), 1, "game that began again is loading");
	is(loading_of(games, 12, SECOND + GAME_LOADS_MOST_NS), 0,
	   "game that never shows a frame is not loading for ever");
	games_free(games);
}

/* Whoever likes has programs that look like games, launchers' helpers and threads, as many as he likes. */
static void test_hostile(void)
{
	struct games *games = games_new();
	struct program_seen his = { 100, PROCESS_GAME, 480, "his", "--game", 65534, false },
			    helper = { 9, PROCESS_HELPER, 7, "reaper", "*/reaper", 1000, false },
			    game = { 10, PROCESS_GAME, 7, "game", "--game", 1000, false };
	struct event_role role;

	games_saw(games, &helper, 0);
	for (u32 pid = 1000; pid < 2000; pid++) {
		his = (struct program_seen){ pid, PROCESS_GAME, 480, "his", "--game", 65534, false };
		games_saw(games, &his, 0);
		his.bits = PROCESS_HELPER;
		his.family = 7;
		his.pid += 1000;
		games_saw(games, &his, 0);
		role = role_of(pid, ROLE_RENDER, 1);
		games_role(games, 1000, 65534, "his", &role, 0);
	}
	is(games_refused(games), 1000 - GAMES_OF_USER, "a user's games beyond his part of the room are refused");
	games_saw(games, &game, 0);
	ok(games_find(games, 10), "another user's game has room beside a user who claims a thousand");
	is(games_find(games, 10)->helpers_len, 1, "a game has its own user's helpers, and none of another's");
	is(games_find(games, 10)->helpers[0].pid, 9,
	   "a helper that was there before another user's thousand is known still");
	role = role_of(5000, ROLE_RENDER, 1);
	games_role(games, 10, 1000, "game", &role, 0);
	is(games_find(games, 10)->by_role[ROLE_RENDER], 1,
	   "threads of a game are counted beside another user's thousand");
	games_free(games);
}

int main(void)
{
	test_steam();
	test_others();
	test_sound();
	test_loading();
	test_hostile();
	return tap_end();
}
