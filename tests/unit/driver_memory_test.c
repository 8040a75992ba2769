// SPDX-License-Identifier: GPL-2.0
/* Memory that NVIDIA's driver allocated, by its own requests: sums, peaks, frees of memory and of what is none, and
 * more than there is room for. */
#include "../../src/model/driver_memory.h"

#include <stdlib.h>

#include "tap.h"

enum { DEVICE = 0x40, SYSTEM = 0x3e };

static struct driver_memory memory;

static void take(u32 pid, u32 class, u64 object, u64 bytes)
{
	struct event_cuda_call event = { .head = { .kind = EVENT_CUDA_CALL },
					 .function = CUDA_FUNCTION_OF_DRIVER,
					 .pid = pid,
					 .copy = class,
					 .address = object,
					 .bytes = bytes };

	driver_memory_handle(&memory, &event.head);
}

int main(void)
{
	struct event_cuda_call other = {
		.head = { .kind = EVENT_CUDA_CALL }, .function = 1, .copy = DEVICE, .bytes = 1
	};

	driver_memory_handle(&memory, &other.head);
	is(memory.rows_len, 0, "call of libcuda is no memory of the driver");
	take(10, DEVICE, 1, 100);
	take(10, DEVICE, 2, 50);
	take(10, SYSTEM, 3, 7);
	take(11, DEVICE, 4, 9);
	take(10, 0, 1, 0);
	take(10, 0, 99, 0);
	take(10, 0, 1, 0);
	take(10, 0, 0, 0);
	is(memory.rows_len, 3, "memory of the driver is told by process and class");
	is(memory.rows[0].total_bytes, 150, "memory that the driver allocated is added up");
	is(memory.rows[0].peak_bytes, 150, "most memory that the driver had at a time is kept");
	is(memory.rows[0].now_bytes, 50, "memory that the driver freed is subtracted once");
	is(memory.rows[0].frees, 1, "objects that are freed and are no memory are not counted");
	take(10, DEVICE, 1, 30);
	take(10, 0, 1, 0);
	is(memory.rows[0].now_bytes, 50, "handle that is used again is another piece of memory");
	is(memory.rows[0].frees, 2, "piece of memory by a handle that is used again is freed");
	for (u32 pid = 100; pid < 100 + 2 * DRIVER_MEMORY_ROWS; pid++)
		take(pid, DEVICE, pid, 1);
	is(memory.rows_len, DRIVER_MEMORY_ROWS, "memory of the driver is kept of a number of processes");
	ok(memory.failed, "more processes than that are told of");
	ok(nvidia_class_is_memory(DEVICE), "class of a device's memory is one of memory");
	ok(nvidia_class_is_memory(SYSTEM), "class of the system's memory is one of memory");
	ok(!nvidia_class_is_memory(0x70), "class of addresses is none of memory");
	driver_memory_free(&memory);
	return tap_end();
}
