// SPDX-License-Identifier: GPL-2.0
/* core/ioc.h and model/gpu.c: whose an ioctl is and whether it submits, with real numbers; names of functions and
 * devices, also malformed ones. */
#include "../../core/ioc.h"

#include <stdlib.h>

#include "../../src/model/gpu.h"
#include "tap.h"

/* Commands as the drivers' headers make them: direction, size of the argument, 'd', number. */
static const struct {
	u32 driver;
	const char *name;
	u32 submits[4];
	u32 others[4];
} drivers[] = {
	{ GPU_I915, "i915", { 0x40406469, 0xc0406469, 0x40286454 }, { 0xc0106446, 0xc010645b, 0xc010646c } },
	{ GPU_XE, "xe", { 0x40386449 }, { 0xc0286440, 0xc0306446, 0x40886445 } },
	{ GPU_AMDGPU, "amdgpu", { 0xc0186444, 0xc0306457 }, { 0x40206445, 0xc0206440, 0xc0206449, 0xc0306458 } },
	{ GPU_RADEON, "radeon", { 0xc0206466 }, { 0xc0106467, 0xc020645d } },
	{ GPU_NOUVEAU, "nouveau", { 0xc0406481, 0xc0286452 }, { 0xc0106440, 0xc0306480, 0x40086482 } },
	{ GPU_MSM, "msm", { 0xc0486446 }, { 0xc0186440, 0xc0106442, 0x40206447 } },
	{ GPU_V3D, "v3d", { 0xc0486440, 0x40586446, 0x40586447, 0x4018644b }, { 0xc0106441, 0xc0106444 } },
	{ GPU_VC4, "vc4", { 0xc0b06440 }, { 0xc0106441, 0xc0106447 } },
	{ GPU_PANFROST, "panfrost", { 0x40286440 }, { 0x40106441, 0xc0106444 } },
	{ GPU_PANTHOR, "panthor", { 0xc0186449 }, { 0xc0106440, 0xc0386447, 0xc010644a } },
	{ GPU_LIMA, "lima", { 0x40306443 }, { 0xc0106440, 0x40106444 } },
	{ GPU_ETNAVIV, "etnaviv", { 0xc0486446 }, { 0xc0106440, 0x40206447 } },
	{ GPU_POWERVR, "powervr", { 0x4010644d }, { 0xc0106440, 0xc0286447 } },
	{ GPU_ASAHI, "asahi", { 0x4028644a }, { 0xc0186440, 0xc0106441 } },
	{ GPU_TEGRA, "tegra", { 0xc0586448, 0xc0406454 }, { 0xc0106440, 0xc0186450 } },
	{ GPU_VIRTIO, "virtio_gpu", { 0xc0406442, 0xc0306442 }, { 0xc0106443, 0xc0106441, 0xc0086448 } },
	{ GPU_VMWGFX, "vmwgfx", { 0x4028644c }, { 0xc0106440, 0xc028644e } },
	{ GPU_QXL, "qxl", { 0x40106442 }, { 0xc0086440, 0x40186443 } },
	{ GPU_VKMS, "vkms", { 0xc01864b0, 0xc03864bc, 0xc01864b1, 0xc03064b7 }, { 0xc0206440, 0xc02064b2 } },
	{ GPU_VGEM, "vgem", { 0xc0106441, 0x40086442 }, { 0xc02064b2, 0xc01064b3 } },
	{ GPU_NVIDIA_DRM, "nvidia-drm", { 0xc03864bc, 0xc01864b0 }, { 0xc0106440, 0xc0206441 } },
	{ GPU_OTHER, "mgag200", { 0xc01864b0 }, { 0xc0106440, 0xc0106442 } },
};

static void test_every_driver(void)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		u32 driver = drivers[i].driver, wrong = 0;

		is(gpu_driver_of_text(drivers[i].name), driver, "%s is known by its name", drivers[i].name);
		for (int j = 0; j < 4; j++) {
			wrong += drivers[i].submits[j] && !drm_is_submit(driver, drivers[i].submits[j]);
			wrong += drivers[i].others[j] && drm_is_submit(driver, drivers[i].others[j]);
		}
		is(wrong, 0, "submits of a driver are told from its other ioctls");
	}
}

