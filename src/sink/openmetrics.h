/* SPDX-License-Identifier: GPL-2.0 */
/* Figures as text that Prometheus and its relatives read: OpenMetrics 1.0, with units and exemplars, or the older text
 * format 0.0.4, which has neither, for who asks for no other. */
#ifndef TACTUS_SINK_OPENMETRICS_H
#define TACTUS_SINK_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/types.h"
#include "json.h"

#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0"
#define OPENMETRICS_PLAIN_TYPE "text/plain; version=0.0.4"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

/* A family of samples that have one name. */
struct metric_family {
	const char *name; /* with its unit, without _total */
	const char *unit; /* "": none */
	const char *help;
	enum metric_type type;
};

enum { METRIC_LABELS = 4, METRIC_TEXT_SIZE = 96 };

/* Up to the first without a name. Values are escaped, and cut where they are longer than METRIC_TEXT_SIZE. */
struct metric_labels {
	struct {
		const char *name, *value;
	} all[METRIC_LABELS];
};

/* The third is sink/otlp.h's. */
enum metric_form { FORM_OPENMETRICS, FORM_PLAIN, FORM_OTLP };

/* Begin with { .out = ..., .form = ... }. */
struct openmetrics {
	FILE *out;
	enum metric_form form;
	const struct metric_family *family; /* whose samples come now */
	u64 samples;
	struct json json; /* the last three are of FORM_OTLP */
	u64 start_wall_ns, wall_ns;
};

/* A sample of that family; the family's head stands before the first. */
void openmetrics_count(struct openmetrics *metrics, const struct metric_family *family,
		       const struct metric_labels *labels, u64 value);
/* Nanoseconds, as seconds. */
void openmetrics_seconds(struct openmetrics *metrics, const struct metric_family *family,
			 const struct metric_labels *labels, u64 value_ns);

/* What one value was that fell into a bucket. */
struct metric_exemplar {
	u64 value_ns; /* 0: there is none */
	u64 wall_ns;
	struct metric_labels labels;
};

/* One bucket after the other, with the largest value that it takes (~0: all), and at last the count and the sum. */
struct metric_buckets {
	u32 len;
	const u64 *counts; /* of each alone */
	const u64 *most_ns;
	const struct metric_exemplar *exemplars; /* NULL: none */
	u64 sum_ns;
};
void openmetrics_histogram(struct openmetrics *metrics, const struct metric_family *family,
			   const struct metric_labels *labels, const struct metric_buckets *buckets);

/* Nothing follows. */
void openmetrics_end(struct openmetrics *metrics);

#endif
