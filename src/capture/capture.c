// SPDX-License-Identifier: GPL-2.0
/* One capture: the sensors that serve a request, the stream, the command, the window, the result. What a view sees is
 * the same live and from a recording. */
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "../base/elf_apart.h"
#include "../base/output.h"
#include "../base/privileges.h"
#include "../base/proc_apart.h"
#include "../base/report.h"
#include "../base/system.h"
#include "../base/topology.h"
#include "../sensor/load.h"
#include "../sensor/sched.h"
#include "../sink/event.h"
#include "../stream/stream.h"
#include "capture_filter.h"
#include "intervals.h"
#include "replay.h"
#include "role_options.h"
#include "watch.h"

enum {
	DRAIN_NS = 100 * NSEC_PER_MSEC,
	CALM_NS = 250 * NSEC_PER_MSEC,
	SOON_NS = 20 * NSEC_PER_MSEC,
	/* How long an event may take from its clock reading to its ring; a CPU that is held up there by its hypervisor
	 * can take long. */
	SETTLED_NS = 100 * NSEC_PER_MSEC,
	/* How much a killed recorder may lose. */
	FLUSH_NS = NSEC_PER_SEC,
	SUSPENDED_LEAST_NS = 10 * NSEC_PER_MSEC,
};

struct session {
	struct capture *capture;
	const struct capture_request *request;
	const struct options *options;
	u32 groups; /* that are gathered: the request's, and what a recording is to have besides */
	struct watch watch;
	struct sensor sched;
	struct procdb_settings db;
	struct stream *stream;
	FILE *lines; /* the events as JSON, instead of a recording; NULL: none */
	u64 lines_len;
	int rings_fd; /* see rings_epoll */
	u64 flushed_at_ns;
	u64 read_until_ns; /* what is older was read from the rings */
	int status;
};

void capture_give(void *data, const struct event_header *event)
{
	struct capture *capture = data;
	struct wait ended;
	bool waited;

	intervals_pass(capture, event->time_ns);
	waited = threads_handle(&capture->threads, event, &ended);

	if (capture->request.on_event)
		capture->request.on_event(capture->request.data, event, waited ? &ended : NULL);
}

size_t capture_ended_most(const struct capture_request *request)
{
	return request->forgets_ended ? THREADS_ENDED_FEW : request->forgets_many ? THREADS_ENDED_MANY : 0;
}

/* Nothing is written to before it is sure that there is something to write. */
int capture_open_outputs(const struct capture_request *request, const struct options *options)
{
	int status = report_open(options);

	return status || !request->on_outputs || request->on_outputs(request->data) ? status : EXIT_FAILURE;
}

static void on_event(void *data, const struct event_header *event)
{
	struct session *session = data;
	const struct capture_request *request = session->request;

	if (session->lines && !print_event_json(session->lines, event))
		session->lines_len++;
	if (event->kind == EVENT_ROLE && !(event->flags & EVENT_FLAG_CLOSING))
		sensor_set_handle(session->capture->sensors, event);
	if (!request->no_threads && request->groups)
		capture_give(session->capture, event);
	else if (request->no_threads && request->on_event)
		request->on_event(request->data, event, NULL);
}

static bool drain(struct session *session, u64 until_ns, bool last)
{
	int error = stream_drain(session->stream, until_ns, last);

	if (error && !session->status)
		session->status = fail(session->request->view, "could not read the rings: %s", strerror(-error));
	error = stream_record_error(session->stream);
	if (error && !session->status)
		session->status = fail(session->options->output, "%s: the recording ends here", strerror(-error));
	return !session->status;
}

/* What sensors find out goes into the stream at once, after what was read of it. */
static void serve_sensors(struct session *session, bool first)
{
	sensor_set_work(session->capture->sensors, first, session->read_until_ns, stream_put, session->stream);
	if (!first)
		session->capture->refusals = sensor_set_refused(session->capture->sensors);
}

static void flush_recording(struct session *session)
{
	struct capture *capture = session->capture;

	/* A failure is kept by the writer, and said at the next event or at the end. */
	stream_flush_record(session->stream);
	session->flushed_at_ns = clock_now_ns();
	if (session->lines) {
		fflush(session->lines);
		capture->written_events = session->lines_len;
		return;
	}
	capture->written_bytes = stream_recorded_bytes(session->stream);
	capture->written_events = stream_recorded_events(session->stream);
}

