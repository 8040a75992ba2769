// SPDX-License-Identifier: GPL-2.0
/* tactus status, pause, resume, reload: how a 'tactus run' stands, and what root has it do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "ask_run.h"
#include "view.h"

const struct command_usage status_usage = {
	.name = "status",
	.text = "Shows how the running 'tactus run' stands: since when, how it acts, whether it is paused, by which "
		"configuration.\v"
		"'tactus stats' prints its lines; 'tactus why PID' says what it does with a process. Without a run it "
		"ends with status 1.\n"
		"\n"
		"Examples:\n"
		"  tactus status\n"
		"  tactus status --json",
	.takes = TAKES_JSON,
};

const struct command_usage pause_usage = {
	.name = "pause",
	.text = "Has the running 'tactus run' stop acting: hints are taken back, and the kernel's own scheduler is in "
		"charge. It goes on watching and learning.\v"
		"Only root may.\n"
		"\n"
		"Examples:\n"
		"  tactus pause\n"
		"  tactus pause && ./measure; tactus resume",
	.takes = TAKES_NO_CONFIG,
};

const struct command_usage resume_usage = {
	.name = "resume",
	.text = "Has a 'tactus run' that was paused act again.\v"
		"Only root may.\n"
		"\n"
		"Examples:\n"
		"  tactus resume\n"
		"  tactus pause && ./measure; tactus resume",
	.takes = TAKES_NO_CONFIG,
};

const struct command_usage reload_usage = {
	.name = "reload",
	.text = "Has the running 'tactus run' read its configuration anew. What it knows of threads and has learned "
		"stays; rules hold at once, also for programs that are there.\v"
		"Where the file is wrong nothing changes, and the message says why. Options that count at a start "
		"alone "
		"(--without, --db, --raise, --ring) are named in the answer. Only root may.\n"
		"\n"
		"Examples:\n"
		"  tactus reload\n"
		"  tactus reload && tactus status\n"
		"  systemctl reload tactus",
	.takes = TAKES_NO_CONFIG,
};

static int act(const struct command_usage *usage, enum control_verb verb, int argc, char **argv)
{
	struct control_reply reply;
	struct reason why = { "" };
	struct options options;
	char words[CONTROL_WORDS_SIZE * 2];
	int fd;

	options_parse(&options, usage, NULL, argc, argv);
	fd = ask_run(verb, 0, &reply, &why);
	if (fd < 0)
		return fail(usage->name, "%s", why.text);
	close(fd);
	format_plain(words, sizeof(words), reply.words);
	puts(words);
	return EXIT_SUCCESS;
}

int view_pause(int argc, char **argv)
{
	return act(&pause_usage, CONTROL_PAUSE, argc, argv);
}

int view_resume(int argc, char **argv)
{
	return act(&resume_usage, CONTROL_RESUME, argc, argv);
}

int view_reload(int argc, char **argv)
{
	return act(&reload_usage, CONTROL_RELOAD, argc, argv);
}

static void print_json(const struct control_state *state)
{
	struct json json = { .out = stdout };

	json_record(&json, "run_state", false);
	json_string(&json, "version", state->tactus);
	json_u64(&json, "pid", state->pid);
	json_u64(&json, "began_wall_ns", state->began_wall_ns);
	json_string(&json, "actuator", state->actuator);
	json_bool(&json, "paused", state->is_paused);
	json_u64(&json, "hints_urgent", state->hints);
	json_string(&json, "power", state->power);
	json_string(&json, "power_profile", state->profile[0] ? state->profile : NULL);
	json_string(&json, "config", state->config);
	json_u64(&json, "reloads", state->reloads);
	json_u64(&json, "games_registered", state->games_registered);
	json_string(&json, "readers", state->readers);
	json_u64(&json, "requests_refused", state->refused);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_row(const char *name, const char *text)
{
	char plain[CONTROL_PATH_SIZE * 4];

	format_plain(plain, sizeof(plain), text);
	printf("%-10s %s\n", name, plain);
}

static void print_text(const struct control_state *state)
{
	time_t began = (time_t)(state->began_wall_ns / NSEC_PER_SEC);
	char text[CONTROL_PATH_SIZE + 64], since[32] = "?";
	struct tm local;

	if (localtime_r(&began, &local))
		strftime(since, sizeof(since), "%F %T", &local);
	snprintf(text, sizeof(text), "%s [%u] since %s", state->tactus, state->pid, since);
	print_row("tactus", text);
	if (!state->is_paused && state->hints)
		snprintf(text, sizeof(text), "%s, %llu threads have one", state->actuator,
			 (unsigned long long)state->hints);
	else
		snprintf(text, sizeof(text), "%s", state->actuator);
	print_row("acts by", text);
	snprintf(text, sizeof(text), "%s%s%s%s", state->power, state->profile[0] ? " (power-profiles-daemon: " : "",
		 state->profile, state->profile[0] ? ")" : "");
	print_row("power", text);
	snprintf(text, sizeof(text), "%s, reloaded %llu times", state->config, (unsigned long long)state->reloads);
	print_row("config", text);
	snprintf(text, sizeof(text), "%llu asked by GameMode's interface", (unsigned long long)state->games_registered);
	print_row("games", text);
	snprintf(text, sizeof(text), "%s; %llu requests were refused", state->readers,
		 (unsigned long long)state->refused);
	print_row("readers", text);
}

int view_status(int argc, char **argv)
{
	struct control_reply reply;
	struct control_state state;
	struct reason why = { "" };
	struct options options;
	size_t got;
	int fd;

	options_parse(&options, &status_usage, NULL, argc, argv);
	fd = ask_run(CONTROL_STATUS, 0, &reply, &why);
	if (fd < 0)
		return fail("status", "%s", why.text);
	privileges_give_up_all();
	got = ask_run_next(fd, &state, sizeof(state));
	close(fd);
	if (!control_state_is_sound(&state, got))
		return fail("status", "the run is of another version of tactus");
	if (options.json)
		print_json(&state);
	else
		print_text(&state);
	return EXIT_SUCCESS;
}
