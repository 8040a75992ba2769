// SPDX-License-Identifier: GPL-2.0
/* stream/player.c: the clock of a recording that is played, and the events that come of it. */
#include "../../src/stream/player.h"
#include "recording_fixture.h"

enum { FIRST_NS = 1000 };

static void test_clock(void)
{
	struct play_clock clock;
	u64 second = NSEC_PER_SEC, half = NSEC_PER_SEC / 2;

	play_begin(&clock, second, 11 * second, 5000);
	is(clock.position_ns, second, "playing begins at the first event");
	play_goes_on(&clock, 5000 + half);
	is(clock.position_ns, second + half, "a recording plays as fast as it was");
	play_toggle(&clock, 5000 + half);
	play_goes_on(&clock, 5000 + 3 * second);
	is(clock.position_ns, second + half, "a paused recording stays where it is");
	play_toggle(&clock, 5000 + 4 * second);
	play_goes_on(&clock, 5000 + 5 * second);
	is(clock.position_ns, 2 * second + half, "time that passed in a pause is not made up for");
	play_change_speed(&clock, 1);
	play_goes_on(&clock, 5000 + 6 * second);
	is(clock.position_ns, 4 * second + half, "a recording at speed x2 plays twice as fast");
	for (int i = 0; i < 20; i++)
		play_change_speed(&clock, -1);
	is_text(play_speeds[clock.speed].words, "x1/4", "slowest speed is a quarter");
	play_goes_on(&clock, 5000 + 10 * second);
	is(clock.position_ns, 5 * second + half, "a recording at the slowest speed plays a quarter as fast");
	for (int i = 0; i < 20; i++)
		play_change_speed(&clock, 1);
	play_goes_on(&clock, 5000 + 30 * second);
	is(clock.position_ns, 11 * second, "playing ends with the recording");
	ok(clock.paused, "a recording that has ended is paused");
	play_toggle(&clock, 0);
	is(clock.position_ns, second, "a recording that has ended plays again from its beginning");
}

static void test_seek(void)
{
	struct play_clock clock;
	u64 second = NSEC_PER_SEC;

	play_begin(&clock, second, 11 * second, 0);
	play_seek(&clock, 3, second);
	is(clock.position_ns, 4 * second, "three steps forward are three seconds");
	clock.position_ns += 400 * NSEC_PER_MSEC;
	play_seek(&clock, -1, second);
	is(clock.position_ns, 4 * second, "the first step back leads to the beginning of the second");
	play_seek(&clock, -1, second);
	is(clock.position_ns, 3 * second, "a step back from a whole second leads to the one before");
	clock.position_ns += 400 * NSEC_PER_MSEC;
	play_seek(&clock, 1, second);
	is(clock.position_ns, 4 * second, "a step forward leads to the next whole second");
	play_seek(&clock, -100, second);
	is(clock.position_ns, second, "nothing is before the beginning");
	play_seek(&clock, 100, second);
	is(clock.position_ns, 11 * second, "nothing is behind the end");
	play_seek_to(&clock, ~0ULL);
	is(clock.position_ns, 11 * second, "a place far behind the end is the end");
	play_begin(&clock, 5, 5, 0);
	play_seek(&clock, 1, second);
	is(clock.position_ns, 5, "a recording of one moment has one place");
}

struct seen {
	u64 events, begun;
	int wrong;
};

static void on_event(void *data, const struct event_header *event)
{
	struct seen *seen = data;

	if (!is_event_number(event, seen->events))
		seen->wrong = 1;
	seen->events++;
}

static void on_again(void *data)
{
	struct seen *seen = data;

	seen->events = 0;
	seen->begun++;
}

static void test_player(void)
{
	struct seen seen = { 0 };
	struct player_handler handler = { on_event, on_again, &seen };
	struct recording_writer *writer = create(path);
	struct player *player = NULL;
	struct reason why = { "" };
	u64 first_ns, last_ns;

	write_events(writer, 0, 10000);
	recording_close_writer(writer);
	is(player_open(&player, path, &handler, &why), 0, "a recording can be opened for playing");
	player_span(player, &first_ns, &last_ns);
	is(last_ns, FIRST_NS + 9999, "the end of a recording is known when it is opened");
	is(seen.events, 0, "opening a recording gives no event");
	player_go_to(player, FIRST_NS + 499, &why);
	is(seen.events, 500, "all events up to a time are given, its own included");
	player_go_to(player, FIRST_NS + 499, &why);
	is(seen.events, 500, "no event is given twice for one time");
	player_go_to(player, FIRST_NS + 7000, &why);
	is(seen.events, 7001, "going forward gives what lies between");
	player_go_to(player, FIRST_NS + 99, &why);
	is(seen.begun, 1, "going back begins anew");
	is(seen.events, 100, "going back gives what there was up to then");
	player_go_to(player, ~0ULL, &why);
	is(seen.events, 10000, "going to the end gives all");
	is(seen.wrong, 0, "events come as they were written, in every order of seeking");
	is_text(player_trouble(player), "", "a whole recording has no trouble");
	player_close(player);
}

static void test_cut(void)
{
	struct seen seen = { 0 };
	struct player_handler handler = { on_event, on_again, &seen };
	struct small small = make_small();
	struct player *player = NULL;
	struct reason why = { "" };

	put_file(path, small.bytes, small.size - 5);
	is(player_open(&player, path, &handler, &why), 0, "a recording that was cut can be played");
	player_go_to(player, ~0ULL, &why);
	is(seen.events, (SMALL_BLOCKS - 1) * KINDS, "a recording that was cut plays to its last whole block");
	ok(player_trouble(player)[0], "a recording that was cut says so");
	player_go_to(player, 0, &why);
	player_go_to(player, ~0ULL, &why);
	is(seen.events, (SMALL_BLOCKS - 1) * KINDS, "a recording that was cut plays again");
	player_close(player);
	put_file(path, "nonsense", 8);
	ok(player_open(&player, path, &handler, &why) < 0, "a file that is no recording is refused");
	ok(why.text[0], "a file that is no recording is refused with a reason");
}

int main(void)
{
	make_folder();
	test_clock();
	test_seek();
	test_player();
	test_cut();
	remove_folder();
	return tap_end();
}
