// SPDX-License-Identifier: GPL-2.0
/* core/waits.h, core/effect.h, model/effects.h and the holds: who waits longer because of us is found, and nobody else.
 */
#include "../../src/model/effects.h"
#include "../../src/sched/holds.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC };

static void add(struct waits *waits, u64 wait_ns, u32 times)
{
	while (times--)
		waits_add(waits, wait_ns);
}

/* So many turns: nine tenths wait a tenth of that. */
static struct waits spread(u64 tail_ns, u32 turns)
{
	struct waits waits = { 0 };

	add(&waits, tail_ns / 10, turns - turns / 10);
	add(&waits, tail_ns, turns / 10);
	return waits;
}

static void test_waits(void)
{
	struct waits waits = { 0 };
	u64 last_ns = 0, steady = 1;

	for (u32 slot = 0; slot < WAITS_SLOTS - 1; slot++) {
		steady &= waits_slot(waits_slot_ns(slot)) == slot && waits_slot(waits_slot_ns(slot) + 1) == slot + 1;
		steady &= waits_slot_ns(slot) > last_ns;
		last_ns = waits_slot_ns(slot);
	}
	ok(steady, "slots of waits follow each other without a gap");
	is(waits_slot(0), 0, "no wait is in the first slot");
	is(waits_slot(~0ULL), WAITS_SLOTS - 1, "the longest wait is in the last slot");
	is(waits_percentile_ns(&waits, 990000), 0, "a percentile of no waits is 0");
	add(&waits, 10 * MS, 1);
	is_between(10 * MS, waits_percentile_ns(&waits, 500000), 15 * MS - 1, "a percentile is right up to its slot");
	add(&waits, 1000, 99);
	is(waits_percentile_ns(&waits, 990000), waits_slot_ns(0), "the 99th percentile leaves one of a hundred out");
	is_between(7 * MS + 1, waits_sum_ns(&waits), 10 * MS, "the sum of waits is a lower bound");
	waits_fade(&waits);
	is(waits_total(&waits), 49, "what is faded counts half");
}

static void test_pair(void)
{
	struct waits long_ones = spread(20 * MS, 100), short_ones = spread(4 * MS, 100), few = spread(20 * MS, 10);
	struct waits tiny = spread(100 * NSEC_PER_USEC, 100), small = spread(1500 * NSEC_PER_USEC, 100);
	struct waits starved = { 0 }, none = { 0 }, longer = spread(60 * MS, 100), twice = spread(130 * MS, 100);

	is(effect_of(&long_ones, &short_ones), EFFECT_WORSE, "five times as long is worse");
	is(effect_of(&short_ones, &long_ones), EFFECT_BETTER, "a fifth is better");
	is(effect_of(&short_ones, &short_ones), EFFECT_SAME, "the same is the same");
	is(effect_of(&small, &tiny), EFFECT_SAME, "fifteen times as long is the same while it is a millisecond");
	is(effect_of(&longer, &long_ones), EFFECT_WORSE, "three times as long is worse");
	is(effect_of(&twice, &longer), EFFECT_SAME,
	   "wait of double length is the same for a thread that waits long in any case");
	is(effect_of(&few, &short_ones), EFFECT_UNKNOWN, "few turns say nothing");
	is(effect_of(&long_ones, &none), EFFECT_UNKNOWN, "nothing to compare with says nothing");
	add(&starved, 150 * MS, 2);
	is(effect_of(&starved, &short_ones), EFFECT_WORSE, "few turns that wait very long do say something");
	ok(effect_is_suspect(&long_ones, &none), "long waits are suspect where nothing else is known");
	ok(!effect_is_suspect(&short_ones, &none), "short waits are not suspect");
	ok(!effect_is_suspect(&long_ones, &long_ones), "long waits that were as long before are not suspect");
	ok(effect_is_suspect(&long_ones, &short_ones), "waits longer than before are suspect");
	ok(!effect_is_suspect(&few, &none), "few waits are not suspect");
}

