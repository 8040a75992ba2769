// SPDX-License-Identifier: GPL-2.0
/* Which functions a libcuda exports, which of them are wanted, and where a libcuda may lie that nobody has mapped yet:
 * probes can be put on a file before the first process maps it, so that its first call is seen. */
#include "cuda_find.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/elf.h"
#include "cuda.h"
#include "gpu_find.h"

struct gathering {
	struct cuda_functions *functions;
	int error;
	u32 bits;
};

static int take_symbol(void *data, const struct elf_symbol *symbol)
{
	struct gathering *gathering = data;

	gathering->bits = symbol->bits;
	gathering->error = cuda_functions_add(gathering->functions, symbol->name, symbol->offset, symbol->address);
	return gathering->error;
}

int cuda_find_functions(struct cuda_functions *functions, const char *file, enum cuda_library kind, struct reason *why)
{
	static const char *const patterns[] = {
		[LIBRARY_CUDA] = "cu[A-Z]*",
		[LIBRARY_NCCL] = "nccl[A-Z]*",
		[LIBRARY_NVTX] = "nvtx[A-Z]*",
	};
	struct gathering gathering = { .functions = functions };
	int got = elf_symbols(file, patterns[kind], take_symbol, &gathering, why);

	if (got < 0)
		return got;
	if (gathering.error == -E2BIG)
		reason_set(why, "it exports more functions than any libcuda");
	if (gathering.error)
		return gathering.error;
	if (gathering.bits == 64)
		return 0;
	reason_set(why, "it is a %u-bit library", gathering.bits);
	return -ENOTSUP;
}

bool cuda_is_chosen(const struct cuda_function *function, const char *api)
{
	char alias[256];
	regex_t pattern;
	bool fits;

	if (!api || !strcmp(api, "default"))
		return cuda_api_of(function->name)->class != CUDA_OTHER;
	if (!strcmp(api, "all"))
		return true;
	if (regcomp(&pattern, api, REG_EXTENDED | REG_NOSUB))
		return false;
	fits = !regexec(&pattern, function->name, 0, NULL, 0);
	for (const char *at = function->aliases; at && *at && !fits;
	     at += strcspn(at, ",") + (strchr(at, ',') != NULL)) {
		snprintf(alias, sizeof(alias), "%.*s", (int)strcspn(at, ","), at);
		fits = !regexec(&pattern, alias, 0, NULL, 0);
	}
	regfree(&pattern);
	return fits;
}

u64 cuda_probe_offset(int fd, u64 offset)
{
	u8 code[CUDA_CODE_BYTES] = { 0 };

	if (pread(fd, code, sizeof(code), (off_t)offset) != (ssize_t)sizeof(code))
		return offset;
#ifdef __x86_64__
	return offset + cuda_probe_shift(code);
#else
	return offset;
#endif
}

static void try_folder(const char *folder, size_t len, const char *name, void (*take)(void *data, const char *path),
		       void *data)
{
	char pattern[PATH_MAX];
	glob_t found;

	if (!len || len > sizeof(pattern) - 32)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/%s", (int)len, folder, name);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			take(data, found.gl_pathv[i]);
	globfree(&found);
}

void cuda_find_files(const char *pattern, void (*take)(void *data, const char *path), void *data)
{
	static const char *const folders[] = {
		"/usr/lib/x86_64-linux-gnu",
		"/lib/x86_64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu",
		"/usr/lib64",
		"/usr/lib",
		"/usr/lib64/nvidia",
		"/usr/local/nvidia/lib64",
		"/usr/local/cuda/compat",
		"/usr/lib/wsl/lib",
		"/run/opengl-driver/lib",
	};
	const char *path = getenv("LD_LIBRARY_PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":;");

		try_folder(path, len, pattern, take, data);
		path += len + (path[len] != '\0');
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		try_folder(folders[i], strlen(folders[i]), pattern, take, data);
}

static void take_first_file(void *data, const char *path)
{
	char *first = data;

	if (!first[0])
		snprintf(first, PATH_MAX, "%s", path);
}

int cuda_list_functions(char *path, size_t size, void (*take)(void *data, const struct cuda_function *function),
			void *data, struct reason *why)
{
	struct cuda_functions functions = { 0 };
	char first[PATH_MAX] = "";
	int error = -ENOENT, len;

	cuda_find_files("libcuda.so.*", take_first_file, first);
	snprintf(path, size, "%s", first);
	if (first[0])
		error = cuda_find_functions(&functions, first, LIBRARY_CUDA, why);
	else
		reason_set(why, "there is no libcuda.so.* in the library folders, nor in LD_LIBRARY_PATH");
	for (size_t i = 0; !error && i < functions.len; i++)
		take(data, &functions.all[i]);
	len = (int)functions.len;
	cuda_functions_free(&functions);
	return error ? error : len;
}

enum cuda_library cuda_library_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	if (!strncmp(base, "libnccl", strlen("libnccl")))
		return LIBRARY_NCCL;
	return !strncmp(base, "libnvToolsExt", strlen("libnvToolsExt")) || !strcmp(base, DETOUR_NAME) ? LIBRARY_NVTX
												      : LIBRARY_CUDA;
}

void cuda_find_majors(struct cuda_config *config)
{
	const char *instead = getenv("TACTUS_NVIDIA_MAJORS");
	struct gpu_found found;

	if (instead) {
		config->stand_in = 1;
		config->nvidia_major = (u32)strtoul(instead, NULL, 10);
		config->uvm_major = strchr(instead, ',') ? (u32)strtoul(strchr(instead, ',') + 1, NULL, 10) : 0;
		return;
	}
	gpu_find(&found);
	config->nvidia_major = found.families & GPU_OF_NVIDIA ? MAJOR_NVIDIA : 0;
	config->uvm_major = found.families & GPU_OF_UVM ? found.uvm_major : 0;
}
