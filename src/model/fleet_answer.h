/* SPDX-License-Identifier: GPL-2.0 */
/* What Prometheus answers to a query, taken apart: a vector of samples with their labels. */
#ifndef TACTUS_MODEL_FLEET_ANSWER_H
#define TACTUS_MODEL_FLEET_ANSWER_H

#include "fleet.h"

enum { FLEET_ERROR_SIZE = 160, FLEET_PART_SIZE = 16 };

struct fleet_sample {
	char host[FLEET_HOST_SIZE];
	char rank[RANK_NAME_SIZE];
	char part[FLEET_PART_SIZE];
	char job[JOB_NAME_SIZE];
	double value;
};

/* Calls `take` for each sample. Returns how many there were, or -1 with what the server said, or that it is no answer
 * of Prometheus's. */
long fleet_answer_parse(const char *text, size_t len, void (*take)(void *data, const struct fleet_sample *sample),
			void *data, char error[FLEET_ERROR_SIZE]);

#endif