static void test_order(void)
{
	u32 held = 0, first_held = 0;

	for (u32 pair = 0; pair < 8; pair++) {
		held += effect_window_is_held(2 * pair) + effect_window_is_held(2 * pair + 1) == 1;
		first_held += (u32)effect_window_is_held(2 * pair);
	}
	is(held, 8, "of each pair one window is held");
	is(first_held, 4, "in every other pair the first window is held");
	is(effect_hold_ns(0), 60 * (u64)NSEC_PER_SEC, "the first hold is a minute long");
	is(effect_hold_ns(1), 120 * (u64)NSEC_PER_SEC, "the second hold is two minutes long");
	is(effect_hold_ns(1000), 960 * (u64)NSEC_PER_SEC, "a hold has a longest");
}

struct world {
	struct effects *effects;
	u64 now_ns;
	u32 found, held_windows;
	struct effect_finding last;
};

static void on_found(void *data, const struct effect_finding *finding)
{
	struct world *world = data;

	world->found++;
	world->last = *finding;
}

static void take(struct world *world, u32 pid, u32 tier, struct waits waits)
{
	struct wait_row row = { .tid = pid, .pid = pid, .tier = tier, .comm = { "someone" }, .waits = waits };

	effects_take(world->effects, &row);
}

static bool is_game(void *data, u32 pid)
{
	(void)data;
	return pid == 9;
}

static void end_window(struct world *world, enum effect_acting acting, u32 game_pid)
{
	effects_window_ends(world->effects, &(struct effect_window){ .acting = acting,
								     .now_ns = world->now_ns,
								     .game_pid = game_pid,
								     .is_of_game = is_game,
								     .found = on_found,
								     .data = world });
}

/* One window of a process that waits so long with us and without. */
static void pass(struct world *world, u64 acted_ns, u64 held_ns, bool acts, u32 tier)
{
	bool is_held = effects_hold(world->effects);

	world->held_windows += is_held;
	take(world, 7, tier, spread(acts && !is_held ? acted_ns : held_ns, 100));
	world->now_ns += effects_window_ns(world->effects);
	end_window(world, acts && !is_held ? EFFECT_ACTED : EFFECT_NOT_ACTED, 0);
}

static struct world begin(void)
{
	return (struct world){ .effects = effects_new(), .now_ns = NSEC_PER_SEC };
}

static void test_found(void)
{
	struct world world = begin();
	u32 windows = 0;

	while (!world.found && windows++ < 100)
		pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	is(world.found, 1, "a process that waits longer because of us is found");
	is(windows, EFFECT_SUSPECT_WINDOWS + 2 * EFFECT_PAIRS_SURE,
	   "a process that waits longer because of us is found in six seconds");
	is(world.held_windows, EFFECT_PAIRS_SURE, "acting is held back for two seconds to find it");
	is(world.last.pid, 7, "a finding names the process that waits");
	ok(world.last.acted_p99_ns >= 20 * MS, "the finding says how long the process waited while we acted");
	ok(world.last.held_p99_ns < 7 * MS, "the finding says how long the process waited while acting was held back");
	ok(!effects_hold(world.effects), "acting goes on after the verdict");
	effects_free(world.effects);
}

static void test_before(void)
{
	struct world world = begin();

	for (u32 i = 0; i < 5; i++)
		pass(&world, 0, 20 * MS, false, TIER_INTERACTIVE);
	for (u32 i = 0; i < 600; i++)
		pass(&world, 20 * MS, 20 * MS, true, TIER_INTERACTIVE);
	is(effects_trials(world.effects), 0, "who waited as long before we acted is not put on trial in ten minutes");
	effects_free(world.effects);
	world = begin();
	for (u32 i = 0; i < 5; i++)
		pass(&world, 0, 1 * MS, false, TIER_INTERACTIVE);
	for (u32 i = 0; i < 20; i++)
		pass(&world, 4 * MS, 1 * MS, true, TIER_INTERACTIVE);
	is(world.found, 1, "waits that are short but longer than before we acted are found");
	effects_free(world.effects);
}

