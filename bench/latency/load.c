// SPDX-License-Identifier: GPL-2.0
/* The loads of bench/latency: threads that want to run on time, and threads that are in their way. Each prints one line
 * of name=value pairs at its end. Threads have no telling names and ask for nothing: what they are is to be found out.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/uinput.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HOGS_MOST = 64, AUDIO_PERIOD_NS = 5333333, AUDIO_WORK_NS = 300000, SPIN_STEPS = 2000 };

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void sleep_until(int64_t due_ns)
{
	struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

/* So much CPU time, however long it takes to get it. */
static void work(int64_t cpu_ns)
{
	int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (volatile int i = 0; i < SPIN_STEPS; i++)
			;
}

struct samples {
	int64_t *ns;
	size_t len, room;
};

static void sample(struct samples *samples, int64_t ns)
{
	if (samples->len == samples->room) {
		samples->room = samples->room ? samples->room * 2 : 4096;
		samples->ns = realloc(samples->ns, samples->room * sizeof(*samples->ns));
		if (!samples->ns)
			exit(1);
	}
	samples->ns[samples->len++] = ns;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double percentile_us(const struct samples *sorted, double percent)
{
	size_t at = (size_t)((double)sorted->len * percent / 100);

	return sorted->len ? (double)sorted->ns[at < sorted->len ? at : sorted->len - 1] / 1000 : 0;
}

static void print_samples(const char *prefix, struct samples *samples)
{
	qsort(samples->ns, samples->len, sizeof(*samples->ns), by_value);
	printf("%sn=%zu %sp50_us=%.1f %sp99_us=%.1f %sp999_us=%.1f %smax_us=%.1f ", prefix, samples->len, prefix,
	       percentile_us(samples, 50), prefix, percentile_us(samples, 99), prefix, percentile_us(samples, 99.9),
	       prefix, percentile_us(samples, 100));
}

/* A thread that works by a clock: how late it woke, and how often its work was not done in time. */
struct track {
	int64_t period_ns, due_ns, from_ns, end_ns; /* counted from, until */
	struct samples lateness;
	unsigned turns, late;
};

static void track_begin(struct track *track, int64_t period_ns, double skip_s, double seconds)
{
	track->period_ns = period_ns;
	track->due_ns = now_ns();
	track->from_ns = track->due_ns + (int64_t)(skip_s * 1e9);
	track->end_ns = track->from_ns + (int64_t)(seconds * 1e9);
}

/* Sleeps until the next due time that is not over yet; each that was passed over is a turn that was missed. */
static int track_next(struct track *track)
{
	int64_t now = now_ns(), counts;

	for (track->due_ns += track->period_ns; track->due_ns < now; track->due_ns += track->period_ns) {
		counts = track->due_ns >= track->from_ns;
		track->turns += counts;
		track->late += counts;
	}
	if (track->due_ns >= track->end_ns)
		return 0;
	sleep_until(track->due_ns);
	if (track->due_ns >= track->from_ns)
		sample(&track->lateness, now_ns() - track->due_ns);
	return 1;
}

static void track_done(struct track *track)
{
	if (track->due_ns < track->from_ns)
		return;
	track->turns++;
	track->late += now_ns() > track->due_ns + track->period_ns;
}

static void track_print(const char *prefix, struct track *track)
{
	print_samples(prefix, &track->lateness);
	printf("%sturns=%u %slate=%u ", prefix, track->turns, prefix, track->late);
}

/* periodic PERIOD_US WORK_US SECONDS SKIP_S: wakes by a clock, works, sleeps. */
static int periodic(char **args)
{
	struct track track = { 0 };

	track_begin(&track, atoll(args[0]) * 1000, atof(args[3]), atof(args[2]));
	while (track_next(&track)) {
		work(atoll(args[1]) * 1000);
		track_done(&track);
	}
	track_print("", &track);
	return 0;
}

enum { WAKERS_MOST = 64 };
static struct track wakers_tracks[WAKERS_MOST];
static int64_t wakers_work_ns;

static void *waker_main(void *track)
{
	while (track_next(track)) {
		work(wakers_work_ns);
		track_done(track);
	}
	return NULL;
}

/* wakers COUNT PERIOD_US WORK_US SECONDS SKIP_S [signal]: so many of them in one process, each at another moment of the
 * period. With "signal" what is skipped begins at SIGUSR1, so that a scheduler can come while they run. */
static int wakers(char **args)
{
	int count = atoi(args[0]) % WAKERS_MOST, has_signal = args[5] != NULL, got;
	int64_t period_ns = atoll(args[1]) * 1000, from_ns;
	struct track all = { 0 };
	pthread_t threads[WAKERS_MOST];
	sigset_t set;

	wakers_work_ns = atoll(args[2]) * 1000;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < count; i++) {
		track_begin(&wakers_tracks[i], period_ns, has_signal ? 1e6 : atof(args[4]), atof(args[3]));
		wakers_tracks[i].due_ns += i * period_ns / count;
		if (pthread_create(&threads[i], NULL, waker_main, &wakers_tracks[i]))
			return 1;
	}
	if (has_signal && !sigwait(&set, &got)) {
		from_ns = now_ns() + (int64_t)(atof(args[4]) * 1e9);
		for (int i = 0; i < count; i++) {
			__atomic_store_n(&wakers_tracks[i].end_ns, from_ns + (int64_t)(atof(args[3]) * 1e9),
					 __ATOMIC_RELAXED);
			__atomic_store_n(&wakers_tracks[i].from_ns, from_ns, __ATOMIC_RELAXED);
		}
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		for (size_t at = 0; at < wakers_tracks[i].lateness.len; at++)
			sample(&all.lateness, wakers_tracks[i].lateness.ns[at]);
		all.turns += wakers_tracks[i].turns;
		all.late += wakers_tracks[i].late;
	}
	track_print("", &all);
	return 0;
}

