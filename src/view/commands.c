// SPDX-License-Identifier: GPL-2.0
/* The table of commands, and nothing else.
 * Each command lives in a file of its own. */
#include <string.h>

#include "view.h"

const struct command commands[] = {
	{ "run", view_run, "the main job: find out what threads are for, act on it, report", .usage = &run_usage },
	{ "trial", view_trial, "whether tactus helps a program here: acts and holds back in turns, and measures",
	  .usage = &trial_usage },
	{ "top", view_top, "all of it live on a full screen: threads, waits, frames, CPUs", .usage = &top_usage },
	{ "stats", view_stats, "the status lines of a 'tactus run' elsewhere on the machine", .usage = &stats_usage },
	{ "status", view_status, "how a 'tactus run' elsewhere on the machine stands", .usage = &status_usage },
	{ "why", view_why, "what a 'tactus run' does with each thread of a process, and why", .usage = &why_usage,
	  .tables = why_tables },
	{ "pause", view_pause, "have a 'tactus run' stop acting for a while", .usage = &pause_usage },
	{ "resume", view_resume, "have it act again", .usage = &resume_usage },
	{ "reload", view_reload, "have it read its configuration anew, and keep what it knows",
	  .usage = &reload_usage },
	{ "undo", view_undo, "take back the hints that a killed 'tactus run' left behind", .usage = &undo_usage },
	{ "tasks", view_tasks, "what each thread did: CPU time, runs, waits, switches", .usage = &tasks_usage,
	  .tables = tasks_tables },
	{ "latency", view_latency, "how long threads waited for a CPU, and behind whom", .usage = &latency_usage,
	  .tables = latency_tables },
	{ "events", view_events, "every context switch as it happens", .usage = &events_usage },
	{ "affinity", view_affinity, "the CPUs that threads ran on, and how they moved", .usage = &affinity_usage,
	  .tables = affinity_tables },
	{ "roles", view_roles, "what each thread is for, how sure that is, and why", .usage = &roles_usage,
	  .tables = roles_tables },
	{ "frames", view_frames, "frame times of programs that present, and why frames were late",
	  .usage = &frames_usage, .tables = frames_tables },
	{ "migrations", view_migrations, "each move of a thread to another CPU, its cause, and how soon it ran",
	  .usage = &migrations_usage, .tables = migrations_tables },
	{ "misses", view_misses, "threads that work by a timer and ran too late, and who was in the way",
	  .usage = &misses_usage, .tables = misses_tables },
	{ "cuda", view_cuda, "calls into libcuda, launches, copies, memory, and the driver's ioctls",
	  .usage = &cuda_usage, .tables = cuda_tables },
	{ "gpu", view_gpu, "what threads submit to GPUs, and how long the driver and the GPU take", .usage = &gpu_usage,
	  .tables = gpu_tables },
	{ "input", view_input, "what input devices send, and how soon their readers run", .usage = &input_usage,
	  .tables = input_tables },
	{ "inversions", view_inversions, "threads that waited while a less urgent one ran", .usage = &inversions_usage,
	  .tables = inversions_tables },
	{ "record", view_record, "write the event stream to a file that the others read with -i",
	  .usage = &record_usage },
	{ "report", view_report, "one page for a browser: what was late and why, with pictures",
	  .usage = &report_usage },
	{ "serve", view_serve, "figures of this machine for Prometheus and what reads OpenMetrics",
	  .usage = &serve_usage },
	{ "fleet", view_fleet, "which rank of a training job on many machines holds the others up, and by what",
	  .usage = &fleet_usage, .tables = fleet_tables },
	{ "cut", view_cut, "a part of a recording as a recording of its own", .usage = &cut_usage },
	{ "compare", view_compare, "two recordings, or two sets: what differs, and how sure that is",
	  .usage = &compare_usage },
	{ "simulate", view_simulate, "the work of a recording under another policy, or on another machine",
	  .usage = &simulate_usage },
	{ "tune", view_tune, "which settings of the scheduler suit recordings, found by simulation",
	  .usage = &tune_usage },
	{ "export", view_export, "a recording as a file for other programs: Perfetto, CSV", .usage = &export_usage },
	{ "cpus", view_cpus, "context switches, busy and idle time of each CPU", .usage = &cpus_usage,
	  .tables = cpus_tables },
	{ "db", view_db, "what was learned about threads in earlier runs", .parts = db_parts },
	{ "config", view_config, "which options and rules are in force, and where each comes from",
	  .usage = &config_usage, .tables = config_tables },
	{ "doctor", view_doctor, "what this kernel offers, and which hook each sensor gets", .usage = &doctor_usage,
	  .tables = doctor_tables },
	{ "gamemode", view_gamemode, "GameMode's interface for games of this user; the session bus starts it",
	  .usage = &gamemode_usage },
	{ "complete", view_complete, "what can follow on a command line, for shells", .usage = &complete_usage,
	  .is_hidden = true },
	{ 0 },
};

const struct command *command_find(const struct command *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

const struct command *command_search(bool (*each)(const void *data, const struct command *command), const void *data)
{
	for (const struct command *command = commands; command->name; command++) {
		if (command->usage && each(data, command))
			return command;
		for (const struct command *part = command->parts; part && part->name; part++)
			if (each(data, part))
				return part;
	}
	return NULL;
}
