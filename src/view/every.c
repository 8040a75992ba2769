// SPDX-License-Identifier: GPL-2.0
#include "every.h"

#include <stdio.h>
#include <unistd.h>

#include "../sink/json.h"
#include "../sink/terminal.h"

/* Lines besides a table's rows: its heading, what was left out, and where the cursor is. */
enum { LINES_BESIDE = 6 };

static bool is_in_place(const struct options *options)
{
	return isatty(STDOUT_FILENO) && !options->duration_ns && !options->command && !options->json &&
	       !options->input && !options->report;
}

u64 every_ns(struct options *options)
{
	size_t height = terminal_height(stdout);

	if (!is_in_place(options))
		return options->interval_ns;
	if (!options->rows && height > LINES_BESIDE + 1)
		options->rows = (u32)(height - LINES_BESIDE);
	return options->interval_ns ? options->interval_ns : NSEC_PER_SEC;
}

void every_begin(const struct options *options, u64 start_ns, u64 from_ns, u64 to_ns)
{
	struct json json = { .out = stdout };
	double from_s = (double)(from_ns - start_ns) / NSEC_PER_SEC, to_s = (double)(to_ns - start_ns) / NSEC_PER_SEC;

	if (options->json) {
		json_record(&json, "interval", true);
		json_u64(&json, "time_ns", to_ns);
		json_u64(&json, "span_ns", to_ns - from_ns);
		json_object_end(&json);
		json_line_end(&json);
		return;
	}
	if (is_in_place(options))
		fputs("\033[H\033[J", stdout);
	printf("%.3f s to %.3f s\n", from_s, to_s);
}

void every_end(void)
{
	/* That a reader went away is noticed at the next tick. */
	fflush(stdout);
}
