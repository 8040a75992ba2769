// SPDX-License-Identifier: GPL-2.0
/* Adds up cuda events. Each thread keeps the ioctls and inner calls that have ended and may still turn out to lie
 * inside a call that has not: when it ends, they are its own if they began after it did. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../base/vec.h"
#include "cuda_rows.h"

void cuda_init(struct cuda *cuda)
{
	*cuda = (struct cuda){ 0 };
	/* Without one it is only slower with a program that knows how. */
	if (getrandom(&cuda->seed, sizeof(cuda->seed), GRND_NONBLOCK) < 0)
		cuda->seed = 0;
}

static struct cuda_calls *function_at(struct cuda *cuda, u32 number)
{
	if (number >= CUDA_FUNCTIONS_MAX)
		return NULL;
	if (number >= cuda->functions_len) {
		u32 len = (number + 64) & ~63u;
		u32 had = cuda->functions_len;

		if (!vec_lengthen(cuda->functions, cuda->functions_len, len)) {
			cuda->failed = true;
			return NULL;
		}
		for (u32 i = had; i < len; i++)
			cuda->functions[i].api = cuda_api_of("");
	}
	return &cuda->functions[number];
}

const char *cuda_function_name(const struct cuda *cuda, u32 function)
{
	return function < cuda->functions_len ? cuda->functions[function].name : NULL;
}

u64 cuda_times_called(const struct cuda_calls *calls)
{
	u64 seen = calls->entries + (calls->durations ? calls->durations->total : 0);

	return calls->entered > seen ? calls->entered : seen;
}

static void is_outside(struct cuda *cuda, const struct cuda_span *span)
{
	if (!span->ioctl)
		return;
	cuda->outside++;
	cuda->outside_ns += span->duration_ns;
}

static void keep(struct cuda *cuda, struct cuda_thread *thread, const struct cuda_span *span)
{
	if (thread->len == CUDA_PENDING_MAX) {
		is_outside(cuda, &thread->pending[0]);
		memmove(thread->pending, thread->pending + 1, (CUDA_PENDING_MAX - 1) * sizeof(*span));
		thread->len--;
	}
	thread->pending[thread->len++] = *span;
}

/* A call has ended: what began after it did, and has ended before, lies inside. */
static void take_inside(struct cuda *cuda, struct cuda_thread *thread, struct cuda_calls *calls, u64 from_ns)
{
	while (thread->len && thread->pending[thread->len - 1].from_ns >= from_ns) {
		const struct cuda_span *span = &thread->pending[--thread->len];

		if (span->is_driver)
			calls->driver_ns += span->duration_ns;
		else if (!span->ioctl)
			calls->nested_ns += span->duration_ns;
		if (!span->ioctl)
			continue;
		span->ioctl->inside++;
		calls->ioctls++;
		calls->ioctl_ns += span->duration_ns;
		cuda->inside_ns += span->duration_ns;
	}
}

static void all_outside(struct cuda *cuda, struct cuda_thread *thread)
{
	for (u32 i = 0; i < thread->len; i++)
		is_outside(cuda, &thread->pending[i]);
	thread->len = 0;
}

void cuda_end(struct cuda *cuda)
{
	for (u32 slot = 0; slot < CUDA_SLOTS; slot++)
		for (struct cuda_thread *thread = cuda->threads[slot]; thread; thread = thread->next)
			all_outside(cuda, thread);
}

static void count_error(struct cuda *cuda, u32 function, u32 result)
{
	struct cuda_error *error;

	for (error = cuda->errors; error && (error->function != function || error->result != result);)
		error = error->next;
	if (!error) {
		error = cuda_make(cuda, sizeof(*error));
		if (!error)
			return;
		error->function = function;
		error->result = result;
		error->next = cuda->errors;
		cuda->errors = error;
	}
	error->count++;
}

/* Device memory and managed memory are freed by the same function. */
static bool same_heap(enum cuda_memory one, enum cuda_memory other)
{
	bool host = one == MEMORY_HOST || one == MEMORY_HANDLE,
	     other_host = other == MEMORY_HOST || other == MEMORY_HANDLE;

	return host || other_host ? one == other : true;
}

static void allocated(struct cuda *cuda, struct cuda_process *process, const struct event_cuda_call *event,
		      enum cuda_memory memory)
{
	struct cuda_memory_use *use = &process->memory[memory];
	struct cuda_allocation **slot = &process->allocations[cuda_slot_of(cuda, event->address)];
	struct cuda_allocation *allocation = cuda_make(cuda, sizeof(*allocation));