/* input HZ SECONDS SKIP_S: wakes as often as a fast mouse reports, by reading a device, for next to nothing. */
static int input(char **args)
{
	int64_t period_ns = 1000000000LL / atoll(args[0]), first_ns;
	struct itimerspec timer = { 0 };
	struct samples lateness = { 0 };
	struct track track = { 0 };
	uint64_t count, reports = 0;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	track_begin(&track, period_ns, atof(args[2]), atof(args[1]));
	first_ns = track.due_ns + period_ns;
	timer.it_value.tv_sec = first_ns / 1000000000;
	timer.it_value.tv_nsec = first_ns % 1000000000;
	timer.it_interval.tv_nsec = period_ns;
	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, NULL))
		return 1;
	while (read(fd, &count, sizeof(count)) == sizeof(count) && now_ns() < track.end_ns) {
		int64_t due_ns = first_ns + (int64_t)reports * period_ns; /* of the first report that waits */

		reports += count;
		if (due_ns >= track.from_ns) {
			sample(&lateness, now_ns() - due_ns);
			track.turns += (unsigned)count;
			track.late += (unsigned)count - 1;
		}
		work(10000);
	}
	print_samples("", &lateness);
	printf("turns=%u late=%u ", track.turns, track.late);
	return 0;
}

/* A picture a period: the first part of the work, a second one by a worker who is waited for, and the last. */
static struct scene {
	struct track render, audio;
	struct samples worker;
	sem_t wanted, done;
	int64_t asked_ns;
	unsigned (*present)(void *, void *); /* eglSwapBuffers, or NULL */
	int over;
} scene;

static void *worker_main(void *unused)
{
	(void)unused;
	for (;;) {
		while (sem_wait(&scene.wanted))
			;
		if (scene.over)
			return NULL;
		if (scene.render.due_ns >= scene.render.from_ns)
			sample(&scene.worker, now_ns() - scene.asked_ns);
		work(scene.render.period_ns * 15 / 100);
		sem_post(&scene.done);
	}
}

