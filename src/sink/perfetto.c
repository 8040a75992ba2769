// SPDX-License-Identifier: GPL-2.0
/* Tracks and what is on them, processes and threads, clocks. A dozen messages are written and none is read, so they are
 * written by hand: no generated code, no library. */
#include "perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
#include "perfetto_packets.h"
#include "text.h"

enum {
	OUT_BYTES = 1 << 16, /* that are written at once */
	INTERNED_SLOTS = 8192,
	INTERNED_MOST = 4096,  /* names that are known at a time; then all are forgotten */
	INTERNED_AT_ONCE = 64, /* that one packet may add */
};
#define NO_TIME (~0ULL)

struct interned_text {
	u64 hash;
	u64 iid; /* 0: free */
	u32 field;
	char *text;
};

u64 perfetto_time(const struct perfetto *perfetto, u64 mono_ns)
{
	return mono_ns + perfetto->boot_minus_mono_ns;
}

void perfetto_comm(char into[COMM_PLAIN_SIZE], const struct comm *comm, u32 tid)
{
	char text[COMM_LEN + 1] = "";

	if (comm)
		memcpy(text, comm->text, COMM_LEN);
	else
		strcpy(text, tid ? "" : "swapper");
	format_plain(into, COMM_PLAIN_SIZE, text);
}

static void write_out(struct perfetto *perfetto)
{
	if (perfetto->out.failed && !perfetto->error)
		perfetto->error = -ENOMEM;
	if (perfetto->out.len && !perfetto->error)
		perfetto->error = perfetto->write(perfetto->data, perfetto->out.bytes, perfetto->out.len);
	perfetto->out.len = 0;
}

size_t perfetto_packet_begin(struct perfetto *perfetto, u64 at_ns)
{
	size_t begun = protobuf_begin(&perfetto->out, TRACE_PACKET);

	if (at_ns != NO_TIME)
		protobuf_number(&perfetto->out, PACKET_TIMESTAMP, perfetto_time(perfetto, at_ns));
	if (at_ns != NO_TIME && perfetto->machine_id)
		protobuf_number(&perfetto->out, PACKET_TIMESTAMP_CLOCK, CLOCK_BOOTTIME_ID);
	protobuf_number(&perfetto->out, PACKET_SEQUENCE_ID, PERFETTO_SEQUENCE);
	if (perfetto->machine_id)
		protobuf_number(&perfetto->out, PACKET_MACHINE_ID, perfetto->machine_id);
	return begun;
}

void perfetto_packet_end(struct perfetto *perfetto, size_t begun)
{
	protobuf_end(&perfetto->out, begun);
	if (perfetto->out.len >= OUT_BYTES)
		write_out(perfetto);
}

static void put_clock(struct protobuf *out, u32 id, u64 time_ns)
{
	size_t clock = protobuf_begin(out, SNAPSHOT_CLOCKS);

	protobuf_number(out, SNAPSHOT_CLOCK_ID, id);
	protobuf_number(out, SNAPSHOT_CLOCK_TIME, time_ns);
	protobuf_end(out, clock);
}

static void put_machine(struct perfetto *perfetto, const struct trace_machine *machine)
{
	struct protobuf *out = &perfetto->out;
	size_t packet = perfetto_packet_begin(perfetto, NO_TIME);
	size_t inner = protobuf_begin(out, PACKET_CLOCK_SNAPSHOT), name;
	char kernel[PERFETTO_TEXT_MOST];

	put_clock(out, CLOCK_REALTIME_ID, machine->wall_ns);
	put_clock(out, CLOCK_MONOTONIC_ID, machine->mono_ns);
	put_clock(out, CLOCK_BOOTTIME_ID, machine->boot_ns);
	/* The only clock that machines share. */
	protobuf_number(out, SNAPSHOT_PRIMARY, perfetto->machine_id ? CLOCK_REALTIME_ID : CLOCK_BOOTTIME_ID);
	protobuf_end(out, inner);
	perfetto_packet_end(perfetto, packet);
	/* Without the kernel's version a reader takes states of threads for those of Linux 4.4. */
	packet = perfetto_packet_begin(perfetto, NO_TIME);
	inner = protobuf_begin(out, PACKET_SYSTEM_INFO);
	name = protobuf_begin(out, INFO_UTSNAME);
	protobuf_text(out, UTSNAME_SYSNAME, "Linux");
	format_plain(kernel, sizeof(kernel), machine->kernel);
	protobuf_text(out, UTSNAME_RELEASE, kernel);
	protobuf_end(out, name);
	protobuf_number(out, INFO_NUM_CPUS, machine->cpus_len);
	if (machine->name[0])
		protobuf_text(out, INFO_MACHINE_NAME, machine->name);
	protobuf_end(out, inner);
	perfetto_packet_end(perfetto, packet);
}

