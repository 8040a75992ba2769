// SPDX-License-Identifier: GPL-2.0
/* Tracks of threads and of what belongs to none. A slice goes to the first track of its kind that is free by then;
 * where all are taken another one of the same name is made, and viewers draw them as one. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/vec.h"
#include "export_trace.h"

static const char *const lane_names[LANE_KINDS] = {
	[LANE_ROLE] = "role",
	[LANE_TIER] = "tier",
	[LANE_FRAMES] = "frames",
	[LANE_WAITS] = "waits",
	[LANE_IN_THE_WAY] = "in the way",
	[LANE_MISSES] = "deadline misses",
	[LANE_MOVES] = "moves",
	[LANE_SCHEDULER] = "scheduler",
	[LANE_SUBMITS] = "GPU submits",
	[LANE_CUDA] = "CUDA",
	[LANE_LAUNCHES] = "CUDA launches",
	[LANE_STEPS] = "steps",
	[LANE_IOCTLS] = "ioctls",
	[LANE_DRIVER_WORK] = "driver work",
	[LANE_INPUT] = "input",
	[LANE_LIFE] = "program",
	[LANE_STACKS] = "stacks",
};

/* What a thread does itself lies within what else it does. */
static bool is_nested(enum lane_kind kind)
{
	return kind == LANE_SUBMITS || kind == LANE_CUDA || kind == LANE_IOCTLS;
}

static u64 next_id(struct exporter *exporter)
{
	return ++exporter->last_id;
}

struct thread_lanes *export_lanes_of(struct exporter *exporter, struct thread *thread)
{
	if (!thread->lanes)
		thread->lanes = calloc(1, sizeof(*thread->lanes));
	exporter->failed |= !thread->lanes;
	return thread->lanes;
}

static void declare_thread(struct exporter *exporter, const struct thread *thread, struct thread_lanes *lanes)
{
	lanes->track = (struct trace_track){ .id = next_id(exporter),
					     .kind = TRACK_THREAD,
					     .tid = thread->tid,
					     .pid = thread->pid ? thread->pid : thread->tid };
	exporter->form->track(exporter->sink, &lanes->track);
}

static struct lane *free_lane(struct lane *lanes, u32 len, enum lane_kind kind, u64 from_ns)
{
	for (u32 i = 0; i < len; i++)
		if (lanes[i].kind == kind && lanes[i].free_ns <= from_ns)
			return &lanes[i];
	return NULL;
}

static const struct trace_track *take(struct lane *lane, u64 to_ns)
{
	if (to_ns > lane->free_ns)
		lane->free_ns = to_ns;
	return &lane->track;
}

const struct trace_track *export_thread_lane(struct exporter *exporter, u32 tid, enum lane_kind kind, u64 from_ns,
					     u64 to_ns)
{
	struct thread *thread = tid ? threads_by_tid(exporter->threads, tid) : NULL;
	struct thread_lanes *lanes = thread ? export_lanes_of(exporter, thread) : NULL;
	struct lane *lane = lanes ? free_lane(lanes->lanes, lanes->len, kind, from_ns) : NULL;

	if (lane)
		return take(lane, to_ns);
	if (!lanes || lanes->len == THREAD_LANES) {
		exporter->unplaced++;
		return NULL;
	}
	if (!lanes->track.id)
		declare_thread(exporter, thread, lanes);
	lane = &lanes->lanes[lanes->len++];
	*lane = (struct lane){ .kind = kind,
			       .track = { .id = next_id(exporter),
					  .parent = lanes->track.id,
					  .kind = TRACK_LANE,
					  .pid = lanes->track.pid,
					  .tid = tid,
					  .is_nested = is_nested(kind),
					  .name = lane_names[kind] } };
	exporter->form->track(exporter->sink, &lane->track);
	return take(lane, to_ns);
}

struct place *export_place(struct exporter *exporter, enum place_kind kind, u64 key)
{
	u64 mixed = (key + 1) * (PLACE_END + 1) + kind;
	u32 at = map_get(&exporter->by_place, mixed);
	struct place *place;

	if (at)
		return exporter->places[at - 1];
	if (exporter->places_len >= PLACES_MOST) {
		exporter->unplaced++;
		return NULL;
	}
	place = calloc(1, sizeof(*place));
	if (!place || !vec_reserve(exporter->places, exporter->places_room, exporter->places_len + 1, 64) ||
	    !map_set(&exporter->by_place, mixed, (u32)exporter->places_len + 1)) {
		exporter->failed = true;
		free(place);
		return NULL;
	}
	place->kind = kind;
	place->key = key;
	exporter->places[exporter->places_len++] = place;
	return place;
}

const struct trace_track *export_place_lane(struct exporter *exporter, struct place *place, const char *name,
					    u64 from_ns, u64 to_ns)
{
	struct lane *lane = place ? free_lane(place->lanes, place->len, 0, from_ns) : NULL;

	if (lane)
		return take(lane, to_ns);
	if (!place || place->len == PLACE_LANES) {
		exporter->unplaced++;
		return NULL;
	}
	lane = &place->lanes[place->len++];
	snprintf(place->name, sizeof(place->name), "%s", name);
	lane->track = (struct trace_track){ .id = next_id(exporter), .kind = TRACK_LANE, .name = place->name };
	exporter->form->track(exporter->sink, &lane->track);
	return take(lane, to_ns);
}

const struct trace_track *export_counter(struct exporter *exporter, struct place *place, u32 pid, const char *name,
					 const char *unit)
{
	struct place *process = pid ? export_place(exporter, PLACE_PROCESS, pid) : NULL;
	struct trace_track *own = process ? &process->lanes[0].track : NULL, *track = &place->lanes[0].track;

	if (place->len)
		return track;
	if (own && !process->len) {
		*own = (struct trace_track){ .id = next_id(exporter), .kind = TRACK_PROCESS, .pid = pid };
		process->len = 1;
		exporter->form->track(exporter->sink, own);
	}
	place->len = 1;
	snprintf(place->name, sizeof(place->name), "%s", name);
	*track = (struct trace_track){ .id = next_id(exporter),
				       .parent = own ? own->id : 0,
				       .kind = TRACK_COUNTER,
				       .pid = pid,
				       .name = place->name,
				       .unit = unit };
	exporter->form->track(exporter->sink, track);
	return track;
}

void export_mark(struct exporter *exporter, u32 tid, enum lane_kind kind, const struct trace_mark *mark)
{
	struct trace_mark placed = *mark;

	if (placed.to_ns < placed.from_ns)
		placed.to_ns = placed.from_ns;
	/* Instants may lie anywhere. */
	placed.track = export_thread_lane(exporter, tid, kind, mark->is_instant ? ~0ULL : placed.from_ns,
					  mark->is_instant ? 0 : placed.to_ns);
	if (!placed.track)
		return;
	exporter->form->mark(exporter->sink, &placed);
	exporter->marks++;
}
