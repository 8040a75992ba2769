// SPDX-License-Identifier: GPL-2.0
/* Starts, serves and stops the sensors that serve a request.
 * They know nothing of each other; what they find meets in the kernel, with the thread. */
#include "sensor_set.h"

#include <errno.h>
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

/* That can be left out by name besides the sensors. */
static const char *const more_names[] = { "names", "runtime" };

struct sensor_set {
	struct sensor sensors[SENSORS_MAX];
	void *prepared[SENSORS_MAX];
	int len;
	u32 groups;
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

bool sensor_set_leaves_out(const char *without, const char *name)
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

static const char *what_is_known(void)
{
	static char words[512];
	size_t used = (size_t)snprintf(words, sizeof(words), "names no kind of evidence: it takes ");

	for (int i = 0; i < sensor_kinds_len && used < sizeof(words); i++)
		if (sensor_kinds[i]->groups & EVENTS_ROLES)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s, ", sensor_kinds[i]->name);
	if (used < sizeof(words))
		snprintf(words + used, sizeof(words) - used, "names, runtime, or all");
	return words;
}

const char *sensor_set_check_names(const char *without)
{
	for (const char *at = without; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ","))
		if (!is_known(at, strcspn(at, ",")))
			return what_is_known();
	return NULL;
}

static void add_name(void *data, const struct name_rule *rule)
{
	struct sensor_set *set = data;

	sched_add_name(set->sched, rule);
}

int sensor_set_open(struct sensor_set **out, const struct sensor_settings *settings)
{
	struct sensor_set *set = calloc(1, sizeof(*set));

	*out = set;
	if (!set)
		return -ENOMEM;
	set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	set->groups = settings->groups;
	for (int i = 0; i < sensor_kinds_len; i++) {
		const struct sensor_kind *kind = sensor_kinds[i];
		struct sensor *sensor = &set->sensors[set->len];

		if (kind == &sched_kind)
			continue;
		*sensor = (struct sensor){ .kind = kind, .state = SENSOR_OFF };
		if ((kind->groups & set->groups) && kind->prepare)
			set->prepared[set->len] = kind->prepare(settings);
		set->len++;
	}
	return 0;
}

void sensor_set_after_fork(struct sensor_set *set)
{
	for (int i = 0; i < set->len; i++)
		if (set->prepared[i])
			set->sensors[i].kind->after_fork(set->prepared[i]);
}

static void start_sensor(struct sensor_set *set, int i, struct sensor_settings *settings, const char *without)
{
	struct sensor *sensor = &set->sensors[i];
	const struct sensor_kind *kind = sensor->kind;

	/* Calls into CUDA are no evidence of what a thread is for: they are left out by their own name only. */
	if (list_has(without, kind->name) || (list_has(without, "all") && kind->groups != EVENTS_CUDA)) {
		reason_set(&sensor->reason, "left out by --without");
		return;
	}
	if (!(kind->groups & set->groups)) {
		reason_set(&sensor->reason, "nobody asked for its events");
		return;
	}
	settings->prepared = set->prepared[i];
	/* Its reason, if it can't, stays with it. */
	sensor_start(sensor, kind, settings);
	if (sensor->state != SENSOR_OFF && kind->fd)
		sensor_add_fd(set->epoll_fd, kind->fd(sensor->data));
}

void sensor_set_start(struct sensor_set *set, const struct sensor_settings *wishes, const char *without)
{
	struct sensor_settings settings = *wishes;

	set->sched = wishes->sched;
	/* Without the kernel's word on mappings, what is mapped is looked up once a second and at the start. */
	if (set->groups & EVENTS_ROLES)
		libraries_open(&set->libraries, &set->libraries_reason);
	settings.libraries = set->libraries;
	if (settings.rules && !sensor_set_leaves_out(without, "names")) {
		rules_names(settings.rules, add_name, set);
		/* The scheduler is watched already: who has run since then was looked up among no rules yet. */
		sched_assign(set->sched, 0, 0, ORDER_NAME, 0);
	}
	for (int i = 0; i < set->len; i++)
		start_sensor(set, i, &settings, without);
	if (set->libraries) {
		sensor_add_fd(set->epoll_fd, libraries_fd(set->libraries));
		libraries_scan(set->libraries);
	}
}

void sensor_set_rules(struct sensor_set *set, const struct rules *rules, const char *without)
{
	if (!sensor_set_leaves_out(without, "names")) {
		sched_forget_names(set->sched);
		rules_names(rules, add_name, set);
		sched_assign(set->sched, 0, 0, ORDER_NAME, 0);
	}
	for (int i = 0; i < set->len; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->set_rules)
			sensor->kind->set_rules(sensor->data, rules);
	}
}

