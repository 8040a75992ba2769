/* SPDX-License-Identifier: GPL-2.0 */
/* The commands, each a function of its own file. It returns the program's exit status. */
#ifndef TACTUS_VIEW_VIEW_H
#define TACTUS_VIEW_VIEW_H

#include "../base/loop.h"
#include "../base/options.h"
#include "../sink/table.h"

struct command {
	const char *name; /* NULL ends a list */
	int (*run)(int argc, char **argv);
	const char *summary;
	const struct command_usage *usage;  /* NULL: it has parts */
	const struct table_columns *tables; /* that --sort and --columns are about, or NULL */
	const struct command *parts;
	const char *synopsis; /* of a part */
	bool is_hidden;	      /* --help does not list it */
};

extern const struct command commands[];
extern const struct command db_parts[];

/* For defaults_read_by: what a config file says of options, if all of it is right. */
int config_defaults(const char *config, const struct option_defaults **out);
/* It is read again by who asks next. What options were given by the reading before the last must not be used any more.
 */
void config_defaults_forget(void);

/* Calls `each` for every command and part that has options, until it returns true; that one, or NULL. */
const struct command *command_search(bool (*each)(const void *data, const struct command *command), const void *data);

/* What of a list has this name, or NULL. */
const struct command *command_find(const struct command *list, const char *name);

int view_cpus(int argc, char **argv);
int view_doctor(int argc, char **argv);
int view_run(int argc, char **argv);
int view_tasks(int argc, char **argv);
int view_affinity(int argc, char **argv);
int view_events(int argc, char **argv);
int view_latency(int argc, char **argv);
int view_frames(int argc, char **argv);
int view_migrations(int argc, char **argv);
int view_misses(int argc, char **argv);
int view_cuda(int argc, char **argv);
int view_gpu(int argc, char **argv);
int view_input(int argc, char **argv);
int view_inversions(int argc, char **argv);
int view_roles(int argc, char **argv);
int view_stats(int argc, char **argv);
int view_status(int argc, char **argv);
int view_why(int argc, char **argv);
int view_pause(int argc, char **argv);
int view_resume(int argc, char **argv);
int view_reload(int argc, char **argv);
int view_gamemode(int argc, char **argv);
int view_top(int argc, char **argv);
int view_undo(int argc, char **argv);
int view_record(int argc, char **argv);
int view_report(int argc, char **argv);
int view_serve(int argc, char **argv);
int view_fleet(int argc, char **argv);
int view_cut(int argc, char **argv);
int view_compare(int argc, char **argv);
int view_simulate(int argc, char **argv);
int view_tune(int argc, char **argv);
int view_export(int argc, char **argv);
int view_trial(int argc, char **argv);
int view_db(int argc, char **argv);
int view_config(int argc, char **argv);
int view_complete(int argc, char **argv);

extern const struct command_usage cpus_usage;
extern const struct command_usage doctor_usage;
extern const struct command_usage run_usage;
extern const struct command_usage tasks_usage;
extern const struct command_usage affinity_usage;
extern const struct command_usage events_usage;
extern const struct command_usage latency_usage;
extern const struct command_usage frames_usage;
extern const struct command_usage migrations_usage;
extern const struct command_usage misses_usage;
extern const struct command_usage cuda_usage;
extern const struct command_usage gpu_usage;
extern const struct command_usage input_usage;
extern const struct command_usage inversions_usage;
extern const struct command_usage roles_usage;
extern const struct command_usage stats_usage;
extern const struct command_usage status_usage, why_usage, pause_usage, resume_usage, reload_usage, gamemode_usage;
extern const struct command_usage top_usage;
extern const struct command_usage undo_usage;
extern const struct command_usage record_usage;
extern const struct command_usage report_usage;
extern const struct command_usage serve_usage;
extern const struct command_usage fleet_usage;
extern const struct command_usage cut_usage;
extern const struct command_usage simulate_usage;
extern const struct command_usage tune_usage;
extern const struct command_usage compare_usage;
extern const struct command_usage export_usage;
extern const struct command_usage trial_usage;
extern const struct command_usage db_list_usage, db_show_usage, db_forget_usage, db_import_usage, db_export_usage,
	db_check_usage, db_summary_usage, db_merge_usage;
extern const struct table_columns db_list_tables[];
extern const struct command_usage config_usage;
extern const struct command_usage complete_usage;

extern const struct table_columns cpus_tables[];
extern const struct table_columns fleet_tables[];
extern const struct table_columns doctor_tables[];
extern const struct table_columns tasks_tables[];
extern const struct table_columns affinity_tables[];
extern const struct table_columns latency_tables[];
extern const struct table_columns frames_tables[];
extern const struct table_columns migrations_tables[];
extern const struct table_columns misses_tables[];
extern const struct table_columns cuda_tables[], cuda_step_tables[];
extern const struct table_columns gpu_tables[];
extern const struct table_columns input_tables[];
extern const struct table_columns inversions_tables[];
extern const struct table_columns roles_tables[];
extern const struct table_columns config_tables[];
extern const struct table_columns why_tables[];

#endif
