/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus simulate' and 'tactus tune' share: a recording as work, and a run of it under a policy. */
#ifndef TACTUS_VIEW_SIMULATE_H
#define TACTUS_VIEW_SIMULATE_H

#include "../model/fidelity.h"
#include "../sim/machine.h"
#include "../stream/recording.h"

/* A recording, its work, and what it shows by itself. */
struct simulate_source {
	const char *path;
	struct recording_reader *reader;
	struct work work;
	struct compare_run original;
	struct sim_topology topology; /* the recording's */
	bool only_run;		      /* no work is wanted of it, only what it shows */
	u32 kernel;		      /* SCX_KERNEL(); 0: its name has no version */
};

/* Each returns 0, or after a message the status to end with. */
int simulate_open(struct simulate_source *source, const char *path);
int simulate_read(struct simulate_source *source);
void simulate_close(struct simulate_source *source);

/* Runs the work. `run` gets what it shows, with `for_fidelity` only what that asks for; `writer`: NULL, or where it is
 * written. Returns 0, or after a message the status to end with. */
int simulate_run(const struct simulate_source *source, const struct work *work, const struct sim_topology *topology,
		 const struct sim_params *params, struct compare_run *run, bool for_fidelity,
		 struct recording_writer *writer, struct sim_counts *counts);

/* Which policy was in force: by its decisions, or the kernel's own. */
const struct sim_policy *simulate_recorded(const struct simulate_source *source);

/* From a name, or from a configuration of 'tactus run'. NULL: it is taken; else what is wrong with it. */
const char *simulate_take_policy(struct sim_params *params, const char *word);

/* A topology file. Returns 0, or after a message the status to end with. */
int simulate_read_topology(struct sim_topology *topology, const char *path);

/* What differs between the recording and the same policy simulated. */
void simulate_print_fidelity(const struct fidelity *fidelity, const char *policy, bool json);

/* What differs between a prediction and the real thing. */
void simulate_print_against(const struct fidelity *fidelity, const char *policy, const char *path, bool json);

/* How far off the prediction may be, by what others of that pair of policies were; and where no use is in predicting a
 * refusal: returns 0, or after a message the status to end with. */
struct simulate_expected {
	const char *path;
	const struct work *work;
	const struct sim_policy *recorded, *policy;
	double again;		/* octaves: the recorded policy, simulated again */
	bool is_other_machine;	/* than the recorded one */
	bool is_other_settings; /* than the policy's own */
};
int simulate_check_expected(const struct simulate_expected *expected);
void simulate_print_expected(const struct simulate_expected *expected, bool json);

/* 'simulate --sweep': machines of these sizes. */
enum { SWEEP_MOST = 16 };
int simulate_sweep(struct simulate_source *source, const struct sim_params *params, const u32 *sizes, u32 len,
		   bool json);

#endif
