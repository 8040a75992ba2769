// SPDX-License-Identifier: GPL-2.0
/* Feeds a view: from a recording, or live, with the sched sensor, the command, the rings and perhaps a recording to
 * write in between. What a view sees is the same either way. */
#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../base/places.h"
#include "../base/privileges.h"
#include "../base/system.h"
#include "../sensor/cuda.h"
#include "../sensor/evidence.h"
#include "../sensor/sched.h"
#include "../stream/live.h"
#include "role_options.h"

enum {
	DRAIN_NS = 100 * NSEC_PER_MSEC,
	/* How long an event may take from its clock reading to its ring; a CPU that is held up there by its hypervisor
	 * can take long. */
	SETTLED_NS = 100 * NSEC_PER_MSEC,
	/* How much a killed recorder may lose. */
	FLUSH_NS = NSEC_PER_SEC,
};

struct session {
	struct source *source;
	const struct options *options;
	struct watch watch;
	struct sensor sensor;
	struct rules *rules;
	struct evidence_set *evidence;
	struct sensor cuda;
	struct cuda_detour *detour;
	struct live *live;
	struct recording_writer *writer;
	u64 flushed_at_ns;
	u64 read_until_ns; /* what is older was read from the rings */
	int status;
};

static void give(struct source *source, const struct event_header *event)
{
	struct wait ended;
	bool waited = threads_take(&source->threads, event, &ended);

	if (source->on_event)
		source->on_event(source->data, event, waited ? &ended : NULL);
}

static int replay(struct source *source, const char *path)
{
	struct recording_reader *reader;
	const struct event_header *event;
	struct reason why = { "" };
	int status = 0, got;

	if (recording_open(&reader, path, &why))
		return fail(path, "%s", why.text);
	source->replay = true;
	privileges_give_up_all();
	source->info = *recording_reader_info(reader);
	/* The places go with the reader; the threads need them longer. */
	source->info.places = calloc(source->info.cpus_len ? source->info.cpus_len : 1, sizeof(*source->info.places));
	if (!source->info.places || threads_init(&source->threads, source->info.places, source->info.cpus_len)) {
		recording_close_reader(reader);
		return fail(source->view, "out of memory");
	}
	memcpy(source->info.places, recording_reader_info(reader)->places,
	       source->info.cpus_len * sizeof(*source->info.places));
	source->threads.first_ns = source->info.mono_start_ns;
	source->threads.ended_most = source->forgets_ended ? THREADS_ENDED_FEW : 0;
	while ((got = recording_next(reader, &event, &why)) > 0)
		give(source, event);
	if (got < 0)
		status = fail(path, "%s; what came before is shown", why.text);
	else if (recording_was_cut(reader))
		note("%s: ends in the middle of a block: shown is everything before", path);
	source->lost = source->threads.lost;
	memcpy(source->lost_kinds, source->threads.lost_kinds, sizeof(source->lost_kinds));
	source->refused = source->threads.refused;
	recording_close_reader(reader);
	return status;
}

static void take_live(void *data, const struct event_header *event)
{
	struct session *session = data;
	int error;

	if (session->writer && !session->status) {
		error = recording_write(session->writer, event);
		if (error)
			session->status = fail(session->options->output, "%s: the recording ends here",
					       strerror(-error));
	}
	if (event->kind == EVENT_ROLE && session->evidence && !(event->flags & EVENT_FLAG_CLOSING))
		evidence_take(session->evidence, event);
	if (session->source->raw && session->source->on_raw)
		session->source->on_raw(session->source->data, event);
	else if ((session->source->events || session->source->roles || session->source->cuda) && !session->source->raw)
		give(session->source, event);
}

/* What the command tells itself goes between what the kernel tells, by time; and nothing of after the window. */
static void take_told(struct session *session, u64 until_ns)
{
	const struct event_cuda_launch *launch;

	if (session->source->threads.last_ns && until_ns > session->source->threads.last_ns)
		until_ns = session->source->threads.last_ns;
	while (session->detour && (launch = cuda_detour_take(session->detour, until_ns, &session->source->threads)))
		take_live(session, &launch->head);
}

static void take_in_turn(void *data, const struct event_header *event)
{
	take_told(data, event->time_ns);
	take_live(data, event);
}

