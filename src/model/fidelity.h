/* SPDX-License-Identifier: GPL-2.0 */
/* How far a simulated run is from the one that it should give back: waits for CPUs by role, late frames, shares of CPU
 * time; and whether that is near enough to believe what is predicted. Pure. */
#ifndef TACTUS_MODEL_FIDELITY_H
#define TACTUS_MODEL_FIDELITY_H

#include "compare_run.h"

enum {
	FIDELITY_FLOOR_NS = 100 * NSEC_PER_USEC,       /* waits below are one and the same */
	FIDELITY_URGENT_LEAST_NS = 20 * NSEC_PER_MSEC, /* of less CPU time likewise */
	FIDELITY_WAITS_LEAST = 30,		       /* of fewer nothing is said */
};

/* Of one role, or of all. */
struct fidelity_waits {
	u64 a, b; /* how many waits */
	u64 a_p50_ns, b_p50_ns;
	u64 a_p99_ns, b_p99_ns;
	double octaves; /* by how many powers of two they differ in the mean */
};

struct fidelity {
	struct fidelity_waits all;
	struct fidelity_waits roles[ROLES];
	double waits;  /* octaves, the mean over roles by their waits */
	double late;   /* frames that are late in one and not in the other, net, of all */
	double shares; /* of the CPU time, what another process has */
	double names;  /* of the CPU time, what threads of another name have: for runs whose processes are others */
	double cpu;    /* by how much the CPU time in all differs, of it */
	double urgent; /* by how much the CPU time that urgent threads got differs, of it: how far they came */
	u64 urgent_ns[2];
	u64 frames[2], late_frames[2];
};

/* Within which a prediction is made. */
struct fidelity_bound {
	double waits, late, shares, urgent;
};
#define FIDELITY_BOUND ((struct fidelity_bound){ .waits = 0.75, .late = 0.05, .shares = 0.10, .urgent = 0.15 })

void fidelity_of(struct fidelity *fidelity, const struct compare_run *a, const struct compare_run *b);

/* The shortest time in a slot of a spread. */
u64 fidelity_slot_ns(u32 slot);

/* NULL: within the bound; else what is not, a word. */
const char *fidelity_breaks(const struct fidelity *fidelity, const struct fidelity_bound *bound);

#endif
