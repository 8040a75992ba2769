/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctls of GPU drivers: whose they are, and which of them hand work to the GPU. Numbers are those of each driver's
 * own uapi header. Pure: the kernel half asks at its hooks, the tests with real numbers. */
#ifndef TACTUS_CORE_IOC_H
#define TACTUS_CORE_IOC_H

#include "types.h"

/* Kept in recordings: new ones go to the end. */
enum gpu_driver {
	GPU_NONE,
	GPU_I915,
	GPU_XE,
	GPU_AMDGPU,
	GPU_RADEON,
	GPU_NOUVEAU,
	GPU_MSM,
	GPU_V3D,
	GPU_VC4,
	GPU_PANFROST,
	GPU_PANTHOR,
	GPU_LIMA,
	GPU_ETNAVIV,
	GPU_POWERVR,
	GPU_ASAHI,
	GPU_TEGRA,
	GPU_VIRTIO,
	GPU_VMWGFX,
	GPU_QXL,
	GPU_VKMS,
	GPU_VGEM,
	GPU_NVIDIA_DRM,
	GPU_NVIDIA,
	GPU_NVIDIA_UVM,
	GPU_OTHER,
	GPU_CUDA, /* seen in its library, as the next two */
	GPU_VULKAN,
	GPU_OPENGL,
	GPU_DRIVERS
};

enum {
	MAJOR_NVIDIA = 195,
	MAJOR_DRM = 226,
};

/* An ioctl's number is made of four fields; this is how all but a few old architectures arrange them. */
core_fn u32 ioc_nr(u32 cmd)
{
	return cmd & 0xff;
}

core_fn u32 ioc_type(u32 cmd)
{
	return cmd >> 8 & 0xff;
}

core_fn u32 ioc_size(u32 cmd)
{
	return cmd >> 16 & 0x3fff;
}

core_fn u32 ioc_dir(u32 cmd)
{
	return cmd >> 30;
}

enum {
	IOC_TYPE_DRM = 'd',
	IOC_TYPE_NVIDIA = 'F',

	/* Of DRM itself, for every driver: what puts a frame on a screen. */
	DRM_PAGE_FLIP = 0xb0,
	DRM_DIRTY_FB = 0xb1,
	DRM_SET_PLANE = 0xb7,
	DRM_ATOMIC = 0xbc,
	DRM_ATOMIC_TEST_ONLY = 0x0100, /* in the first word of its argument: only a question */

	/* From here on up to DRM_OWN_END the numbers are the driver's own. */
	DRM_OWN = 0x40,
	DRM_OWN_END = 0xa0,

	NV_RM_ALLOC_OBJECT = 0x28,
	NV_RM_ALLOC = 0x2b,
	NV_XFER = 0xd3, /* wraps another one: number, size, address */
	UVM_MIGRATE = 51,
};

/* A driver's name, as 16 bytes that end in NULs. */
struct gpu_name {
	u64 low;
	u64 high;
};

