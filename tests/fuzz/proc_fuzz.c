// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the parsers of what /proc says of a thread, whose name and control group others choose: any bytes as each of
 * the texts. What they take must make sense. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/proc.h"
#include "../../src/base/tracepoint_format.h"

enum { NICE_LEAST = -20, NICE_NONE = 20 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* A name of the thread's own choice before what the kernel says changes nothing of it. */
static void compare_renamed(const char *text)
{
	static const char name[] = "7 (a) R 1 (b\n";
	size_t len = strlen(text);
	char *renamed;

	if (!strchr(text, ')'))
		return;
	renamed = malloc(sizeof(name) + len);
	if (!renamed)
		abort();
	memcpy(renamed, name, sizeof(name) - 1);
	memcpy(renamed + sizeof(name) - 1, text, len + 1);
	if (stat_start_ticks(renamed) != stat_start_ticks(text) || stat_cpu_ticks(renamed) != stat_cpu_ticks(text))
		abort();
	free(renamed);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1);
	u32 uid = 0, offset = 0;
	size_t top_len;
	s32 least;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	compare_renamed(text);
	if (!status_real_uid(text, &uid) && !strstr(text, "Uid:"))
		abort();
	status_pid(text);
	top_len = cgroup_top_len(text);
	if (top_len > strlen(text) || memchr(text, '\n', top_len))
		abort();
	least = limits_least_nice(text);
	if (least < NICE_LEAST || least > NICE_NONE)
		abort();
	tracepoint_line_has(text, "prev_state", &offset);
	free(text);
	return 0;
}
