// SPDX-License-Identifier: GPL-2.0
/* core/cuda_launch.h: what each call that launches is given. */
#include "../../core/cuda_launch.h"
#include "tap.h"

static struct launch_arguments given(void)
{
	return (struct launch_arguments){
		.in_registers = { 11, 12, 13, 14, 15, 16 },
		.rest = { .block_z = 17, .shared_bytes = 18, .stream = 19 },
		.config = { .grid = { 21, 22, 23 }, .block = { 24, 25, 26 }, .shared_bytes = 27, .stream = 28 }
	};
}

static void test_plain(void)
{
	struct launch_arguments from = given();
	struct event_cuda_launch event = { .kernel = 0 };

	launch_decode(&event, &from, SHAPE_LAUNCH);
	is(event.kernel, 11, "cuLaunchKernel's kernel is its first argument");
	is(event.grid_x, 12, "cuLaunchKernel's grid begins with its second argument");
	is(event.grid_z, 14, "cuLaunchKernel's grid ends with its fourth argument");
	is(event.block_x, 15, "cuLaunchKernel's block begins with its fifth argument");
	is(event.block_z, 17, "cuLaunchKernel's block ends with its seventh argument");
	is(event.shared_bytes, 18, "cuLaunchKernel's shared bytes are its eighth argument");
	is(event.stream, 19, "cuLaunchKernel's stream is its ninth argument");
}

static void test_by_config(void)
{
	struct launch_arguments from = given();
	struct event_cuda_launch event = { .kernel = 0 };

	launch_decode(&event, &from, SHAPE_LAUNCH_EX);
	is(event.kernel, 12, "cuLaunchKernelEx's kernel is its second argument");
	is(event.grid_x, 21, "cuLaunchKernelEx's grid is the structure's");
	is(event.block_z, 26, "cuLaunchKernelEx's block is the structure's");
	is(event.shared_bytes, 27, "cuLaunchKernelEx's shared bytes are the structure's");
	is(event.stream, 28, "cuLaunchKernelEx's stream is the structure's");
}

static void test_graph(void)
{
	struct launch_arguments from = given();
	struct event_cuda_launch event = { .kernel = 0 };

	from.config = (struct launch_config){ .stream = 0 };
	launch_decode(&event, &from, SHAPE_LAUNCH_GRAPH);
	is(event.kernel, 11, "cuGraphLaunch's graph stands for its kernel");
	is(event.stream, 12, "cuGraphLaunch's stream is its second argument");
	is(event.grid_x, 0, "cuGraphLaunch has no grid");
}

int main(void)
{
	test_plain();
	test_by_config();
	test_graph();
	return tap_end();
}
