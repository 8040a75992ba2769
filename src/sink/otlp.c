// SPDX-License-Identifier: GPL-2.0
/* A family is a metric, its samples are data points; numbers of 64 bits are text, as protobuf's JSON has it.
 */
#include "otlp.h"

#include <inttypes.h>
#include <string.h>

#include "json.h"

static void put_attribute(struct json *json, const char *name, const char *value)
{
	json_object(json, NULL);
	json_string(json, "key", name);
	json_object(json, "value");
	json_string(json, "stringValue", value);
	json_object_end(json);
	json_object_end(json);
}

static void put_u64(struct json *json, const char *key, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(json, key, text);
}

void otlp_begin(struct openmetrics *metrics, const char *host, const char *version, u64 start_wall_ns, u64 wall_ns)
{
	struct json *json = &metrics->json;

	metrics->form = FORM_OTLP;
	metrics->start_wall_ns = start_wall_ns;
	metrics->wall_ns = wall_ns;
	*json = (struct json){ .out = metrics->out };
	json_object(json, NULL);
	json_array(json, "resourceMetrics");
	json_object(json, NULL);
	json_object(json, "resource");
	json_array(json, "attributes");
	put_attribute(json, "service.name", "tactus");
	put_attribute(json, "service.version", version);
	put_attribute(json, "host.name", host);
	json_array_end(json);
	json_object_end(json);
	json_array(json, "scopeMetrics");
	json_object(json, NULL);
	json_object(json, "scope");
	json_string(json, "name", "tactus");
	json_string(json, "version", version);
	json_object_end(json);
	json_array(json, "metrics");
}

/* A metric is its data points, and what kind they are behind them. */
static void end_family(struct openmetrics *metrics)
{
	const struct metric_family *family = metrics->family;
	struct json *json = &metrics->json;

	if (!family)
		return;
	json_array_end(json);
	if (family->type == METRIC_COUNTER || family->type == METRIC_HISTOGRAM)
		json_u64(json, "aggregationTemporality", 2);
	if (family->type == METRIC_COUNTER)
		json_bool(json, "isMonotonic", true);
	json_object_end(json);
	json_object_end(json);
	metrics->family = NULL;
}

void otlp_end(struct openmetrics *metrics)
{
	struct json *json = &metrics->json;

	end_family(metrics);
	json_array_end(json);
	json_object_end(json);
	json_array_end(json);
	json_object_end(json);
	json_array_end(json);
	json_object_end(json);
	json_line_end(json);
}

static void begin_point(struct openmetrics *metrics, const struct metric_family *family,
			const struct metric_labels *labels)
{
	static const char *const kinds[] = { "sum", "gauge", "histogram", "gauge" };
	struct json *json = &metrics->json;

	metrics->samples++;
	if (metrics->family != family) {
		end_family(metrics);
		metrics->family = family;
		json_object(json, NULL);
		json_string(json, "name", family->name);
		json_string(json, "description", family->help);
		json_string(json, "unit",
			    !strcmp(family->unit, "seconds") ? "s"
			    : !strcmp(family->unit, "bytes") ? "By"
							     : "1");
		json_object(json, kinds[family->type]);
		json_array(json, "dataPoints");
	}
	json_object(json, NULL);
	json_array(json, "attributes");
	for (u32 i = 0; labels && i < METRIC_LABELS && labels->all[i].name; i++)
		put_attribute(json, labels->all[i].name, labels->all[i].value);
	json_array_end(json);
	put_u64(json, "startTimeUnixNano", metrics->start_wall_ns);
	put_u64(json, "timeUnixNano", metrics->wall_ns);
}

void otlp_number(struct openmetrics *metrics, const struct metric_family *family, const struct metric_labels *labels,
		 u64 value, bool is_seconds)
{
	struct json *json = &metrics->json;

	begin_point(metrics, family, labels);
	if (is_seconds)
		json_decimal(json, "asDouble", value, 9);
	else
		put_u64(json, "asInt", value);
	json_object_end(json);
}

void otlp_histogram(struct openmetrics *metrics, const struct metric_family *family, const struct metric_labels *labels,
		    const struct metric_buckets *buckets)
{
	struct json *json = &metrics->json;
	u64 count = 0;

	begin_point(metrics, family, labels);
	for (u32 i = 0; i < buckets->len; i++)
		count += buckets->counts[i];
	put_u64(json, "count", count);
	json_decimal(json, "sum", buckets->sum_ns, 9);
	json_array(json, "bucketCounts");
	for (u32 i = 0; i < buckets->len; i++)
		put_u64(json, NULL, buckets->counts[i]);
	json_array_end(json);
	json_array(json, "explicitBounds");
	for (u32 i = 0; i + 1 < buckets->len; i++)
		json_decimal(json, NULL, buckets->most_ns[i], 9);
	json_array_end(json);
	json_object_end(json);
}
