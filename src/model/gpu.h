/* SPDX-License-Identifier: GPL-2.0 */
/* GPU drivers in words, and which function of a driver takes its ioctls.
 * What the kernel half finds out about them is in core/ioc.h. */
#ifndef TACTUS_MODEL_GPU_H
#define TACTUS_MODEL_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/gpu_config.h"

/* "amdgpu"; "a GPU" for one that is not known by name. */
const char *gpu_driver_name(u32 driver);

/* What it is that a thread was seen doing, to go before the driver's name: "submitted to". With NVIDIA's driver work
 * itself can't be seen, see core/ioc.h, so it is another word there. */
const char *gpu_deed(u32 driver);

/* What was submitted, an enum gpu_work: "commands", "flip". */
const char *gpu_work_name(u32 work);

struct gpu_function {
	char name[64];
	bool with_inode; /* see struct gpu_config */
	int rank;	 /* how good a find it is, 1 is best; 0: none was found */
};

/* Takes a line of /proc/kallsyms: keeps the function if it takes the ioctls of a family (GPU_OF_NVIDIA, GPU_OF_UVM) and
 * is a better find than the one that is kept already. */
void gpu_consider_symbol(struct gpu_function *best, u32 family, const char *line);

/* Takes a line of /proc/devices: the families (GPU_OF_*) that it names. The major number of UVM differs from boot to
 * boot; it is stored. */
u32 gpu_families_of_device(const char *line, u32 *uvm_major);

/* By a driver's name in text, of any length. */
u32 gpu_driver_of_text(const char *name);

#endif
