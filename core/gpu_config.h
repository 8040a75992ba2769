/* SPDX-License-Identifier: GPL-2.0 */
/* What the gpu sensor's two halves agree on: settings of one of its objects, and what it counts.
 * Included by bpf/gpu.bpf.c and by src/sensor/gpu.c. */
#ifndef TACTUS_CORE_GPU_CONFIG_H
#define TACTUS_CORE_GPU_CONFIG_H

#include "ioc.h"

/* Devices that a hook serves, as bits. */
enum {
	GPU_OF_DRM = 1 << 0,
	GPU_OF_NVIDIA = 1 << 1,
	GPU_OF_UVM = 1 << 2,
};

enum { GPU_MINORS_MAX = 1024 };

struct gpu_config {
	u32 families;	/* GPU_OF_*; at a function of a driver only its own */
	u32 uvm_major;	/* 0: there is none */
	u32 with_inode; /* the function's first argument is the inode, as it once was for every ioctl */
	u32 ends_seen;	/* a hook at the end of the call is there too, which sends the event */
	u32 by_minor;	/* tell DRM's drivers apart by the device's number, not by what the kernel calls them */
};

struct gpu_count {
	u64 submits;
	u64 others;
};

#endif
