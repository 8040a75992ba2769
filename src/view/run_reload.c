// SPDX-License-Identifier: GPL-2.0
/* 'tactus reload': the configuration is read anew while the run goes on. Sensors, roles and what was learned stay;
 * rules hold at once for programs and threads that are there; the actuator starts again only where its own options
 * changed. What can't be changed in a run is named. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../capture/role_options.h"
#include "run.h"
#include "view.h"

enum { CHECK_MS = 5000 };

/* Options end the program where one is wrong. */
static void take_options(const struct run *run, struct options *options, struct run_chosen *chosen)
{
	int status;

	config_defaults_forget();
	role_options_forget();
	*chosen = run_chosen_by_default;
	options_parse(options, &run_usage, chosen, run->control.argc, run->control.argv);
	status = run_check_options(chosen, options);
	if (status)
		exit(status);
}

static void be_checker(const struct run *run, int fd)
{
	struct run_chosen chosen;
	struct options options;
	struct rules *rules;

	dup2(fd, STDERR_FILENO);
	say_to_stderr();
	take_options(run, &options, &chosen);
	_exit(role_options_rules(&rules));
}

/* What it says, as one line; false: it did not come to its end. */
static bool hear(int fd, char *text, size_t size)
{
	u64 until_ns = clock_now_ns() + (u64)CHECK_MS * NSEC_PER_MSEC;
	size_t len = 0;

	for (;;) {
		struct pollfd ready = { fd, POLLIN, 0 };
		u64 now_ns = clock_now_ns();
		char rest[256];
		ssize_t got;

		if (now_ns >= until_ns || poll(&ready, 1, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1) <= 0)
			return false;
		got = len + 1 < size ? read(fd, text + len, size - 1 - len) : read(fd, rest, sizeof(rest));
		if (got <= 0)
			break;
		len += len + 1 < size ? (size_t)got : 0;
	}
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* By another process, which a wrong value may end. */
static bool is_right(const struct run *run, struct reason *words)
{
	char text[sizeof(words->text)] = "";
	int fds[2], status = 0;
	pid_t checker;
	bool has_ended;

	if (pipe(fds)) {
		reason_set(words, "not reloaded: %s", strerror(errno));
		return false;
	}
	fflush(NULL);
	checker = fork();
	if (!checker)
		be_checker(run, fds[1]);
	close(fds[1]);
	has_ended = checker > 0 && hear(fds[0], text, sizeof(text));
	close(fds[0]);
	if (checker > 0 && !has_ended)
		kill(checker, SIGKILL);
	while (checker > 0 && waitpid(checker, &status, 0) < 0 && errno == EINTR)
		;
	if (has_ended && !status)
		return true;
	reason_set(words, "not reloaded: %s",
		   checker < 0	? "no process can be forked"
		   : !has_ended ? "the configuration could not be read in time"
		   : text[0]	? text + (strncmp(text, "tactus: ", 8) ? 0 : 8)
				: "the configuration is wrong");
	return false;
}

static bool differ(const char *a, const char *b)
{
	return (a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0);
}

static bool wants_other_figures(const struct metrics_wishes *a, const struct metrics_wishes *b)
{
	return a->serves != b->serves || memcmp(&a->address, &b->address, sizeof(a->address)) != 0 ||
	       a->groups != b->groups || differ(a->token_file, b->token_file) || differ(a->tls_cert, b->tls_cert) ||
	       differ(a->tls_key, b->tls_key) || a->with_cuda != b->with_cuda || differ(a->library, b->library);
}

/* Names what was changed and takes another start. */
static void say_what_stays(const struct run *run, const struct options *options, const struct run_chosen *chosen,
			   struct reason *words)
{
	const struct run_begun *begun = &run->control.begun;
	struct metrics_wishes figures = chosen->metrics;
	char list[160] = "";

	if (differ(begun->without, role_options()->without))
		strcat(list, ", --without");
	if (differ(begun->db, role_options()->db.path))
		strcat(list, ", --db");
	if (begun->raise_by != chosen->raise_by)
		strcat(list, ", --raise");
	if (begun->ring_bytes != options->ring_bytes)
		strcat(list, ", --ring");
	metrics_look_at_files(&figures);
	if (wants_other_figures(&begun->metrics, &figures))
		strcat(list, ", --metrics");
	else if (figures.serves && metrics_files_differ(&begun->metrics, &figures))
		strcat(list, ", the new token or certificate of --metrics");
	if (list[0])
		reason_set(words, "reloaded, but for %s: %s at the next start", list + 2,
			   strchr(list + 2, ',') ? "these count" : "that counts");
	else
		reason_set(words, "reloaded");
}

void run_keep_begun(struct run *run)
{
	struct run_begun *begun = &run->control.begun;

	begun->without = role_options()->without;
	begun->db = role_options()->db.path;
	begun->raise_by = run->chosen.raise_by;
	begun->ring_bytes = run->options->ring_bytes;
	begun->metrics = run->chosen.metrics;
	metrics_look_at_files(&begun->metrics);
}

static bool wants_another_actuator(const struct run_chosen *a, const struct run_chosen *b)
{
	return a->wanted != b->wanted || a->dry_run != b->dry_run || a->partial != b->partial ||
	       a->slice_us != b->slice_us || a->credit != b->credit || a->discount != b->discount ||
	       a->light_us != b->light_us || (a->power_given || b->power_given ? a->power != b->power : false);
}

bool run_reload(struct run *run, struct reason *words)
{
	struct run_chosen before = run->chosen, chosen;
	struct options options;
	bool acts = true;

	if (!is_right(run, words))
		return false;
	take_options(run, &options, &chosen);
	say_what_stays(run, &options, &chosen, words);
	chosen.raise_by = run->control.begun.raise_by;
	if (!chosen.power_given)
		chosen.power = run_power_of_profile(run->control.profile);
	if (capture_reload_rules(&run->capture)) {
		reason_set(words, "not reloaded: the rules can't be read");
		return false;
	}
	run->chosen = chosen;
	if (wants_another_actuator(&before, &chosen)) {
		acts = run_restart_actuator(run);
		if (!acts) {
			run->chosen = before;
			run->chosen.only_root = chosen.only_root;
			reason_set(words, "reloaded, but acting goes on as before: what is wanted does not work here");
			acts = run_restart_actuator(run);
		}
	}
	if (before.no_compare != run->chosen.no_compare) {
		run_effect_end(run);
		run_effect_begin(run);
	}
	run_effect_settle(run);
	if (run->control.is_paused)
		run_hold(run, RUN_IS_OUT);
	run->control.reloads++;
	return acts;
}