	if (!allocation)
		return;
	allocation->address = event->address;
	allocation->bytes = event->bytes;
	allocation->at_ns = event->head.time_ns;
	allocation->function = event->function;
	allocation->tid = event->head.tid;
	allocation->memory = memory;
	allocation->next = *slot;
	*slot = allocation;
	use->allocations++;
	use->total_bytes += event->bytes;
	use->now_bytes += event->bytes;
	if (use->now_bytes > use->peak_bytes)
		use->peak_bytes = use->now_bytes;
}

static void freed(const struct cuda *cuda, struct cuda_process *process, u64 address, enum cuda_memory memory)
{
	struct cuda_allocation **at = &process->allocations[cuda_slot_of(cuda, address)];

	/* Nothing is freed by a free of nothing. */
	if (!address)
		return;
	while (*at && ((*at)->address != address || !same_heap((*at)->memory, memory)))
		at = &(*at)->next;
	if (*at) {
		struct cuda_allocation *gone = *at;

		process->memory[gone->memory].now_bytes -= gone->bytes;
		process->memory[gone->memory].frees++;
		*at = gone->next;
		free(gone);
	} else {
		process->unknown_frees++;
	}
}

static void copied(struct cuda *cuda, const struct event_cuda_call *event, const struct cuda_api *api)
{
	enum cuda_copy kind = cuda_copy_of(api, event->copy);
	/* Nothing waits for a copy within a device, or for memory to be filled, whatever the function's name. */
	bool early = api->is_async || kind == COPY_DEVICE_TO_DEVICE || kind == COPY_SET;
	struct cuda_copies *copies = &cuda->copies[kind][early];

	copies->count++;
	copies->bytes += event->bytes;
	copies->ns += event->duration_ns;
}

/* What a call means besides the time it took. */
static void understand(struct cuda *cuda, struct cuda_process *process, const struct event_cuda_call *event,
		       const struct cuda_api *api)
{
	if (api->class == CUDA_WAITS) {
		cuda->waits++;
		cuda->wait_total_ns += event->duration_ns;
	}
	if (event->result)
		return;
	if (cuda->no_allocations && (api->class == CUDA_ALLOCATES || api->class == CUDA_FREES))
		return;
	if (api->class == CUDA_ALLOCATES)
		allocated(cuda, process, event, (enum cuda_memory)api->what);
	else if (api->class == CUDA_FREES)
		freed(cuda, process, event->address, (enum cuda_memory)api->what);
	else if (api->class == CUDA_COPIES)
		copied(cuda, event, api);
}

/* A function of the driver: others of it may lie inside, and it inside an ioctl. */
static void take_driver(struct cuda *cuda, struct cuda_thread *thread, struct cuda_calls *calls,
			const struct event_cuda_call *event)
{
	struct cuda_span span = { .from_ns = event->head.time_ns - event->duration_ns,
				  .duration_ns = event->duration_ns,
				  .is_driver = true };

	/* Whoever was on the CPU has nothing to do with it. */
	if (event->copy == DRIVER_IN_INTERRUPT)
		return;
	while (thread->len && thread->pending[thread->len - 1].is_driver &&
	       thread->pending[thread->len - 1].from_ns >= span.from_ns)
		calls->nested_ns += thread->pending[--thread->len].duration_ns;
	keep(cuda, thread, &span);
}

static void handle_call(struct cuda *cuda, const struct threads *threads, const struct event_cuda_call *event)
{
	struct cuda_calls *calls = function_at(cuda, event->function);
	struct cuda_thread *thread = cuda_thread_of(cuda, threads, &event->head);
	struct cuda_process *process = cuda_process_of(cuda, threads, &event->head, event->pid);
	struct cuda_span span = { .from_ns = event->head.time_ns - event->duration_ns,
				  .duration_ns = event->duration_ns };

	if (!calls || !thread || !process)
		return;
	if (!calls->durations)
		calls->durations = cuda_make(cuda, sizeof(*calls->durations));
	if (calls->durations)
		hist_add(calls->durations, event->duration_ns);
	calls->wait_ns += event->wait_ns;
	if (calls->api->class == CUDA_DRIVER) {
		take_driver(cuda, thread, calls, event);
		return;
	}
	cuda->calls++;
	process->calls++;
	take_inside(cuda, thread, calls, span.from_ns);
	if (event->head.flags & EVENT_FLAG_NESTED)
		keep(cuda, thread, &span);
	else
		all_outside(cuda, thread);
	if (event->result)
		count_error(cuda, event->function, event->result);
	understand(cuda, process, event, calls->api);
}

