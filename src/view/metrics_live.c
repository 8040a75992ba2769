// SPDX-License-Identifier: GPL-2.0
/* A scrape wakes the program, which takes the sums over, writes both forms into a file in memory, and hands that to the
 * process that answers (base/serve.h). */
#include "metrics_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc_apart.h"
#include "../base/serve.h"
#include "../base/system.h"
#include "../base/tls.h"
#include "../sensor/sched_sums.h"
#include "../stream/feed.h"
#include "metrics_push.h"
#include "status_hear.h"

enum {
	ENVIRONMENT_BYTES = 128 << 10,
	LOOKUPS_AT_ONCE = 512, /* of new processes in one reading: the next goes on */
	STATM_SIZE = 64,
	EVERY_GROUP = METRICS_GROUPS_DEFAULT,
};
#define PUSH_EVERY_NS (15ULL * NSEC_PER_SEC)
#define LOOK_AGAIN_NS (1ULL * NSEC_PER_SEC)
/* Who is not asked reads once in a while, so that examples and ended threads are of one time. */
#define READ_AT_LEAST_NS (10ULL * NSEC_PER_SEC)
#define FRAMES_WATCHED_NS (10ULL * NSEC_PER_SEC)

struct metrics_live {
	const char *view;
	struct serve serve;
	struct metrics metrics;
	struct metrics_events events;
	struct metrics_push push;
	struct metrics_run run;
	bool is_run_own; /* the status comes from this very process */
	int feed_fd;	 /* of a 'tactus run' elsewhere; -1: none */
	u64 looked_ns;	 /* for one */
	struct capture *capture;
	struct sensor *sched;
	struct sched_sums *sums;
	bool sends_always; /* single switches of all threads; else only while frames are to be explained */
	u64 frames_seen, frame_ns;
	u64 read_at_ns, now_ns;
	u64 readings, reading_ns;
	u32 lookups;
	char *environment;
};

const char *metrics_take_option(struct metrics_wishes *wishes, int key, const char *value)
{
	switch (key) {
	case KEY_METRICS:
		wishes->serves = true;
		return http_address_parse(value, &wishes->address)
			       ? NULL
			       : "is no address and port such as 127.0.0.1:9783, [::1]:9783 or 9783";
	case KEY_TOKEN_FILE:
		wishes->token_file = value;
		return NULL;
	case KEY_TLS_CERT:
		wishes->tls_cert = value;
		return NULL;
	case KEY_TLS_KEY:
		wishes->tls_key = value;
		return NULL;
	case KEY_GROUPS:
		return parse_number(value, METRICS_GROUPS_MOST, &wishes->groups) || !wishes->groups
			       ? "is not a number from 1 to 1000"
			       : NULL;
	case KEY_OTLP:
		wishes->otlp = value;
		return NULL;
	case KEY_EVERY:
		return parse_span(value, &wishes->every_ns);
	case KEY_LIBRARY:
		wishes->library = value;
		wishes->with_cuda = true;
		return NULL;
	case KEY_CUDA:
		wishes->with_cuda = true;
		return NULL;
	default:
		return "is not known";
	}
}

const char *metrics_misplaced(const struct metrics_wishes *wishes)
{
	if (!wishes->serves && (wishes->token_file || wishes->tls_cert || wishes->tls_key || wishes->groups))
		return "--token-file, --tls-cert, --tls-key and --groups are for --metrics ADDRESS:PORT";
	if (!wishes->serves && !wishes->otlp && wishes->with_cuda)
		return "--cuda and --library are for --metrics ADDRESS:PORT";
	if (!wishes->tls_cert != !wishes->tls_key)
		return "--tls-cert and --tls-key go together";
	return NULL;
}

/* The first line of the file. */
static int read_token(const char *path, char token[HTTP_BEARER_SIZE], struct reason *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd < 0 ? -1 : read(fd, token, HTTP_BEARER_SIZE - 1);
	int error = got < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (error) {
		reason_set(why, "%s: %s", path, strerror(error));
		return -error;
	}
	token[got] = '\0';
	token[strcspn(token, "\r\n")] = '\0';
	if (http_token_is_sound(token))
		return 0;
	reason_set(why, "%s: its first line is no token: 16 to 128 letters, digits and -._~+/=", path);
	return -EINVAL;
}

