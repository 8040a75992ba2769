// SPDX-License-Identifier: GPL-2.0
/* The page around the records. report/page.html, with its style and its script inside and their hashes in its policy,
 * lies in the program; the records go where its mark is, through the one way that escapes them. */
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

static const char mark[] = "@RECORDS@";

int report_write_page(struct report_show *show, FILE *out)
{
	size_t len = (size_t)report_page_bytes, head;
	const char *at = memmem(report_page, len, mark, strlen(mark));
	FILE *data = page_data_open(out), *standard = stdout;
	int error;

	if (!at || !data) {
		if (data)
			fclose(data);
		fail("report", "%s", at ? "out of memory" : "the page in the program is broken");
		return -1;
	}
	head = (size_t)(at - report_page);
	fwrite(report_page, 1, head, out);
	/* What prints records prints them to whatever this is. */
	stdout = data;
	error = report_print_records(show);
	stdout = standard;
	if (fclose(data))
		return -1;
	fwrite(at + strlen(mark), 1, len - head - strlen(mark), out);
	return error;
}
