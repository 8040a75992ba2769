// SPDX-License-Identifier: GPL-2.0
/* The page around the records. report/page.html, with its style and its script inside and their hashes in its policy,
 * lies in the program; the records go where its mark is, through the one way that escapes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../sink/page.h"
#include "report_view.h"

__asm__(".pushsection .rodata\n"
	"report_page: .incbin \"" REPORT_PAGE "\"\n"
	"report_page_end: .balign 8\n"
	"report_page_bytes: .quad report_page_end - report_page\n"
	".popsection\n");
extern const char report_page[];
extern const u64 report_page_bytes;

static const char records_mark[] = "@RECORDS@", policy_mark[] = "@CONNECT@";

static const char *find(const char *from, const char *mark)
{
	return memmem(from, (size_t)(report_page + report_page_bytes - from), mark, strlen(mark));
}

/* The page's policy allows no request; one that is served may ask where it came from. `allowed` stands in its place. */
static bool cut_page(struct report_page_parts *parts, const char *allowed)
{
	const char *policy = find(report_page, policy_mark), *records = policy ? find(policy, records_mark) : NULL;
	size_t policy_len = policy ? (size_t)(policy - report_page) : 0;
	const char *rest = policy + strlen(policy_mark);
	static char *before;

	if (!records)
		return false;
	free(before);
	parts->before_len = policy_len + strlen(allowed) + (size_t)(records - rest);
	parts->before = before = malloc(parts->before_len);
	if (!before)
		return false;
	memcpy(before, report_page, policy_len);
	memcpy(before + policy_len, allowed, strlen(allowed));
	memcpy(before + policy_len + strlen(allowed), rest, (size_t)(records - rest));
	parts->after = records + strlen(records_mark);
	parts->after_len = (size_t)(report_page + report_page_bytes - parts->after);
	return true;
}

bool report_page_written(struct report_page_parts *parts)
{
	return cut_page(parts, "");
}

bool report_page_served(struct report_page_parts *parts)
{
	return cut_page(parts, " connect-src 'self';");
}

int report_write_page(FILE *out, int (*print)(void *data), void *data)
{
	struct report_page_parts parts;
	FILE *records = page_data_open(out), *standard = stdout;
	bool is_sound;
	int error;

	errno = 0;
	is_sound = report_page_written(&parts);
	if (!is_sound || !records) {
		if (records)
			fclose(records);
		fail("report", "%s",
		     is_sound || errno == ENOMEM ? "out of memory" : "the page in the program is broken");
		return -1;
	}
	fwrite(parts.before, 1, parts.before_len, out);
	/* What prints records prints them to whatever this is. */
	stdout = records;
	error = print(data);
	stdout = standard;
	if (fclose(records))
		return -1;
	fwrite(parts.after, 1, parts.after_len, out);
	return error;
}
