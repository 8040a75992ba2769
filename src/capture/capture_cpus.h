/* SPDX-License-Identifier: GPL-2.0 */
/* What each CPU did while a command ran, or for a time: no threads, no events, so that it costs little and works on
 * kernels without BTF. */
#ifndef TACTUS_CAPTURE_CAPTURE_CPUS_H
#define TACTUS_CAPTURE_CAPTURE_CPUS_H

#include "../base/options.h"
#include "../model/cpus.h"

struct cpus_request {
	const char *view;
	const struct options *options;
	u64 interval_ns; /* 0: one account, at the end */
	/* What happened in the interval that is over. */
	void (*on_interval)(void *data, const struct cpus *cpus, u64 from_ns, u64 to_ns);
	void *data;
	u64 start_ns, from_ns, to_ns; /* set by it: the window's start, and of what is left at the end, or of all */
};

/* Returns the status to end with; the view prints `cpus`, what is left at the end or all, if it has accounts, and frees
 * it. */
int capture_cpus(struct cpus *cpus, struct cpus_request *request);

#endif