static int start_server(struct metrics_live *live, const struct metrics_wishes *wishes)
{
	char token[HTTP_BEARER_SIZE] = "";
	struct reason why = { "" };
	struct tls *tls = NULL;
	int error = wishes->token_file ? read_token(wishes->token_file, token, &why) : 0;

	if (!error && wishes->tls_cert)
		error = tls_open(&tls, wishes->tls_cert, wishes->tls_key, &why);
	if (!error)
		error = serve_start_metrics(&live->serve, &wishes->address, token, tls, &why);
	/* The server has its own. */
	tls_close(tls);
	explicit_bzero(token, sizeof(token));
	return error ? fail(live->view, "%s", why.text) : 0;
}

void metrics_live_request(struct capture_request *request, const struct metrics_wishes *wishes,
			  struct cuda_settings *cuda)
{
	*cuda = (struct cuda_settings){ .api = "default", .sample = 1, .library = wishes->library };
	request->groups |= EVENTS_SCHED | EVENTS_ROLES | EVENTS_FRAMES | EVENTS_GPU;
	if (wishes->with_cuda) {
		request->groups |= EVENTS_CUDA;
		request->cuda = cuda;
	}
	request->forgets_ended = true;
	request->no_threads = false;
	request->sums = true;
}

int metrics_live_open(struct metrics_live **out, const struct metrics_wishes *wishes, const char *view,
		      enum metrics_watcher watcher)
{
	struct metrics_live *live = calloc(1, sizeof(*live));
	struct reason why = { "" };

	*out = live;
	if (!live)
		return fail(view, "out of memory");
	live->view = view;
	live->serve.fd = -1;
	live->is_run_own = watcher != METRICS_WATCH;
	live->feed_fd = live->is_run_own ? -1 : feed_listen(&why);
	/* Steps are explained by what every thread did. */
	live->sends_always = wishes->with_cuda || watcher == METRICS_OF_RECORD;
	live->environment = malloc(ENVIRONMENT_BYTES);
	metrics_events_init(&live->events, wishes->with_cuda);
	if (!live->environment || metrics_init(&live->metrics, wishes->groups ? (u32)wishes->groups : EVERY_GROUP))
		return fail(view, "out of memory");
	if (wishes->otlp &&
	    metrics_push_open(&live->push, wishes->otlp, wishes->every_ns ? wishes->every_ns : PUSH_EVERY_NS, &why))
		return fail(view, "%s", why.text);
	return wishes->serves ? start_server(live, wishes) : 0;
}

void metrics_live_close(struct metrics_live *live)
{
	if (!live)
		return;
	metrics_live_end(live);
	metrics_push_end(&live->push);
	serve_stop(&live->serve);
	if (live->feed_fd >= 0)
		close(live->feed_fd);
	metrics_free(&live->metrics);
	metrics_events_free(&live->events);
	free(live->environment);
	free(live);
}

int metrics_live_fd(const struct metrics_live *live)
{
	return live->serve.fd > 0 ? live->serve.fd : 0;
}

bool metrics_live_begin(struct metrics_live *live, struct capture *capture, struct sensor *sched)
{
	live->capture = capture;
	live->sched = sched;
	live->sums = sched_sums_open(sched);
	if (!live->sums) {
		fail(live->view, "this kernel does not let the sums of threads be read: no figures");
		return false;
	}
	sched_sums_keep_ended(live->sums);
	sched_sums_only(live->sums, !live->sends_always);
	/* The first tick reads, so that groups have names before their threads end. */
	live->read_at_ns = 0;
	if (live->serve.fd >= 0)
		note("figures are at %smetrics", live->serve.url);
	if (live->push.is_wanted)
		note("figures are sent to http://%s%s", live->push.target.name, live->push.target.path);
	return true;
}

void metrics_live_end(struct metrics_live *live)
{
	if (!live)
		return;
	sched_sums_close(live->sums);
	live->sums = NULL;
}

