// SPDX-License-Identifier: GPL-2.0
/* Patterns of names: of Mesa's, NVIDIA's and AMD's files, and of layers. Drivers that are split over several files
 * export their door in one of them alone, so that names are needed too. */
#include "graphics.h"

#include <fnmatch.h>
#include <stddef.h>

static const char *const names[] = {
	"libvulkan*",	 "libVkLayer*",
	"libvk*.so*",	 "libEGL*",
	"libGL*",	 "libgallium*",
	"*_dri.so",	 "libnvidia-*",
	"amdvlk*.so*",	 "libMangoHud*",
	"libgamescope*", "libvkbasalt*",
	"librenderdoc*", "gameoverlayrenderer.so",
};

const char *const graphics_doors[] = {
	"vk_icdGetInstanceProcAddr",
	"*GetInstanceProcAddr",
	"*GetDeviceProcAddr",
	"vkNegotiateLoaderLayerInterfaceVersion",
	"eglGetProcAddress",
	"__egl_Main",
	"__glx_Main",
	NULL,
};

bool graphics_is_library(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!fnmatch(names[i], name, 0))
			return true;
	return false;
}