static void *audio_main(void *unused)
{
	(void)unused;
	while (track_next(&scene.audio)) {
		work(AUDIO_WORK_NS);
		track_done(&scene.audio);
	}
	return NULL;
}

static void render_main(void)
{
	while (track_next(&scene.render)) {
		work(scene.render.period_ns * 10 / 100);
		scene.asked_ns = now_ns();
		sem_post(&scene.wanted);
		while (sem_wait(&scene.done))
			;
		work(scene.render.period_ns * 15 / 100);
		/* Without a display it says no; that it was called is what a sensor sees. */
		if (scene.present)
			scene.present(NULL, NULL);
		track_done(&scene.render);
	}
	scene.over = 1;
	sem_post(&scene.wanted);
}

/* frames PERIOD_US SECONDS SKIP_S: a frame that is not done when the next is due is late. */
static int frames(char **args)
{
	double seconds = atof(args[1]), skip_s = atof(args[2]);
	pthread_t worker, audio;

	sem_init(&scene.wanted, 0, 0);
	sem_init(&scene.done, 0, 0);
	track_begin(&scene.render, atoll(args[0]) * 1000, skip_s, seconds);
	track_begin(&scene.audio, AUDIO_PERIOD_NS, skip_s, seconds);
	if (pthread_create(&worker, NULL, worker_main, NULL) || pthread_create(&audio, NULL, audio_main, NULL))
		return 1;
	render_main();
	pthread_join(worker, NULL);
	pthread_join(audio, NULL);
	track_print("", &scene.render);
	print_samples("worker_", &scene.worker);
	track_print("audio_", &scene.audio);
	return 0;
}

/* presents: the same, by a program that says so to its library. */
static int presents(char **args)
{
	void *library = dlopen("libEGL.so.1", RTLD_NOW);
	void *symbol = library ? dlsym(library, "eglSwapBuffers") : NULL;

	if (!symbol) {
		fprintf(stderr, "presents: no libEGL.so.1: install libegl1\n");
		return 1;
	}
	memcpy(&scene.present, &symbol, sizeof(symbol));
	return frames(args);
}

enum { CLICK_LEAST_NS = 15000000, CLICK_SPREAD_NS = 65000000, CLICK_WORK_NS = 2000000 };

static int make_mouse(void)
{
	struct uinput_setup setup = { .id = { .bustype = 3, .vendor = 0x1234, .product = 0x5678 },
				      .name = "bench mouse" };
	int fd = open("/dev/uinput", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UI_SET_EVBIT, EV_KEY) || ioctl(fd, UI_SET_KEYBIT, BTN_LEFT) ||
	    ioctl(fd, UI_SET_EVBIT, EV_REL) || ioctl(fd, UI_SET_RELBIT, REL_X) || ioctl(fd, UI_DEV_SETUP, &setup) ||
	    ioctl(fd, UI_DEV_CREATE))
		return -1;
	return fd;
}