/* The machine gets busier and busier, or is busy now and then: that is not our doing. */
static void test_drift(void)
{
	struct world world = begin();
	u64 random = 1, wait_ns;

	for (u32 i = 0; i < 600; i++) {
		wait_ns = 1 * MS + i * MS / 4;
		pass(&world, wait_ns, wait_ns, true, TIER_INTERACTIVE);
	}
	is(world.found, 0, "waits that grow with the load of ten minutes are not blamed on us");
	ok(effects_trials(world.effects) >= 1, "waits that grow with the load are looked at");
	printf("# %u trials, held back for %u half seconds of 600 s\n", (u32)effects_trials(world.effects),
	       world.held_windows);
	effects_free(world.effects);
	world = begin();
	for (u32 i = 0; i < 3600; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		wait_ns = (random >> 33) % 3 ? 2 * MS : 30 * MS;
		pass(&world, wait_ns, wait_ns, true, TIER_INTERACTIVE);
	}
	is(world.found, 0, "waits that come and go by chance for an hour are not blamed on us");
	ok(world.held_windows < 3600 / 20, "acting is held back for less than a twentieth of the time");
	printf("# %u trials, held back for %u half seconds of 3600 s\n", (u32)effects_trials(world.effects),
	       world.held_windows);
	effects_free(world.effects);
}

/* Nothing helps: it goes on to wait longer because of us. */
static void test_for_ever(void)
{
	struct world world = begin();

	for (u32 i = 0; i < 3600; i++)
		pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	is_between(3, world.found, 10, "what nothing helps against is said some times in an hour (%u)", world.found);
	ok(world.held_windows < 3600 / 20,
	   "what nothing helps against is tried for less than a twentieth of an hour (%u half seconds)",
	   world.held_windows);
	effects_free(world.effects);
}

static void test_audience(void)
{
	struct wait_row player = {
		.tid = 9, .pid = 9, .tier = TIER_LATENCY_CRITICAL, .has_audience = 1, .comm = { "game" }
	};
	struct world world = begin();

	for (u32 i = 0; i < 60; i++) {
		effects_take(world.effects, &player);
		pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	}
	is(effects_trials(world.effects), 0, "acting is not held back while people would notice");
	pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	ok(effects_hold(world.effects), "acting is held back once nobody would notice any more");
	effects_take(world.effects, &player);
	pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	ok(!effects_hold(world.effects), "acting goes on at once when people begin to look");
	effects_free(world.effects);
}

static void test_game_cost(void)
{
	struct waits short_ones = spread(4 * MS, 100), thrice = spread(13 * MS, 100), more = spread(40 * MS, 100),
		     few = spread(40 * MS, 8), tiny = spread(100 * NSEC_PER_USEC, 100), bearable = spread(10 * MS, 100),
		     starved = spread(50 * MS, 100), long_ones = spread(200 * MS, 100), none = { 0 };

	is(effect_of_game(&short_ones, &short_ones), EFFECT_COSTS_LITTLE,
	   "game beside which others wait as long costs little");
	is(effect_of_game(&thrice, &short_ones), EFFECT_MAY_COST,
	   "game beside which others wait three times as long as before may cost that");
	is(effect_of_game(&more, &short_ones), EFFECT_COSTS_TOO_MUCH,
	   "game beside which others wait ten times as long as before costs too much");
	is(effect_of_game(&bearable, &tiny), EFFECT_MAY_COST,
	   "game beside which others wait a hundred times as long as before may cost that while it is ten "
	   "milliseconds");
	is(effect_of_game(&long_ones, &starved), EFFECT_MAY_COST,
	   "game beside which others wait four times as long may cost that where they waited long before it came");
	is(effect_of_game(&more, &none), EFFECT_COSTS_LITTLE,
	   "game costs nothing where nothing is known of the time before");
	is(effect_of_game(&few, &short_ones), EFFECT_COSTS_LITTLE, "few wake-ups say nothing of what a game costs");
}

static void test_eased_for_game(void)
{
	ok(effect_may_ease(EFFECT_GAME_EASED_OF_USER - 1, EFFECT_GAME_EASED_OF_USER - 1),
	   "process of a user that waits for a game is treated as urgent while few of his are");
	ok(!effect_may_ease(EFFECT_GAME_EASED_OF_USER, EFFECT_GAME_EASED_OF_USER),
	   "no more than four of one user's processes are treated as urgent beside a game");
	ok(effect_may_ease(EFFECT_GAME_EASED_OF_USER, 0),
	   "another user's process is treated as urgent beside a game where one user has all that he may");
	ok(!effect_may_ease(EFFECT_GAME_EASED_MOST, 0), "no more than eight are treated as urgent beside a game");
}

