/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of 'tactus cuda' share: its tables, and the two forms that it exports. */
#ifndef TACTUS_VIEW_CUDA_VIEW_H
#define TACTUS_VIEW_CUDA_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "../base/options.h"
#include "../model/collectives.h"
#include "../model/driver_memory.h"
#include "../model/driver_work.h"
#include "../model/steps.h"
#include "frame_words.h"

/* How kernels' names are shown, see sink/demangle.h. */
enum kernel_names { NAMES_SHORT, NAMES_WHOLE, NAMES_MANGLED };

/* All tables, those that have rows. JSON has names whole unless they are mangled. */
void cuda_print_tables(const struct cuda *cuda, const struct options *options, u64 from_ns, bool sampled,
		       enum kernel_names names);

/* Memory that the driver allocated, if it was seen. */
void cuda_print_driver_memory(const struct driver_memory *memory, const struct options *options);

/* What kernel threads did for a process, if that was seen. */
void cuda_print_driver_work(const struct driver_work *work, const struct options *options);

/* NCCL's calls, if there were any. */
void cuda_print_collectives(const struct collectives *collectives, const struct cuda *cuda,
			    const struct options *options);

/* A kernel's name, or its handle where it has none; to be freed. NULL: there is no memory. `*shortened` is set if
 * something was left out. */
char *cuda_kernel_words(const struct cuda_kernel *kernel, enum kernel_names names, bool *shortened);

enum { STEP_WORDS_SIZE = FRAME_WORDS_SIZE + 200 };

/* --steps: a slow one as it comes; and all of them at the end. */
void cuda_step_words(char *into, size_t size, const struct threads *threads, const struct cuda *cuda,
		     const struct step *step);
void cuda_print_slow_step(const struct step *step, const struct step_process *process, const struct threads *threads,
			  const struct cuda *cuda, bool json);
void cuda_print_steps(const struct steps *steps, const struct options *options, const struct threads *threads,
		      const struct cuda *cuda);

enum cuda_form { FORM_LINES, FORM_CHROME };

struct cuda_export;

/* `force`: replaces what is there. Returns NULL after a message. */
struct cuda_export *cuda_export_open(const char *path, enum cuda_form form, bool force, enum kernel_names names);
void cuda_export_handle(struct cuda_export *export, const struct event_header *event);
/* Writes what is left. Returns 0, or 1 after a message. */
int cuda_export_close(struct cuda_export *export, const struct cuda *cuda, const struct threads *threads, u64 from_ns);

/* What can be hooked here, and how: --list. Returns the status to end with. */
int cuda_print_list(const struct options *options, const char *api);

#endif
