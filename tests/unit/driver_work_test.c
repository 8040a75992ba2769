// SPDX-License-Identifier: GPL-2.0
/* Work of kernel threads, added up by process and function. */
#include "../../src/model/driver_work.h"

#include <string.h>

#include "tap.h"

static struct driver_work work;

static void done(u32 pid, const char *function, u64 duration_ns, u64 queued_ns)
{
	struct event_cuda_work event = {
		.head = { .kind = EVENT_CUDA_WORK }, .duration_ns = duration_ns, .queued_ns = queued_ns, .pid = pid
	};

	memcpy(event.function.text, function, strlen(function));
	driver_work_handle(&work, &event.head);
}

int main(void)
{
	struct event_cuda_work hostile;
	struct event_cuda_call other = { .head = { .kind = EVENT_CUDA_CALL }, .pid = 9 };
	char name[16];

	done(1, "flush [nvidia]", 500, 20);
	done(1, "flush [nvidia]", 300, 30);
	done(1, "free_later [nvidia_uvm]", 7, 0);
	done(2, "flush [nvidia]", 1000, 1);
	driver_work_handle(&work, &other.head);
	is(work.rows_len, 3, "work has a row for each process and function, and other events none");
	is(work.rows[0].times, 2, "work of one function is counted");
	is(work.rows[0].total_ns, 800, "time of work adds up");
	is(work.rows[0].max_ns, 500, "longest of several works is kept");
	is(work.rows[0].queued_ns, 50, "time until works began adds up");
	is(work.rows[2].total_ns, 1000, "work for another process is that one's");
	memset(&hostile, 0xff, sizeof(hostile));
	hostile.head = (struct event_header){ .kind = EVENT_CUDA_WORK };
	driver_work_handle(&work, &hostile.head);
	is(work.rows[3].times, 1, "function without an end is a function like others");
	for (u32 i = 0; i < DRIVER_WORK_ROWS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		done(3, name, 1, 1);
	}
	is(work.rows_len, DRIVER_WORK_ROWS, "rows have an end");
	is(work.left_out, 4, "works without a row are counted");
	return tap_end();
}
