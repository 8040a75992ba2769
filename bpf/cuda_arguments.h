/* SPDX-License-Identifier: GPL-2.0 */
/* What calls into libcuda are asked with: arguments in registers, on the stack, and in structures of the program's. How
 * each function has them is its shape, see core/cuda.h. */
#ifndef TACTUS_BPF_CUDA_ARGUMENTS_H
#define TACTUS_BPF_CUDA_ARGUMENTS_H

#include "kernel.h"
#include "../core/cuda_launch.h"

/* Arguments that could not be read. */
u64 unread = 0;

struct open_call {
	u64 sp;
	u64 since_ns;
	u64 waited_ns;
	u64 first, second, third, fourth;
	u64 communicator, stream; /* of a call of NCCL's */
	u64 function;
};

static __always_inline bool read_user(void *into, u32 bytes, u64 from)
{
	if (!bpf_probe_read_user(into, bytes, (void *)from))
		return true;
	__sync_fetch_and_add(&unread, 1);
	return false;
}

static __always_inline void read_rest(struct launch_rest *rest, struct pt_regs *ctx)
{
#ifdef bpf_target_arm64
	rest->block_z = PT_REGS_PARM7(ctx);
	rest->shared_bytes = PT_REGS_PARM8(ctx);
	read_user(&rest->stream, sizeof(rest->stream), PT_REGS_SP(ctx));
#else
	read_user(rest, sizeof(*rest), PT_REGS_SP(ctx) + 8);
#endif
}

static __always_inline void fill_launch(struct event_cuda_launch *event, struct pt_regs *ctx, u32 shape)
{
	struct launch_arguments from = { .in_registers = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx),
							   PT_REGS_PARM4(ctx), PT_REGS_PARM5(ctx),
							   PT_REGS_PARM6(ctx) } };

	/* Else the compiler would choose an address in the context, which verifiers refuse. */
	barrier_var(from.in_registers[0]);
	barrier_var(from.in_registers[1]);
	if (shape == SHAPE_LAUNCH)
		read_rest(&from.rest, ctx);
	else if (shape == SHAPE_LAUNCH_EX)
		read_user(&from.config, sizeof(from.config), from.in_registers[0]);
	launch_decode(event, &from, shape);
}

static __always_inline u64 read_word(u64 from)
{
	u64 word = 0;

	read_user(&word, sizeof(word), from);
	return word;
}

static __always_inline void keep_nccl(struct open_call *call, struct pt_regs *ctx, u32 shape)
{
	bool is_7 = shape == SHAPE_NCCL_7, is_6 = shape == SHAPE_NCCL_6;
	u64 fifth = PT_REGS_PARM5(ctx), sixth = PT_REGS_PARM6(ctx), seventh, eighth;

#ifdef bpf_target_arm64
	seventh = PT_REGS_PARM7(ctx);
	eighth = PT_REGS_PARM8(ctx);
#else
	seventh = is_7 || is_6 ? read_word(PT_REGS_SP(ctx) + 8) : 0;
	eighth = is_7 ? read_word(PT_REGS_SP(ctx) + 16) : 0;
#endif
	/* Else the compiler would choose an address in the context, which verifiers refuse. */
	barrier_var(fifth);
	barrier_var(sixth);
	barrier_var(seventh);
	barrier_var(eighth);
	call->communicator = is_7 ? seventh : is_6 ? sixth : fifth;
	call->stream = is_7 ? eighth : is_6 ? seventh : sixth;
}

static __always_inline void fill_nccl(struct event_cuda_call *event, const struct open_call *call, u32 shape)
{
	u64 count = shape == SHAPE_NCCL_ONE ? call->second : call->third;
	u32 type = (u32)(shape == SHAPE_NCCL_ONE ? call->third : call->fourth);

	event->bytes = count * nccl_type_bytes(type);
	event->address = call->communicator;
	event->stream = call->stream;
	event->copy = type;
}

struct sizes_2d {
	u64 width, height;
};

static __always_inline void fill_copy(struct event_cuda_call *event, const struct open_call *call, u32 shape)
{
	u64 from = 0, to = 0, depth = 1;
	struct sizes_2d sizes = {};
	bool is_3d = shape == SHAPE_COPY_3D;

	/* CUDA_MEMCPY2D and CUDA_MEMCPY3D, both the second version of theirs. */
	read_user(&from, sizeof(u32), call->first + (is_3d ? 32 : 16));
	read_user(&to, sizeof(u32), call->first + (is_3d ? 120 : 72));
	read_user(&sizes, sizeof(sizes), call->first + (is_3d ? 176 : 112));
	if (is_3d)
		depth = read_word(call->first + 192);
	event->copy = cuda_copy_of_types((u32)from, (u32)to);
	event->bytes = sizes.width * sizes.height * depth;
}

/* What is known of a call once it has returned. */
static __always_inline void fill_arguments(struct event_cuda_call *event, const struct open_call *call, u64 cookie)
{
	bool is_async = cookie & CUDA_COOKIE_ASYNC;
	u32 shape = cuda_cookie_shape(cookie);

	switch (shape) {
	case SHAPE_ALLOC:
		event->bytes = call->second;
		event->address = event->result ? 0 : read_word(call->first);
		break;
	case SHAPE_ALLOC_PITCH:
		event->address = event->result ? 0 : read_word(call->first);
		event->bytes = event->result ? 0 : read_word(call->second) * call->fourth;
		break;
	case SHAPE_FREE:
		event->address = call->first;
		event->stream = is_async ? call->second : 0;
		break;
	case SHAPE_COPY:
		event->address = call->first;
		event->bytes = call->third;
		event->stream = is_async ? call->fourth : 0;
		break;
	case SHAPE_COPY_2D:
	case SHAPE_COPY_3D:
		fill_copy(event, call, shape);
		event->stream = is_async ? call->second : 0;
		break;
	case SHAPE_SET_8:
	case SHAPE_SET_16:
	case SHAPE_SET_32:
		event->address = call->first;
		event->bytes = call->third << (shape - SHAPE_SET_8);
		event->stream = is_async ? call->fourth : 0;
		break;
	case SHAPE_OF_STREAM:
		event->stream = call->first;
		break;
	case SHAPE_NCCL_5:
	case SHAPE_NCCL_6:
	case SHAPE_NCCL_7:
	case SHAPE_NCCL_ONE:
		fill_nccl(event, call, shape);
		break;
	default:
		break;
	}
}

#endif