/* The newest device is ours: nobody else makes one here. */
static int open_mouse(void)
{
	int fd = -1, newest = -1, number, clock = CLOCK_MONOTONIC;
	glob_t found;

	usleep(200000);
	if (glob("/dev/input/event*", 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (sscanf(found.gl_pathv[i], "/dev/input/event%d", &number) == 1 && number > newest) {
			newest = number;
			if (fd >= 0)
				close(fd);
			fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		}
	globfree(&found);
	return fd >= 0 && !ioctl(fd, EVIOCSCLOCKID, &clock) ? fd : -1;
}

/* Reads the mouse, as a compositor does, and passes on when each click was made. */
static void pass_on(int mouse, int to)
{
	struct input_event event;

	while (read(mouse, &event, sizeof(event)) == sizeof(event)) {
		int64_t time_ns = event.input_event_sec * 1000000000LL + event.input_event_usec * 1000LL;

		if (event.type == EV_KEY && write(to, &time_ns, sizeof(time_ns)) < 0)
			break;
	}
	_exit(0);
}

/* Clicks at odd moments; a realtime thread stands for the device. */
static void click_until(int mouse, int64_t end_ns)
{
	struct sched_param param = { .sched_priority = 50 };
	struct input_event press[2] = { { .type = EV_KEY, .code = BTN_LEFT }, { .type = EV_SYN } };
	unsigned random = 1;

	sched_setscheduler(0, SCHED_FIFO, &param);
	while (now_ns() < end_ns) {
		random = random * 1103515245 + 12345;
		sleep_until(now_ns() + CLICK_LEAST_NS + random / 4 % CLICK_SPREAD_NS);
		press[0].value = !press[0].value;
		if (write(mouse, press, sizeof(press)) < 0)
			break;
	}
	_exit(0);
}

/* clicks SECONDS SKIP_S: a program that is told of clicks by another which reads the mouse: how long from the click
 * until it begins, and until it has done what is to be done. */
static int clicks(char **args)
{
	int64_t from_ns = now_ns() + (int64_t)(atof(args[1]) * 1e9), end_ns = from_ns + (int64_t)(atof(args[0]) * 1e9);
	int mouse = make_mouse(), device = mouse < 0 ? -1 : open_mouse(), pipes[2];
	struct samples begun = { 0 }, done = { 0 };
	pid_t reader, hand;
	int64_t click_ns;

	if (device < 0 || pipe(pipes)) {
		fprintf(stderr, "clicks: no mouse through /dev/uinput: %s\n", strerror(errno));
		return 1;
	}
	if (!(reader = fork()))
		pass_on(device, pipes[1]);
	if (!(hand = fork()))
		click_until(mouse, end_ns);
	close(pipes[1]);
	while (now_ns() < end_ns && read(pipes[0], &click_ns, sizeof(click_ns)) == sizeof(click_ns)) {
		int64_t begun_ns = now_ns();

		work(CLICK_WORK_NS);
		if (click_ns < from_ns)
			continue;
		sample(&begun, begun_ns - click_ns);
		sample(&done, now_ns() - click_ns);
	}
	kill(hand, SIGKILL);
	kill(reader, SIGKILL);
	while (wait(NULL) > 0)
		;
	print_samples("", &begun);
	print_samples("done_", &done);
	return 0;
}

/* A child that turns its CPU time in at the end. */
static pid_t start_child(void (*what)(int64_t end_ns), int64_t end_ns, int nice_value)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (nice_value)
		setpriority(PRIO_PROCESS, 0, nice_value);
	what(end_ns);
	_exit(0);
}

static void burn(int64_t end_ns)
{
	while (now_ns() < end_ns)
		for (volatile int i = 0; i < SPIN_STEPS * 10; i++)
			;
}

/* Looks like a thread that works by a clock, until it is believed to be one; then takes all that it can get, with a
 * nap now and then so that it seems to sleep. */
static void lie(int64_t end_ns)
{
	int64_t honest_until_ns = now_ns() + 2000000000LL;
	struct track track = { 0 };

	track_begin(&track, 5000000, 0, 1e6);
	while (now_ns() < honest_until_ns && track_next(&track))
		work(300000);
	while (now_ns() < end_ns) {
		work(8000000);
		usleep(100);
	}
}

/* What each child had of the CPUs, in ms, in the order of their start. */
static void wait_children(const char *name, const pid_t *pids, int len)
{
	struct rusage usage;

	printf("%s_ms=", name);
	for (int i = 0; i < len; i++) {
		if (wait4(pids[i], NULL, 0, &usage) < 0)
			memset(&usage, 0, sizeof(usage));
		printf("%s%lld", i ? "," : "",
		       (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
			       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000);
	}
	putchar(' ');
}

/* hogs SECONDS NICE...: burn, and say what each got. */
static int hogs(char **args)
{
	int64_t end_ns = now_ns() + (int64_t)(atof(args[0]) * 1e9);
	pid_t pids[HOGS_MOST];
	int len = 0;

	for (char **nice_value = args + 1; *nice_value && len < HOGS_MOST; nice_value++)
		pids[len++] = start_child(burn, end_ns, atoi(*nice_value));
	wait_children("hog", pids, len);
	return 0;
}

/* liars SECONDS LIARS HOGS: what honest hogs get beside threads that pass for urgent and burn. */
static int liars(char **args)
{
	int64_t end_ns = now_ns() + (int64_t)(atof(args[0]) * 1e9);
	int liars_len = atoi(args[1]) % HOGS_MOST, hogs_len = atoi(args[2]) % HOGS_MOST;
	pid_t liar_pids[HOGS_MOST], hog_pids[HOGS_MOST];

	for (int i = 0; i < liars_len; i++)
		liar_pids[i] = start_child(lie, end_ns, 0);
	for (int i = 0; i < hogs_len; i++)
		hog_pids[i] = start_child(burn, end_ns, 0);
	wait_children("liar", liar_pids, liars_len);
	wait_children("hog", hog_pids, hogs_len);
	return 0;
}

/* As make does with a compiler: a process of some ten milliseconds after another, which reads, writes and ends. */
static void compile(int64_t end_ns)
{
	static char text[65536];
	unsigned random = (unsigned)getpid();

	while (now_ns() < end_ns) {
		int pipes[2], status;
		pid_t pid;

		random = random * 1103515245 + 12345;
		if (pipe(pipes) || (pid = fork()) < 0)
			_exit(1);
		if (!pid) {
			for (int part = 0; part < 4; part++) {
				work((2 + random / 65536 % 10) * 1000000LL);
				if (write(pipes[1], text, sizeof(text) / 4) < 0)
					_exit(1);
			}
			_exit(0);
		}
		close(pipes[1]);
		while (read(pipes[0], text, sizeof(text)) > 0)
			;
		close(pipes[0]);
		waitpid(pid, &status, 0);
	}
}

/* storm SECONDS JOBS: compiles so many at a time. */
static int storm(char **args)
{
	int64_t end_ns = now_ns() + (int64_t)(atof(args[0]) * 1e9);
	int jobs = atoi(args[1]) % HOGS_MOST;
	pid_t pids[HOGS_MOST];

	for (int i = 0; i < jobs; i++)
		pids[i] = start_child(compile, end_ns, 0);
	wait_children("job", pids, jobs);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **args);
	int args_least;
} loads[] = {
	{ "periodic", periodic, 4 }, { "input", input, 3 },   { "frames", frames, 3 },
	{ "hogs", hogs, 2 },	     { "liars", liars, 3 },   { "storm", storm, 2 },
	{ "presents", presents, 3 }, { "clicks", clicks, 2 }, { "wakers", wakers, 5 },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(loads) / sizeof(*loads); i++) {
		int status;

		if (strcmp(argv[1], loads[i].name) || argc - 2 < loads[i].args_least)
			continue;
		/* As the different programs that they stand for. */
		prctl(PR_SET_NAME, loads[i].name);
		status = loads[i].run(argv + 2);
		putchar('\n');
		return status;
	}
	fprintf(stderr, "usage: load periodic PERIOD_US WORK_US SECONDS SKIP_S | "
			"wakers COUNT PERIOD_US WORK_US SECONDS SKIP_S [signal] | input HZ SECONDS SKIP_S | "
			"frames|presents PERIOD_US SECONDS SKIP_S | clicks SECONDS SKIP_S | hogs SECONDS NICE... | "
			"liars SECONDS LIARS HOGS | "
			"storm SECONDS JOBS\n");
	return 2;
}
