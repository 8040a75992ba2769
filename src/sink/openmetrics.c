// SPDX-License-Identifier: GPL-2.0
/* One line a sample. Whatever a label says, a line stays a line.
 */
#include "openmetrics.h"

#include <inttypes.h>
#include <string.h>

#include "otlp.h"

enum { EXEMPLAR_RUNES = 128 }; /* of all names and values together: OpenMetrics allows no more */

static const char *const type_names[] = { "counter", "gauge", "histogram", "info" };

/* Backslash, quote and newline as the format has it. What is no printable ASCII becomes '?': UTF-8 that is none must
 * not spoil a whole scrape. Returns how many characters that is for a reader. */
static size_t put_text(FILE *out, const char *text, size_t most)
{
	size_t len = 0;

	for (; len < most && text[len]; len++) {
		if (text[len] == '\\' || text[len] == '"')
			fputc('\\', out);
		fputc(text[len] >= ' ' && text[len] <= '~' ? text[len] : '?', out);
	}
	return len;
}

/* `le`: of a bucket; NULL: it is none. */
static void put_labels(FILE *out, const struct metric_labels *labels, const char *le)
{
	bool follows = false;

	for (u32 i = 0; labels && i < METRIC_LABELS && labels->all[i].name; i++) {
		fprintf(out, "%c%s=\"", follows ? ',' : '{', labels->all[i].name);
		put_text(out, labels->all[i].value, METRIC_TEXT_SIZE);
		fputc('"', out);
		follows = true;
	}
	if (le)
		fprintf(out, "%cle=\"%s\"", follows ? ',' : '{', le);
	if (follows || le)
		fputc('}', out);
}

static const char *suffix_of(const struct metric_family *family)
{
	return family->type == METRIC_COUNTER ? "_total" : family->type == METRIC_INFO ? "_info" : "";
}

static void begin(struct openmetrics *metrics, const struct metric_family *family)
{
	/* The older format knows no families: a sample's name is all that there is. */
	const char *suffix = metrics->form == FORM_PLAIN ? suffix_of(family) : "";
	const char *type = metrics->form == FORM_PLAIN && family->type == METRIC_INFO ? "gauge"
										      : type_names[family->type];

	metrics->samples++;
	if (metrics->family == family)
		return;
	metrics->family = family;
	fprintf(metrics->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help, family->name,
		suffix, type);
	if (metrics->form == FORM_OPENMETRICS && family->unit[0])
		fprintf(metrics->out, "# UNIT %s %s\n", family->name, family->unit);
}

static void put_seconds(FILE *out, u64 ns)
{
	u64 whole = ns / NSEC_PER_SEC, rest = ns % NSEC_PER_SEC;
	char digits[16];
	int len = snprintf(digits, sizeof(digits), "%09" PRIu64, rest);

	while (len > 1 && digits[len - 1] == '0')
		digits[--len] = '\0';
	fprintf(out, "%" PRIu64 ".%s", whole, digits);
}

void openmetrics_count(struct openmetrics *metrics, const struct metric_family *family,
		       const struct metric_labels *labels, u64 value)
{
	if (metrics->form == FORM_OTLP) {
		otlp_number(metrics, family, labels, value, false);
		return;
	}
	begin(metrics, family);
	fprintf(metrics->out, "%s%s", family->name, suffix_of(family));
	put_labels(metrics->out, labels, NULL);
	fprintf(metrics->out, " %" PRIu64 "\n", value);
}

void openmetrics_seconds(struct openmetrics *metrics, const struct metric_family *family,
			 const struct metric_labels *labels, u64 value_ns)
{
	if (metrics->form == FORM_OTLP) {
		otlp_number(metrics, family, labels, value_ns, true);
		return;
	}
	begin(metrics, family);
	fprintf(metrics->out, "%s%s", family->name, suffix_of(family));
	put_labels(metrics->out, labels, NULL);
	fputc(' ', metrics->out);
	put_seconds(metrics->out, value_ns);
	fputc('\n', metrics->out);
}

static size_t runes_of(const struct metric_labels *labels)
{
	size_t runes = 0;

	for (u32 i = 0; i < METRIC_LABELS && labels->all[i].name; i++)
		runes += strlen(labels->all[i].name) + strnlen(labels->all[i].value, METRIC_TEXT_SIZE);
	return runes;
}

static void put_exemplar(FILE *out, const struct metric_exemplar *exemplar)
{
	if (!exemplar->value_ns || runes_of(&exemplar->labels) > EXEMPLAR_RUNES)
		return;
	fputs(" # ", out);
	put_labels(out, &exemplar->labels, NULL);
	fputc(' ', out);
	put_seconds(out, exemplar->value_ns);
	fprintf(out, " %" PRIu64 ".%03" PRIu64, exemplar->wall_ns / NSEC_PER_SEC,
		exemplar->wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC);
}

static void put_edge(char *into, size_t size, u64 most_ns)
{
	u64 rest = most_ns % NSEC_PER_SEC;

	if (most_ns == ~0ULL)
		snprintf(into, size, "+Inf");
	else
		snprintf(into, size, "%" PRIu64 ".%09" PRIu64, most_ns / NSEC_PER_SEC, rest);
}

void openmetrics_histogram(struct openmetrics *metrics, const struct metric_family *family,
			   const struct metric_labels *labels, const struct metric_buckets *buckets)
{
	FILE *out = metrics->out;
	u64 count = 0;
	char le[32];

	if (metrics->form == FORM_OTLP) {
		otlp_histogram(metrics, family, labels, buckets);
		return;
	}
	begin(metrics, family);
	for (u32 i = 0; i < buckets->len; i++) {
		count += buckets->counts[i];
		put_edge(le, sizeof(le), buckets->most_ns[i]);
		fprintf(out, "%s_bucket", family->name);
		put_labels(out, labels, le);
		fprintf(out, " %" PRIu64, count);
		if (buckets->exemplars && metrics->form == FORM_OPENMETRICS)
			put_exemplar(out, &buckets->exemplars[i]);
		fputc('\n', out);
	}
	fprintf(out, "%s_sum", family->name);
	put_labels(out, labels, NULL);
	fputc(' ', out);
	put_seconds(out, buckets->sum_ns);
	fprintf(out, "\n%s_count", family->name);
	put_labels(out, labels, NULL);
	fprintf(out, " %" PRIu64 "\n", count);
}

void openmetrics_end(struct openmetrics *metrics)
{
	if (metrics->form == FORM_OPENMETRICS)
		fputs("# EOF\n", metrics->out);
}
