/* SPDX-License-Identifier: GPL-2.0 */
/* What a stream of cuda events adds up to: calls and the ioctls inside them, memory, copies, launches, waits, errors.
 * Spans are joined by thread and time alone: what lies inside a call is the call's, and nothing else is. */
#ifndef TACTUS_MODEL_CUDA_H
#define TACTUS_MODEL_CUDA_H

#include "../../core/event.h"
#include "../../core/hist.h"
#include "cuda_api.h"
#include "threads.h"

/* One function of libcuda, by its number in the stream. */
struct cuda_calls {
	char *name;
	const struct cuda_api *api;
	u64 entered, returned, failed; /* counted in the kernel, every call */
	u64 entries;		       /* events of calls whose end is not watched */
	u64 ioctls;		       /* inside them */
	u64 ioctl_ns, nested_ns, wait_ns;
	u64 driver_ns;		/* in functions of the driver that are in none of its ioctls */
	struct hist *durations; /* of calls that were seen whole; NULL: there was none */
};

struct cuda_ioctls {
	u32 device, cmd, inner_nr, detail;
	u64 inside;    /* of them, inside a call */
	u64 failed;    /* the system call itself */
	u64 refused;   /* the driver's status was not 0 */
	u32 status;    /* the last such */
	u64 driver_ns; /* in watched functions of the driver */
	struct hist durations;
	struct cuda_ioctls *next;
};

struct cuda_kernel {
	char *name; /* NULL: it was never reported */
	u32 pid;
	u32 shape; /* enum cuda_shape, of the function that launched it */
	u64 handle;
	u64 launches;
	u32 grid[3], block[3]; /* of the last launch */
	u32 shared_bytes;
	u64 first_ns, last_ns;
	struct cuda_kernel *next; /* in its slot */
};

struct cuda_allocation {
	u64 address, bytes, at_ns;
	u32 function, tid;
	enum cuda_memory memory;
	struct cuda_allocation *next; /* in its slot */
};

struct cuda_memory_use {
	u64 now_bytes, peak_bytes, total_bytes;
	u64 allocations, frees;
};

enum {
	CUDA_SLOTS = 4096,
	CUDA_KERNELS_MAX = 1 << 18,
	/* Launches of more are all counted as of one kernel without a name: a program may make numbers up. */
	CUDA_KERNELS_OF_PROCESS = 1 << 14,
};

struct cuda_process {
	u32 pid;
	struct comm comm;
	u64 launches, calls, ioctls;
	u64 kernels; /* seen without a name before */
	struct cuda_memory_use memory[MEMORY_KINDS];
	u64 unknown_frees; /* of what was allocated before, or elsewhere */
	struct cuda_allocation *allocations[CUDA_SLOTS];
	u64 last_ns; /* when a thread of its did something */
	struct cuda_process *next;
};

struct cuda_copies {
	u64 count, bytes, ns;
};

struct cuda_error {
	u32 function, result;
	u64 count;
	struct cuda_error *next;
};

/* The GPU reported an error. */
struct cuda_xid {
	u64 at_ns;
	u32 code;
	struct long_name message;
	struct cuda_xid *next;
};

struct cuda_thread;

struct cuda {
	struct cuda_calls *functions; /* by number; those without a name are not there */
	u32 functions_len;
	struct cuda_ioctls *ioctls; /* the newest first */
	struct cuda_kernel *kernels[CUDA_SLOTS];
	u32 kernels_len;
	u64 seed; /* of the slots */
	struct cuda_process *processes;
	struct cuda_copies copies[COPY_KINDS][2]; /* those that return when done, and those that return before */
	struct cuda_error *errors;
	struct cuda_xid *xids; /* the last first */
	struct cuda_thread *threads[CUDA_SLOTS];
	u64 launches;		     /* events */
	u64 calls;		     /* events, launches whose end is not watched included */
	u64 outside, outside_ns;     /* ioctls outside any call that was seen whole */
	u64 inside_ns;		     /* ioctls inside */
	u64 driver_spans, driver_ns; /* watched functions of the driver, inside ioctls */
	u64 waits, wait_total_ns;    /* synchronisation */
	u64 first_ns, last_ns;
	u32 rows_len;	     /* threads and processes */
	u32 rows_most;	     /* set by who watches for days; 0: as many as there are */
	u64 refused;	     /* events for which there was no row and no room for one */
	bool no_allocations; /* set by who asks for no memory: what was allocated is not kept */
	bool failed;	     /* something is missing for want of memory */
};

void cuda_init(struct cuda *cuda);
void cuda_free(struct cuda *cuda);

/* Takes an event that `threads` has taken; other kinds than cuda's are none of its business. */
void cuda_handle(struct cuda *cuda, const struct threads *threads, const struct event_header *event);

/* For who watches for days: threads and processes that have ended, or did nothing since then, make room; so does what
 * single ioctls and the GPUs themselves have said. */
void cuda_forget(struct cuda *cuda, const struct threads *threads, u64 since_ns);

/* Nothing more comes: ioctls that no call has turned out to be around are outside. */
void cuda_end(struct cuda *cuda);

/* A function's name, NULL if it was not reported. */
const char *cuda_function_name(const struct cuda *cuda, u32 function);

/* A kernel by its handle in a process; NULL: not known. */
const struct cuda_kernel *cuda_kernel_of(const struct cuda *cuda, u32 pid, u64 handle);

/* How often a function was called, by the kernel's count or, where there is none, by events. */
u64 cuda_times_called(const struct cuda_calls *calls);

#endif
