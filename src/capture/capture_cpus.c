// SPDX-License-Identifier: GPL-2.0
#include "capture_cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/report.h"
#include "../base/say.h"
#include "../sensor/cpus.h"
#include "watch.h"

struct reading {
	struct sensor *sensor;
	struct cpus_request *request;
	struct cpus before;
	bool failed;
};

/* What happened since the last reading. */
static bool read_since(struct reading *reading, struct cpus *cpus)
{
	int error = cpus_read(reading->sensor, cpus);

	reading->request->to_ns = clock_now_ns();
	if (error) {
		reading->failed = true;
		fail(reading->request->view, "could not read the accounts: %s", strerror(-error));
		return false;
	}
	cpus_subtract(cpus, &reading->before);
	return true;
}

static bool on_tick(void *data)
{
	struct reading *reading = data;
	struct cpus_request *request = reading->request;
	struct cpus since = { 0 };

	if (!read_since(reading, &since))
		return false;
	request->on_interval(request->data, &since, request->from_ns, request->to_ns);
	cpus_add(&reading->before, &since);
	cpus_free(&since);
	request->from_ns = request->to_ns;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

/* From the first reading to the last. Returns the status to end with. */
static int watch_cpus(struct watch *watch, struct reading *reading, struct cpus *cpus)
{
	struct cpus_request *request = reading->request;
	int status, error;

	error = cpus_read(reading->sensor, &reading->before);
	if (error)
		return fail(request->view, "could not read the accounts: %s", strerror(-error));
	request->start_ns = request->from_ns = clock_now_ns();
	status = report_open(watch->options);
	if (!status)
		status = watch_start(watch);
	if (!status) {
		watch_wait(watch, request->interval_ns, 0, on_tick, reading);
		read_since(reading, cpus);
		status = watch_end(watch);
		status = status || !reading->failed ? status : EXIT_FAILURE;
	}
	cpus_free(&reading->before);
	return status;
}

int capture_cpus(struct cpus *cpus, struct cpus_request *request)
{
	struct sensor sensor;
	struct reading reading = { .sensor = &sensor, .request = request };
	struct watch watch;
	int status;

	load_set_verbose(request->options->verbose);
	status = watch_prepare(&watch, request->options);
	if (status)
		return status;
	if (sensor_start(&sensor, &cpus_kind, NULL) < 0)
		return watch_abandon(&watch, fail(request->view, "cannot watch the scheduler: %s", sensor.reason.text));
	status = watch_cpus(&watch, &reading, cpus);
	sensor_stop(&sensor);
	return watch_abandon(&watch, status);
}