static bool on_tick(void *data)
{
	struct session *session = data;
	struct capture *capture = session->capture;
	const struct capture_request *request = session->request;
	u64 until_ns = clock_now_ns() - (request->prompt || request->prompt_urgency ? 0 : SETTLED_NS);
	struct epoll_event heard[2];

	if (request->calm && session->rings_fd >= 0)
		epoll_wait(session->rings_fd, heard, 2, 0);
	serve_sensors(session, true);
	if (until_ns > session->read_until_ns)
		session->read_until_ns = until_ns;
	if (!drain(session, session->read_until_ns, false))
		return false;
	intervals_pass(capture, session->read_until_ns);
	if (request->accounts)
		sched_collect_ended(&session->sched, &capture->threads);
	serve_sensors(session, false);
	if (request->snapshots)
		sensor_set_snapshot(capture->sensors, capture_give, capture);
	if (session->options->output && clock_now_ns() - session->flushed_at_ns >= FLUSH_NS)
		flush_recording(session);
	return !session->status && (!request->on_tick || request->on_tick(request->data));
}

static void describe_machine(struct recording_info *info)
{
	struct timespec wall, boot;
	u64 boot_ns;

	clock_gettime(CLOCK_REALTIME, &wall);
	info->wall_start_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
	info->mono_start_ns = clock_now_ns();
	clock_gettime(CLOCK_BOOTTIME, &boot);
	boot_ns = (u64)boot.tv_sec * NSEC_PER_SEC + (u64)boot.tv_nsec;
	/* Unless the machine was suspended the two are one clock; between them lies only the reading. */
	info->suspended_ns = boot_ns - info->mono_start_ns;
	if (info->suspended_ns < SUSPENDED_LEAST_NS)
		info->suspended_ns = 0;
	snprintf(info->kernel, sizeof(info->kernel), "%s", kernel_release());
}

/* The view goes on with what else there is, such as other sensors of the same matter. */
static int check_subject(const struct session *session)
{
	const struct capture_subject *subject = &session->request->subject;
	const struct sensor *sensor = sensor_set_find(session->capture->sensors, subject->sensor);
	const char *of = sensor ? sensor->kind->subject : subject->sensor;
	const char *reason = sensor ? sensor->reason.text : "there is no such sensor";
	bool is_off = !sensor || sensor->state == SENSOR_OFF;

	if (subject->hooks && (is_off || sensor->hook >= subject->hooks))
		return fail(session->request->view, "cannot watch %s: %s", of, reason);
	if (is_off)
		note("%s: cannot watch %s: %s", session->request->view, of, reason);
	else if (!strcmp(sensor_hook_name(sensor), SENSOR_WAITS))
		note("%s: this machine has no %s; one that comes is noticed", session->request->view, subject->absent);
	else
		sensor_print_losses(sensor);
	return 0;
}

static struct sensor_settings sensor_settings_of(struct session *session)
{
	return (struct sensor_settings){ .groups = session->groups,
					 .options = session->options,
					 .sched = &session->sched,
					 .threads = &session->capture->threads,
					 .rules = session->capture->rules,
					 .db = &session->db,
					 .for_cuda = session->request->cuda,
					 .stacks_over_ns = session->request->stacks_over_ns,
					 .on_tier = session->request->on_tier,
					 .on_program = session->request->on_program,
					 .data = session->request->data };
}

static int start_sensors(struct session *session)
{
	const struct capture_request *request = session->request;
	struct sensor_settings settings;
	int status = session->groups & EVENTS_ROLES ? role_options_check_games() : 0;

	if (!status && session->groups & EVENTS_ROLES)
		status = role_options_rules(&session->capture->rules);
	if (status)
		return status;
	session->db = role_options()->db;
	session->db.learns |= request->learns;
	settings = sensor_settings_of(session);
	sensor_set_start(session->capture->sensors, &settings,
			 request->without ? request->without : role_options()->without);
	return request->subject.sensor ? check_subject(session) : 0;
}

