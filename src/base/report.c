// SPDX-License-Identifier: GPL-2.0
/* glibc prints to whatever `stdout` is: whoever prints need not know where it goes.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "say.h"

static struct {
	FILE *file; /* NULL: standard output */
	FILE *standard;
	bool is_named; /* by --report */
} report;

static void use(FILE *file, bool is_named)
{
	report.file = file;
	report.standard = stdout;
	report.is_named = is_named;
	fflush(stdout);
	stdout = file;
}

/* A stream of its own, since stderr writes every piece at once. */
static int use_stderr(void)
{
	int fd = dup(STDERR_FILENO);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file) {
		use(file, false);
		return 0;
	}
	fail("standard error", "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return EXIT_FAILURE;
}

int report_open(const struct options *options)
{
	struct output_rule rule = { .force = options->force };
	struct reason why = { "" };
	FILE *file;

	if (report.file)
		return 0;
	if (options->report) {
		file = output_text(options->report, &rule, &why);
		if (!file)
			return fail(options->report, "cannot write: %s", why.text);
		use(file, true);
		return 0;
	}
	if (options->output_is_stdout || (options->command && !options->json && !isatty(STDOUT_FILENO)))
		return use_stderr();
	return 0;
}

int report_close(int status)
{
	FILE *file = report.file;
	bool is_whole;

	if (!file)
		return finish_output(status);
	stdout = report.standard;
	report.file = NULL;
	if (!report.is_named)
		return fclose(file) && !status ? EXIT_FAILURE : status;
	is_whole = output_close(file);
	return is_whole || status ? status : EXIT_FAILURE;
}
