/* SPDX-License-Identifier: GPL-2.0 */
/* What the cuda sensor's two halves agree on: what is to be read of a function's arguments, how a probe says so, and
 * where NVIDIA's ioctls keep what they ask for and what came of it. Pure: the tests ask with real bytes. */
#ifndef TACTUS_CORE_CUDA_H
#define TACTUS_CORE_CUDA_H

#include "ioc.h"

enum {
	CUDA_FUNCTIONS_MAX = 4096, /* of all libraries together; libcuda 580 exports 674 */
	CUDA_OPEN_MAX = 8,	   /* calls of one thread inside each other */
};

/* How a function's arguments are read. */
enum cuda_shape {
	SHAPE_NONE,
	SHAPE_LAUNCH,	    /* kernel, grid, block, shared bytes, stream */
	SHAPE_LAUNCH_EX,    /* a structure with grid, block, shared bytes and stream; kernel */
	SHAPE_LAUNCH_GRAPH, /* what is launched, stream */
	SHAPE_LAUNCH_HOST,  /* stream, function */
	SHAPE_ALLOC,	    /* where the address is put, bytes */
	SHAPE_ALLOC_PITCH,  /* where the address is put, where the pitch is put, width, height */
	SHAPE_FREE,	    /* the address */
	SHAPE_COPY,	    /* to, from, bytes, perhaps a stream */
	SHAPE_COPY_2D,	    /* a structure */
	SHAPE_COPY_3D,
	SHAPE_SET_8, /* address, value, how many */
	SHAPE_SET_16,
	SHAPE_SET_32,
	SHAPE_OF_STREAM, /* a stream or an event first */
	SHAPE_NAME,	 /* where the kernel is put, module, its name */
	SHAPE_NAME_OF,	 /* where its name is put, the kernel */
	SHAPE_SAME,	 /* where a second handle is put, the kernel that it is of */
	/* NCCL's: from, to, how many, of which type, and at last communicator and stream, which are arguments */
	SHAPE_NCCL_5,	/* five and six */
	SHAPE_NCCL_6,	/* six and seven */
	SHAPE_NCCL_7,	/* seven and eight */
	SHAPE_NCCL_ONE, /* from or to, how many, of which type, whom, communicator, stream */
	/* NVTX's, of a range that begins */
	SHAPE_RANGE,	    /* its name */
	SHAPE_RANGE_EX,	    /* a structure with its name */
	SHAPE_RANGE_DOMAIN, /* a domain, and such a structure */
};

core_fn int shape_is_range(u32 shape)
{
	return shape >= SHAPE_RANGE && shape <= SHAPE_RANGE_DOMAIN;
}

/* In NVTX's structure: of which kind the name is, and the name or the handle that it was registered with. */
enum { NVTX_KIND_AT = 32, NVTX_NAME_AT = 40, NVTX_KIND_TEXT = 1, NVTX_KIND_REGISTERED = 3 };

core_fn int shape_is_launch(u32 shape)
{
	return shape >= SHAPE_LAUNCH && shape <= SHAPE_LAUNCH_HOST;
}

/* A call of NCCL's has its communicator in address, its type in copy (enum ncclDataType_t). */
core_fn int shape_is_nccl(u32 shape)
{
	return shape >= SHAPE_NCCL_5 && shape <= SHAPE_NCCL_ONE;
}

enum { NCCL_TYPES = 12 };

/* int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, float8e4m3, float8e5m2; 0: none of
 * them. */
core_fn u32 nccl_type_bytes(u32 type)
{
	switch (type) {
	case 0:
	case 1:
	case 10:
	case 11:
		return 1;
	case 6:
	case 9:
		return 2;
	case 2:
	case 3:
	case 7:
		return 4;
	case 4:
	case 5:
	case 8:
		return 8;
	default:
		return 0;
	}
}