static bool drain(struct session *session, u64 until_ns)
{
	int error;

	if (session->detour)
		cuda_detour_collect(session->detour, until_ns == ~0ULL);
	error = live_drain(session->live, until_ns, session->detour ? take_in_turn : take_live, session);
	take_told(session, until_ns);

	if (error && !session->status)
		session->status = fail(session->source->view, "could not read the rings: %s", strerror(-error));
	return !error;
}

/* Functions are known by name before the first call of one is read. */
static void serve_cuda(struct session *session)
{
	if (session->cuda.state == SENSOR_OFF)
		return;
	if (session->detour)
		cuda_detour_serve(session->detour, &session->sensor);
	session->cuda.kind->work(session->cuda.data);
	cuda_tell_names(&session->cuda, take_live, session);
}

static void give_count(void *data, const struct event_header *event)
{
	give(data, event);
}

/* Counts as they are now, for a view that shows them while they grow. */
static void tell_counts(struct session *session)
{
	if (session->cuda.state != SENSOR_OFF && session->source->cuda_counts)
		cuda_tell_counts(&session->cuda, give_count, session->source);
}

/* What the program finds out about processes goes into the stream at once, after what was read of it. */
static void serve_evidence(struct session *session)
{
	if (!session->evidence)
		return;
	evidence_work(session->evidence);
	evidence_tell(session->evidence, session->read_until_ns, take_live, session);
}

static bool on_tick(void *data)
{
	struct session *session = data;
	struct source *source = session->source;
	u64 until_ns = clock_now_ns() - (source->prompt ? 0 : SETTLED_NS);

	serve_cuda(session);
	if (until_ns > session->read_until_ns)
		session->read_until_ns = until_ns;
	if (session->live && !drain(session, session->read_until_ns))
		return false;
	if (source->accounts)
		sched_collect_ended(&session->sensor, &source->threads);
	serve_evidence(session);
	tell_counts(session);
	if (session->writer && clock_now_ns() - session->flushed_at_ns >= FLUSH_NS) {
		/* A failure is kept by the writer and told at the next event. */
		recording_flush(session->writer);
		session->flushed_at_ns = clock_now_ns();
		source->written_bytes = recording_bytes(session->writer);
		source->written_events = recording_events(session->writer);
	}
	if (session->status)
		return false;
	return !source->on_tick || source->on_tick(source->data);
}

static void describe_machine(struct recording_info *info)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	info->wall_start_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
	info->mono_start_ns = clock_now_ns();
	snprintf(info->kernel, sizeof(info->kernel), "%s", kernel_release());
}

/* The view goes on with what else there is, such as other sensors of the same matter. */
static int check_subject(const struct session *session)
{
	const struct source *source = session->source;
	int len;
	const struct sensor *sensors = evidence_sensors(session->evidence, &len), *subject = NULL;

	for (int i = 0; i < len; i++)
		if (!strcmp(sensors[i].kind->name, source->subject))
			subject = &sensors[i];
	if (source->subject_hooks &&
	    (!subject || subject->state == SENSOR_OFF || subject->hook >= source->subject_hooks))
		return fail(source->view, "cannot watch %s: %s", subject ? subject->kind->subject : source->subject,
			    subject ? subject->reason.text : "there is no such sensor");
	if (!subject || subject->state == SENSOR_OFF)
		note("%s: cannot watch %s: %s", source->view, subject ? subject->kind->subject : source->subject,
		     subject ? subject->reason.text : "there is no such sensor");
	else if (!strcmp(sensor_hook_name(subject), SENSOR_WAITS))
		note("%s: this machine has no %s; one that comes is noticed", source->view, source->absent);
	else
		sensor_tell_losses(subject);
	return 0;
}

/* The sensors besides the scheduler's that tell what threads are for. */
static int set_up_roles(struct session *session)
{
	const struct source *source = session->source;
	int status = role_options_rules(&session->rules);
	struct procdb_settings db = role_options()->db;
	struct evidence_settings wishes = { .sched = &session->sensor,
					    .rules = session->rules,
					    .db = &db,
					    .on_tier = session->source->on_tier,
					    .data = session->source->data };

	if (status)
		return status;
	db.learns |= session->source->learns;
	if (evidence_start(&session->evidence, &wishes, source->without ? source->without : role_options()->without))
		return fail(session->source->view, "out of memory");
	return source->subject ? check_subject(session) : 0;
}