static size_t read_of(u32 pid, const char *name, char *into, size_t size)
{
	char path[48];
	size_t len = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && len < size && (got = read(fd, into + len, size - len)) > 0)
		len += (size_t)got;
	if (fd >= 0)
		close(fd);
	return len;
}

static void find_group(struct metrics_live *live, const struct sums_head *head)
{
	struct group_name name;
	char text[4096];
	size_t len = read_of(head->pid, "cgroup", text, sizeof(text));

	/* Who has ended says nothing; the next of that group will. */
	if (len)
		metrics_name_group(&live->metrics, head->cgroup, group_name_parse(&name, text, len) ? &name : NULL,
				   live->now_ns);
}

static void find_rank(struct metrics_live *live, u32 pid, const struct comm *comm)
{
	struct rank_name name;
	ssize_t len = proc_apart_read(pid, "environ", live->environment, ENVIRONMENT_BYTES);
	bool is_rank = len > 0 && rank_name_parse(&name, live->environment, (size_t)len);
	u32 uid = 0;

	/* Who ended meanwhile is nobody's. */
	if (is_rank && process_charged_to(pid, &uid))
		is_rank = false;
	metrics_name_rank(&live->metrics, pid, comm, is_rank ? &name : NULL, uid, live->now_ns);
}

static int take_row(void *data, const void *from)
{
	struct metrics_live *live = data;
	const struct sums_row *row = from;

	if (!row->head.ended && metrics_wants_group(&live->metrics, row->head.cgroup) &&
	    live->lookups < LOOKUPS_AT_ONCE) {
		live->lookups++;
		find_group(live, &row->head);
	}
	if (!row->head.ended && metrics_wants_rank(&live->metrics, &row->head) && live->lookups < LOOKUPS_AT_ONCE) {
		live->lookups++;
		find_rank(live, row->head.pid, &row->head.comm);
	}
	metrics_add(&live->metrics, row, live->now_ns);
	return 0;
}

void metrics_live_event(struct metrics_live *live, const struct event_header *event)
{
	const struct step_process *process;
	struct step step;

	if (!metrics_events_handle(&live->events, &live->capture->threads, event, &step, &process))
		return;
	if (!metrics_knows_process(&live->metrics, process->pid))
		find_rank(live, process->pid, &process->comm);
	metrics_add_step(&live->metrics, process->pid, &step, event->time_ns);
}

void metrics_live_status(struct metrics_live *live, const struct run_status *status)
{
	metrics_run_add(&live->run, status, clock_now_ns());
}

static void hear_run(struct metrics_live *live, u64 now_ns)
{
	struct run_status status;
	struct reason why;
	enum status_heard heard;

	if (live->is_run_own)
		return;
	if (live->feed_fd < 0 && now_ns - live->looked_ns >= LOOK_AGAIN_NS) {
		live->looked_ns = now_ns;
		live->feed_fd = feed_listen(&why);
	}
	if (live->feed_fd < 0)
		return;
	while ((heard = status_next(live->feed_fd, &status)) == STATUS_HEARD) {
		metrics_run_add(&live->run, &status, now_ns);
	}
	if (heard == STATUS_NONE_YET)
		return;
	close(live->feed_fd);
	live->feed_fd = -1;
}

/* Late frames are explained by what every thread did: while there are frames, single switches come. */
static void watch_frames(struct metrics_live *live, u64 now_ns)
{
	bool explains, has_new = live->events.frames_seen != live->frames_seen;

	live->frames_seen = live->events.frames_seen;
	if (has_new)
		live->frame_ns = now_ns;
	explains = live->frame_ns && now_ns - live->frame_ns < FRAMES_WATCHED_NS;
	if (explains == live->events.frames.explains)
		return;
	live->events.frames.explains = explains;
	if (live->sends_always)
		return;
	sched_sums_only(live->sums, !explains);
	/* What the switches were that nobody saw is not known. */
	threads_lost_sight(&live->capture->threads);
	live->events.misses.losses++;
}

static u64 own_bytes(void)
{
	char text[STATM_SIZE] = "";
	unsigned long all, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file) || sscanf(text, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (u64)sysconf(_SC_PAGESIZE);
}