static u64 hash_text(u32 field, const char *text)
{
	u64 hash = 0xcbf29ce484222325ULL ^ field;

	for (; *text; text++)
		hash = (hash ^ (u8)*text) * 0x100000001b3ULL;
	return hash;
}

/* By which a reader of several traces keeps CPUs and threads of machines apart; 0: of a machine without a name. It
 * stands in every packet: four bytes. */
static u32 machine_id(const char *name)
{
	return name[0] ? 1 + (u32)(hash_text(0, name) >> 36) % ((1u << 28) - 1) : 0;
}

struct perfetto *perfetto_open(const struct trace_machine *machine, perfetto_write write, void *data)
{
	struct perfetto *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->interned = calloc(INTERNED_SLOTS, sizeof(*made->interned));
	if (!made->interned || !protobuf_reserve(&made->out, OUT_BYTES + PERFETTO_TEXT_MOST)) {
		perfetto_close(made);
		return NULL;
	}
	made->write = write;
	made->data = data;
	made->boot_minus_mono_ns = machine->boot_ns - machine->mono_ns;
	made->machine_id = machine_id(machine->name);
	made->last_iid = 1;		       /* which the beginning has */
	made->clears_state = made->machine_id; /* the beginning's is that of no machine */
	memcpy(made->out.bytes, PERFETTO_BEGINNING, strlen(PERFETTO_BEGINNING));
	made->out.len = strlen(PERFETTO_BEGINNING);
	put_machine(made, machine);
	return made;
}

static void forget_interned(struct perfetto *perfetto)
{
	for (size_t i = 0; perfetto->interned && i < INTERNED_SLOTS; i++)
		free(perfetto->interned[i].text);
	if (perfetto->interned)
		memset(perfetto->interned, 0, INTERNED_SLOTS * sizeof(*perfetto->interned));
	perfetto->interned_len = 0;
	perfetto->last_iid = 1;
}

void perfetto_close(struct perfetto *perfetto)
{
	if (!perfetto)
		return;
	perfetto_sched_free(perfetto);
	forget_interned(perfetto);
	free(perfetto->interned);
	protobuf_free(&perfetto->out);
	protobuf_free(&perfetto->body);
	protobuf_free(&perfetto->fresh);
	free(perfetto);
}

int perfetto_error(const struct perfetto *perfetto)
{
	return perfetto->error;
}

/* The number of a name; one that is new is added to what the packet brings along. 0 for want of memory. */
static u64 intern(struct perfetto *perfetto, u32 field, const char *text)
{
	u64 hash = hash_keyed(text, strlen(text)) ^ field;
	size_t at = hash % INTERNED_SLOTS, entry;
	struct interned_text *slot;

	for (;; at = (at + 1) % INTERNED_SLOTS) {
		slot = &perfetto->interned[at];
		if (!slot->iid || (slot->hash == hash && slot->field == field && !strcmp(slot->text, text)))
			break;
	}
	if (slot->iid)
		return slot->iid;
	slot->text = strdup(text);
	if (!slot->text) {
		perfetto->out.failed = true;
		return 0;
	}
	slot->hash = hash;
	slot->field = field;
	slot->iid = ++perfetto->last_iid;
	perfetto->interned_len++;
	entry = protobuf_begin(&perfetto->fresh, field);
	protobuf_number(&perfetto->fresh, INTERNED_IID, slot->iid);
	protobuf_text(&perfetto->fresh, INTERNED_TEXT, text);
	protobuf_end(&perfetto->fresh, entry);
	return slot->iid;
}

