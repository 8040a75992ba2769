/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that are sent instead of being asked for: to what takes OTLP over HTTP, by a process apart that has no rights
 * but to call there, so that nothing waits for who takes them. */
#ifndef TACTUS_VIEW_METRICS_PUSH_H
#define TACTUS_VIEW_METRICS_PUSH_H

#include <sys/types.h>

#include "../base/http_client.h"
#include "metrics_print.h"

struct metrics_push {
	struct http_target target;
	bool is_wanted;
	u64 every_ns, due_ns;
	u64 start_wall_ns; /* counts are since then */
	pid_t sender;	   /* 0: there is none */
	int channel;	   /* to it */
	bool is_sending;
	u64 taken, failed;
	bool is_told; /* that it fails */
};

/* While there is still every right. Returns 0, or -errno with the reason. */
int metrics_push_open(struct metrics_push *push, const char *url, u64 every_ns, struct reason *why);

/* Whether it is time, and the last one has come to its end. */
bool metrics_push_is_due(struct metrics_push *push, u64 now_ns);
void metrics_push_send(struct metrics_push *push, const struct metrics_reading *reading);
void metrics_push_end(struct metrics_push *push);

#endif
