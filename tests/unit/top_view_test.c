// SPDX-License-Identifier: GPL-2.0
/* view/top_keys.c and top_paint*.c: keys pressed and canvases looked at, without a terminal. */
#include <stdlib.h>

#include "../../core/role.h"
#include "../../src/view/top_view.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, HOG = 99, MS = 1000000 };

static struct threads threads;
static struct top top;
static struct cpu_topology topology[2];
static struct top_view view;
static struct top_scene scene;
static struct play_clock play_clock;
static u64 now_ns;
static char shown[1 << 16];

static void take(struct event_header *event)
{
	struct wait ended;
	bool waited;

	event->time_ns = now_ns;
	waited = threads_handle(&threads, event, &ended);
	top_handle(&top, &threads, event, waited ? &ended : NULL);
}

static void add_thread(u32 tid, u32 pid, const char *name)
{
	struct event_thread event = { .head = { 0, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = pid };

	memcpy(event.comm.text, name, strlen(name));
	take(&event.head);
}

static void on_switch(u32 from, u16 state, u32 to)
{
	struct event_switch event = {
		.head = { 0, from, 0, EVENT_SWITCH, 0 }, .next_tid = to, .prev_state = state, .prev_prio = 121
	};

	take(&event.head);
}

static void make_rows(void)
{
	top_rows_free(&scene.rows);
	top_rows_make(&scene.rows, &top, &threads, &view.choice);
	top_follow(&view, &scene.rows);
}

static const char *paint(u32 width, u32 height)
{
	struct canvas canvas;
	FILE *out;

	make_rows();
	shown[0] = '\0';
	out = fmemopen(shown, sizeof(shown), "w");
	canvas_open(&canvas, width, height, true);
	top_paint(&canvas, &view, &scene);
	canvas_print(&canvas, out);
	fclose(out);
	canvas_close(&canvas);
	return shown;
}

static void press(int key)
{
	top_press(&view, &scene, key, now_ns);
	make_rows();
}

static void begin(void)
{
	struct event_wakeup wakeup = { .head = { 0, GAME, 0, EVENT_WAKEUP, EVENT_FLAG_BY_THREAD },
				       .waker_tid = HELPER };

	now_ns = NSEC_PER_SEC;
	threads_init(&threads, topology, 2);
	top_init(&top, 2, NULL);
	view = (struct top_view){ 0 };
	scene = (struct top_scene){ .source = TOP_LIVE, .top = &top, .threads = &threads, .kernel = "7.2" };
	add_thread(GAME, GAME, "game\033[31m");
	add_thread(HELPER, GAME, "helper");
	add_thread(HOG, HOG, "hog");
	on_switch(0, 0, HOG);
	now_ns += 400 * (u64)MS;
	take(&wakeup.head);
	now_ns += 30 * (u64)MS;
	on_switch(HOG, 1, GAME);
	now_ns += 200 * (u64)MS;
	on_switch(GAME, 1, HELPER);
	now_ns += 100 * (u64)MS;
	on_switch(HELPER, 1, 0);
	top_finish(&top, &threads, 2 * (u64)NSEC_PER_SEC);
	make_rows();
}

static void end(void)
{
	top_rows_free(&scene.rows);
	top_free(&top);
	threads_free(&threads);
}

static bool has(const char *text)
{
	return strstr(shown, text) != NULL;
}

static u32 longest_line(void)
{
	u32 longest = 0, len = 0;

	for (const char *at = shown; *at; at++) {
		len = *at == '\n' ? 0 : len + 1;
		longest = len > longest ? len : longest;
	}
	return longest;
}

static void test_threads(void)
{
	begin();
	paint(80, 24);
	ok(has("game?[31m (2)"), "a process is shown with how many threads it has, and with no control in its name");
	ok(!strchr(shown, '\033'), "no escape reaches the canvas");
	ok(has("30.0ms"), "a thread's worst wait is shown");
	ok(has("43.0"), "a thread's share of a CPU is shown");
	ok(has("BEHIND"), "80 columns have room for who is behind a wait");
	is(longest_line() <= 80, 1, "no line is wider than 80 columns");
	paint(40, 24);
	ok(!has("BEHIND"), "40 columns do not have who is behind the CPU");
	ok(has("P99"), "40 columns have the p99");
	ok(has("CPU%"), "40 columns have the CPU");
	is(longest_line() <= 40, 1, "no line is wider than 40 columns");
	paint(200, 24);
	ok(has("hog [99]"), "a wide screen names who is behind a wait with its tid");
	paint(10, 3);
	is_text(shown, "too small\n\n\n", "a screen that is too small says so");
	end();
}

static void test_panes(void)
{
	begin();
	press('2');
	paint(80, 24);
	ok(has("RUNS NOW"), "the pane of CPUs shows what runs now");
	ok(has("   0  73% "), "the pane of CPUs shows each with how busy it is");
	press('3');
	paint(80, 24);
	ok(has("no program has presented a frame"), "the pane of frames says that there are none");
	press('4');
	paint(80, 24);
	ok(has("game?[31m [10] 30.0 ms on CPU 0 behind hog [99]"), "the pane of waits says who was behind one");
	press('5');
	paint(80, 24);
	ok(has("No 'tactus run' is at work here"), "the pane of the run says that there is none");
	press('\t');
	is(view.pane, PANE_THREADS, "the key Tab leads from the last pane to the first");
	press('?');
	paint(80, 24);
	ok(has("filter: part of a name or role"), "the key ? shows the help");
	is(longest_line() <= 80, 1, "no line of the help is wider than 80 columns");
	press('x');
	paint(80, 24);
	ok(!has("filter: part of a name"), "any key leaves the help");
	end();
}

static void test_page(void)
{
	begin();
	press(TOP_KEY_DOWN);
	is(view.chosen, 1, "the key Down chooses the next row");
	press(TOP_KEY_ENTER);
	is(view.page_tid, GAME, "the key Enter shows the page of the thread that is chosen");
	paint(80, 24);
	ok(has("game?[31m [10] of game?[31m [10], nice 0"), "a thread's page begins with who it is");
	ok(has("behind   hog [99]"), "a thread's page says who was behind its waits");
	ok(has("woken by helper [11]"), "a thread's page says who wakes it");
	ok(has("30.0 ms on CPU 0 behind hog [99], woken by helper [11]"), "a thread's page lists its waits");
	press(TOP_KEY_ESCAPE);
	is(view.page_tid, 0, "the key Esc leads back from a page");
	view.page_tid = 4711;
	paint(80, 24);
	ok(has("has ended"), "the page of a thread that is not known says so");
	end();
}

static void test_choices(void)
{
	begin();
	press('s');
	is(view.choice.order, TOP_BY_P99, "the key s sorts by the next column");
	press('S');
	press('S');
	is(view.choice.order, TOP_BY_TID, "the key S sorts by the column before, in a circle");
	press('r');
	is(view.choice.reversed, 1, "the key r turns the order around");
	press('r');
	press('v');
	is(view.choice.group, TOP_ONLY_THREADS, "the key v groups otherwise");
	press('a');
	is(view.choice.idle_too, 1, "the key a shows idle threads too");
	press('f');
	is(view.frozen, 1, "the key f freezes");
	press(' ');
	is(view.frozen, 0, "the space bar goes on after a freeze");
	press('q');
	is(view.quits, 1, "the key q ends it");
	end();
}

static void test_filter(void)
{
	begin();
	press('/');
	press('h');
	press('o');
	press('q');
	is(view.quits, 0, "a key that is typed into a filter does nothing else");
	press(TOP_KEY_BACKSPACE);
	is_text(view.choice.filter, "ho", "the key Backspace takes the last letter of a filter back");
	is(scene.rows.len, 1, "a filter takes effect letter by letter");
	paint(80, 24);
	ok(has("filter: ho_"), "a filter is shown while it is typed");
	press(TOP_KEY_ENTER);
	is(view.typing, 0, "the key Enter keeps a filter");
	press(TOP_KEY_ESCAPE);
	is_text(view.choice.filter, "", "the key Esc takes a filter away");
	press('/');
	for (int i = 0; i < 100; i++)
		press('x');
	is(strlen(view.choice.filter), TOP_FILTER_SIZE - 1, "a filter has a greatest length");
	paint(80, 24);
	ok(has("no thread matches the filter"), "a filter that nothing matches says so");
	press(TOP_KEY_ESCAPE);
	is_text(view.choice.filter, "", "the key Esc while typing puts back the filter from before");
	end();
}

static void test_follow(void)
{
	begin();
	view.choice.group = TOP_ONLY_THREADS;
	make_rows();
	is(scene.rows.all[0].tid, HOG, "the thread with most CPU time comes first");
	press(TOP_KEY_DOWN);
	is(view.chosen_tid, GAME, "the second thread is chosen");
	view.choice.order = TOP_BY_TID;
	make_rows();
	is(view.chosen, 0, "the chosen thread stays chosen where another order puts it");
	press(TOP_KEY_END);
	is(view.chosen, 2, "the key End chooses the last row");
	press(TOP_KEY_DOWN);
	is(view.chosen, 2, "no row is below the last");
	press(TOP_KEY_HOME);
	is(view.chosen, 0, "the key Home chooses the first row");
	press(TOP_KEY_UP);
	is(view.chosen, 0, "no row is above the first");
	end();
}

static void test_playing(void)
{
	u64 second = NSEC_PER_SEC;

	begin();
	play_begin(&play_clock, 0, 20 * second, 0);
	scene.clock = &play_clock;
	scene.source = TOP_RECORDING;
	press(TOP_KEY_RIGHT);
	press(']');
	is(play_clock.position_ns, 11 * second, "the keys Right and ] go forward by a second and by ten");
	press(TOP_KEY_LEFT);
	is(play_clock.position_ns, 10 * second, "the key Left goes back by a second");
	press('[');
	is(play_clock.position_ns, 0, "the key [ goes back by ten seconds");
	press('$');
	is(play_clock.position_ns, 20 * second, "the key $ goes to the end");
	press('0');
	is(play_clock.position_ns, 0, "the key 0 goes to the beginning");
	press(' ');
	is(play_clock.paused, 1, "the space bar pauses a recording");
	is(view.frozen, 0, "a recording is paused, not frozen");
	press('+');
	is_text(play_speeds[play_clock.speed].words, "x2", "the key + plays faster");
	paint(80, 24);
	ok(has("0.0 of 20.0 s  paused"), "the place in a recording is shown, and that it is paused");
	end();
	scene.clock = NULL;
}

static void test_client(void)
{
	struct run_status status = { .span_ns = NSEC_PER_SEC,
				     .busy_ns = 3 * (u64)NSEC_PER_SEC,
				     .idle_ns = NSEC_PER_SEC,
				     .switches = 1234,
				     .hints_urgent = 3 };

	strcpy(status.actuator, "hi\033nts");
	status.waits[TIER_LATENCY_CRITICAL] = 5;
	status.wait_p99_ns[TIER_LATENCY_CRITICAL] = 70000;
	view = (struct top_view){ 0 };
	scene = (struct top_scene){ .source = TOP_CLIENT, .run = &status };
	{
		struct canvas canvas;
		FILE *out = fmemopen(shown, sizeof(shown), "w");

		canvas_open(&canvas, 80, 24, true);
		top_paint(&canvas, &view, &scene);
		canvas_print(&canvas, out);
		fclose(out);
		canvas_close(&canvas);
	}
	ok(has("busy  75 %"), "a client shows how busy the machine is");
	ok(has("1234 switches/s"), "a client shows how often the machine switches");
	ok(has("70.0 us"), "a client shows the waits of urgent threads");
	ok(has("hints: 3 urgent"), "a client shows how many threads have hints");
	ok(has("need root: sudo tactus top") || has("root: sudo tactus top"), "a client says what it does not get");
	ok(!strchr(shown, '\033'), "no escape of a run's words reaches the canvas");
}

int main(void)
{
	test_threads();
	test_panes();
	test_page();
	test_choices();
	test_filter();
	test_follow();
	test_playing();
	test_client();
	return tap_end();
}
