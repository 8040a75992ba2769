// SPDX-License-Identifier: GPL-2.0
/* tactus serve: figures of this machine for engines that gather them from many. It watches and changes nothing; what a
 * 'tactus run' beside it does is among the figures. */
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../capture/role_options.h"
#include "metrics_live.h"
#include "view.h"

struct chosen {
	struct metrics_wishes wishes;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	return key >= KEY_METRICS && key <= KEY_LIBRARY ? metrics_take_option(&chosen->wishes, key, value)
							: role_options_take(key, value);
}

static const struct argp_option own_options[] = {
	METRICS_OPTIONS,
	{ "otlp", KEY_OTLP, "URL", 0,
	  "Send figures to what takes OpenTelemetry's by HTTP, such as http://127.0.0.1:4318 (OTLP, in JSON)", 0 },
	{ "every", KEY_EVERY, "SPAN", 0, "With --otlp: so often (15s)", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

/* Of the file's, beside the command line's. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	const struct chosen *chosen = data;

	(void)options;
	if (!strcmp(option, "token-file") || !strncmp(option, "tls-", strlen("tls-")))
		return chosen->wishes.serves;
	if (!strcmp(option, "every"))
		return chosen->wishes.otlp;
	return strcmp(option, "library") != 0 || chosen->wishes.with_cuda;
}

const struct command_usage serve_usage = {
	.name = "serve",
	.text = "Serves figures of this machine at /metrics, for Prometheus and whatever reads OpenMetrics: how long "
		"threads of each role waited for CPUs, CPU time and waits by unit, container and control group, late "
		"frames by cause, missed timers, GPU submits and stalls, moves by distance, ranks of training jobs, "
		"what a 'tactus run' does, losses, and what tactus itself takes.\v"
		"Figures are read when they are asked for. There are few series however many threads there are: no "
		"label has a thread's number. Nothing but this machine is answered without a token and TLS.\n"
		"\n"
		"Examples:\n"
		"  tactus serve --metrics 127.0.0.1:9783\n"
		"  tactus serve --metrics 0.0.0.0:9783 --token-file TOKEN --tls-cert CERT.pem --tls-key KEY.pem\n"
		"  tactus serve --metrics 9783 --cuda             with training steps\n"
		"  tactus serve --otlp http://127.0.0.1:4318      sends them instead\n"
		"  tactus serve --metrics 9783 -- ./game          of this program alone, until it ends\n"
		"  curl -s http://127.0.0.1:9783/metrics",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_FILTER | TAKES_RING,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct show {
	struct chosen chosen;
	struct cuda_settings cuda;
	struct options options;
	struct capture capture;
	struct metrics_live *live;
};

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;

	(void)ended;
	metrics_live_event(show->live, event);
}

static bool on_open(void *data, struct sensor *sched)
{
	struct show *show = data;

	return metrics_live_begin(show->live, &show->capture, sched);
}

static bool on_tick(void *data)
{
	return metrics_live_tick(((struct show *)data)->live);
}

static void on_close(void *data)
{
	metrics_live_end(((struct show *)data)->live);
}

static int watch(struct show *show)
{
	const struct chosen *chosen = &show->chosen;
	int status = metrics_live_open(&show->live, &chosen->wishes, "serve", METRICS_WATCH);

	if (status)
		return status;
	show->capture = (struct capture){ .request = { .view = "serve",
						       .also_fd = metrics_live_fd(show->live),
						       .calm = !chosen->wishes.with_cuda,
						       .on_event = on_event,
						       .on_open = on_open,
						       .on_tick = on_tick,
						       .on_close = on_close,
						       .data = show } };
	metrics_live_request(&show->capture.request, &chosen->wishes, &show->cuda);
	status = capture_run(&show->capture, &show->options);
	if (show->capture.threads.last_ns)
		capture_print_losses(&show->capture);
	capture_free(&show->capture);
	return status;
}

int view_serve(int argc, char **argv)
{
	struct show *show = calloc(1, sizeof(*show));
	int status = EXIT_USAGE;

	if (!show)
		return fail("serve", "out of memory");
	options_parse(&show->options, &serve_usage, &show->chosen, argc, argv);
	if (!show->chosen.wishes.serves && !show->chosen.wishes.otlp)
		fail("serve", "nothing to serve: give --metrics ADDRESS:PORT, or --otlp URL");
	else if (metrics_misplaced(&show->chosen.wishes))
		fail("serve", "%s", metrics_misplaced(&show->chosen.wishes));
	else if (show->chosen.wishes.every_ns && !show->chosen.wishes.otlp)
		fail("serve", "--every is for --otlp URL");
	else
		status = watch(show);
	metrics_live_close(show->live);
	free(show);
	return status;
}