void sensor_set_close(struct sensor_set *set)
{
	if (!set)
		return;
	for (int i = 0; i < set->len; i++) {
		sensor_stop(&set->sensors[i]);
		if (set->prepared[i])
			set->sensors[i].kind->unprepare(set->prepared[i]);
	}
	libraries_close(set->libraries);
	if (set->epoll_fd >= 0)
		close(set->epoll_fd);
	free(set);
}

int sensor_set_fd(const struct sensor_set *set)
{
	return set->epoll_fd;
}

static bool is_readable(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&one, 1, 0) > 0;
}

/* Those that work first are not asked whether they are readable, nor are libraries: perf's descriptors say so once, and
 * that was to whoever called this. */
static bool has_work(const struct sensor *sensor, bool second_over)
{
	return second_over || sensor->kind->works_first ||
	       (sensor->kind->fd && is_readable(sensor->kind->fd(sensor->data)));
}

void sensor_set_work(struct sensor_set *set, bool first, u64 now_ns, event_handler handle, void *data)
{
	u64 clock_ns = clock_now_ns();
	bool second_over = !first && clock_ns - set->worked_at_ns >= NSEC_PER_SEC;

	if (set->libraries && !first)
		libraries_work(set->libraries);
	for (int i = 0; i < set->len; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state == SENSOR_OFF || sensor->kind->works_first != first)
			continue;
		if (sensor->kind->work && has_work(sensor, second_over))
			sensor->kind->work(sensor->data);
		if (sensor->kind->emit)
			sensor->kind->emit(sensor->data, now_ns, handle, data);
	}
	if (!second_over)
		return;
	set->worked_at_ns = clock_ns;
	/* Threads that neither sleep nor are pushed off come by no hook. */
	if (set->groups & EVENTS_ROLES)
		sched_assign(set->sched, 0, 0, ORDER_JUDGE, 0);
}

void sensor_set_handle(struct sensor_set *set, const struct event_header *event)
{
	for (int i = 0; i < set->len; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->handle)
			sensor->kind->handle(sensor->data, (const struct event_role *)event);
	}
}

void sensor_set_describe(struct sensor_set *set, u64 now_ns, event_handler handle, void *data)
{
	for (int i = 0; i < set->len; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->describe)
			sensor->kind->describe(sensor->data, now_ns, handle, data);
	}
}

int sensor_set_snapshot(struct sensor_set *set, event_handler handle, void *data)
{
	int error = 0;

	for (int i = 0; i < set->len && !error; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->snapshot)
			error = sensor->kind->snapshot(sensor->data, handle, data);
	}
	return error;
}

int sensor_set_add_sources(struct sensor_set *set, struct stream *stream)
{
	struct stream_source source;
	int error = 0;

	for (int i = 0; i < set->len && !error; i++) {
		struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->source && sensor->kind->source(sensor->data, &source))
			error = stream_add_source(stream, &source);
	}
	return error;
}

void sensor_set_losses(const struct sensor_set *set, void (*add)(void *data, const char *sensor, u64 lost), void *data)
{
	if (set->libraries)
		add(data, "mappings", libraries_lost(set->libraries));
	for (int i = 0; i < set->len; i++) {
		const struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->lost)
			add(data, sensor->kind->name, sensor->kind->lost(sensor->data));
	}
}

struct sensor_refusals sensor_set_refused(const struct sensor_set *set)
{
	struct sensor_refusals refusals = { 0 };

	if (set->libraries)
		refusals.files = libraries_refused(set->libraries);
	for (int i = 0; i < set->len; i++) {
		const struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->refused)
			refusals.addresses += sensor->kind->refused(sensor->data);
	}
	return refusals;
}

void sensor_set_hits(const struct sensor_set *set, u64 hits[HITS])
{
	memset(hits, 0, HITS * sizeof(hits[0]));
	for (int i = 0; i < set->len; i++) {
		const struct sensor *sensor = &set->sensors[i];

		if (sensor->state != SENSOR_OFF && sensor->kind->hits)
			sensor->kind->hits(sensor->data, hits);
	}
}

struct sensor *sensor_set_find(struct sensor_set *set, const char *name)
{
	for (int i = 0; i < set->len; i++)
		if (!strcmp(set->sensors[i].kind->name, name))
			return &set->sensors[i];
	return NULL;
}
