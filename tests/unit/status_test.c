// SPDX-License-Identifier: GPL-2.0
/* The heading over the lines of 'tactus run': each word ends where its number does. */
#include "../../src/view/status.h"

#include <stdlib.h>

#include "tap.h"

/* Where each word of a line ends; a number with its unit is one word. */
static int ends_of(const char *line, int *ends, int most)
{
	int len = 0;

	for (int at = 0; line[at] && line[at] != '\n' && len < most; at++) {
		int is_end = line[at] != ' ' && (line[at + 1] == ' ' || line[at + 1] == '\n' || !line[at + 1]);
		int has_unit = line[at + 1] == ' ' &&
			       (line[at + 2] == '%' || line[at + 2] == 'u' || line[at + 2] == 'm');

		if (is_end && line[at] != '|' && !(line[at] >= '0' && line[at] <= '9' && has_unit))
			ends[len++] = at;
	}
	return len;
}

int main(void)
{
	char words[DETECTION_WORDS_SIZE];
	struct run_status status = { .span_ns = NSEC_PER_SEC,
				     .busy_ns = 1,
				     .switches = 123456,
				     .moves = 12,
				     .deadline_misses = 3,
				     .wait_p99_ns = { 70000, 80000, 2000000 },
				     .waits = { 1, 1, 1 },
				     .actuator = "scx" };
	char *text = NULL, *heading, *line;
	int head_ends[32], line_ends[32], len;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	status_print_head(out);
	status_print_line(out, &status);
	fclose(out);
	heading = strchr(text, '\n') + 1;
	line = strchr(heading, '\n') + 1;
	len = ends_of(heading, head_ends, 32);
	is(len, 18, "heading of the status lines has a word for each column");
	is(ends_of(line, line_ends, 32), len, "status line has as many words as its heading");
	/* The first two stand at the left. */
	for (int i = 2; i < len; i++)
		is(line_ends[i], head_ends[i], "number %d of a status line ends below its word", i);
	is(strchr(heading, '|') - heading, strchr(text, '|') - text, "groups of the heading stand over their columns");
	free(text);
	detection_words(words, &status);
	is_text(words, "threads by evidence: none 0; hits of hooks: none 0",
		"detection of nothing is said in words as nothing");
	status.by_evidence[EVIDENCE_WINE] = 4;
	status.by_evidence[EVIDENCE_GPU] = 2;
	status.hits[HIT_PRESENTS] = 1200;
	status.hits[HIT_GPU_SUBMITS] = 7;
	detection_words(words, &status);
	is_text(words, "threads by evidence: wine 4, gpu 2; hits of hooks: presents 1200, gpu_submits 7",
		"detection is said in words by kind of evidence and by hook");
	memset(status.by_evidence, 0xff, sizeof(status.by_evidence));
	memset(status.hits, 0xff, sizeof(status.hits));
	detection_words(words, &status);
	ok(strlen(words) < sizeof(words), "detection of the largest numbers fits");
	return tap_end();
}
