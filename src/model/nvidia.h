/* SPDX-License-Identifier: GPL-2.0 */
/* NVIDIA's ioctls by name, as its open kernel modules declare them. */
#ifndef TACTUS_MODEL_NVIDIA_H
#define TACTUS_MODEL_NVIDIA_H

#include <stddef.h>

#include "../../core/cuda.h"

/* By the number in the command, for /dev/nvidia*; NULL: it has no name here. */
const char *nvidia_escape_name(u32 nr);

/* By the whole command, for /dev/nvidia-uvm. */
const char *nvidia_uvm_name(u32 cmd);

/* Of an object that is allocated. */
const char *nvidia_class_name(u32 class);

/* Of an RM_CONTROL. */
const char *nvidia_control_name(u32 control);

/* Of the status in the structure. */
const char *nvidia_status_name(u32 status);

/* All of it in words, such as "RM_ALLOC HOPPER_CHANNEL_GPFIFO_A" or "UVM_REGISTER_GPU"; numbers where there is no name.
 * `inner_nr`: of the wrapped one where it is wrapped. */
void nvidia_describe(char *into, size_t size, u32 device, u32 cmd, u32 inner_nr, u32 detail);

#endif