/* Before anything of a packet is named. */
static void begin_event(struct perfetto *perfetto)
{
	perfetto->body.len = perfetto->fresh.len = 0;
	if (perfetto->interned_len + INTERNED_AT_ONCE <= INTERNED_MOST)
		return;
	forget_interned(perfetto);
	perfetto->clears_state = true;
}

static void put_event(struct perfetto *perfetto, u64 at_ns, bool needs_state)
{
	struct protobuf *out = &perfetto->out;
	size_t packet = perfetto_packet_begin(perfetto, at_ns);

	if (needs_state) {
		protobuf_number(out, PACKET_SEQUENCE_FLAGS,
				FLAG_NEEDS_STATE | (perfetto->clears_state ? FLAG_STATE_CLEARED : 0));
		perfetto->clears_state = false;
	}
	if (perfetto->fresh.len)
		protobuf_bytes(out, PACKET_INTERNED_DATA, perfetto->fresh.bytes, perfetto->fresh.len);
	protobuf_bytes(out, PACKET_TRACK_EVENT, perfetto->body.bytes, perfetto->body.len);
	perfetto_packet_end(perfetto, packet);
	perfetto->out.failed |= perfetto->body.failed || perfetto->fresh.failed;
}

static void put_arg(struct perfetto *perfetto, const struct trace_arg *arg)
{
	struct protobuf *body = &perfetto->body;
	size_t begun = protobuf_begin(body, EVENT_DEBUG_ANNOTATIONS);
	char text[PERFETTO_TEXT_MOST];

	protobuf_number(body, ANNOTATION_NAME_IID, intern(perfetto, INTERNED_ANNOTATION_NAMES, arg->name));
	switch (arg->kind) {
	case ARG_NUMBER:
		protobuf_number(body, ANNOTATION_UINT, arg->number);
		break;
	case ARG_SIGNED:
		protobuf_number(body, ANNOTATION_INT, arg->number);
		break;
	case ARG_HEX:
		protobuf_number(body, ANNOTATION_POINTER, arg->number);
		break;
	case ARG_TEXT:
		format_plain(text, sizeof(text), arg->text);
		protobuf_text(body, ANNOTATION_STRING, text);
		break;
	}
	protobuf_end(body, begun);
}

static void put_mark(void *sink, const struct trace_mark *mark)
{
	struct perfetto *perfetto = sink;
	struct protobuf *body = &perfetto->body;
	char name[PERFETTO_TEXT_MOST];

	begin_event(perfetto);
	format_plain(name, sizeof(name), mark->name);
	protobuf_number(body, EVENT_TYPE, mark->is_instant ? TYPE_INSTANT : TYPE_SLICE_BEGIN);
	protobuf_number(body, EVENT_TRACK_UUID, mark->track->id);
	protobuf_number(body, EVENT_CATEGORY_IIDS, intern(perfetto, INTERNED_CATEGORIES, mark->category));
	if (mark->name_is_rare)
		protobuf_text(body, EVENT_NAME_TEXT, name);
	else
		protobuf_number(body, EVENT_NAME_IID, intern(perfetto, INTERNED_NAMES, name));
	for (u32 i = 0; i < mark->args_len; i++)
		put_arg(perfetto, &mark->args[i]);
	if (mark->flow)
		protobuf_fixed64(body, EVENT_FLOW_IDS, mark->flow);
	put_event(perfetto, mark->from_ns, true);
	if (mark->is_instant)
		return;
	body->len = perfetto->fresh.len = 0;
	protobuf_number(body, EVENT_TYPE, TYPE_SLICE_END);
	protobuf_number(body, EVENT_TRACK_UUID, mark->track->id);
	put_event(perfetto, mark->to_ns, false);
}

static void put_count(void *sink, const struct trace_track *track, u64 at_ns, u64 value)
{
	struct perfetto *perfetto = sink;
	struct protobuf *body = &perfetto->body;

	body->len = perfetto->fresh.len = 0;
	protobuf_number(body, EVENT_TYPE, TYPE_COUNTER);
	protobuf_number(body, EVENT_TRACK_UUID, track->id);
	protobuf_number(body, EVENT_COUNTER_VALUE, value);
	put_event(perfetto, at_ns, false);
}