/* A probe's cookie: the function's number, its shape, and how it is watched. */
enum {
	CUDA_COOKIE_FUNCTION = 0xffff,
	CUDA_COOKIE_SHAPE_SHIFT = 16,
	CUDA_COOKIE_ENTRY_ONLY = 1 << 24, /* its return is not watched */
	CUDA_COOKIE_ALWAYS = 1 << 25,	  /* sampling leaves none out: memory would not add up */
	CUDA_COOKIE_ASYNC = 1 << 26,	  /* it has a stream */
	CUDA_COOKIE_COUNT_ONLY = 1 << 27, /* nothing is sent */
};

core_fn u32 cuda_cookie_shape(u64 cookie)
{
	return cookie >> CUDA_COOKIE_SHAPE_SHIFT & 0xff;
}

/* Where the fields of nvidia:nvidia_dev_xid lie, in bytes from its beginning. */
struct xid_format {
	u32 code;
	u32 message; /* where its text is */
};

struct cuda_config {
	u32 sample;	  /* send one call in so many */
	u32 nvidia_major; /* of /dev/nvidia*; 0: ioctls are not watched */
	u32 uvm_major;	  /* of /dev/nvidia-uvm; 0: there is none */
	u32 stand_in;	  /* devices that refuse every request stand for NVIDIA's, in tests: what is asked for counts */
};

/* Of one function, on one CPU. */
struct cuda_counts {
	u64 entered;
	u64 returned;
	u64 failed; /* returned other than 0 */
};

/* What a name belongs to, in events of kind cuda_name. */
enum cuda_named {
	CUDA_NAMED_FUNCTION = 1, /* handle: its number */
	CUDA_NAMED_KERNEL = 2,	 /* handle: of that process */
	CUDA_NAMED_SAME = 3,	 /* handle: another one of the kernel that has the handle same_as */
	/* What the kernel's name goes on with. Which process's, and behind how many bytes, is in same_as; pid is 0, so
	 * that who knows no such pieces takes them for nothing that is ever launched. */
	CUDA_NAMED_MORE = 4,
	CUDA_NAMED_RANGE = 5, /* a range of NVTX's begins here, in this thread */
};

/* The first piece comes with the kernel; so many more may follow. */
enum { CUDA_NAME_PIECE = 183, CUDA_NAME_PIECES = 21, CUDA_NAME_MAX = (CUDA_NAME_PIECES + 1) * CUDA_NAME_PIECE };

core_fn u64 cuda_more_of(u32 pid, u32 behind_bytes)
{
	return (u64)behind_bytes << 32 | pid;
}

/* Copies by where they go from and to. */
enum cuda_copy {
	COPY_UNKNOWN,
	COPY_HOST_TO_DEVICE,
	COPY_DEVICE_TO_HOST,
	COPY_DEVICE_TO_DEVICE,
	COPY_HOST_TO_HOST,
	COPY_PEER,
	COPY_SET, /* memory is filled, not copied */
	COPY_KINDS
};

/* From the memory types that a 2D or 3D copy's structure names: 1 host, 2 device, 3 array (a device's), 4 either. */
core_fn u32 cuda_copy_of_types(u32 from, u32 to)
{
	u32 from_device = from == 2 || from == 3, to_device = to == 2 || to == 3;

	if ((from != 1 && !from_device) || (to != 1 && !to_device))
		return COPY_UNKNOWN;
	if (from_device)
		return to_device ? COPY_DEVICE_TO_DEVICE : COPY_DEVICE_TO_HOST;
	return to_device ? COPY_HOST_TO_DEVICE : COPY_HOST_TO_HOST;
}

/* Where the kernel can do an instruction itself, a hit of a probe costs a tenth of one where it has to step over it:
 * pushes, jumps and nops; and from Linux 6.18 half of that at a nop of five bytes, which older ones step over as they
 * do over endbr64. A function that begins with endbr64 is probed behind it if one of these comes there: whoever calls
 * it comes by, with the same arguments and the same stack. */
enum { CUDA_CODE_BYTES = 9, CUDA_ENDBR64_BYTES = 4 };

