// SPDX-License-Identifier: GPL-2.0
/* tactus record: the stream to a file, for any view to read later with -i.
 * Shows how far it is while it goes on, and at the end what was written and what was lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../base/say.h"
#include "../sensor/cuda.h"
#include "../sensor/sensor.h"
#include "../sink/text.h"
#include "role_options.h"
#include "source.h"

enum { KEY_CUDA = 0x400, KEY_LIBRARY };

static struct cuda_settings cuda_wishes = { .api = "default", .sample = 1 };
static bool with_cuda;

static const char *take_own(int key, const char *value)
{
	if (key != KEY_CUDA && key != KEY_LIBRARY)
		return role_options_take(key, value);
	with_cuda = true;
	if (key == KEY_LIBRARY)
		cuda_wishes.library = value;
	return NULL;
}

static const struct argp_option own[] = {
	{ "cuda", KEY_CUDA, 0, 0,
	  "Also calls into libcuda and the ioctls of NVIDIA's drivers, as 'tactus cuda' has them", 0 },
	{ "library", KEY_LIBRARY, "FILE", 0, "With --cuda: a libcuda to probe before anything maps it", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const struct command_usage usage = {
	.name = "record",
	.text = "Writes every event to a file, of the scheduler and of what threads are for, for other commands to "
		"read with -i.\v"
		"With --cuda, calls of the default set; 'tactus cuda' has more to choose from, and records with -o.\n"
		"\n"
		"The file can be read up to its last whole block after a crash, a kill or a full disk.\n"
		"\n"
		"Examples:\n"
		"  tactus record -o game.tactus -- ./game\n"
		"  tactus latency -i game.tactus --over 5ms\n"
		"  tactus record --cuda -o train.tactus -- python3 train.py",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_OUTPUT | TAKES_FILTER | TAKES_RING | TAKES_JSON,
	.own = own,
	.take_own = take_own,
};

/* On a terminal: how far it is, on one line that is written over. */
static bool on_tick(void *data)
{
	const struct source *source = data;
	static u64 shown_bytes;

	if (source->written_bytes == shown_bytes || !isatty(STDERR_FILENO))
		return true;
	shown_bytes = source->written_bytes;
	fprintf(stderr, "\r%" PRIu64 " events, %.1f MB ", source->written_events, (double)shown_bytes / 1e6);
	return true;
}

static void print_summary(const struct source *source, const struct options *options)
{
	double bytes = (double)source->written_bytes, events = (double)source->written_events;

	if (options->json) {
		printf("{\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"read\":%" PRIu64 ",\"lost\":%" PRIu64
		       ",\"unseen_switches\":%" PRIu64 ",\"span_ns\":%" PRIu64 ",\"rings\":[",
		       source->written_events, source->written_bytes, source->read, source->lost, source->unseen,
		       source->threads.last_ns - source->threads.first_ns);
		for (u32 cpu = 0; source->rings && cpu < source->info.cpus_len; cpu++)
			printf("%s{\"cpu\":%u,\"produced\":%" PRIu64 ",\"read\":%" PRIu64 ",\"lost\":%" PRIu64 "}",
			       cpu ? "," : "", cpu, source->rings[cpu].produced, source->rings[cpu].read,
			       source->rings[cpu].lost);
		fputs("],\"lost_kinds\":{", stdout);
		for (u32 kind = 1, some = 0; kind < EVENT_KINDS; kind++)
			if (source->lost_kinds[kind])
				printf("%s\"%s\":%" PRIu64, some++ ? "," : "", event_info(kind)->name,
				       source->lost_kinds[kind]);
		puts("}}");
		return;
	}
	print_plain(stdout, options->output);
	printf(": %" PRIu64 " events in %.1f MB, %.1f bytes an event, %" PRIu64 " lost\n", source->written_events,
	       bytes / 1e6, events > 0 ? bytes / events : 0, source->lost);
}

int view_record(int argc, char **argv)
{
	struct source source = { .view = "record", .events = true, .roles = true, .raw = true };
	struct options options;
	int status;

	options_parse(&options, &usage, argc, argv);
	if (!options.output) {
		fail("record", "no file to write: give one with -o FILE");
		return EXIT_USAGE;
	}
	sensor_set_verbose(options.verbose);
	source.cuda = with_cuda ? &cuda_wishes : NULL;
	source.on_tick = on_tick;
	source.data = &source;
	status = source_play(&source, &options);
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	if (source.threads.last_ns) {
		print_summary(&source, &options);
		source_print_losses(&source);
		if (with_cuda && !source.cuda_libraries)
			note("no libcuda was found, neither mapped by what was watched nor where libraries lie: no "
			     "call into it is recorded");
	}
	source_free(&source);
	return status;
}
