/* SPDX-License-Identifier: GPL-2.0 */
/* What a simulation is run with, besides work and topology. */
#ifndef TACTUS_SIM_PARAMS_H
#define TACTUS_SIM_PARAMS_H

#include "../../core/types.h"

struct sim_policy;

struct sim_params {
	const struct sim_policy *policy;
	u64 slice_ns;	    /* 0: the policy's own */
	u64 light_ns;	    /* the same */
	u32 credit;	    /* tactus: of struct scx_config; 0: as 'tactus run' has it by itself */
	u32 discount;	    /* the same */
	u64 tick_ns;	    /* 0: the recording's, or 4 ms */
	u32 kernel;	    /* whose EEVDF; SCX_KERNEL(); 0: the recording's */
	u32 raise;	    /* RAISE_* */
	u64 steal_older_ns; /* tactus: a busy CPU takes from another cache who waited so much longer; 0: never */
	u64 seed;
	u64 switch_ns; /* that a switch to another thread costs; 0: what the recording's runs include */
};

#endif
