// SPDX-License-Identifier: GPL-2.0
/* The table of commands, and nothing else.
 * Each command lives in a file of its own under view/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "view/view.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "run", view_run, "the main job: find out what threads are for, act on it, report" },
	{ "stats", view_stats, "what a 'tactus run' elsewhere on the machine says of each second" },
	{ "undo", view_undo, "take back the hints that a killed 'tactus run' left behind" },
	{ "tasks", view_tasks, "what each thread did: CPU time, runs, waits, switches" },
	{ "latency", view_latency, "how long threads waited for a CPU, and behind whom" },
	{ "events", view_events, "every context switch as it happens" },
	{ "affinity", view_affinity, "the CPUs that threads ran on, and how they moved" },
	{ "roles", view_roles, "what each thread is for, how sure that is, and why" },
	{ "frames", view_frames, "frame times of programs that present, and why frames were late" },
	{ "migrations", view_migrations,
	  "each move of a thread to another CPU, its cause and how long it took to run" },
	{ "misses", view_misses, "threads that work by a clock and ran too late, and who was in the way" },
	{ "cuda", view_cuda, "calls into libcuda, launches, copies, memory, and the driver's ioctls" },
	{ "gpu", view_gpu, "what threads submit to GPUs, and how long the driver and the GPU take" },
	{ "input", view_input, "what input devices send, and how soon their readers run" },
	{ "inversions", view_inversions, "threads that waited while a less urgent one ran" },
	{ "record", view_record, "write the stream of events to a file, for the others to read with -i" },
	{ "cpus", view_cpus, "context switches, busy and idle time of each CPU" },
	{ "db", view_db, "what was learned of threads in earlier runs" },
	{ "doctor", view_doctor, "what this kernel offers, and what each sensor makes of it" },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int print_help(void)
{
	printf("tactus: see why it stuttered, then schedule it away.\n\nUsage: tactus COMMAND [OPTION...] [-- CMD "
	       "ARGS...]\n\n");
	for (int i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\nExamples:\n"
	       "  tactus doctor               can it work here?\n"
	       "  tactus tasks -d 5           who runs, who waits?\n"
	       "  tactus latency --over 5ms -- ./game\n"
	       "                              which waits were longer than 5 ms, and behind whom?\n"
	       "  tactus cpus -d 5            what did the CPUs do in the next five seconds?\n"
	       "  tactus run                  schedule and watch until Ctrl-C\n"
	       "\n'tactus COMMAND --help' tells a command's options. Most commands need root. See also: man tactus\n");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word)
		return fail("no command", "try 'tactus --help'"), EXIT_USAGE;
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?") || !strcmp(word, "help"))
		return finish_output(print_help());
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return printf("tactus %s\n", TACTUS_VERSION), finish_output(EXIT_SUCCESS);
	for (int i = 0; i < COMMANDS; i++)
		if (!strcmp(word, commands[i].name))
			return finish_output(commands[i].run(argc - 1, argv + 1));
	fail(word, "no such command: try 'tactus --help'");
	return EXIT_USAGE;
}