static void add_facts(void *data, const char *sensor, u64 facts)
{
	struct metrics_reading *reading = data;

	if (reading->lost_facts_len > SENSORS_MAX)
		return;
	reading->lost_facts[reading->lost_facts_len].sensor = sensor;
	reading->lost_facts[reading->lost_facts_len++].facts = facts;
}

static void fill_reading(struct metrics_live *live, struct metrics_reading *reading)
{
	struct rusage used;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	getrusage(RUSAGE_SELF, &used);
	*reading = (struct metrics_reading){
		.metrics = &live->metrics,
		.events = &live->events,
		.run = &live->run,
		.is_run_own = live->is_run_own,
		.kernel = live->capture->info.kernel,
		.now_ns = live->now_ns,
		.wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec,
		.losses = sched_losses(live->sched),
		.sums_refused = sched_sums_refused(live->sums),
		.own_cpu_ns = (u64)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NSEC_PER_SEC +
			      (u64)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * NSEC_PER_USEC,
		.own_bytes = own_bytes(),
		.pushed = live->push.taken,
		.push_failed = live->push.failed,
		.readings = live->readings,
		.reading_ns = live->reading_ns,
	};
	sched_read_cpus(live->sched, live->now_ns, &reading->cpus);
	reading->has_cpus = true;
	reading->has_tally = !sched_read_tally(live->sched, &reading->tally);
	sensor_set_losses(live->capture->sensors, add_facts, reading);
}

/* Both forms in one file: what the first one's length is. */
static int write_forms(const struct metrics_reading *reading, u64 *len, u64 *plain_len)
{
	struct openmetrics forms[2] = { { .form = FORM_OPENMETRICS }, { .form = FORM_PLAIN } };
	int fd = memfd_create("tactus-metrics", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	long ends[2] = { 0, 0 };

	for (u32 i = 0; out && i < 2; i++) {
		forms[i].out = out;
		metrics_print(&forms[i], reading);
		ends[i] = ftell(out);
	}
	if (!out || fclose(out) || ends[0] <= 0 || ends[1] <= ends[0]) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*len = (u64)ends[0];
	*plain_len = (u64)(ends[1] - ends[0]);
	return fd;
}

static void take_sums(struct metrics_live *live)
{
	live->now_ns = clock_now_ns();
	live->lookups = 0;
	metrics_begin_anew(&live->metrics);
	sched_sums_take(live->sums, take_row, live);
	metrics_settle(&live->metrics);
	live->read_at_ns = live->now_ns;
}

static void push(struct metrics_live *live)
{
	struct metrics_reading reading;

	take_sums(live);
	fill_reading(live, &reading);
	metrics_push_send(&live->push, &reading);
	metrics_events_told(&live->events);
}

static u64 own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (u64)used.tv_sec * NSEC_PER_SEC + (u64)used.tv_nsec;
}

static void answer(struct metrics_live *live)
{
	u64 began_ns = own_cpu_ns(), len, plain_len;
	struct metrics_reading reading;
	int fd;

	take_sums(live);
	fill_reading(live, &reading);
	fd = write_forms(&reading, &len, &plain_len);
	if (fd >= 0) {
		serve_give_metrics(&live->serve, fd, len, plain_len);
		close(fd);
	}
	metrics_events_told(&live->events);
	live->readings++;
	live->reading_ns += own_cpu_ns() - began_ns;
}

bool metrics_live_tick(struct metrics_live *live)
{
	u64 now_ns = clock_now_ns();
	bool has_ended = false;

	if (!live->sums)
		return true;
	hear_run(live, now_ns);
	live->now_ns = now_ns;
	live->lookups = 0;
	sched_sums_take_ended(live->sums, take_row, live);
	watch_frames(live, now_ns);
	if (live->serve.fd >= 0 && serve_is_asked(&live->serve, &has_ended))
		answer(live);
	else if (metrics_push_is_due(&live->push, now_ns))
		push(live);
	else if (now_ns - live->read_at_ns >= READ_AT_LEAST_NS)
		take_sums(live);
	if (has_ended)
		fail(live->view, "the process that serves figures has ended");
	return !has_ended;
}