static void put_track(void *sink, const struct trace_track *track)
{
	struct perfetto *perfetto = sink;
	struct protobuf *out = &perfetto->out;
	size_t packet = perfetto_packet_begin(perfetto, NO_TIME);
	size_t descriptor = protobuf_begin(out, PACKET_TRACK_DESCRIPTOR), inner;
	char name[PERFETTO_TEXT_MOST];

	protobuf_number(out, TRACK_UUID, track->id);
	if (track->parent)
		protobuf_number(out, TRACK_PARENT_UUID, track->parent);
	if (track->kind == TRACK_LANE || track->kind == TRACK_COUNTER) {
		format_plain(name, sizeof(name), track->name);
		protobuf_text(out, TRACK_NAME, name);
	}
	if (track->kind == TRACK_COUNTER) {
		inner = protobuf_begin(out, TRACK_OF_COUNTER);
		protobuf_text(out, COUNTER_UNIT_NAME, track->unit);
		protobuf_end(out, inner);
	} else if (track->kind != TRACK_LANE) {
		inner = protobuf_begin(out, track->kind == TRACK_THREAD ? TRACK_OF_THREAD : TRACK_OF_PROCESS);
		protobuf_number(out, DESCRIPTOR_PID, track->pid);
		if (track->kind == TRACK_THREAD)
			protobuf_number(out, DESCRIPTOR_TID, track->tid);
		protobuf_end(out, inner);
	}
	protobuf_end(out, descriptor);
	perfetto_packet_end(perfetto, packet);
}

static void put_tree(struct perfetto *perfetto, const struct trace_thread *thread, bool has_process)
{
	struct protobuf *out = &perfetto->out;
	size_t packet, tree, inner;
	char name[COMM_PLAIN_SIZE], program[PERFETTO_TEXT_MOST];

	/* The idle threads of all CPUs are 0, which is no thread of a process. */
	if (!thread->tid)
		return;
	packet = perfetto_packet_begin(perfetto, thread->at_ns);
	tree = protobuf_begin(out, PACKET_PROCESS_TREE);
	perfetto_comm(name, thread->comm, thread->tid);
	if (has_process) {
		inner = protobuf_begin(out, TREE_PROCESSES);
		protobuf_number(out, TREE_PROCESS_PID, thread->pid);
		protobuf_number(out, TREE_PROCESS_PPID, thread->parent_pid);
		format_plain(program, sizeof(program), thread->program ? thread->program : name);
		protobuf_text(out, TREE_PROCESS_CMDLINE, program);
		protobuf_end(out, inner);
	}
	inner = protobuf_begin(out, TREE_THREADS);
	protobuf_number(out, TREE_THREAD_TID, thread->tid);
	protobuf_text(out, TREE_THREAD_NAME, name);
	protobuf_number(out, TREE_THREAD_TGID, thread->pid ? thread->pid : thread->tid);
	protobuf_end(out, inner);
	protobuf_end(out, tree);
	perfetto_packet_end(perfetto, packet);
}

static void put_thread(void *sink, const struct trace_thread *thread)
{
	put_tree(sink, thread, thread->pid == thread->tid);
}

/* A reader keeps a name of put_thread, whatever a task_rename says later; the process keeps the name of its program. */
static void put_new_name(void *sink, const struct trace_thread *thread)
{
	perfetto_renamed(sink, thread);
	if (thread->pid)
		put_tree(sink, thread, false);
}

static void flush(void *sink)
{
	perfetto_sched_flush(sink);
	write_out(sink);
}

static void end(void *sink, u64 at_ns)
{
	(void)at_ns;
	flush(sink);
}

const struct trace_form perfetto_form = {
	.track = put_track,
	.mark = put_mark,
	.count = put_count,
	.thread = put_thread,
	.renamed = put_new_name,
	.ended = perfetto_ended,
	.switched = perfetto_switched,
	.woken = perfetto_woken,
	.lost = perfetto_lost,
	.flush = flush,
	.end = end,
};