static int start_sched(struct session *session)
{
	const struct capture_request *request = session->request;
	const struct options *options = session->options;
	bool no_hooks = request->no_sched_hooks && !options->output;
	struct sched_settings sched = {
		.account = request->accounts,
		.no_sched_hooks = no_hooks,
		.groups = session->groups & ~(u32)EVENTS_ROLES,
		.prompt = request->prompt,
		.prompt_urgency = request->prompt_urgency,
		.counts_cpus = request->counts_cpus,
		.keeps_sums = request->sums,
		.raise = request->raise,
		.role_wakeups = !(session->groups & EVENTS_ROLES) ? 0
				: no_hooks			  ? ROLE_WAKEUPS_NEVER
								  : role_options_wakeups(),
		.filter = options->filter,
		.command_pid = request->whole_machine ? 0 : session->capture->command_pid,
		.ring_bytes = options->ring_bytes,
		.topology = session->capture->info.topology,
		.cpus_len = session->capture->info.cpus_len,
	};
	struct sensor_settings settings = sensor_settings_of(session);

	settings.for_sched = &sched;
	if (sensor_start(&session->sched, &sched_kind, &settings) < 0)
		return fail(request->view, "cannot watch the scheduler: %s", session->sched.reason.text);
	sensor_print_losses(&session->sched);
	return 0;
}

/* What is watched goes to a file: as a recording, or as JSON. */
static int open_recording(struct session *session)
{
	const struct options *options = session->options;
	struct output_rule rule = { .beginning = EVENT_JSON_BEGINNING, .force = options->force };
	struct reason why;

	if (options->output_format == OUTPUT_LINES) {
		session->lines = output_text(options->output, &rule, &why);
		if (!session->lines)
			return fail(options->output, "cannot write: %s", why.text);
		if (!output_is_stdout(options->output))
			note("%s: one JSON object per event", options->output);
		return 0;
	}
	if (stream_record(session->stream, options->output, &session->capture->info, &why))
		return fail(options->output, "%s", why.text);
	note("%s: a recording, which -i reads", options->output);
	return 0;
}

static int open_stream(struct session *session)
{
	struct capture *capture = session->capture;
	u32 cpus_len;
	const struct sched_cpu *cpus = sched_cpus(&session->sched, &cpus_len);
	int error = stream_open(&session->stream, on_event, session);

	if (!error && session->groups)
		error = stream_add_rings(session->stream, sched_ring_fds(&session->sched), cpus, cpus_len);
	if (!error)
		error = sensor_set_add_sources(capture->sensors, session->stream);
	if (error)
		return fail(session->request->view, "could not open the rings: %s", strerror(-error));
	describe_machine(&capture->info);
	capture->info.replaces_any = session->options->force;
	session->read_until_ns = capture->info.mono_start_ns;
	return session->options->output ? open_recording(session) : 0;
}

static void add_facts(void *data, const char *sensor, u64 lost)
{
	struct capture_losses *losses = data;

	if (!lost || losses->sensors_len == sizeof(losses->sensors) / sizeof(losses->sensors[0]))
		return;
	losses->sensors[losses->sensors_len].sensor = sensor;
	losses->sensors[losses->sensors_len++].facts = lost;
}

static void count_losses(struct session *session)
{
	struct capture *capture = session->capture;
	struct sched_losses sched = sched_losses(&session->sched);
	u32 len;
	const struct sched_cpu *cpus = sched_cpus(&session->sched, &len);

	capture->losses.unseen_switches = sched.unseen_switches;
	/* Later kernels give a thread's storage at any time: one without is a thread that the kernel hides. */
	capture->losses.unreached = kernel_is_at_least(6, 2) ? 0 : sched.unreached;
	capture->losses.events = sched.events;
	memcpy(capture->losses.of_kind, sched.of_kind, sizeof(capture->losses.of_kind));
	capture->losses.threads = sched.threads + capture->threads.refused;
	sensor_set_losses(capture->sensors, add_facts, &capture->losses);
	if (!session->groups)
		return;
	capture->rings = calloc(capture->info.cpus_len, sizeof(*capture->rings));
	for (u32 cpu = 0; capture->rings && cpu < capture->info.cpus_len; cpu++) {
		capture->rings[cpu] = (struct ring_count){
			.produced = cpus[cpu].produced + cpus[cpu].produced_irqs_on + cpus[cpu].lost,
			.read = stream_ring_count(session->stream, cpu),
			.lost = cpus[cpu].lost,
		};
		capture->read += capture->rings[cpu].read;
	}
}

