// SPDX-License-Identifier: GPL-2.0
/* Starts, serves and stops the sensors that tell what threads are for.
 * They know nothing of each other; what they find meets in the kernel, with the thread. */
#include "evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/system.h"
#include "libraries.h"
#include "sched.h"

enum { SENSORS_MAX = 16 };

/* That can be left out by name besides the sensors. */
static const char *const more_names[] = { "names", "runtime" };

struct evidence_set {
	struct sensor sensors[SENSORS_MAX];
	int len;
	struct sensor *sched;
	struct libraries *libraries;
	struct reason libraries_reason;
	int epoll_fd;
	u64 worked_at_ns;
};

/* Whether a list such as "gpu,wine" has the name. */
static bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, len) && (at[len] == '\0' || at[len] == ','))
			return true;
	return false;
}

bool evidence_leaves_out(const char *without, const char *name)
{
	return list_has(without, name) || list_has(without, "all");
}

static bool is_known(const char *word, size_t len)
{
	for (int i = 0; i < sensor_kinds_len; i++)
		if (sensor_kinds[i] != &sched_kind && strlen(sensor_kinds[i]->name) == len &&
		    !strncmp(word, sensor_kinds[i]->name, len))
			return true;
	for (size_t i = 0; i < sizeof(more_names) / sizeof(more_names[0]); i++)
		if (strlen(more_names[i]) == len && !strncmp(word, more_names[i], len))
			return true;
	return !strncmp(word, "all", len) && len == 3;
}

const char *evidence_check_names(const char *without)
{
	for (const char *at = without; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ","))
		if (!is_known(at, strcspn(at, ",")))
			return "names no kind of evidence: it takes launch, gpu, wine, input, frame, socket, sound, "
			       "learned, names, "
			       "runtime, or all";
	return NULL;
}

static void add_name(void *data, const struct name_rule *rule)
{
	struct evidence_set *evidence = data;

	sched_add_name(evidence->sched, rule);
}

static void start_sensors(struct evidence_set *evidence, const struct evidence_settings *settings, const char *without)
{
	for (int i = 0; i < sensor_kinds_len && evidence->len < SENSORS_MAX; i++) {
		const struct sensor_kind *kind = sensor_kinds[i];
		struct sensor *sensor = &evidence->sensors[evidence->len];

		if (kind == &sched_kind || !kind->gathers_evidence)
			continue;
		evidence->len++;
		if (evidence_leaves_out(without, kind->name)) {
			*sensor = (struct sensor){ .kind = kind, .state = SENSOR_OFF };
			reason_set(&sensor->reason, "left out by --without");
			continue;
		}
		if (kind->only_for && !(sched_emits(settings->sched) & kind->only_for)) {
			*sensor = (struct sensor){ .kind = kind, .state = SENSOR_OFF };
			reason_set(&sensor->reason, "nobody asked for its events");
			continue;
		}
		/* Its reason, if it can't, stays with it. */
		sensor_start(sensor, kind, settings);
		if (sensor->state != SENSOR_OFF && kind->fd)
			sensor_add_fd(evidence->epoll_fd, kind->fd(sensor->data));
	}
}

int evidence_start(struct evidence_set **out, const struct evidence_settings *wishes, const char *without)
{
	struct evidence_set *evidence = calloc(1, sizeof(*evidence));
	struct evidence_settings settings = *wishes;

	*out = evidence;
	if (!evidence)
		return -ENOMEM;
	evidence->sched = wishes->sched;
	evidence->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	/* Without the kernel's word on mappings, what is mapped is looked up once a second and at the start. */
	libraries_open(&evidence->libraries, &evidence->libraries_reason);
	settings.libraries = evidence->libraries;
	if (!evidence_leaves_out(without, "names"))
		rules_names(wishes->rules, add_name, evidence);
	start_sensors(evidence, &settings, without);
	if (evidence->libraries) {
		sensor_add_fd(evidence->epoll_fd, libraries_fd(evidence->libraries));
		libraries_scan(evidence->libraries);
	}
	return 0;
}

void evidence_stop(struct evidence_set *evidence)
{
	if (!evidence)
		return;
	for (int i = 0; i < evidence->len; i++)
		sensor_stop(&evidence->sensors[i]);
	libraries_close(evidence->libraries);
	if (evidence->epoll_fd >= 0)
		close(evidence->epoll_fd);
	free(evidence);
}

int evidence_fd(const struct evidence_set *evidence)
{
	return evidence->epoll_fd;
}

static bool is_readable(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&one, 1, 0) > 0;
}

void evidence_work(struct evidence_set *evidence)
{
	u64 now_ns = clock_now_ns();
	bool second_over = now_ns - evidence->worked_at_ns >= NSEC_PER_SEC;

	/* Not asked whether it is readable: perf's descriptors say so once, and that was to whoever called this. */
	if (evidence->libraries)
		libraries_work(evidence->libraries);
	for (int i = 0; i < evidence->len; i++) {
		struct sensor *sensor = &evidence->sensors[i];

		if (sensor->state == SENSOR_OFF || !sensor->kind->work)
			continue;
		if (second_over || (sensor->kind->fd && is_readable(sensor->kind->fd(sensor->data))))
			sensor->kind->work(sensor->data);
	}
	if (!second_over)
		return;
	evidence->worked_at_ns = now_ns;
	/* Threads that neither sleep nor are pushed off come by no hook. */
	sched_assign(evidence->sched, 0, 0, ORDER_JUDGE, 0);
}

void evidence_take(struct evidence_set *evidence, const struct event_header *event)
{
	for (int i = 0; i < evidence->len; i++) {
		struct sensor *sensor = &evidence->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->take)
			sensor->kind->take(sensor->data, (const struct event_role *)event);
	}
}

void evidence_describe(struct evidence_set *evidence, u64 now_ns,
		       void (*take)(void *data, const struct event_header *event), void *data)
{
	for (int i = 0; i < evidence->len; i++) {
		struct sensor *sensor = &evidence->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->describe)
			sensor->kind->describe(sensor->data, now_ns, take, data);
	}
}

void evidence_tell(struct evidence_set *evidence, u64 now_ns,
		   void (*take)(void *data, const struct event_header *event), void *data)
{
	for (int i = 0; i < evidence->len; i++) {
		struct sensor *sensor = &evidence->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->tell)
			sensor->kind->tell(sensor->data, now_ns, take, data);
	}
}

static void add_loss(struct evidence_losses *losses, u64 lost, const char *of)
{
	size_t used = strlen(losses->words);

	losses->sum += lost;
	if (lost)
		snprintf(losses->words + used, sizeof(losses->words) - used, "%s%" PRIu64 " of %s", used ? ", " : "",
			 (uint64_t)lost, of);
}

struct evidence_losses evidence_lost(const struct evidence_set *evidence)
{
	struct evidence_losses losses = { 0 };

	if (evidence->libraries)
		add_loss(&losses, libraries_lost(evidence->libraries), "mappings");
	for (int i = 0; i < evidence->len; i++) {
		const struct sensor *sensor = &evidence->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->lost)
			add_loss(&losses, sensor->kind->lost(sensor->data), sensor->kind->name);
	}
	return losses;
}

const struct sensor *evidence_sensors(const struct evidence_set *evidence, int *len)
{
	*len = evidence->len;
	return evidence->sensors;
}
