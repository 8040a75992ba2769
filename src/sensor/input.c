// SPDX-License-Identifier: GPL-2.0
/* The input sensor: which input devices there are, what they send, and which threads wait for them.
 * Loads bpf/input.bpf.c where the kernel lets input_event be hooked; elsewhere it reads the devices by itself. */
#include "input.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sink/text.h"
#include "sensor_set.h"
#include "kernel_types.h"
#include "sched.h"

#include "input.skel.h"

enum input_hook { HOOK_FENTRY, HOOK_KPROBE, HOOK_EVDEV };

struct input_state {
	const struct sensor *sched; /* NULL: only tried */
	enum input_hook hook;
	struct input_bpf *skeleton; /* NULL where devices are read */
	struct input_readers *readers;
	struct device_list list;
};

static bool probe_input_event(struct reason *why)
{
	if (!probe_btf(why))
		return false;
	if (kernel_has_function("input_event"))
		return true;
	reason_set(why, "this kernel knows no input devices (CONFIG_INPUT)");
	return false;
}

static bool probe_input_kprobe(struct reason *why)
{
	return probe_input_event(why) && probe_kprobes(why);
}

/* The folder of devices need not be there yet: the first one makes it. */
static bool probe_evdev(struct reason *why)
{
	return access("/dev/input", R_OK | X_OK) == 0 || probe_input_event(why);
}

static const struct sensor_hook hooks[] = {
	[HOOK_FENTRY] = { "fentry/input_event", NULL, probe_input_event },
	[HOOK_KPROBE] = { "kprobe/input_event", "each event costs more", probe_input_kprobe },
	[HOOK_EVDEV] = { "evdev", "readers are found only while they sleep in poll, select, epoll or read",
			 probe_evdev },
	{ 0 },
};

/* With -v each device is printed as it comes, and what it sent as it goes. */
static void emit_came(const struct input_device *device)
{
	char name[DEVICE_NAME_SIZE * 4];

	if (!sensor_is_verbose())
		return;
	format_plain(name, sizeof(name), device->name);
	note("input: event%u: %s %04x:%04x '%s'", device->event, device_kind_name(device->kind), device->vendor,
	     device->product, name);
}

static void emit_gone(const struct listed_device *listed)
{
	if (sensor_is_verbose() && listed->count.last_ns)
		note("input: event%u: sent %" PRIu64 " events in %" PRIu64 " reports", listed->device.event,
		     listed->count.events, listed->count.reports);
}

static void read_count(const struct input_state *state, struct listed_device *listed)
{
	if (state->skeleton)
		bpf_map__lookup_elem(state->skeleton->maps.devices, &listed->device.number,
				     sizeof(listed->device.number), &listed->count, sizeof(listed->count), 0);
}

static void on_came(void *data, struct listed_device *listed)
{
	struct input_state *state = data;

	if (state->readers)
		readers_add(state->readers, listed);
	emit_came(&listed->device);
}

static void on_goes(void *data, struct listed_device *listed)
{
	struct input_state *state = data;

	read_count(state, listed);
	emit_gone(listed);
	if (state->readers)
		readers_remove(state->readers, listed);
	if (state->skeleton)
		bpf_map__delete_elem(state->skeleton->maps.devices, &listed->device.number,
				     sizeof(listed->device.number), 0);
}

/* What hooks evdev, which may be a module, or absent. Without it a reader is missed when the thread that sends is moved
 * between CPUs at the wrong moment, and threads that read without sleeping are not seen. */
struct evdev_part {
	struct bpf_program *programs[2];
};

static struct evdev_part evdev_part(struct input_bpf *skeleton, int hook)
{
	if (hook == HOOK_FENTRY)
		return (struct evdev_part){ { skeleton->progs.on_events, skeleton->progs.on_read } };
	return (struct evdev_part){ { skeleton->progs.on_events_probed, skeleton->progs.on_read_probed } };
}

