// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../core/plain.h"
#include "loop.h"

enum { PATIENCE_NS = 2 * (u64)NSEC_PER_SEC, EVERY_NS = NSEC_PER_SEC / 5, LINE_SIZE = 256, LINE_SHOWN = 79 };

void progress_begin(struct progress *progress, const char *what, const char *unit)
{
	*progress = (struct progress){
		.what = what, .unit = unit, .began_ns = clock_now_ns(), .is_seen = isatty(STDERR_FILENO)
	};
	progress->shown_ns = progress->began_ns + PATIENCE_NS - EVERY_NS;
}

static void format_count(char *into, size_t size, double count)
{
	if (count >= 999500)
		snprintf(into, size, "%.1f M", count / 1e6);
	else
		snprintf(into, size, "%.0f", count);
}

bool progress_words(char *into, size_t size, const struct progress *progress, u64 now_ns, u64 done, u64 part, u64 whole)
{
	double seconds = (double)(now_ns - progress->began_ns) / NSEC_PER_SEC;
	char count[24], rate[24], share[16] = "";

	if (now_ns - progress->began_ns < PATIENCE_NS)
		return false;
	format_count(count, sizeof(count), (double)done);
	format_count(rate, sizeof(rate), (double)done / seconds);
	if (whole)
		snprintf(share, sizeof(share), "%.0f %%, ", 100.0 * (double)part / (double)whole);
	snprintf(into, size, "%s: %s%s %s, %s/s", progress->what, share, count, progress->unit, rate);
	return true;
}

void progress_at(struct progress *progress, u64 done, u64 part, u64 whole)
{
	char line[LINE_SIZE], plain[LINE_SIZE];
	u64 now_ns;

	if (!progress->is_seen)
		return;
	now_ns = clock_now_ns();
	if (now_ns < progress->shown_ns + EVERY_NS ||
	    !progress_words(line, sizeof(line), progress, now_ns, done, part, whole))
		return;
	progress->shown_ns = now_ns;
	progress->was_shown = true;
	plain_copy(plain, sizeof(plain), line);
	fprintf(stderr, "\r%-*.*s", LINE_SHOWN, LINE_SHOWN, plain);
}

void progress_end(struct progress *progress)
{
	if (progress->was_shown)
		fprintf(stderr, "\r%*s\r", LINE_SHOWN, "");
	*progress = (struct progress){ 0 };
}
