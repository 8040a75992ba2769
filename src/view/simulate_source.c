// SPDX-License-Identifier: GPL-2.0
/* A recording as work for a simulated machine, and runs of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/scx_config.h"
#include "../../core/sched_config.h"
#include "../base/loop.h"
#include "../base/options.h"
#include "../base/say.h"
#include "../store/rules_file.h"
#include "policy_options.h"
#include "simulate.h"

enum { LOOK_FOR_SIGNALS = 65536, TOPOLOGY_BYTES_MOST = 65536 };

#define SPAN_MOST_NS (3600ULL * NSEC_PER_SEC)

int simulate_open(struct simulate_source *source, const char *path)
{
	struct reason why;

	source->path = path;
	if (recording_open(&source->reader, path, &why))
		return fail(path, "%s", why.text);
	return 0;
}

static u32 kernel_of(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 && major < 256 && minor < 256 ? SCX_KERNEL(major, minor)
											   : 0;
}

int simulate_read(struct simulate_source *source)
{
	const struct recording_info *info = recording_reader_info(source->reader);
	const struct event_header *event;
	struct reason why = { "" };
	u64 seen = 0;
	int got;

	if (!info->cpus_len || info->cpus_len > SIM_CPUS_MAX)
		return fail(source->path, "has %u CPUs: 1 to %d can be simulated", info->cpus_len, SIM_CPUS_MAX);
	source->kernel = kernel_of(info->kernel);
	sim_topology_from(&source->topology, info->topology, info->cpus_len);
	if (work_init(&source->work, info->kernel, info->topology, info->cpus_len, info->mono_start_ns,
		      info->wall_start_ns) ||
	    compare_run_init(&source->original, info->topology, info->cpus_len, info->mono_start_ns, false))
		return fail(source->path, "out of memory");
	while ((got = recording_next(source->reader, &event, &why)) > 0) {
		/* Before pieces of all the time between are made: a recording may claim centuries. */
		if (event->time_ns > info->mono_start_ns && event->time_ns - info->mono_start_ns > SPAN_MOST_NS)
			return fail(source->path, "is longer than an hour: cut a part of it with 'tactus cut'");
		if (!source->only_run)
			work_take(&source->work, event);
		compare_run_take(&source->original, event);
		if (++seen % LOOK_FOR_SIGNALS == 0 && loop_signal_waits())
			return fail(source->path, "stopped: nothing is predicted");
	}
	if (got < 0)
		return fail(source->path, "%s", why.text);
	if (recording_was_cut(source->reader))
		note("%s ends in the middle of a block, as after a crash: it is taken up to there", source->path);
	compare_run_end(&source->original);
	if (work_end(&source->work) || source->original.blocks.failed)
		return fail(source->path, "out of memory");
	if (source->only_run)
		return 0;
	if (source->work.last_ns - source->work.first_ns > SPAN_MOST_NS)
		return fail(source->path, "is longer than an hour: cut a part of it with 'tactus cut'");
	if (source->work.last_ns <= source->work.first_ns || !source->work.len)
		return fail(source->path, "has no switch of a thread: record it with 'tactus record'");
	return 0;
}

void simulate_close(struct simulate_source *source)
{
	recording_close_reader(source->reader);
	work_free(&source->work);
	compare_run_free(&source->original);
}

struct taker {
	struct machine *machine;
	struct compare_run *run;
	struct recording_writer *writer;
	u64 seen;
	int error;
};

static void take(void *data, const struct event_header *event)
{
	struct taker *taker = data;

	if (taker->run)
		compare_run_take(taker->run, event);
	if (taker->writer && !taker->error)
		taker->error = recording_write(taker->writer, event);
	/* What can't be written is not worth simulating to its end. */
	if (taker->error || (++taker->seen % LOOK_FOR_SIGNALS == 0 && loop_signal_waits()))
		taker->machine->stopped = true;
}

int simulate_run(const struct simulate_source *source, const struct work *work, const struct sim_topology *topology,
		 const struct sim_params *params, struct compare_run *run, bool for_fidelity,
		 struct recording_writer *writer, struct sim_counts *counts)
{
	struct taker taker = { .run = run, .writer = writer };
	struct machine machine = { .handle = run || writer ? take : NULL, .data = &taker };
	int error = run ? compare_run_init(run, topology->cpus, topology->cpus_len, work->first_ns, for_fidelity) : 0;