/* One window of a bystander, 7, and of a game, 9, that is in front or not. */
static void play(struct world *world, u64 wait_ns, bool in_front, enum effect_acting acting)
{
	struct wait_row row = { .tid = 9,
				.pid = 9,
				.tier = TIER_LATENCY_CRITICAL,
				.has_audience = in_front,
				.comm = { "game" },
				.waits = spread(wait_ns, 100) };

	effects_take(world->effects, &row);
	take(world, 7, TIER_INTERACTIVE, spread(wait_ns, 100));
	world->held_windows += effects_hold(world->effects);
	world->now_ns += NSEC_PER_SEC;
	end_window(world, acting, in_front ? 9 : 0);
}

static void test_beside_game(void)
{
	struct world world = begin();
	u32 windows = 0;

	for (u32 i = 0; i < 20; i++)
		play(&world, 4 * MS, false, EFFECT_ACTED);
	for (u32 i = 0; i < 60; i++)
		play(&world, 13 * MS, true, EFFECT_ACTED);
	is(world.found, 0, "process that waits three times as long beside a game is not helped");
	is(effects_for_game(world.effects), 1, "process that waits longer for a game's sake is counted once");
	while (!world.found && windows++ < 60)
		play(&world, 60 * MS, true, EFFECT_ACTED);
	is(world.found, 1, "process that waits fifteen times as long beside a game is found");
	is_between(EFFECT_GAME_WINDOWS, windows, EFFECT_GAME_WINDOWS + 2,
		   "a wait beside a game is found in some seconds (%u)", windows);
	is(world.last.pid, 7, "finding beside a game names the process that waits, and not the game");
	is(world.last.game_pid, 9, "finding beside a game names the game");
	ok(world.last.held_p99_ns < 8 * MS, "finding beside a game says how long the process waited before");
	ok(world.last.acted_p99_ns >= 60 * MS, "finding beside a game says how long the process waits beside it");
	for (u32 i = 0; i < 30; i++)
		play(&world, 60 * MS, true, EFFECT_ACTED);
	is(world.found, 1, "process that was found beside a game is not found again at once");
	for (u32 i = 0; i < 600; i++)
		play(&world, 60 * MS, true, EFFECT_ACTED);
	is_between(3, world.found, 5, "process that goes on to wait beside a game is found ever more seldom (%u)",
		   world.found);
	is(effects_trials(world.effects), 0, "nothing is held back in front of a game");
	effects_free(world.effects);

	world = begin();
	for (u32 i = 0; i < 60; i++)
		play(&world, 60 * MS, true, EFFECT_ACTED);
	is(world.found, 0, "process of which nothing is known before the game came is left to the game");
	effects_free(world.effects);

	world = begin();
	for (u32 i = 0; i < 20; i++)
		play(&world, 4 * MS, false, EFFECT_NOT_ACTED);
	for (u32 i = 0; i < 60; i++)
		play(&world, 60 * MS, true, EFFECT_NOT_ACTED);
	is(world.found, 0, "process that waits long beside a game for which we do not act is not found");
	effects_free(world.effects);
}

static void test_others(void)
{
	struct world world = begin();
	struct waits seldom = { 0 };

	add(&seldom, 130 * MS, 3);
	for (u32 i = 0; i < 60; i++)
		pass(&world, 100 * MS, 4 * MS, true, TIER_BATCH);
	is(effects_trials(world.effects), 0, "batch threads are meant to wait");
	for (u32 i = 0; i < 60; i++) {
		take(&world, 9, TIER_INTERACTIVE, seldom);
		pass(&world, 1 * MS, 1 * MS, true, TIER_INTERACTIVE);
	}
	is(effects_trials(world.effects), 1, "a process that waits long but seldom is looked at");
	is(world.found, 0, "a process that waits long but seldom is not blamed on us if it does so without us");
	effects_free(world.effects);
	world = begin();
	for (u32 i = 0; i < 60; i++)
		pass(&world, 4 * MS, 40 * MS, true, TIER_LATENCY_CRITICAL);
	is(world.found, 0, "a process that waits less because of us is left alone");
	effects_free(world.effects);
}

/* One window of a process under a scheduler that can be neutral: what it waits while that acts, is neutral, is out. */
static bool pass_neutral(struct world *world, u64 acted_ns, u64 neutral_ns, u64 out_ns)
{
	bool is_held = effects_hold(world->effects), is_out = effects_hold_out(world->effects);

	world->held_windows += is_held;
	take(world, 7, TIER_INTERACTIVE, spread(is_out ? out_ns : is_held ? neutral_ns : acted_ns, 100));
	world->now_ns += effects_window_ns(world->effects);
	end_window(world, is_out ? EFFECT_NOT_ACTED : is_held ? EFFECT_NEUTRAL : EFFECT_ACTED, 0);
	return is_out;
}

