// SPDX-License-Identifier: GPL-2.0
#include "cuda_prepare.h"

#include <stdlib.h>

#include "cuda.h"
#include "cuda_detour.h"

/* One call in so many runs into the probe, where the command reports the others or all are only counted. */
#define HARDLY_ANY (1ULL << 62)

/* Where only one call in N is sent, the command may count the others itself; everything that is not watched by the
 * command alone has to be asked at the probe. */
static void open_detour(struct cuda_prepared *prepared, const struct sensor_settings *settings)
{
	const struct cuda_settings *wishes = settings->for_cuda;
	const struct filter *filter = &settings->options->filter;
	bool reports = wishes->reports && wishes->sample <= 1 && !wishes->counts_only;

	if (wishes->sample <= 1 && !wishes->counts_only && !reports)
		reason_set(&prepared->trap, "every call is sent");
	else if (wishes->no_detour)
		reason_set(&prepared->trap, "--no-detour");
	else if (!settings->options->command)
		reason_set(&prepared->trap, "only a command that is started here can be made to count by itself");
	else if (!filter_is_empty(filter))
		reason_set(&prepared->trap, "only some of the threads or CPUs are watched");
	else
		cuda_detour_open(&prepared->detour, wishes->counts_only || reports ? HARDLY_ANY : wishes->sample,
				 reports, &prepared->trap);
}

void *cuda_prepare(const struct sensor_settings *settings)
{
	struct cuda_prepared *prepared = calloc(1, sizeof(*prepared));

	if (!prepared)
		return NULL;
	open_detour(prepared, settings);
	if (prepared->detour && cuda_detour_give(prepared->detour, settings->for_cuda->ranges)) {
		reason_set(&prepared->trap, "out of memory");
		cuda_detour_close(prepared->detour);
		prepared->detour = NULL;
	}
	return prepared;
}

void cuda_after_fork(void *data)
{
	struct cuda_prepared *prepared = data;

	if (prepared->detour)
		cuda_detour_take_back(prepared->detour);
}

void cuda_unprepare(void *data)
{
	struct cuda_prepared *prepared = data;

	cuda_detour_close(prepared->detour);
	free(prepared);
}