/* One descriptor that is readable when either kind of ring is; -1 if it can't be had: then the ticks alone must do. */
static int rings_epoll(const struct session *session)
{
	struct epoll_event readable = { .events = EPOLLIN };
	/* A ring with one event in it is readable; that it wakes its reader is rarer. */
	struct epoll_event woken = { .events = EPOLLIN | (session->request->calm ? EPOLLET : 0) };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd >= 0 && stream_fd(session->stream) >= 0)
		epoll_ctl(fd, EPOLL_CTL_ADD, stream_fd(session->stream), &woken);
	if (fd >= 0 && session->request->accounts)
		epoll_ctl(fd, EPOLL_CTL_ADD, sched_ended_fd(&session->sched), &readable);
	if (fd >= 0 && session->request->also_fd > 0)
		epoll_ctl(fd, EPOLL_CTL_ADD, session->request->also_fd, &readable);
	return fd;
}

/* What programs map is looked at when they have just mapped it, so that their first calls are not missed. */
static void on_urgent(void *data)
{
	serve_sensors(data, true);
	serve_sensors(data, false);
}

static int on_last_role(void *data, const void *event)
{
	stream_put(data, event);
	return 0;
}

/* After the window: the last events, how things stand, the accounts. */
static void read_the_rest(struct session *session, int error)
{
	struct capture *capture = session->capture;
	const struct capture_request *request = session->request;

	stream_ends_at(session->stream, capture->threads.last_ns);
	serve_sensors(session, true);
	drain(session, ~0ULL, true);
	intervals_pass(capture, capture->threads.last_ns);
	if (!error)
		error = sensor_set_snapshot(capture->sensors, stream_put, session->stream);
	if (!error && (session->groups & EVENTS_ROLES))
		error = sched_read_roles(&session->sched, 0, on_last_role, session->stream);
	if (!error && request->accounts)
		error = sched_read_threads(&session->sched, &capture->threads);
	if (error && !session->status)
		session->status = fail(request->view, "could not read the accounts: %s", strerror(-error));
	count_losses(session);
	if (request->on_end)
		request->on_end(request->data);
}

/* From the opening of the window to the last event. */
static void watch_window(struct session *session)
{
	struct capture *capture = session->capture;
	const struct capture_request *request = session->request;
	int fd = session->rings_fd = rings_epoll(session), error;
	enum loop_end end = LOOP_ITSELF;

	sensor_set_describe(capture->sensors, capture->info.mono_start_ns, stream_put, session->stream);
	error = sched_open_window(&session->sched);
	session->watch.prompt = request->prompt || request->prompt_urgency;
	if ((session->groups & ~(u32)EVENTS_SCHED) && !request->calm) {
		session->watch.urgent_fd = sensor_set_fd(capture->sensors);
		session->watch.urgent = on_urgent;
	}
	capture->window_from_ns = capture->threads.first_ns = clock_now_ns();
	capture->stream = session->stream;
	intervals_begin(capture);
	load_give_back();
	if (!error) {
		if (request->on_open && !request->on_open(request->data, &session->sched))
			session->status = EXIT_FAILURE;
		else
			session->status = watch_start(&session->watch);
		if (!session->status)
			end = watch_wait(&session->watch,
					 request->calm	 ? CALM_NS
					 : request->soon ? SOON_NS
							 : DRAIN_NS,
					 fd, on_tick, session);
		if (end == LOOP_COMMAND)
			sched_await_command(&session->sched);
		if (request->on_close)
			request->on_close(request->data);
		error = sched_close_window(&session->sched);
	}
	capture->stream = NULL;
	capture->threads.last_ns = clock_now_ns();
	if (fd >= 0)
		close(fd);
	read_the_rest(session, error);
}

static int prepare_command(struct session *session)
{
	struct sensor_settings settings = sensor_settings_of(session);
	int status;

	if (sensor_set_open(&session->capture->sensors, &settings))
		return fail(session->request->view, "out of memory");
	status = watch_prepare(&session->watch, session->options);
	sensor_set_after_fork(session->capture->sensors);
	session->capture->command_pid = (u32)session->watch.child.pid;
	return status;
}

