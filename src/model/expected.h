/* SPDX-License-Identifier: GPL-2.0 */
/* How far off a prediction may be: what predictions of the same policy from the same one were off by where the real run
 * was recorded too; and where there is no use in predicting. Pure. */
#ifndef TACTUS_MODEL_EXPECTED_H
#define TACTUS_MODEL_EXPECTED_H

#include <stdbool.h>

#include "../../core/types.h"

/* Octaves, as fidelity.h has them: the median and the worst of so many predictions. */
struct expected_error {
	double median, worst;
	u32 predictions; /* 0: that pair was never held against a real run */
};

/* By the names of policies. */
struct expected_error expected_error_of(const char *recorded, const char *policy);

/* That so many wake-ups by threads, and so many by all else, say too little of what would be under one queue for all
 * CPUs: whose waits are that long there, so that a loop of threads is another. */
bool expected_is_hopeless(const char *recorded, const char *policy, u64 edges, u64 external);

#endif