	taker.machine = &machine;
	if (!error)
		error = machine_run(&machine, work, topology, params);
	if (!error && run) {
		compare_run_end(run);
		error = run->blocks.failed ? -ENOMEM : 0;
	}
	if (counts)
		*counts = machine.counts;
	machine_free(&machine);
	if (error == -ELOOP)
		return fail(source->path,
			    "under %s its threads wake each other for ever without running: the "
			    "recording is damaged",
			    params->policy->name);
	if (taker.error)
		return fail("simulate", "cannot write the recording: %s: nothing is left of it", strerror(-taker.error));
	if (error == -EINTR)
		return fail(source->path, "stopped: nothing is predicted");
	return error ? fail(source->path, "out of memory") : 0;
}

const struct sim_policy *simulate_recorded(const struct simulate_source *source)
{
	return source->work.decisions ? &policy_tactus : &policy_eevdf;
}

static const char *take_run_option(struct sim_params *params, const struct option_defaults *defaults)
{
	const struct option_default *slice = defaults_find(defaults, "run", "slice-us");
	const struct option_default *raise = defaults_find(defaults, "run", "raise");
	static const char *const words[] = { "none", "input", "frames", "both" }; /* by RAISE_* */
	const struct option_default *credit = defaults_find(defaults, "run", "credit");
	const struct option_default *discount = defaults_find(defaults, "run", "discount");
	const struct option_default *light = defaults_find(defaults, "run", "light-us");
	u64 number;

	if (slice) {
		if (parse_slice_us(slice->value, &number))
			return "has a slice-us that 'tactus run' would not take";
		params->slice_ns = number * NSEC_PER_USEC;
	}
	if (credit) {
		if (parse_credit(credit->value, &number))
			return "has a credit that 'tactus run' would not take";
		params->credit = (u32)number;
	}
	if (discount) {
		if (parse_discount(discount->value, &number))
			return "has a discount that 'tactus run' would not take";
		params->discount = (u32)number;
	}
	if (light) {
		if (parse_light_us(light->value, &number))
			return "has a light-us that 'tactus run' would not take";
		params->light_ns = number * NSEC_PER_USEC;
	}
	for (number = 0; raise; number++) {
		if (number == sizeof(words) / sizeof(*words))
			return "has a raise that 'tactus run' would not take";
		if (!strcmp(raise->value, words[number]))
			break;
	}
	if (raise)
		params->raise = (u32)number;
	return NULL;
}

const char *simulate_take_policy(struct sim_params *params, const char *word)
{
	struct option_defaults defaults = { 0 };
	const char *wrong;

	params->policy = sim_policy_by_name(word);
	if (params->policy)
		return NULL;
	params->policy = &policy_tactus;
	if (!strchr(word, '/') && !strchr(word, '.'))
		return "is none of eevdf, hints, tactus, fifo, vtime, nor a file";
	defaults.path = strdup(word);
	wrong = !defaults.path || defaults_read_file(&defaults, word, true) ? "is no configuration of 'tactus run'"
									    : take_run_option(params, &defaults);
	defaults_free(&defaults);
	return wrong;
}

static int parse_topology(struct sim_topology *topology, const char *path, FILE *file, char *text)
{
	size_t len = fread(text, 1, TOPOLOGY_BYTES_MOST + 1, file);
	struct reason why;

	if (ferror(file))
		return fail(path, "cannot be read");
	if (len > TOPOLOGY_BYTES_MOST || memchr(text, 0, len))
		return fail(path, "is no topology file: it is longer than 64 KiB, or no text");
	text[len] = '\0';
	return sim_topology_parse(topology, text, &why) ? fail(path, "%s", why.text) : 0;
}

int simulate_read_topology(struct sim_topology *topology, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;
	int status;

	if (!file)
		return fail(path, "%s", strerror(errno));
	text = malloc(TOPOLOGY_BYTES_MOST + 1);
	status = text ? parse_topology(topology, path, file, text) : fail(path, "out of memory");
	fclose(file);
	free(text);
	return status;
}