core_fn int code_is_cheap(const u8 *code)
{
	int is_push = (code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50);
	int is_jump = code[0] == 0xeb || code[0] == 0xe9;
	int is_nop5 = code[0] == 0x0f && code[1] == 0x1f && code[2] == 0x44 && !code[3] && !code[4];

	return is_push || is_jump || is_nop5 || code[0] == 0x90;
}

core_fn u32 cuda_probe_shift(const u8 *code)
{
	int is_endbr64 = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;

	return is_endbr64 && code_is_cheap(code + CUDA_ENDBR64_BYTES) ? CUDA_ENDBR64_BYTES : 0;
}

/* A cuda_call of a function of the driver has its first three arguments in address, stream and bytes, and in copy on
 * whose behalf it ran. */
enum driver_context { DRIVER_IN_THREAD, DRIVER_IN_KERNEL_THREAD, DRIVER_IN_INTERRUPT };

/* A cuda_call of this function is none: memory that the driver allocated, with its bytes, in address the client (upper
 * half) and the object, in copy its class; or, without a class, an object that was freed. */
enum { CUDA_FUNCTION_OF_DRIVER = 0 };

/* Of which driver an ioctl is. */
enum nvidia_device { NVIDIA_RM = 1, NVIDIA_UVM = 2 };

/* NVIDIA's main driver, by the number in the command. */
enum {
	NV_RM_ALLOC_MEMORY = 0x27,
	NV_RM_FREE = 0x29,
	NV_RM_CONTROL = 0x2a,
	NV_RM_VID_HEAP_CONTROL = 0x4a,
	NV_RM_MAP_MEMORY = 0x4e,
	NV_RM_UNMAP_MEMORY = 0x4f,
};

/* What is allocated is memory, not addresses or an engine: NV01_MEMORY_LOCAL_USER and NV01_MEMORY_SYSTEM. */
core_fn int nvidia_class_is_memory(u32 class)
{
	return class == 0x40 || class == 0x3e;
}

/* In the request: the client, the object, the address of what else is said, or of RM_ALLOC_MEMORY the last byte. In
 * what else is said of memory (NV_MEMORY_ALLOCATION_PARAMS): its size, which the driver may raise. */
enum {
	NVIDIA_CLIENT_AT = 0,
	NVIDIA_OBJECT_AT = 8,
	NVIDIA_PARAMETERS_AT = 16,
	NVIDIA_LIMIT_AT = 32,
	NVIDIA_MEMORY_SIZE_AT = 64,
};

enum { NO_OFFSET = 0xffffffff, NVIDIA_STRUCT_MAX = 64 };

/* Where the structure says what exactly is asked for: the command of a control, the class of an allocation. */
core_fn u32 nvidia_detail_offset(u32 nr)
{
	switch (nr) {
	case NV_RM_CONTROL:
		return 8;
	case NV_RM_ALLOC:
	case NV_RM_ALLOC_OBJECT:
	case NV_RM_ALLOC_MEMORY:
		return 12;
	case NV_RM_VID_HEAP_CONTROL:
		return 8;
	default:
		return NO_OFFSET;
	}
}

/* Where it says what came of it: the system call succeeds even where the request failed. */
core_fn u32 nvidia_status_offset(u32 nr, u32 bytes)
{
	switch (nr) {
	case NV_RM_CONTROL:
		return 28;
	case NV_RM_ALLOC:
		return bytes >= 48 ? 40 : 28;
	case NV_RM_ALLOC_OBJECT:
		return 16;
	case NV_RM_FREE:
		return 12;
	case NV_RM_ALLOC_MEMORY:
		return 40;
	case NV_RM_MAP_MEMORY:
		return 40;
	case NV_RM_UNMAP_MEMORY:
		return 24;
	case NV_RM_VID_HEAP_CONTROL:
		return 20;
	default:
		return NO_OFFSET;
	}
}

#endif