static void end_recording(struct session *session)
{
	int error;

	if (!session->stream || !session->options->output)
		return;
	/* A failure here is reported by the closing; the counts are right after it. */
	flush_recording(session);
	if (session->lines && !output_close(session->lines) && !session->status)
		session->status = EXIT_FAILURE;
	error = stream_end_record(session->stream);
	if (error == -ENOENT) {
		session->capture->written_bytes = session->capture->written_events = 0;
		session->status = fail(session->options->output, "was removed meanwhile: nothing is left of it");
	}
	if (error && !session->status)
		session->status = fail(session->options->output, "%s: the recording ends early", strerror(-error));
}

static int find_machine(struct capture *capture)
{
	capture->info.cpus_len = possible_cpus();
	capture->info.topology = calloc(capture->info.cpus_len, sizeof(*capture->info.topology));
	if (!capture->info.topology || threads_init(&capture->threads, capture->info.topology, capture->info.cpus_len))
		return fail(capture->request.view, "out of memory");
	capture->threads.ended_most = capture_ended_most(&capture->request);
	topology_read(capture->info.topology, capture->info.cpus_len);
	return 0;
}

/* What a recording has besides what the view asked for. Calls into CUDA are many: beside them nothing is recorded that
 * nobody asked for. */
static u32 groups_of(const struct capture_request *request, const struct options *options)
{
	u32 groups = request->groups;

	if (options->output && !(groups & EVENTS_CUDA))
		groups |= EVENTS_SCHED;
	if (options->output && (groups & EVENTS_ROLES))
		groups |= EVENTS_ALL & ~(u32)EVENTS_CUDA;
	return groups;
}

static int run_live(struct capture *capture, const struct options *options)
{
	struct session session = { .capture = capture,
				   .request = &capture->request,
				   .options = options,
				   .groups = groups_of(&capture->request, options) };
	bool probes = session.groups & (EVENTS_ROLES | EVENTS_CUDA | EVENTS_STACKS);
	struct reason why;
	int status;

	status = find_machine(capture);
	if (!status)
		status = capture_check_filter(capture, &options->filter);
	/* A wrong name is told before anything is loaded for it. */
	if (!status && options->output && options->output_format == OUTPUT_RECORDING &&
	    recording_check_name(options->output, options->force, &why))
		status = fail(options->output, "%s", why.text);
	if (status)
		return status;
	privileges_need(probes ? NEED_TO_PROBE : 0);
	/* While this process is small. Where one fails, the first library reports why, or what it is for is unknown. */
	if (probes)
		elf_apart_start(&why);
	proc_apart_start(&why);
	status = prepare_command(&session);
	if (!status)
		status = start_sched(&session);
	if (!status)
		status = start_sensors(&session);
	if (!status)
		status = open_stream(&session);
	if (!status)
		status = capture_open_outputs(session.request, options);
	if (!status) {
		watch_window(&session);
		status = session.watch.child.gate_fd < 0 && session.watch.child.pid ? watch_end(&session.watch) : 0;
	}
	if (!status && !session.status)
		capture_say_if_none_matched(capture, &options->filter);
	end_recording(&session);
	stream_close(session.stream);
	sensor_set_close(capture->sensors);
	capture->sensors = NULL;
	rules_free(capture->rules);
	capture->rules = NULL;
	sensor_stop(&session.sched);
	return watch_abandon(&session.watch, status ? status : session.status);
}

int capture_run(struct capture *capture, const struct options *options)
{
	capture->verbose = options->verbose;
	load_set_verbose(options->verbose);
	return options->input ? capture_replay(capture, options) : run_live(capture, options);
}

int capture_reload_rules(struct capture *capture)
{
	struct rules *rules = NULL;

	if (role_options_rules(&rules)) {
		rules_free(rules);
		return -EINVAL;
	}
	sensor_set_rules(capture->sensors, rules, role_options()->without);
	rules_free(capture->rules);
	capture->rules = rules;
	return 0;
}

void capture_free(struct capture *capture)
{
	threads_free(&capture->threads);
	free(capture->info.topology);
	free(capture->rings);
	capture->info.topology = NULL;
	capture->rings = NULL;
}
