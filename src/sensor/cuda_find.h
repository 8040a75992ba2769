/* SPDX-License-Identifier: GPL-2.0 */
/* What cuda.c asks of files: their functions, where to probe each, and which files may be a libcuda. */
#ifndef TACTUS_SENSOR_CUDA_FIND_H
#define TACTUS_SENSOR_CUDA_FIND_H

#include "../base/say.h"
#include "../model/cuda_api.h"

/* What a file is by its name: a libcuda, a libnccl, or one with NVTX's functions. */
enum cuda_library { LIBRARY_CUDA, LIBRARY_NCCL, LIBRARY_NVTX };

enum cuda_library cuda_library_of(const char *path);

/* Which devices are NVIDIA's. For tests on machines without: TACTUS_NVIDIA_MAJORS in the environment, as in "1,5", says
 * which majors stand for the two. */
void cuda_find_majors(struct cuda_config *config);

/* Every cu*, nccl* or nvtx* function that a 64-bit library exports. Returns 0 or -errno with a reason. */
int cuda_find_functions(struct cuda_functions *functions, const char *file, enum cuda_library kind, struct reason *why);

/* Where a function that begins at this offset is probed best. */
u64 cuda_probe_offset(int fd, u64 offset);

/* Files whose names fit a pattern such as libcuda.so.*, where libraries lie and where LD_LIBRARY_PATH says. */
void cuda_find_files(const char *pattern, void (*take)(void *data, const char *path), void *data);

#endif