static struct cuda_kernel *find_kernel(const struct cuda *cuda, u32 pid, u64 handle)
{
	struct cuda_kernel *kernel = cuda->kernels[cuda_slot_of(cuda, handle ^ (u64)pid << 40)];

	while (kernel && (kernel->pid != pid || kernel->handle != handle))
		kernel = kernel->next;
	return kernel;
}

static struct cuda_kernel *meet_kernel(struct cuda *cuda, u32 pid, u64 handle)
{
	struct cuda_kernel *kernel = find_kernel(cuda, pid, handle);
	struct cuda_kernel **slot = &cuda->kernels[cuda_slot_of(cuda, handle ^ (u64)pid << 40)];

	if (kernel)
		return kernel;
	kernel = cuda->kernels_len < CUDA_KERNELS_MAX ? cuda_make(cuda, sizeof(*kernel)) : NULL;
	if (!kernel)
		return NULL;
	kernel->pid = pid;
	kernel->handle = handle;
	kernel->next = *slot;
	*slot = kernel;
	cuda->kernels_len++;
	return kernel;
}

const struct cuda_kernel *cuda_kernel_of(const struct cuda *cuda, u32 pid, u64 handle)
{
	return find_kernel(cuda, pid, handle);
}

static void handle_launch(struct cuda *cuda, const struct threads *threads, const struct event_cuda_launch *event)
{
	struct cuda_calls *calls = function_at(cuda, event->function);
	struct cuda_thread *thread = cuda_thread_of(cuda, threads, &event->head);
	struct cuda_kernel *kernel;

	if (!calls || !thread || !thread->process)
		return;
	cuda->launches++;
	thread->process->launches++;
	if (event->head.flags & EVENT_FLAG_ENTRY) {
		calls->entries++;
		cuda->calls++;
		thread->process->calls++;
	}
	kernel = find_kernel(cuda, thread->process->pid, event->kernel);
	if (!kernel && thread->process->kernels++ < CUDA_KERNELS_OF_PROCESS)
		kernel = meet_kernel(cuda, thread->process->pid, event->kernel);
	else if (!kernel)
		kernel = meet_kernel(cuda, thread->process->pid, 0);
	if (!kernel)
		return;
	if (!kernel->launches++)
		kernel->first_ns = event->head.time_ns;
	kernel->last_ns = event->head.time_ns;
	kernel->shape = calls->api->shape;
	kernel->grid[0] = event->grid_x;
	kernel->grid[1] = event->grid_y;
	kernel->grid[2] = event->grid_z;
	kernel->block[0] = event->block_x;
	kernel->block[1] = event->block_y;
	kernel->block[2] = event->block_z;
	kernel->shared_bytes = event->shared_bytes;
}

static struct cuda_ioctls *ioctls_of(struct cuda *cuda, const struct event_cuda_ioctl *event)
{
	struct cuda_ioctls *row;

	for (row = cuda->ioctls; row; row = row->next)
		if (row->device == event->device && row->cmd == event->cmd && row->inner_nr == event->inner_nr &&
		    row->detail == event->detail)
			return row;
	row = cuda_make(cuda, sizeof(*row));
	if (!row)
		return NULL;
	row->device = event->device;
	row->cmd = event->cmd;
	row->inner_nr = event->inner_nr;
	row->detail = event->detail;
	row->next = cuda->ioctls;
	cuda->ioctls = row;
	return row;
}

static void handle_ioctl(struct cuda *cuda, const struct threads *threads, const struct event_cuda_ioctl *event)
{
	struct cuda_thread *thread = cuda_thread_of(cuda, threads, &event->head);
	struct cuda_ioctls *row = ioctls_of(cuda, event);
	struct cuda_span span = { event->head.time_ns - event->duration_ns, event->duration_ns, row, false };

	if (!thread || !row)
		return;
	hist_add(&row->durations, event->duration_ns);
	row->failed += event->result < 0;
	if (event->status) {
		row->refused++;
		row->status = event->status;
	}
	if (thread->process)
		thread->process->ioctls++;
	while (thread->len && thread->pending[thread->len - 1].is_driver &&
	       thread->pending[thread->len - 1].from_ns >= span.from_ns) {
		u64 duration_ns = thread->pending[--thread->len].duration_ns;

		row->driver_ns += duration_ns;
		cuda->driver_ns += duration_ns;
		cuda->driver_spans++;
	}
	keep(cuda, thread, &span);
}