static void test_of_drm_itself(void)
{
	/* VERSION, GET_CAP, GEM_CLOSE, PRIME_HANDLE_TO_FD, SYNCOBJ_WAIT, GETRESOURCES, SETCRTC, CURSOR, CREATE_DUMB. */
	static const u32 others[] = { 0xc0406400, 0xc010640c, 0x40086409, 0xc00c642d, 0xc02864c3,
				      0xc04064a0, 0xc06864a2, 0xc01c64a3, 0xc02064b2 };
	u32 wrong = 0;

	for (u32 driver = 0; driver < GPU_DRIVERS + 3; driver++)
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			wrong += drm_is_submit(driver, others[i]) != 0;
	is(wrong, 0, "ioctls that ask, allocate, wait or set a mode are no submits of any driver");
	ok(drm_is_submit(GPU_AMDGPU, 0xc03864bc), "an atomic commit is one of the driver whose screen it is");
	ok(drm_may_be_question(0xc03864bc), "atomic commit may be only a question");
	ok(!drm_may_be_question(0xc01864b0), "page flip is never only a question");
	ok(!drm_is_submit(GPU_I915, 0x40404669), "another subsystem's ioctl of the same number is not");
	is(ioc_nr(0xc0186444), 0x44, "number of an ioctl is read from its command");
	is(ioc_type(0xc0186444), 'd', "type of an ioctl is read from its command");
	is(ioc_size(0xc0186444), 24, "size of an ioctl's argument is read from its command");
	is(ioc_dir(0xc0186444), 3, "direction of an ioctl is read from its command");
}

static void test_nvidia(void)
{
	static const u32 channels[] = { 0x906f, 0xa06f, 0xb06f, 0xc06f, 0xc36f, 0xc46f, 0xc56f, 0xc86f, 0xc96f };
	static const u32 others[] = {
		0, 0x41, 0x80, 0x2080, 0x40, 0x3e, 0x90f1, 0xa06c, 0xc661, 0xcbc0, 0x6f, 0x1c56f
	};
	u32 seen = 0;

	ok(nvidia_is_alloc(ioc_nr(0xc030462b)), "RM_ALLOC of the long kind is an allocation");
	ok(nvidia_is_alloc(ioc_nr(0xc0144628)), "RM_ALLOC of the short kind is an allocation");
	ok(!nvidia_is_alloc(ioc_nr(0xc020462a)), "RM_CONTROL allocates nothing");
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		seen += nvidia_class_is_channel(channels[i]) != 0;
	is(seen, sizeof(channels) / sizeof(channels[0]), "channels from Fermi to Blackwell");
	for (seen = 0; seen < sizeof(others) / sizeof(others[0]) && !nvidia_class_is_channel(others[seen]);)
		seen++;
	is(seen, sizeof(others) / sizeof(others[0]), "classes that are no channels are not taken for any");
	ok(uvm_is_submit(51), "UVM moving memory is a submit");
	ok(!uvm_is_submit(27), "UVM registering a channel is no submit");
	ok(!uvm_is_submit(0x30000001), "UVM initializing is no submit");
	is_text(gpu_deed(GPU_NVIDIA), "opened a channel of", "driver that is not seen to submit is not said to");
	is_text(gpu_deed(GPU_AMDGPU), "submitted to", "driver that is seen to submit says so");
}

static const char *best_of(u32 family, const char *const *lines, bool *with_inode)
{
	static struct gpu_function best;

	best = (struct gpu_function){ .rank = 0 };
	for (; *lines; lines++)
		gpu_consider_symbol(&best, family, *lines);
	if (with_inode)
		*with_inode = best.with_inode;
	return best.rank ? best.name : "";
}

