// SPDX-License-Identifier: GPL-2.0
/* GPU drivers in words, and which function of a driver takes its ioctls.
 * Names of NVIDIA's functions change from release to release: they are matched by patterns, the likeliest first. */
#include "gpu.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const driver_names[GPU_DRIVERS] = {
	[GPU_NONE] = "a GPU",
	[GPU_I915] = "i915",
	[GPU_XE] = "xe",
	[GPU_AMDGPU] = "amdgpu",
	[GPU_RADEON] = "radeon",
	[GPU_NOUVEAU] = "nouveau",
	[GPU_MSM] = "msm",
	[GPU_V3D] = "v3d",
	[GPU_VC4] = "vc4",
	[GPU_PANFROST] = "panfrost",
	[GPU_PANTHOR] = "panthor",
	[GPU_LIMA] = "lima",
	[GPU_ETNAVIV] = "etnaviv",
	[GPU_POWERVR] = "powervr",
	[GPU_ASAHI] = "asahi",
	[GPU_TEGRA] = "tegra",
	[GPU_VIRTIO] = "virtio_gpu",
	[GPU_VMWGFX] = "vmwgfx",
	[GPU_QXL] = "qxl",
	[GPU_VKMS] = "vkms",
	[GPU_VGEM] = "vgem",
	[GPU_NVIDIA_DRM] = "nvidia-drm",
	[GPU_NVIDIA] = "nvidia",
	[GPU_NVIDIA_UVM] = "nvidia-uvm",
	[GPU_OTHER] = "a GPU",
	[GPU_CUDA] = "a GPU by CUDA",
	[GPU_VULKAN] = "a GPU by Vulkan",
	[GPU_OPENGL] = "a GPU by OpenGL",
};

const char *gpu_driver_name(u32 driver)
{
	return driver_names[driver < GPU_DRIVERS ? driver : GPU_OTHER];
}

const char *gpu_work_name(u32 work)
{
	static const char *const names[GPU_WORKS] = {
		[GPU_WORK_NONE] = "other",  [GPU_WORK_COMMANDS] = "commands", [GPU_WORK_FLIP] = "flip",
		[GPU_WORK_FENCE] = "fence", [GPU_WORK_CHANNEL] = "channel",   [GPU_WORK_MEMORY] = "memory",
	};

	return names[work < GPU_WORKS ? work : GPU_WORK_NONE];
}

const char *gpu_deed(u32 driver)
{
	if (driver == GPU_NVIDIA)
		return "opened a channel of";
	if (driver == GPU_NVIDIA_UVM)
		return "moved memory by";
	if (driver == GPU_CUDA)
		return "gave work to";
	return "submitted to";
}

/* In kallsyms a module's name has no dash. */
static const struct {
	u32 family;
	const char *module;
	const char *pattern;
	bool with_inode;
} patterns[] = {
	{ GPU_OF_NVIDIA, "nvidia", "nvidia_unlocked_ioctl", false },
	{ GPU_OF_NVIDIA, "nvidia", "nvidia_frontend_unlocked_ioctl", false },
	{ GPU_OF_NVIDIA, "nvidia", "nv*unlocked_ioctl*", false },
	{ GPU_OF_NVIDIA, "nvidia", "nvidia_frontend_ioctl", true },
	{ GPU_OF_NVIDIA, "nvidia", "nvidia_ioctl", true },
	{ GPU_OF_UVM, "nvidia_uvm", "uvm_unlocked_ioctl_entry", false },
	{ GPU_OF_UVM, "nvidia_uvm", "uvm_unlocked_ioctl", false },
	{ GPU_OF_UVM, "nvidia_uvm", "uvm*unlocked_ioctl*", false },
	{ GPU_OF_UVM, "nvidia_uvm", "uvm_ioctl", false },
};

enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]), SYMBOL_MAX = 64 };

/* Copies the next word, of at most SYMBOL_MAX - 1 characters, and gives where the text goes on; NULL if there is none
 * or it is longer. */
static const char *next_word(const char *at, char *word)
{
	size_t len;

	at += strspn(at, " \t");
	len = strcspn(at, " \t\n");
	if (!len || len >= SYMBOL_MAX)
		return NULL;
	memcpy(word, at, len);
	word[len] = '\0';
	return at + len;
}

/* "0000000000000000 t nvidia_unlocked_ioctl\t[nvidia]" */
static bool parse_symbol(const char *line, char *function, char *module)
{
	char address[SYMBOL_MAX], type[SYMBOL_MAX], bracketed[SYMBOL_MAX];
	size_t len;

	line = next_word(line, address);
	line = line ? next_word(line, type) : NULL;
	line = line ? next_word(line, function) : NULL;
	line = line ? next_word(line, bracketed) : NULL;
	len = line ? strlen(bracketed) : 0;
	if (len < 3 || bracketed[0] != '[' || bracketed[len - 1] != ']' || (strcmp(type, "t") && strcmp(type, "T")))
		return false;
	memcpy(module, bracketed + 1, len - 2);
	module[len - 2] = '\0';
	return true;
}

void gpu_consider_symbol(struct gpu_function *best, u32 family, const char *line)
{
	char function[SYMBOL_MAX], module[SYMBOL_MAX];
	int better = best->rank ? best->rank - 1 : PATTERNS;

	/* Most of some 200,000 lines end here. */
	if (!strstr(line, "ioctl") || !parse_symbol(line, function, module))
		return;
	for (int i = 0; i < better; i++) {
		/* Parts that the compiler has split off ("name.cold") can't be hooked in its place. */
		if (patterns[i].family != family || strcmp(patterns[i].module, module) || strchr(function, '.') ||
		    strstr(function, "compat") || fnmatch(patterns[i].pattern, function, 0))
			continue;
		memcpy(best->name, function, sizeof(function));
		best->with_inode = patterns[i].with_inode;
		best->rank = i + 1;
		return;
	}
}

u32 gpu_families_of_device(const char *line, u32 *uvm_major)
{
	char *end, name[SYMBOL_MAX];
	unsigned long major = strtoul(line, &end, 10);

	if (end == line || !next_word(end, name))
		return 0;
	if (major == MAJOR_DRM && !strcmp(name, "drm"))
		return GPU_OF_DRM;
	if (major == MAJOR_NVIDIA && !strncmp(name, "nvidia", strlen("nvidia")))
		return GPU_OF_NVIDIA;
	if (!strcmp(name, "nvidia-uvm") && major && major < 4096) {
		*uvm_major = (u32)major;
		return GPU_OF_UVM;
	}
	return 0;
}

u32 gpu_driver_of_text(const char *name)
{
	struct gpu_name words = { 0, 0 };

	if (strlen(name) >= sizeof(words))
		return GPU_OTHER;
	for (size_t i = 0; name[i]; i++) {
		u64 *word = i < sizeof(words.low) ? &words.low : &words.high;

		*word |= (u64)(u8)name[i] << i % sizeof(words.low) * 8;
	}
	return gpu_driver_of_name(words);
}
