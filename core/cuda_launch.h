/* SPDX-License-Identifier: GPL-2.0 */
/* What a call that launches a kernel is given: the same at a probe, which has the registers of a stopped thread, and in
 * a traced program that reports its launches itself. */
#ifndef TACTUS_CORE_CUDA_LAUNCH_H
#define TACTUS_CORE_CUDA_LAUNCH_H

#include "cuda.h"
#include "event.h"

/* What cuLaunchKernelEx takes a pointer to, up to the stream. */
struct launch_config {
	u32 grid[3];
	u32 block[3];
	u32 shared_bytes;
	u32 unused;
	u64 stream;
};

/* Arguments of cuLaunchKernel past the six that are in registers everywhere. */
struct launch_rest {
	u64 block_z, shared_bytes, stream;
};

struct launch_arguments {
	u64 in_registers[6];
	struct launch_rest rest;     /* of SHAPE_LAUNCH; else 0 */
	struct launch_config config; /* of SHAPE_LAUNCH_EX; else 0 */
};

core_fn void launch_decode(struct event_cuda_launch *event, const struct launch_arguments *from, u32 shape)
{
	if (shape == SHAPE_LAUNCH) {
		event->kernel = from->in_registers[0];
		event->grid_x = (u32)from->in_registers[1];
		event->grid_y = (u32)from->in_registers[2];
		event->grid_z = (u32)from->in_registers[3];
		event->block_x = (u32)from->in_registers[4];
		event->block_y = (u32)from->in_registers[5];
		event->block_z = (u32)from->rest.block_z;
		event->shared_bytes = (u32)from->rest.shared_bytes;
		event->stream = from->rest.stream;
		return;
	}
	event->kernel = shape == SHAPE_LAUNCH_GRAPH ? from->in_registers[0] : from->in_registers[1];
	event->grid_x = from->config.grid[0];
	event->grid_y = from->config.grid[1];
	event->grid_z = from->config.grid[2];
	event->block_x = from->config.block[0];
	event->block_y = from->config.block[1];
	event->block_z = from->config.block[2];
	event->shared_bytes = from->config.shared_bytes;
	event->stream = shape == SHAPE_LAUNCH_EX      ? from->config.stream
			: shape == SHAPE_LAUNCH_GRAPH ? from->in_registers[1]
						      : from->in_registers[0];
}

#endif