static void test_neutral(void)
{
	struct world world = begin();
	u32 out = 0, first_out = 0;

	for (u32 i = 0; i < 100 && !world.found; i++)
		out += pass_neutral(&world, 20 * MS, 4 * MS, 4 * MS);
	is(world.found, 1, "a process that waits less under a neutral scheduler is found");
	is(out, 0, "the scheduler does not leave the kernel to find that out");
	effects_free(world.effects);

	world = begin();
	for (u32 i = 0; i < 1000; i++)
		out += pass_neutral(&world, 20 * MS, 20 * MS, 4 * MS);
	is(out, 0, "the scheduler does not leave the kernel for a process whose waits are bearable");
	is(world.found, 0, "a process that waits as long under a neutral scheduler is not blamed on us");
	effects_free(world.effects);

	world = begin();
	for (u32 i = 0; i < 1000 && !world.found; i++) {
		out += pass_neutral(&world, 400 * MS, 400 * MS, 40 * MS);
		first_out = out && !first_out ? i : first_out;
	}
	is(world.found, 1,
	   "a process that waits long under a neutral scheduler too is found once that has left the kernel");
	is(out, EFFECT_PAIRS_SURE, "the scheduler leaves the kernel for two seconds to find it");
	is_between(60, first_out, 75, "the scheduler leaves the kernel a minute after being neutral did not help");
	effects_free(world.effects);

	world = begin();
	for (u32 i = out = 0; i < 3600; i++)
		out += pass_neutral(&world, 400 * MS, 400 * MS, 400 * MS);
	is(out, EFFECT_PAIRS_CLEAR, "who waits as long without the scheduler makes it leave in one trial of an hour");
	effects_free(world.effects);
}

/* The trial's windows are not what they should be: nobody is urgent any more. */
static void test_spoiled(void)
{
	struct world world = begin();

	while (!effects_hold(world.effects))
		pass(&world, 20 * MS, 4 * MS, true, TIER_INTERACTIVE);
	for (u32 i = 0; i < 30; i++) {
		take(&world, 7, TIER_INTERACTIVE, spread(20 * MS, 100));
		world.now_ns += NSEC_PER_SEC;
		end_window(&world, EFFECT_ACTED_PARTLY, 0);
	}
	is(world.found, 0, "windows in which we acted partly say nothing");
	ok(!effects_hold(world.effects), "a trial without anything to compare ends");
	effects_free(world.effects);
}

static void test_holds(void)
{
	struct holds holds = { 0 };
	u64 now_ns = NSEC_PER_SEC, first_ns = holds_add(&holds, 5, 100, now_ns);

	ok(holds_has(&holds, 5, now_ns + first_ns - 1), "a process that is held back is held back at once");
	ok(!holds_has(&holds, 5, now_ns + first_ns), "a process is held back until its hold ends and no longer");
	ok(!holds_has(&holds, 6, now_ns), "a process beside one that is held back is not held back");
	ok(!holds_has(&holds, 0, now_ns), "pid 0 is never held back");
	is(holds_add(&holds, 5, 100, now_ns + first_ns), 2 * first_ns,
	   "a process that is held back again is for twice as long");
	is(holds_add(&holds, 5, 101, now_ns), first_ns, "a process with the pid of one that was held back begins anew");
	for (u32 pid = 1000; pid < 1000 + 2 * HOLDS_MOST; pid++)
		holds_add(&holds, pid, 1, now_ns);
	is(holds_count(&holds, now_ns), HOLDS_MOST, "the list of processes held back has room for so many");
	ok(holds_has(&holds, 1000 + 2 * HOLDS_MOST - 1, now_ns),
	   "the last one comes in where there is no room for all");
}

int main(void)
{
	test_waits();
	test_pair();
	test_order();
	test_found();
	test_before();
	test_drift();
	test_for_ever();
	test_audience();
	test_game_cost();
	test_eased_for_game();
	test_beside_game();
	test_others();
	test_neutral();
	test_spoiled();
	test_holds();
	return tap_end();
}
