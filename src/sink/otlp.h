/* SPDX-License-Identifier: GPL-2.0 */
/* The same figures as a message of OpenTelemetry (OTLP 1.0, metrics, in JSON), for who is sent them. */
#ifndef TACTUS_SINK_OTLP_H
#define TACTUS_SINK_OTLP_H

#include "openmetrics.h"

#define OTLP_TYPE "application/json"

/* What stands around the families. `host`: of the machine; counts are since start_wall_ns. */
void otlp_begin(struct openmetrics *metrics, const char *host, const char *version, u64 start_wall_ns, u64 wall_ns);
void otlp_end(struct openmetrics *metrics);

/* For openmetrics.c: a sample, and a histogram, in that form. */
void otlp_number(struct openmetrics *metrics, const struct metric_family *family, const struct metric_labels *labels,
		 u64 value, bool is_seconds);
void otlp_histogram(struct openmetrics *metrics, const struct metric_family *family, const struct metric_labels *labels,
		    const struct metric_buckets *buckets);

#endif
