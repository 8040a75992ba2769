/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks on the kernel's work queues and on threads of NVIDIA's: what kernel threads do for a watched process
 * (bpf/cuda_work.h). */
#ifndef TACTUS_SENSOR_CUDA_WORK_H
#define TACTUS_SENSOR_CUDA_WORK_H

#include <stdbool.h>

struct bpf_link;
struct cuda_bpf;

enum { WORK_HOOKS = 5 };

struct cuda_work {
	struct bpf_link *links[WORK_HOOKS];
};

/* Which of the programs are loaded, before they are. `wanted`: ioctls of NVIDIA's drivers are watched. */
void cuda_work_configure(struct cuda_bpf *skeleton, bool wanted, bool interrupts_seen);
/* Attaches what was loaded. That it can't be done costs nothing else, and is said. */
void cuda_work_attach(struct cuda_work *work, struct cuda_bpf *skeleton, bool interrupts_seen);
void cuda_work_detach(struct cuda_work *work);

#endif
