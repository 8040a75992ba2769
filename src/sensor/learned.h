/* SPDX-License-Identifier: GPL-2.0 */
/* What the learned sensor knows and how well its predictions did, for a run's status. */
#ifndef TACTUS_SENSOR_LEARNED_H
#define TACTUS_SENSOR_LEARNED_H

#include "kinds.h"

struct learned_counts {
	u64 profiles;
	u64 confident;	  /* of them: they predict */
	u64 loaded;	  /* profiles there were at the start */
	u64 hits, misses; /* threads of which a tier was predicted, that turned out so or otherwise */
	const char *path; /* of the database; "": there is none */
};

/* `sensor` may be NULL, and not at work: then there is nothing. */
struct learned_counts learned_counts(const struct sensor *sensor);

#endif