static void test_functions(void)
{
	static const char *const today[] = { "ffffffffc0a01230 t nvidia_ioctl\t[nvidia]\n",
					     "ffffffffc0a01239 t nvidia_compat_ioctl\t[nvidia]\n",
					     "ffffffffc0a01234 t nvidia_unlocked_ioctl\t[nvidia]\n",
					     "ffffffffc0a01244 t nvidia_unlocked_ioctl.cold\t[nvidia]\n",
					     "ffffffffc0a05678 T uvm_ioctl\t[nvidia_uvm]\n",
					     "ffffffffc0a05679 t uvm_unlocked_ioctl_entry\t[nvidia_uvm]\n",
					     NULL };
	static const char *const tomorrow[] = { "0000000000000000 t nv_front_unlocked_ioctl_v2 [nvidia]", NULL };
	static const char *const once[] = { "0 t nvidia_ioctl [nvidia]", NULL };
	static const char *const malformed[] = {
		"",
		"\n",
		"nvidia_unlocked_ioctl",
		"0 t nvidia_unlocked_ioctl",
		"0 t nvidia_unlocked_ioctl [",
		"0 t nvidia_unlocked_ioctl []",
		"0 t nvidia_unlocked_ioctl nvidia]",
		"0 t nvidia_unlocked_ioctl [nvidia",
		"0 d nvidia_unlocked_ioctl [nvidia]",
		"0 t nvidia_unlocked_ioctl [nvidia_drm]",
		"0 t nv_and_a_name_that_is_far_longer_than_any_that_there_is_unlocked_ioctl_and_more [nvidia]",
		"0 t nvidia_unlocked_ioctl [and_a_module_of_a_name_that_is_far_longer_than_any_that_there_is_anywhere]",
		NULL
	};
	bool with_inode = true;

	is_text(best_of(GPU_OF_NVIDIA, today, &with_inode), "nvidia_unlocked_ioctl",
		"likeliest function of a driver is taken");
	ok(!with_inode, "likeliest function's arguments are those of today");
	is_text(best_of(GPU_OF_UVM, today, NULL), "uvm_unlocked_ioctl_entry", "UVM has a function of its own");
	is_text(best_of(GPU_OF_NVIDIA, tomorrow, NULL), "nv_front_unlocked_ioctl_v2", "a new name is found by pattern");
	is_text(best_of(GPU_OF_NVIDIA, once, &with_inode), "nvidia_ioctl", "old driver's function is found");
	ok(with_inode, "old driver's function has its arguments of old");
	is_text(best_of(GPU_OF_NVIDIA, malformed, NULL), "", "malformed lines and other modules give nothing");
}

static void test_devices(void)
{
	u32 uvm = 0;

	is(gpu_families_of_device("226 drm\n", &uvm), GPU_OF_DRM, "DRM is known by its major number");
	is(gpu_families_of_device("195 nvidia-frontend\n", &uvm), GPU_OF_NVIDIA, "NVIDIA, by any of its names");
	is(gpu_families_of_device("195 nvidiactl\n", &uvm), GPU_OF_NVIDIA,
	   "NVIDIA's control device is known by today's name");
	is(gpu_families_of_device("508 nvidia-uvm\n", &uvm), GPU_OF_UVM, "UVM is known by its name");
	is(uvm, 508, "UVM's line tells its number");
	is(gpu_families_of_device("509 nvidia-caps\n", &uvm), 0, "other devices of NVIDIA's are not UVM");
	is(gpu_families_of_device("226 something\n", &uvm), 0,
	   "number of NVIDIA's used by another driver is not NVIDIA's");
	is(gpu_families_of_device("Character devices:\n", &uvm) | gpu_families_of_device("", &uvm) |
		   gpu_families_of_device("226", &uvm) | gpu_families_of_device("99999999999 nvidia-uvm", &uvm),
	   0, "headings and malformed lines tell no driver");
	is(uvm, 508, "malformed lines do not change UVM's number");
	is(gpu_driver_of_text(""), GPU_OTHER, "empty name is no driver");
	is(gpu_driver_of_text("virtio_gpu_and_then_some_more"), GPU_OTHER,
	   "a name too long is not cut to one that fits");
	is(gpu_driver_of_text("i9155"), GPU_OTHER, "driver name that only begins alike is another");
	is_text(gpu_driver_name(GPU_DRIVERS + 7), "a GPU", "a number from a damaged recording has a name too");
}

int main(void)
{
	test_every_driver();
	test_of_drm_itself();
	test_nvidia();
	test_functions();
	test_devices();
	return tap_end();
}
