/* SPDX-License-Identifier: GPL-2.0 */
/* Errors that NVIDIA's driver reports of its GPUs (Xids), by a tracepoint of its own. The driver may come later. */
#ifndef TACTUS_SENSOR_CUDA_XID_H
#define TACTUS_SENSOR_CUDA_XID_H

#include <stdbool.h>

struct bpf_link;
struct cuda_bpf;

struct cuda_xids {
	struct bpf_link *link; /* NULL: the driver is not here, or has no such tracepoint */
	bool given_up;
};

/* Hooks it if it is there and is not hooked yet. */
void cuda_xids_attach(struct cuda_xids *xids, struct cuda_bpf *skeleton);
void cuda_xids_detach(struct cuda_xids *xids);

#endif
