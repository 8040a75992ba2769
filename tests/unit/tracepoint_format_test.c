// SPDX-License-Identifier: GPL-2.0
/* base/tracepoint_format.c: fields of a tracepoint's description as the kernel writes it, and lines that are none. */
#include "../../src/base/tracepoint_format.h"
#include "tap.h"

static s64 offset_in(const char *line, const char *field)
{
	u32 offset = 0;

	return tracepoint_line_has(line, field, &offset) ? (s64)offset : -1;
}

int main(void)
{
	is(offset_in("\tfield:u64 fence_context;\toffset:24;\tsize:8;\tsigned:0;\n", "fence_context"), 24,
	   "a field of a plain type is found by its name");
	is(offset_in("\tfield:struct dma_fence * fence;\toffset:16;\tsize:8;\tsigned:0;\n", "fence"), 16,
	   "a pointer is found by its name");
	is(offset_in("\tfield:struct dma_fence *fence;\toffset:16;\tsize:8;\tsigned:0;\n", "fence"), 16,
	   "a pointer is found without a blank before its name");
	is(offset_in("\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n", "name"), 32,
	   "a text is found by its name");
	is(offset_in("\tfield:u64 fence_context;\toffset:24;\tsize:8;\tsigned:0;\n", "context"), -1,
	   "the end of a name is not the name");
	is(offset_in("\tfield:u64 fence_context;\toffset:24;\tsize:8;\tsigned:0;\n", "fence"), -1,
	   "the beginning of a name is not the name");
	is(offset_in("name: drm_sched_job\n", "name"), -1, "the tracepoint's own name is no field");
	is(offset_in(";\toffset:8;", "name"), -1, "a line without a name has no field");
	is(offset_in("\tfield:u64 id;\toffset:99999999999;\tsize:8;", "id"), -1,
	   "an offset beyond any record is refused");
	is(offset_in("", "id"), -1, "an empty line has no field");
	return tap_end();
}