/* Where only one call in N is sent, the command may count the others itself; everything that is not watched by the
 * command alone has to be asked at the probe. */
static void open_detour(struct session *session)
{
	const struct cuda_settings *wishes = session->source->cuda;
	const struct filter *filter = &session->options->filter;
	struct reason *why = &session->source->cuda_trap;
	bool tells = wishes && wishes->tells && wishes->sample <= 1 && !wishes->counts_only;

	if (!wishes || (wishes->sample <= 1 && !wishes->counts_only && !tells))
		reason_set(why, "every call is sent");
	else if (wishes->no_detour)
		reason_set(why, "--no-detour");
	else if (!session->options->command)
		reason_set(why, "only a command that is started here can be made to count by itself");
	else if (filter->pid || filter->comm[0] || filter->cgroup || filter->has_cpus)
		reason_set(why, "only some of the threads or CPUs are watched");
	else
		cuda_detour_open(&session->detour, wishes->counts_only || tells ? 1ULL << 62 : wishes->sample, tells,
				 why);
}

static int prepare_command(struct session *session)
{
	int status;

	open_detour(session);
	if (session->detour && cuda_detour_give(session->detour))
		return fail(session->source->view, "out of memory");
	status = watch_prepare(&session->watch, session->options);
	if (session->detour)
		cuda_detour_take_back(session->detour);
	return status;
}

static int set_up_cuda(struct session *session)
{
	struct cuda_settings settings = *session->source->cuda;

	settings.sched = &session->sensor;
	settings.pid = session->options->filter.pid;
	settings.detour = session->detour;
	if (sensor_start(&session->cuda, &cuda_kind, &settings) < 0)
		return fail(session->source->view, "cannot watch calls: %s", session->cuda.reason.text);
	sensor_tell_losses(&session->cuda);
	return 0;
}

/* Sensors, rings, recording: everything before the window opens. */
static int set_up(struct session *session)
{
	struct source *source = session->source;
	const struct options *options = session->options;
	struct sched_settings settings = {
		.account = source->accounts,
		.unfollowed = source->unfollowed && !options->output,
		.emit = source->events || (options->output && !source->cuda),
		.cuda = source->cuda,
		.frames = source->roles && (source->frames || options->output),
		.gpu = source->roles && (source->gpu || options->output),
		.input = source->roles && (source->input || options->output),
		.prompt = source->prompt,
		.counts_cpus = source->counts_cpus,
		.raise = source->raise,
		.role_wakeups = !source->roles				 ? 0
				: source->unfollowed && !options->output ? ROLE_WAKEUPS_NEVER
									 : role_options_wakeups(),
		.filter = options->filter,
		.command_pid = source->whole_machine ? 0 : (u32)session->watch.child.pid,
		.ring_bytes = options->ring_bytes,
		.places = source->info.places,
		.cpus_len = source->info.cpus_len,
	};
	struct reason why;
	u32 cpus_len;
	int error, status;

	if (sensor_start(&session->sensor, &sched_kind, &settings) < 0)
		return fail(source->view, "cannot watch the scheduler: %s", session->sensor.reason.text);
	sensor_tell_losses(&session->sensor);
	status = source->roles ? set_up_roles(session) : 0;
	if (!status && source->cuda)
		status = set_up_cuda(session);
	if (status)
		return status;
	if (settings.emit || source->roles || source->cuda) {
		const struct sched_cpu *cpus = sched_cpus(&session->sensor, &cpus_len);

		error = live_open(&session->live, sched_ring_fds(&session->sensor), cpus, cpus_len);
		if (error)
			return fail(source->view, "could not open the rings: %s", strerror(-error));
	}
	describe_machine(&source->info);
	session->read_until_ns = source->info.mono_start_ns;
	if (options->output && recording_create(&session->writer, options->output, &source->info, &why))
		return fail(options->output, "%s", why.text);
	return 0;
}

