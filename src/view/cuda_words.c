// SPDX-License-Identifier: GPL-2.0
/* How the tables and exports of 'tactus cuda' name a kernel: short, whole, or as the program has it; and why a training
 * step was slow. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../sink/demangle.h"
#include "../sink/text.h"
#include "cuda_view.h"

enum { TIME_SIZE = 16 };

char *cuda_kernel_words(const struct cuda_kernel *kernel, enum kernel_names names, bool *shortened)
{
	char text[SHORT_NAME_MOST + 1], *whole = NULL;

	if (!kernel->name) {
		snprintf(text, sizeof(text), "%s 0x%" PRIx64,
			 kernel->shape == SHAPE_LAUNCH_GRAPH  ? "graph"
			 : kernel->shape == SHAPE_LAUNCH_HOST ? "host function"
							      : "kernel",
			 kernel->handle);
		return strdup(text);
	}
	if (names != NAMES_MANGLED)
		whole = demangle(kernel->name);
	if (!whole)
		whole = strdup(kernel->name);
	if (!whole || names != NAMES_SHORT)
		return whole;
	*shortened |= shorten_name(text, sizeof(text), whole);
	free(whole);
	return strdup(text);
}

/* Of what is a call: which, what for, and what it usually takes. */
static void call_words(char *into, size_t size, const struct cuda *cuda, const struct step *step)
{
	static const char *const verbs[STEP_PARTS] = { [STEP_SYNC] = "it waited %s for the GPU",
						       [STEP_COPY] = "it copied for %s",
						       [STEP_COLLECTIVE] = "it was in NCCL's calls for %s" };
	const char *function = cuda_function_name(cuda, step->call.function);
	char span[TIME_SIZE], usual[TIME_SIZE], bytes[TIME_SIZE], what[100];

	format_time(span, sizeof(span), step->parts_ns[step->part]);
	format_time(usual, sizeof(usual), step->usual_part_ns);
	format_bytes(bytes, sizeof(bytes), step->call.bytes);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(what, sizeof(what), verbs[step->part], span);
#pragma GCC diagnostic pop
	snprintf(into, size, "%s, usually %s: the longest in %s%s%s%s%s", what, usual, function ? function : "?",
		 step->call.bytes ? ", " : "", step->call.bytes ? bytes : "", step->call.copy ? " " : "",
		 step->call.copy ? cuda_copy_name(step->call.copy) : "");
}

void cuda_step_words(char *into, size_t size, const struct threads *threads, const struct cuda *cuda,
		     const struct step *step)
{
	static const char *const prefixes[STEP_PARTS] = {
		[STEP_DATA] = "data, from another process: ", [STEP_LOCK] = "a lock or a queue: "
	};
	struct late_frame frame = { .tid = step->tid,
				    .interval_ns = step->wall_ns,
				    .has_cause = step->has_cause,
				    .cause = step->cause,
				    .usual_ns = step->usual_part_ns };
	char span[TIME_SIZE];
	size_t used;

	if (step->part == STEP_SYNC || step->part == STEP_COPY || step->part == STEP_COLLECTIVE) {
		call_words(into, size, cuda, step);
		return;
	}
	snprintf(into, size, "%s", prefixes[step->part] ? prefixes[step->part] : "");
	format_time(span, sizeof(span), step->parts_ns[STEP_CPU_WAIT]);
	if (step->part == STEP_CPU_WAIT && step->parts_ns[STEP_CPU_WAIT] > step->cause.ns * 5 / 4)
		snprintf(into, size, "it waited %s for a CPU, at the longest: ", span);
	used = strlen(into);
	late_cause_words(into + used, size - used, threads, &frame);
}
