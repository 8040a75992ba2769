// SPDX-License-Identifier: GPL-2.0
/* The table of sensors and the loader: tries each hook in order of preference, falls back, explains.
 * A sensor that fails takes nothing else down. */
#include "sensor.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/system.h"
#include "kinds.h"

const struct sensor_kind *const sensor_kinds[] = {
	&sched_kind,  &launch_kind, &gpu_kind,	   &cuda_kind,	&feed_kind, &wine_kind,	  &input_kind,	 &frame_kind,
	&socket_kind, &sound_kind,  &learned_kind, &fence_kind, &jobs_kind, &memory_kind, &display_kind, &stacks_kind,
};
const int sensor_kinds_len = sizeof(sensor_kinds) / sizeof(sensor_kinds[0]);
_Static_assert(sizeof(sensor_kinds) / sizeof(sensor_kinds[0]) <= SENSORS_MAX, "SENSORS_MAX: there are more");

bool probe_btf(struct reason *why)
{
	if (kernel_has_btf())
		return true;
	reason_set(why, "this kernel has no BTF (/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF)");
	return false;
}

bool probe_tracefs(struct reason *why)
{
	int fd = tracefs_open();

	if (fd < 0) {
		reason_set(why, "tracefs is not mounted and can't be: %s", strerror(-fd));
		return false;
	}
	close(fd);
	return true;
}

bool probe_kprobes(struct reason *why)
{
	int fd;

	/* Kernels before 4.17 have no such device, only tracefs's file. */
	if (!access("/sys/bus/event_source/devices/kprobe", F_OK))
		return true;
	fd = tracefs_open();
	if (fd >= 0 && !faccessat(fd, "kprobe_events", F_OK, 0)) {
		close(fd);
		return true;
	}
	if (fd >= 0)
		close(fd);
	reason_set(why, "this kernel is built without kprobes (CONFIG_KPROBES, CONFIG_KPROBE_EVENTS)");
	return false;
}

struct bpf_link *sensor_attach_tracepoint(const struct bpf_program *program, const char *category, const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1, .wakeup_events = 1
	};
	int tracefs_fd = tracefs_open(), event_fd, error;
	char path[128], id[32];
	struct bpf_link *link;

	if (tracefs_fd < 0) {
		errno = -tracefs_fd;
		return NULL;
	}
	snprintf(path, sizeof(path), "events/%s/%s/id", category, name);
	error = read_line_at(tracefs_fd, path, id, sizeof(id));
	close(tracefs_fd);
	if (error) {
		errno = -error;
		return NULL;
	}
	attr.config = strtoull(id, NULL, 10);
	event_fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event_fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(program, event_fd);
	if (!link) {
		error = errno;
		close(event_fd);
		errno = error;
	}
	return link;
}

bool sensor_hook_is_skipped(const char *sensor, const char *hook)
{
	const char *at = getenv("TACTUS_SKIP_HOOKS");
	size_t name_len = strlen(sensor), len;

	for (; at && *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		if (len > name_len && !strncmp(at, sensor, name_len) && at[name_len] == ':' &&
		    !strncmp(at + name_len + 1, hook, len - name_len - 1))
			return true;
	}
	return false;
}

u64 sensor_recursion_misses_of(int program_fd)
{
	struct bpf_prog_info info = { 0 };
	u32 size = sizeof(info);

	return program_fd >= 0 && !bpf_prog_get_info_by_fd(program_fd, &info, &size) ? info.recursion_misses : 0;
}

u64 sensor_recursion_misses(const struct bpf_object *object)
{
	struct bpf_program *program;
	u64 misses = 0;

	bpf_object__for_each_program(program, object) misses += sensor_recursion_misses_of(bpf_program__fd(program));
	return misses;
}

void sensor_add_fd(int epoll_fd, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &readable);
}

/* One hook from probe to attach. Leaves the sensor's data set only on success. */
static int try_hook(struct sensor *sensor, int hook, const void *settings, struct reason *why)
{
	const struct sensor_kind *kind = sensor->kind;
	void *data = NULL;
	int error;

	if (sensor_hook_is_skipped(kind->name, kind->hooks[hook].name)) {
		reason_set(why, SENSOR_SKIPPED_WORDS);
		return -ENOTSUP;
	}
	if (kind->hooks[hook].probe && !kind->hooks[hook].probe(why))
		return -ENOTSUP;
	why->text[0] = '\0';
	sensor->losses.len = 0;
	load_log_clear();
	load_collect(kind->name, &sensor->losses);
	error = kind->open(&data, hook, settings, why);
	if (!error)
		error = kind->attach(data, hook, why);
	load_collect(NULL, NULL);
	if (error) {
		if (!why->text[0])
			sensor_explain(why, error);
		kind->close(data);
		return error;
	}
	sensor->data = data;
	return 0;
}

/* Adds why a better hook did not work. A long reason is cut, not the ones after it. */
static void add_reason(struct reason *all, const char *hook, const struct reason *why)
{
	size_t used = strlen(all->text);

	snprintf(all->text + used, sizeof(all->text) - used, "%s%s: %.240s", used ? "; " : "", hook, why->text);
}

int sensor_start(struct sensor *sensor, const struct sensor_kind *kind, const struct sensor_settings *settings)
{
	struct reason why, refused = { "" };
	int error = -ENOTSUP;

	*sensor = (struct sensor){ .kind = kind, .state = SENSOR_OFF };
	if (!kind->hooks) {
		reason_set(&sensor->reason, "not part of this version");
		return error;
	}
	if (!may_load_programs(&sensor->reason))
		return -EPERM;
	for (int hook = 0; kind->hooks[hook].name; hook++) {
		error = try_hook(sensor, hook, settings, &why);
		if (!error) {
			sensor->hook = hook;
			sensor->state = hook == 0 && !sensor->losses.len ? SENSOR_OK : SENSOR_FALLBACK;
			sensor->reason = refused;
			return 0;
		}
		add_reason(&refused, kind->hooks[hook].name, &why);
	}
	sensor->reason = refused;
	sensor->losses.len = 0;
	return error;
}

void sensor_guess(struct sensor *sensor, const struct sensor_kind *kind)
{
	struct reason why;

	*sensor = (struct sensor){ .kind = kind, .state = SENSOR_OFF };
	if (!kind->hooks || !may_load_programs(&sensor->reason))
		return;
	for (int hook = 0; kind->hooks[hook].name; hook++) {
		if (sensor_hook_is_skipped(kind->name, kind->hooks[hook].name)) {
			reason_set(&why, SENSOR_SKIPPED_WORDS);
		} else if (!kind->hooks[hook].probe || kind->hooks[hook].probe(&why)) {
			sensor->hook = hook;
			sensor->state = hook ? SENSOR_FALLBACK : SENSOR_OK;
			return;
		}
		add_reason(&sensor->reason, kind->hooks[hook].name, &why);
	}
}

void sensor_print_losses(const struct sensor *sensor)
{
	load_print(sensor->kind->name, &sensor->losses);
}

void sensor_stop(struct sensor *sensor)
{
	if (sensor->state != SENSOR_OFF)
		sensor->kind->close(sensor->data);
	sensor->state = SENSOR_OFF;
	sensor->data = NULL;
}

const char *sensor_hook_name(const struct sensor *sensor)
{
	if (sensor->state == SENSOR_OFF)
		return "none";
	return sensor->kind->hook_name ? sensor->kind->hook_name(sensor->data) : sensor->kind->hooks[sensor->hook].name;
}

const char *sensor_state_name(enum sensor_state state)
{
	static const char *const names[] = { "off", "fallback", "ok" };

	return names[state];
}