static void count_losses(struct session *session)
{
	struct sched_losses losses = sched_losses(&session->sensor);
	struct source *source = session->source;

	source->unseen = losses.unseen_switches;
	/* Later kernels give a thread's storage at any time: one without is a thread that the kernel hides. */
	source->unreached = kernel_is_at_least(6, 2) ? 0 : losses.unreached;
	source->lost = losses.events;
	memcpy(source->lost_kinds, losses.of_kind, sizeof(source->lost_kinds));
	source->refused = losses.threads + source->threads.refused;
	if (session->evidence)
		source->evidence = evidence_lost(session->evidence);
	if (session->cuda.state != SENSOR_OFF) {
		struct cuda_state_of cuda = cuda_state(&session->cuda);

		source->cuda_libraries = cuda.libraries;
		source->cuda_late = cuda.found_mapped;
		source->cuda_ioctls = cuda.ioctls;
		source->cuda_counters = cuda.detour.processes;
		source->cuda_counted = cuda.detour.calls;
		source->cuda_lost = cuda.lost_threads + cuda.too_deep + cuda.unread + cuda.missed + cuda.detour.broken +
				    cuda.detour.lost + cuda.detour.refused;
	}
	if (!session->live)
		return;
	source->rings = calloc(source->info.cpus_len, sizeof(*source->rings));
	for (u32 cpu = 0; source->rings && cpu < source->info.cpus_len; cpu++) {
		u32 len;
		const struct sched_cpu *now = &sched_cpus(&session->sensor, &len)[cpu];

		source->rings[cpu] = (struct ring_count){
			.produced = now->produced + now->produced_slowly + now->lost,
			.read = live_read(session->live, cpu),
			.lost = now->lost,
		};
		source->read += source->rings[cpu].read;
	}
}

/* One descriptor that is readable when either kind of ring is; -1 if it can't be had: then the ticks alone must do. */
static int rings_fd(const struct session *session)
{
	struct epoll_event readable = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd >= 0 && session->live)
		epoll_ctl(fd, EPOLL_CTL_ADD, live_fd(session->live), &readable);
	if (fd >= 0 && session->source->accounts)
		epoll_ctl(fd, EPOLL_CTL_ADD, sched_ended_fd(&session->sensor), &readable);
	return fd;
}

/* What programs map is looked at when they have just mapped it, so that their first calls are not missed: readable when
 * either has something of that kind; -1: neither ever has. */
static int urgent_fd(const struct session *session)
{
	struct epoll_event readable = { .events = EPOLLIN };
	int evidence = session->evidence ? evidence_fd(session->evidence) : -1;
	int cuda = session->cuda.state != SENSOR_OFF ? session->cuda.kind->fd(session->cuda.data) : -1;
	int detour = session->detour ? cuda_detour_fd(session->detour) : -1;
	int fd = evidence >= 0 || cuda >= 0 || detour >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;

	if (fd >= 0 && evidence >= 0)
		epoll_ctl(fd, EPOLL_CTL_ADD, evidence, &readable);
	if (fd >= 0 && cuda >= 0)
		epoll_ctl(fd, EPOLL_CTL_ADD, cuda, &readable);
	if (fd >= 0 && detour >= 0)
		epoll_ctl(fd, EPOLL_CTL_ADD, detour, &readable);
	return fd;
}

static void on_urgent(void *data)
{
	struct session *session = data;

	serve_cuda(session);
	serve_evidence(session);
}

static int take_last_role(void *data, const void *event)
{
	take_live(data, event);
	return 0;
}

/* From the opening of the window to the last event. */
static void watch_window(struct session *session)
{
	struct source *source = session->source;
	int fd = rings_fd(session), urgent = urgent_fd(session), error;

	if (session->evidence)
		evidence_describe(session->evidence, source->info.mono_start_ns, take_live, session);
	error = sched_open_window(&session->sensor);
	session->watch.prompt = source->prompt;
	if (urgent >= 0) {
		session->watch.urgent_fd = urgent;
		session->watch.urgent = on_urgent;
	}
	source->threads.first_ns = clock_now_ns();
	/* What loading took, libbpf's copies of the kernel's types above all, is given back for as long as this goes
	 * on. */
	malloc_trim(0);
	if (!error) {
		if (source->on_open && !source->on_open(source->data, &session->sensor))
			session->status = EXIT_FAILURE;
		else
			session->status = watch_start(&session->watch);
		if (!session->status)
			watch_wait(&session->watch, DRAIN_NS, fd, on_tick, session);
		if (source->on_close)
			source->on_close(source->data);
		error = sched_close_window(&session->sensor);
	}
	source->threads.last_ns = clock_now_ns();
	if (fd >= 0)
		close(fd);
	if (urgent >= 0)
		close(urgent);
	serve_cuda(session);
	if (session->live)
		drain(session, ~0ULL);
	if (!error && session->cuda.state != SENSOR_OFF)
		error = cuda_tell_counts(&session->cuda, take_live, session);
	if (!error && source->roles)
		error = sched_read_roles(&session->sensor, take_last_role, session);
	if (!error && source->accounts)
		error = sched_read_threads(&session->sensor, &source->threads);
	if (error && !session->status)
		session->status = fail(source->view, "could not read the accounts: %s", strerror(-error));
	count_losses(session);
}

