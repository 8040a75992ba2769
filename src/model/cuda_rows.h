/* SPDX-License-Identifier: GPL-2.0 */
/* Who calls into CUDA: processes, and threads with what may still lie inside a call of theirs. For model/cuda.c alone.
 */
#ifndef TACTUS_MODEL_CUDA_ROWS_H
#define TACTUS_MODEL_CUDA_ROWS_H

#include "cuda.h"

enum { CUDA_PENDING_MAX = 512 };

/* A span that has ended. */
struct cuda_span {
	u64 from_ns, duration_ns;
	struct cuda_ioctls *ioctl; /* NULL: it is a call, or a function of the driver */
	bool is_driver;
};

struct cuda_thread {
	u32 tid;
	u32 len;
	u64 last_ns;
	struct cuda_process *process;
	struct cuda_thread *next;
	struct cuda_span pending[CUDA_PENDING_MAX];
};

/* Memory for one more of something, or NULL after a note that something is missing. */
void *cuda_make(struct cuda *cuda, size_t bytes);

u32 cuda_slot_of(const struct cuda *cuda, u64 key);

/* The row of the event's thread, and of its process or the one given; NULL: there is no room or memory for one. */
struct cuda_thread *cuda_thread_of(struct cuda *cuda, const struct threads *threads, const struct event_header *event);
struct cuda_process *cuda_process_of(struct cuda *cuda, const struct threads *threads, const struct event_header *event,
				     u32 pid);

#endif