/* What a kernel's name goes on with. Pieces come in order; behind one that was lost, none fits. */
static void take_more(struct cuda *cuda, const struct event_cuda_name *event)
{
	struct cuda_kernel *kernel = find_kernel(cuda, (u32)event->same_as, event->handle);
	size_t behind = event->same_as >> 32, len = strnlen(event->name.text, LONG_NAME_LEN);
	char *longer;

	if (!kernel || !kernel->name || strlen(kernel->name) != behind || behind + len > CUDA_NAME_MAX)
		return;
	longer = realloc(kernel->name, behind + len + 1);
	if (!longer) {
		cuda->failed = true;
		return;
	}
	memcpy(longer + behind, event->name.text, len);
	longer[behind + len] = '\0';
	kernel->name = longer;
}

static void take_name(struct cuda *cuda, const struct event_cuda_name *event)
{
	char text[LONG_NAME_LEN + 1] = "", **name = NULL;
	const char *same_name = NULL;

	if (event->what == CUDA_NAMED_MORE) {
		take_more(cuda, event);
		return;
	}
	if (event->what == CUDA_NAMED_RANGE)
		return;
	memcpy(text, event->name.text, LONG_NAME_LEN);
	if (event->what == CUDA_NAMED_FUNCTION) {
		struct cuda_calls *calls = event->handle < CUDA_FUNCTIONS_MAX ? function_at(cuda, (u32)event->handle)
									      : NULL;

		if (!calls || calls->name)
			return;
		calls->api = cuda_api_of(text);
		name = &calls->name;
	} else {
		const struct cuda_kernel *same = event->what == CUDA_NAMED_SAME
							 ? find_kernel(cuda, event->pid, event->same_as)
							 : NULL;
		struct cuda_kernel *kernel = meet_kernel(cuda, event->pid, event->handle);

		if (!kernel || (event->what == CUDA_NAMED_SAME && (!same || !same->name || same == kernel)))
			return;
		if (same)
			same_name = same->name;
		/* A handle may be another kernel's later. */
		free(kernel->name);
		name = &kernel->name;
	}
	*name = strdup(same_name ? same_name : text);
	cuda->failed |= !*name;
}

static void handle_count(struct cuda *cuda, const struct event_cuda_count *event)
{
	struct cuda_calls *calls = function_at(cuda, event->function);

	if (!calls)
		return;
	calls->entered = event->entered;
	calls->returned = event->returned;
	calls->failed = event->failed;
}

static void handle_xid(struct cuda *cuda, const struct event_cuda_xid *event)
{
	struct cuda_xid *xid = cuda_make(cuda, sizeof(*xid));

	if (!xid)
		return;
	xid->at_ns = event->head.time_ns;
	xid->code = event->code;
	xid->message = event->message;
	xid->next = cuda->xids;
	cuda->xids = xid;
}

void cuda_handle(struct cuda *cuda, const struct threads *threads, const struct event_header *event)
{
	switch (event->kind) {
	case EVENT_CUDA_CALL:
		if (((const struct event_cuda_call *)event)->function == CUDA_FUNCTION_OF_DRIVER)
			return;
		handle_call(cuda, threads, (const struct event_cuda_call *)event);
		break;
	case EVENT_CUDA_LAUNCH:
		handle_launch(cuda, threads, (const struct event_cuda_launch *)event);
		break;
	case EVENT_CUDA_IOCTL:
		handle_ioctl(cuda, threads, (const struct event_cuda_ioctl *)event);
		break;
	case EVENT_CUDA_NAME:
		take_name(cuda, (const struct event_cuda_name *)event);
		return;
	case EVENT_CUDA_COUNT:
		handle_count(cuda, (const struct event_cuda_count *)event);
		return;
	case EVENT_CUDA_XID:
		handle_xid(cuda, (const struct event_cuda_xid *)event);
		return;
	default:
		return;
	}
	if (!cuda->first_ns)
		cuda->first_ns = event->time_ns;
	cuda->last_ns = event->time_ns;
}
