/* SPDX-License-Identifier: GPL-2.0 */
/* For cuda.bpf.c alone: functions of NVIDIA's modules, from their entry to their return.
 */
#ifndef TACTUS_BPF_CUDA_DRIVER_H
#define TACTUS_BPF_CUDA_DRIVER_H

/* Functions of the kernel's, inside the call that they are part of. They return in order, so the number is enough to
 * tell which one does. */
static __always_inline int open_function(void *ctx, const u64 arguments[3], bool is_interrupt)
{
	u64 cookie = bpf_get_attach_cookie(ctx), at;
	u32 function = cookie & CUDA_COOKIE_FUNCTION;
	struct caller *caller;
	struct here here;

	if (!is_called(&here, function))
		return 0;
	__sync_fetch_and_add(&here.count->entered, 1);
	if (cookie & CUDA_COOKIE_COUNT_ONLY)
		return 0;
	caller = caller_of(here.current);
	if (!caller)
		return 0;
	at = caller->driver_depth;
	barrier_var(at);
	if (at >= CUDA_OPEN_MAX) {
		__sync_fetch_and_add(&too_deep, 1);
		return 0;
	}
	caller->functions[at].since_ns = bpf_ktime_get_ns();
	caller->functions[at].waited_ns = waited_ns(here.thread);
	caller->functions[at].function = function;
	caller->functions[at].context = is_interrupt			   ? DRIVER_IN_INTERRUPT
					: here.current->flags & PF_KTHREAD ? DRIVER_IN_KERNEL_THREAD
									   : DRIVER_IN_THREAD;
	__builtin_memcpy(caller->functions[at].arguments, arguments, sizeof(caller->functions[at].arguments));
	caller->driver_depth = at + 1;
	return 0;
}

static __always_inline void close_function(struct here *here, const struct open_function *open)
{
	u64 now_ns = bpf_ktime_get_ns();
	struct event_cuda_call *event;

	emit_thread_info(here->cpu, here->cpu_id, here->current, here->thread, now_ns, 0, true);
	event = EVENT_BEGIN(here->cpu, here->cpu_id, CUDA_CALL, event_cuda_call, now_ns, tid_of(here->current), true);
	if (!event)
		return;
	__builtin_memset(&event->duration_ns, 0, sizeof(*event) - sizeof(event->head));
	event->head.flags = EVENT_FLAG_NESTED;
	event->duration_ns = now_ns - open->since_ns;
	event->wait_ns = waited_ns(here->thread) - open->waited_ns;
	event->function = open->function;
	event->pid = pid_of(here->current);
	event->address = open->arguments[0];
	event->stream = open->arguments[1];
	event->bytes = open->arguments[2];
	event->copy = open->context;
	event_send(here->cpu, event, sizeof(*event));
}

static __always_inline int end_function(void *ctx)
{
	u32 function = bpf_get_attach_cookie(ctx) & CUDA_COOKIE_FUNCTION;
	struct caller *caller;
	struct here here;
	u64 at;

	if (!is_called(&here, function))
		return 0;
	caller = bpf_task_storage_get(&callers, here.current, NULL, 0);
	if (!caller)
		return 0;
	__sync_fetch_and_add(&here.count->returned, 1);
	at = caller->driver_depth;
	for (int i = 0; i < CUDA_OPEN_MAX; i++) {
		at--;
		barrier_var(at);
		if (at >= CUDA_OPEN_MAX)
			return 0;
		if (caller->functions[at].function == function) {
			caller->driver_depth = at;
			close_function(&here, &caller->functions[at]);
			return 0;
		}
	}
	return 0;
}

#endif