#define NAME_WORD(a, b, c, d, e, f, g, h)                                                               \
	((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 | \
	 (u64)(g) << 48 | (u64)(h) << 56)

/* Of names that fill more than one word. */
core_fn u32 gpu_driver_of_long_name(struct gpu_name name)
{
	if (name.low == NAME_WORD('v', 'i', 'r', 't', 'i', 'o', '_', 'g') &&
	    name.high == NAME_WORD('p', 'u', 0, 0, 0, 0, 0, 0))
		return GPU_VIRTIO;
	if (name.low == NAME_WORD('n', 'v', 'i', 'd', 'i', 'a', '-', 'd') &&
	    name.high == NAME_WORD('r', 'm', 0, 0, 0, 0, 0, 0))
		return GPU_NVIDIA_DRM;
	return GPU_OTHER;
}

/* By what the driver calls itself, or by what the device's driver is called where the two differ. */
core_fn u32 gpu_driver_of_name(struct gpu_name name)
{
	if (name.high)
		return gpu_driver_of_long_name(name);
	switch (name.low) {
	case NAME_WORD('i', '9', '1', '5', 0, 0, 0, 0):
		return GPU_I915;
	case NAME_WORD('x', 'e', 0, 0, 0, 0, 0, 0):
		return GPU_XE;
	case NAME_WORD('a', 'm', 'd', 'g', 'p', 'u', 0, 0):
		return GPU_AMDGPU;
	case NAME_WORD('r', 'a', 'd', 'e', 'o', 'n', 0, 0):
		return GPU_RADEON;
	case NAME_WORD('n', 'o', 'u', 'v', 'e', 'a', 'u', 0):
		return GPU_NOUVEAU;
	case NAME_WORD('m', 's', 'm', 0, 0, 0, 0, 0):
	case NAME_WORD('m', 's', 'm', '_', 'd', 'p', 'u', 0):
	case NAME_WORD('m', 's', 'm', '_', 'm', 'd', 'p', 0):
	case NAME_WORD('a', 'd', 'r', 'e', 'n', 'o', 0, 0):
		return GPU_MSM;
	case NAME_WORD('v', '3', 'd', 0, 0, 0, 0, 0):
		return GPU_V3D;
	case NAME_WORD('v', 'c', '4', 0, 0, 0, 0, 0):
	case NAME_WORD('v', 'c', '4', '-', 'd', 'r', 'm', 0):
		return GPU_VC4;
	case NAME_WORD('p', 'a', 'n', 'f', 'r', 'o', 's', 't'):
		return GPU_PANFROST;
	case NAME_WORD('p', 'a', 'n', 't', 'h', 'o', 'r', 0):
		return GPU_PANTHOR;
	case NAME_WORD('l', 'i', 'm', 'a', 0, 0, 0, 0):
		return GPU_LIMA;
	case NAME_WORD('e', 't', 'n', 'a', 'v', 'i', 'v', 0):
		return GPU_ETNAVIV;
	case NAME_WORD('p', 'o', 'w', 'e', 'r', 'v', 'r', 0):
		return GPU_POWERVR;
	case NAME_WORD('a', 's', 'a', 'h', 'i', 0, 0, 0):
		return GPU_ASAHI;
	case NAME_WORD('t', 'e', 'g', 'r', 'a', 0, 0, 0):
		return GPU_TEGRA;
	case NAME_WORD('v', 'm', 'w', 'g', 'f', 'x', 0, 0):
		return GPU_VMWGFX;
	case NAME_WORD('q', 'x', 'l', 0, 0, 0, 0, 0):
		return GPU_QXL;
	case NAME_WORD('v', 'k', 'm', 's', 0, 0, 0, 0):
		return GPU_VKMS;
	case NAME_WORD('v', 'g', 'e', 'm', 0, 0, 0, 0):
		return GPU_VGEM;
	case NAME_WORD('n', 'v', 'i', 'd', 'i', 'a', 0, 0):
		return GPU_NVIDIA_DRM;
	default:
		return GPU_OTHER;
	}
}

/* Whether a number of the driver's own, counted from DRM_OWN, hands work to the GPU. */
core_fn int drm_own_is_submit(u32 driver, u32 own)
{
	switch (driver) {
	case GPU_I915: /* EXECBUFFER, EXECBUFFER2 */
		return own == 0x14 || own == 0x29;
	case GPU_XE: /* EXEC */
		return own == 0x09;
	case GPU_AMDGPU: /* CS; USERQ_SIGNAL comes with each batch of a queue that user space fills by itself */
		return own == 0x04 || own == 0x17;
	case GPU_RADEON: /* CS */
		return own == 0x26;
	case GPU_NOUVEAU: /* GEM_PUSHBUF, EXEC */
		return own == 0x41 || own == 0x12;
	case GPU_MSM: /* GEM_SUBMIT */
	case GPU_ETNAVIV:
		return own == 0x06;
	case GPU_V3D: /* SUBMIT_CL, _TFU, _CSD, _CPU */
		return own == 0x00 || own == 0x06 || own == 0x07 || own == 0x0b;
	case GPU_VC4: /* SUBMIT_CL */
	case GPU_PANFROST:
		return own == 0x00;
	case GPU_PANTHOR: /* GROUP_SUBMIT */
		return own == 0x09;
	case GPU_LIMA: /* GEM_SUBMIT */
		return own == 0x03;
	case GPU_POWERVR: /* SUBMIT_JOBS */
		return own == 0x0d;
	case GPU_ASAHI: /* SUBMIT */
		return own == 0x0a;
	case GPU_TEGRA: /* SUBMIT, CHANNEL_SUBMIT */
		return own == 0x08 || own == 0x14;
	case GPU_VIRTIO: /* EXECBUFFER */
	case GPU_QXL:
		return own == 0x02;
	case GPU_VMWGFX: /* EXECBUF */
		return own == 0x0c;
	case GPU_VGEM: /* FENCE_ATTACH, FENCE_SIGNAL: it has no commands, and a fence begins and ends what stands for
			  them */
		return own == 0x01 || own == 0x02;
	default:
		return 0;
	}
}

/* A frame that is put on a screen is work for that driver too, whoever painted it. Setting a mode or moving the mouse
 * pointer is not. */
core_fn int drm_is_submit(u32 driver, u32 cmd)
{
	u32 nr = ioc_nr(cmd);

	if (ioc_type(cmd) != IOC_TYPE_DRM)
		return 0;
	if (nr >= DRM_OWN && nr < DRM_OWN_END)
		return drm_own_is_submit(driver, nr - DRM_OWN);
	return nr == DRM_PAGE_FLIP || nr == DRM_DIRTY_FB || nr == DRM_SET_PLANE || nr == DRM_ATOMIC;
}

/* Whether it counts only if the first word of its argument lacks DRM_ATOMIC_TEST_ONLY. */
core_fn int drm_may_be_question(u32 cmd)
{
	return ioc_nr(cmd) == DRM_ATOMIC;
}

/* NVIDIA's driver looks at type and number alone. */
core_fn int nvidia_is_alloc(u32 nr)
{
	return nr == NV_RM_ALLOC || nr == NV_RM_ALLOC_OBJECT;
}

/* Work goes to an NVIDIA GPU by a write to mapped memory, which no hook sees. What can be seen is the making of the
 * channel for it: an object of a class named ..._CHANNEL_GPFIFO_..., whose numbers end in 6f since the first. */
core_fn int nvidia_class_is_channel(u32 class)
{
	return class >= 0x506f && class <= 0xffff && (class & 0xff) == 0x6f;
}

core_fn int uvm_is_submit(u32 cmd)
{
	return cmd == UVM_MIGRATE;
}

/* What kind of work it is that an ioctl hands over. Kept in recordings: new ones go to the end. */
enum gpu_work {
	GPU_WORK_NONE,
	GPU_WORK_COMMANDS,
	GPU_WORK_FLIP,	  /* a frame is put on a screen */
	GPU_WORK_FENCE,	  /* vgem's, in place of commands */
	GPU_WORK_CHANNEL, /* NVIDIA's: where commands then go unseen */
	GPU_WORK_MEMORY,  /* memory is moved */
	GPU_WORKS
};

/* Of an ioctl that is a submit. */
core_fn u32 gpu_work_of(u32 driver, u32 cmd)
{
	u32 nr = ioc_nr(cmd);

	if (driver == GPU_NVIDIA)
		return GPU_WORK_CHANNEL;
	if (driver == GPU_NVIDIA_UVM)
		return GPU_WORK_MEMORY;
	if (driver == GPU_VULKAN || driver == GPU_OPENGL)
		return GPU_WORK_COMMANDS;
	if (nr < DRM_OWN || nr >= DRM_OWN_END)
		return GPU_WORK_FLIP;
	return driver == GPU_VGEM ? GPU_WORK_FENCE : GPU_WORK_COMMANDS;
}

#endif
