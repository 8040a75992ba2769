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
	return tap_end();
}