#define NO_EVDEV "threads that read devices without sleeping are not seen, and a reader may be missed"
static const struct load_optional optional[] = {
	{ "on_events", NO_EVDEV },
	{ "on_events_probed", NO_EVDEV },
	{ "on_read", NO_EVDEV },
	{ "on_read_probed", NO_EVDEV },
	{ "on_switch", "how long a thread takes to run after a device's report is not known" },
	{ NULL, NULL },
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct input_state *state = data;
	const struct sensor *sched = state->sched;
	struct input_bpf *skeleton = opened;
	struct evdev_part other;
	int hook = state->hook;

	(void)attempt;
	(void)why;
	bpf_program__set_autoload(skeleton->progs.on_input_event, hook == HOOK_FENTRY);
	bpf_program__set_autoload(skeleton->progs.on_input_event_end, hook == HOOK_FENTRY);
	bpf_program__set_autoload(skeleton->progs.on_input_event_probed, hook == HOOK_KPROBE);
	bpf_program__set_autoload(skeleton->progs.on_input_event_probed_end, hook == HOOK_KPROBE);
	bpf_program__set_autoload(skeleton->progs.on_switch, sched_emits(sched) & EVENTS_INPUT);
	other = evdev_part(skeleton, hook == HOOK_FENTRY ? HOOK_KPROBE : HOOK_FENTRY);
	for (int i = 0; i < 2; i++)
		bpf_program__set_autoload(other.programs[i], false);
	return sched_share(sched, skeleton->obj);
}

LOADABLE(input);

static int input_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct sensor *sched = settings ? settings->sched : NULL;
	struct input_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &input_loadable, optional, configure, state };
	int error;

	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = sched;
	state->hook = hook;
	state->list = (struct device_list){
		.inotify_fd = -1, .watch_opens = hook == HOOK_EVDEV, .came = on_came, .goes = on_goes, .data = state
	};
	error = device_list_open(&state->list);
	if (error)
		return error;
	if (hook == HOOK_EVDEV) {
		state->readers = readers_new(sched, state->list.inotify_fd);
		return state->readers ? 0 : -ENOMEM;
	}
	state->skeleton = load_programs(&plan, &error, why);
	return error;
}

static int input_attach(void *data, int hook, struct reason *why)
{
	struct input_state *state = data;
	int error = hook == HOOK_EVDEV ? 0 : load_attach(state->skeleton, optional);

	(void)why;
	if (!error)
		device_list_start(&state->list);
	return error;
}

static void input_close(void *data)
{
	struct input_state *state = data;

	if (!state)
		return;
	device_list_close(&state->list);
	readers_free(state->readers);
	input_bpf__destroy(state->skeleton);
	free(state);
}

static int input_fd(const void *data)
{
	const struct input_state *state = data;

	return state->readers ? readers_fd(state->readers) : state->list.inotify_fd;
}

static void input_work(void *data)
{
	struct input_state *state = data;

	if (state->readers)
		readers_work(state->readers, &state->list);
	else
		device_list_work(&state->list);
}

/* Devices that send nothing are in the stream too. */
static void input_describe(void *data, u64 now_ns, event_handler handle, void *handle_data)
{
	const struct input_state *state = data;

	if (!state->skeleton || !(sched_emits(state->sched) & EVENTS_INPUT))
		return;
	for (u32 i = 0; i < state->list.len; i++) {
		const struct input_device *device = &state->list.all[i]->device;
		struct event_device event = { .head = { .time_ns = now_ns, .kind = EVENT_DEVICE },
					      .device = device->number,
					      .node = device->event,
					      .device_kind = device->kind,
					      .bus = device->bus,
					      .vendor = device->vendor,
					      .product = device->product };

		memcpy(event.name.text, device->name, strnlen(device->name, TAIL_LEN - 1));
		handle(handle_data, &event.head);
	}
}

static u64 input_lost(const void *data)
{
	const struct input_state *state = data;
	u64 lost = state->list.refused;

	return lost + (state->readers
			       ? readers_lost(state->readers)
			       : state->skeleton->bss->devices_refused + sensor_recursion_misses(state->skeleton->obj));
}

static void input_hits(const void *data, u64 hits[HITS])
{
	const struct input_state *state = data;

	hits[HIT_INPUT_READS] += state->skeleton ? state->skeleton->bss->reads_seen : readers_found(state->readers);
}

void input_devices(struct sensor *sensor, input_each each, void *data)
{
	struct input_state *state = sensor->state == SENSOR_OFF ? NULL : sensor->data;

	for (u32 i = 0; state && i < state->list.len; i++) {
		read_count(state, state->list.all[i]);
		each(data, &state->list.all[i]->device, &state->list.all[i]->count);
	}
}

const struct sensor_kind input_kind = {
	.name = "input",
	.subject = "input devices and who reads them",
	.hooks = hooks,
	.open = input_open,
	.attach = input_attach,
	.close = input_close,
	.groups = EVENTS_ROLES | EVENTS_INPUT,
	.fd = input_fd,
	.work = input_work,
	.describe = input_describe,
	.lost = input_lost,
	.hits = input_hits,
};
