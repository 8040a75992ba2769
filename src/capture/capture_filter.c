// SPDX-License-Identifier: GPL-2.0
/* Before and after: is there what is to be watched, and was there any of it?
 */
#include "capture_filter.h"

#include <errno.h>
#include <signal.h>

int capture_check_cpus(const struct capture *capture, const struct filter *filter)
{
	for (u32 cpu = capture->info.cpus_len; filter->has_cpus && cpu < SCHED_CPUS_MAX; cpu++)
		if (filter->cpus[cpu / 64] >> (cpu % 64) & 1)
			return fail(capture->request.view, "there is no CPU %u: %s has 0 to %u", cpu,
				    capture->replay ? "the recording's machine" : "this machine",
				    capture->info.cpus_len - 1);
	return 0;
}

int capture_check_filter(const struct capture *capture, const struct filter *filter)
{
	for (u32 i = 0; i < filter->pids_len; i++)
		if (kill((pid_t)filter->pids[i], 0) < 0 && errno == ESRCH)
			return fail(capture->request.view, "no process has pid %u", filter->pids[i]);
	return capture_check_cpus(capture, filter);
}

void capture_say_if_none_matched(const struct capture *capture, const struct filter *filter)
{
	const struct capture_request *request = &capture->request;
	const struct threads *threads = &capture->threads;
	char words[FILTER_WORDS_SIZE];

	if (filter_is_empty(filter) || request->no_threads || !(request->accounts || (request->groups & EVENTS_SCHED)))
		return;
	for (size_t i = 0; i < threads->len; i++)
		if (!threads->all[i]->bystander)
			return;
	filter_words(filter, words);
	note("no thread that ran matched %s", words);
}