static int play_live(struct source *source, const struct options *options)
{
	struct session session = { .source = source, .options = options };
	int status, error;

	if (options->filter.pid && kill((pid_t)options->filter.pid, 0) < 0 && errno == ESRCH)
		return fail(source->view, "no process has pid %u", options->filter.pid);
	source->info.cpus_len = possible_cpus();
	source->info.places = calloc(source->info.cpus_len, sizeof(*source->info.places));
	if (!source->info.places || threads_init(&source->threads, source->info.places, source->info.cpus_len))
		return fail(source->view, "out of memory");
	source->threads.ended_most = source->forgets_ended ? THREADS_ENDED_FEW : 0;
	places_read(source->info.places, source->info.cpus_len);
	privileges_need(source->roles || source->cuda ? NEED_TO_PROBE : 0);
	status = prepare_command(&session);
	source->command_pid = (u32)session.watch.child.pid;
	if (!status)
		status = set_up(&session);
	if (!status) {
		watch_window(&session);
		status = session.watch.child.gate_fd < 0 && session.watch.child.pid ? watch_end(&session.watch) : 0;
	}
	if (session.writer) {
		/* A failure here is told by the closing; the counts are right after it. */
		recording_flush(session.writer);
		source->written_bytes = recording_bytes(session.writer);
		source->written_events = recording_events(session.writer);
		error = recording_close_writer(session.writer);
		if (error && !session.status)
			session.status = fail(options->output, "%s: the recording ends early", strerror(-error));
	}
	live_close(session.live);
	sensor_stop(&session.cuda);
	cuda_detour_close(session.detour);
	evidence_stop(session.evidence);
	rules_free(session.rules);
	sensor_stop(&session.sensor);
	return watch_abandon(&session.watch, status ? status : session.status);
}

int source_play(struct source *source, const struct options *options)
{
	return options->input ? replay(source, options->input) : play_live(source, options);
}

void source_free(struct source *source)
{
	threads_free(&source->threads);
	free(source->info.places);
	free(source->rings);
	source->info.places = NULL;
	source->rings = NULL;
}

/* "3 of kind switch, 1 of kind frame" */
static void list_losses(const struct source *source, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (u32 kind = 1; kind < EVENT_KINDS && used < size; kind++)
		if (source->lost_kinds[kind])
			used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s", used ? ", " : "",
						 source->lost_kinds[kind], event_info(kind)->name);
}

void source_print_losses(const struct source *source)
{
	char kinds[512];

	list_losses(source, kinds, sizeof(kinds));
	if (source->lost)
		note("%" PRIu64 " events were lost%s%s%s: the rings were full%s", source->lost, kinds[0] ? " (" : "",
		     kinds, kinds[0] ? ")" : "", source->replay ? "" : " (--ring-kb makes them larger)");
	if (source->unseen)
		note("%" PRIu64 " switches happened that the kernel did not show; the runs after them count as the "
		     "kernel timed them",
		     source->unseen);
	if (source->unreached)
		note("%" PRIu64
		     " events were left out: what is kept of their threads could not be reached, since an interrupt "
		     "came while it was being looked up (Linux 6.2 and later can do that)",
		     source->unreached);
	if (source->evidence.sum)
		note("%" PRIu64 " facts about threads were lost (%s): a map or ring was full, or a hook was busy",
		     source->evidence.sum, source->evidence.words);
	if (source->cuda_lost)
		note("%" PRIu64 " calls were not kept or their arguments not read", source->cuda_lost);
	if (source->refused)
		note("%" PRIu64 " threads are in no account: there was no memory for them", source->refused);
}
