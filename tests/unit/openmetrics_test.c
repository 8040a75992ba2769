// SPDX-License-Identifier: GPL-2.0
/* sink/openmetrics.c: lines as both formats have them, whatever labels say. */
#include <stdlib.h>

#include "../../src/sink/openmetrics.h"
#include "tap.h"

static char *text;
static size_t text_len;
static struct openmetrics metrics;

static void begin(bool is_plain)
{
	free(text);
	text = NULL;
	metrics = (struct openmetrics){ .out = open_memstream(&text, &text_len),
					.form = is_plain ? FORM_PLAIN : FORM_OPENMETRICS };
}

static const char *end(void)
{
	openmetrics_end(&metrics);
	fclose(metrics.out);
	return text;
}

static const struct metric_family counts = { "t_a", "", "All.", METRIC_COUNTER };
static const struct metric_family seconds = { "t_b_seconds", "seconds", "Time.", METRIC_GAUGE };
static const struct metric_family waits = { "t_w_seconds", "seconds", "Waits.", METRIC_HISTOGRAM };
static const struct metric_family build = { "t_build", "", "Version.", METRIC_INFO };

static void test_forms(void)
{
	const struct metric_labels labels = { { { "x", "a\"b\\c\nd\xff" } } };

	begin(false);
	openmetrics_count(&metrics, &counts, &labels, 3);
	openmetrics_count(&metrics, &counts, NULL, 4);
	openmetrics_seconds(&metrics, &seconds, NULL, 1500000000);
	is_text(end(),
		"# HELP t_a All.\n# TYPE t_a counter\nt_a_total{x=\"a\\\"b\\\\c?d?\"} 3\nt_a_total 4\n"
		"# HELP t_b_seconds Time.\n# TYPE t_b_seconds gauge\n# UNIT t_b_seconds seconds\nt_b_seconds 1.5\n# "
		"EOF\n",
		"OpenMetrics has families, units and an end, and a line stays a line");
	begin(true);
	openmetrics_count(&metrics, &counts, NULL, 4);
	openmetrics_count(&metrics, &build, NULL, 1);
	is_text(end(),
		"# HELP t_a_total All.\n# TYPE t_a_total counter\nt_a_total 4\n"
		"# HELP t_build_info Version.\n# TYPE t_build_info gauge\nt_build_info 1\n",
		"the older format names samples, and knows no end");
}

static void test_histogram(void)
{
	static const u64 n[3] = { 1, 0, 2 }, most_ns[3] = { 16383, 32767, ~0ULL };
	const struct metric_exemplar examples[3] = {
		[2] = { .value_ns = 40000, .wall_ns = 1700000000123456789, .labels = { { { "comm", "hog" } } } }
	};
	struct metric_buckets buckets = { 3, n, most_ns, examples, 90000 };

	begin(false);
	openmetrics_histogram(&metrics, &waits, NULL, &buckets);
	is_text(end(),
		"# HELP t_w_seconds Waits.\n# TYPE t_w_seconds histogram\n# UNIT t_w_seconds seconds\n"
		"t_w_seconds_bucket{le=\"0.000016383\"} 1\nt_w_seconds_bucket{le=\"0.000032767\"} 1\n"
		"t_w_seconds_bucket{le=\"+Inf\"} 3 # {comm=\"hog\"} 0.00004 1700000000.123\n"
		"t_w_seconds_sum 0.00009\nt_w_seconds_count 3\n# EOF\n",
		"buckets add up, with an exemplar where there is one");
	begin(true);
	openmetrics_histogram(&metrics, &waits, NULL, &buckets);
	ok(!strstr(end(), "hog"), "the older format has no exemplars");
}

int main(void)
{
	test_forms();
	test_histogram();
	free(text);
	return tap_end();
}
