// SPDX-License-Identifier: GPL-2.0
/* A flight recorder. What leaves the ring goes into a lead-in, so that each dump begins with what is known then. A dump
 * is written by a forked process, which has all of it to itself: meanwhile the kernel's rings are read on. */
#include "record_ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/options.h"
#include "../base/say.h"
#include "../model/frames.h"
#include "../model/lead_in.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "../stream/event_store.h"
#include "thread_words.h"

enum {
	SPAN_LEAST_NS = 100 * NSEC_PER_MSEC,
	SPAN_MOST_S = 3600,
	MEMORY_LEAST_MB = 1,
	MEMORY_MOST_MB = 65536,
	FRAMES_KEPT = 4096, /* from before the ring, for their paces */
	FILES_MOST = 10000,
	/* What happened up to a signal has come through the kernel's rings by then. */
	SETTLES_NS = 300 * NSEC_PER_MSEC,
	CAUSE_SIZE = 160,
	PATH_SIZE = 4096,
	TIME_SIZE = 16,
};

/* How the cause begins that is a frame, before its number is known. */
#define A_FRAME "a frame "

struct record_ring {
	struct ring_wishes wishes;
	const char *path;
	bool json;
	struct event_store *store;
	struct lead_in *lead_in;
	/* Only what it takes to know late frames. */
	struct threads threads;
	struct frames frames;
	char cause[CAUSE_SIZE]; /* of the dump that is due; "": none is */
	u32 late_pid;		/* where it is a late frame: whose, and when it came; 0: it is not */
	u64 late_ns;
	u64 due_ns;
	u64 dumped_ns; /* when the last one was; 0: there was none */
	u64 skipped;   /* causes since */
	pid_t writer;  /* 0: none is at work */
	struct record_ring_sums sums;
};

const char *ring_take_span(struct ring_wishes *wishes, const char *value)
{
	const char *wrong = parse_span(value, &wishes->span_ns);

	if (wrong)
		return wrong;
	return wishes->span_ns >= SPAN_LEAST_NS && wishes->span_ns <= (u64)SPAN_MOST_S * NSEC_PER_SEC
		       ? NULL
		       : "is not a span from 100ms to 1h";
}

const char *ring_take_memory(struct ring_wishes *wishes, const char *value)
{
	return parse_number(value, MEMORY_MOST_MB, &wishes->memory_mb) || wishes->memory_mb < MEMORY_LEAST_MB
		       ? "is not a number of megabytes from 1 to 65536"
		       : NULL;
}

const char *ring_take_causes(struct ring_wishes *wishes, const char *value)
{
	char word[16];
	bool wrong;

	while (list_next(&value, word, sizeof(word), &wrong)) {
		if (!strcmp(word, "late-frame"))
			wishes->on_late_frame = true;
		else if (!strcmp(word, "xid"))
			wishes->on_xid = true;
		else
			return "is neither late-frame nor xid";
	}
	return wrong ? "is neither late-frame nor xid" : NULL;
}

static void on_forgotten(void *data, const struct event_header *event)
{
	struct record_ring *ring = data;

	lead_in_take(ring->lead_in, event);
}

struct record_ring *record_ring_open(const struct ring_wishes *wishes, const char *path, bool json)
{
	struct record_ring *ring = calloc(1, sizeof(*ring));

	if (ring) {
		*ring = (struct record_ring){ .wishes = *wishes, .path = path, .json = json };
		ring->store =
			event_store_open(&(struct event_store_settings){ .span_ns = wishes->span_ns,
									 .bytes_most = wishes->memory_mb * 1000000,
									 .on_forgotten = on_forgotten,
									 .data = ring });
		ring->lead_in = lead_in_open(FRAMES_KEPT);
		frames_init(&ring->frames, false);
	}
	if (!ring || !ring->store || !ring->lead_in || threads_init(&ring->threads, NULL, 0)) {
		fail("record", "out of memory");
		record_ring_close(ring);
		return NULL;
	}
	ring->threads.ended_most = THREADS_ENDED_FEW;
	return ring;
}

void record_ring_close(struct record_ring *ring)
{
	if (!ring)
		return;
	event_store_close(ring->store);
	lead_in_close(ring->lead_in);
	frames_free(&ring->frames);
	threads_free(&ring->threads);
	free(ring);
}

/* By itself there is one dump a span, so that no two have the same seconds; the first cause stands. True: this one. */
static bool ask_for_dump(struct record_ring *ring, const char *cause, u64 now_ns, u64 due_ns)
{
	if (ring->cause[0])
		return false;
	if (ring->dumped_ns && due_ns == now_ns && now_ns - ring->dumped_ns < ring->wishes.span_ns) {
		ring->skipped++;
		ring->sums.skipped++;
		return false;
	}
	snprintf(ring->cause, sizeof(ring->cause), "%s", cause);
	ring->late_pid = 0;
	ring->due_ns = due_ns;
	return true;
}

static bool matters_for_frames(const struct event_header *event)
{
	switch (event->kind) {
	case EVENT_THREAD:
	case EVENT_RENAME:
	case EVENT_TID_CHANGE:
	case EVENT_FRAME:
	case EVENT_VBLANK:
	case EVENT_COMMIT:
	case EVENT_SERVED:
	case EVENT_LOST:
		return true;
	case EVENT_SWITCH:
		return ((const struct event_switch *)event)->prev_state & STATE_DEAD;
	case EVENT_ROLE:
		return event->flags & EVENT_FLAG_CLOSING;
	default:
		return false;
	}
}

static void look_for_late_frame(struct record_ring *ring, const struct event_header *event)
{
	const struct frame_process *process = NULL;
	char who[THREAD_WORDS_SIZE], by[TIME_SIZE], cause[CAUSE_SIZE];
	struct late_frame late;
	struct wait ended;

	if (!matters_for_frames(event))
		return;
	threads_handle(&ring->threads, event, &ended);
	if (!frames_handle(&ring->frames, &ring->threads, event, &late, &process))
		return;
	comm_words(who, &process->comm, process->pid, THREAD_TIGHT);
	format_time(by, sizeof(by), late.late_ns);
	snprintf(cause, sizeof(cause), A_FRAME "of %s was %s late", who, by);
	if (ask_for_dump(ring, cause, event->time_ns, event->time_ns)) {
		ring->late_pid = process->pid;
		ring->late_ns = event->time_ns;
	}
}

void record_ring_take(struct record_ring *ring, const struct event_header *event)
{
	char cause[CAUSE_SIZE];

	ring->sums.events++;
	event_store_add(ring->store, event);
	if (ring->wishes.on_late_frame)
		look_for_late_frame(ring, event);
	if (ring->wishes.on_xid && event->kind == EVENT_CUDA_XID) {
		snprintf(cause, sizeof(cause), "the GPU reported Xid %u", ((const struct event_cuda_xid *)event)->code);
		ask_for_dump(ring, cause, event->time_ns, event->time_ns);
	}
}

struct dump {
	struct record_ring *ring;
	struct recording_writer *writer;
	u64 late_number; /* of the frame that is the cause, as who reads the file counts */
	int error;
};

static void write_event(void *data, const struct event_header *event)
{
	struct dump *dump = data;
	const struct record_ring *ring = dump->ring;
	const struct thread *thread = event->kind == EVENT_FRAME ? threads_by_tid(&ring->threads, event->tid) : NULL;

	dump->late_number += thread && thread->pid == ring->late_pid && event->time_ns <= ring->late_ns;
	if (!dump->error)
		dump->error = recording_write(dump->writer, event);
}

/* In a process of its own there is nobody else who needs the cause as it was. */
static void number_late_frame(const struct dump *dump)
{
	struct record_ring *ring = dump->ring;
	char cause[CAUSE_SIZE];

	if (!ring->late_pid)
		return;
	snprintf(cause, sizeof(cause), "%s", ring->cause + strlen(A_FRAME));
	snprintf(ring->cause, sizeof(ring->cause), "frame %" PRIu64 " %.128s", dump->late_number, cause);
}

static void write_kept(void *data, const struct event_header *event)
{
	struct dump *dump = data;

	/* In a process of its own there is nobody else who needs it as it was. */
	lead_in_take(dump->ring->lead_in, event);
	if (lead_in_give_functions(dump->ring->lead_in, event, write_event, dump))
		write_event(dump, event);
}

/* The first name that is free. Returns 0, or -errno with the reason. */
static int create_file(struct dump *dump, char path[PATH_SIZE], const struct recording_info *info, struct reason *why)
{
	struct stat there;
	int error = -EEXIST;

	for (int i = 0; i < FILES_MOST && (error == -EEXIST || error == -EBUSY); i++) {
		int len = i ? snprintf(path, PATH_SIZE, "%s.%d", dump->ring->path, i)
			    : snprintf(path, PATH_SIZE, "%s", dump->ring->path);

		if (len >= PATH_SIZE) {
			reason_set(why, "the name is too long");
			return -ENAMETOOLONG;
		}
		if (lstat(path, &there) == 0) {
			reason_set(why, "%d files of that name are there", i + 1);
			continue;
		}
		error = recording_create(&dump->writer, path, info, why);
	}
	return error;
}

static void print_dump(const struct record_ring *ring, const char *path, const struct event_store_state *state,
		       u64 events, u64 bytes)
{
	struct json json = { .out = stdout };

	if (!ring->json) {
		print_plain(stdout, path);
		printf(": the last %.1f s, %" PRIu64 " events in %.1f MB: %s",
		       (double)(state->last_ns - state->first_ns) / NSEC_PER_SEC, events, (double)bytes / 1e6,
		       ring->cause);
		if (ring->skipped)
			printf(" (and %" PRIu64 " more such since the last)", ring->skipped);
		if (state->pressed_out)
			printf("; more did not fit in %" PRIu64 " MB", ring->wishes.memory_mb);
		putchar('\n');
		return;
	}
	json_record(&json, "dump", true);
	json_string(&json, "dumped_to", path);
	json_string(&json, "cause", ring->cause);
	json_u64(&json, "events", events);
	json_u64(&json, "bytes", bytes);
	json_u64(&json, "from_ns", state->first_ns);
	json_u64(&json, "to_ns", state->last_ns);
	json_u64(&json, "skipped", ring->skipped);
	json_u64(&json, "pressed_out", state->pressed_out);
	json_object_end(&json);
	json_line_end(&json);
}

/* Returns the status to end the writing process with. */
static int write_dump(struct record_ring *ring, const struct recording_info *info)
{
	struct event_store_state state = event_store_state(ring->store);
	u64 span_ns = state.last_ns - state.first_ns;
	u64 lead_ns = span_ns / 10 < LEAD_IN_WHOLE_NS ? span_ns / 10 : LEAD_IN_WHOLE_NS;
	struct recording_info head = *info;
	struct dump dump = { .ring = ring };
	char path[PATH_SIZE];
	struct reason why = { "" };
	u64 events, bytes;
	int error;

	head.mono_start_ns = state.first_ns + lead_ns;
	head.wall_start_ns += head.mono_start_ns - info->mono_start_ns;
	head.replaces_any = false;
	head.only_new = true;
	head.only_whole = true;
	if (create_file(&dump, path, &head, &why))
		return fail(path, "%s: nothing was written (%s)", why.text, ring->cause);
	lead_in_give(ring->lead_in, write_event, &dump);
	event_store_each(ring->store, write_kept, &dump);
	lead_in_give_closing(ring->lead_in, state.last_ns, write_event, &dump);
	if (lead_in_dropped_functions(ring->lead_in) && lead_in_nameless(ring->lead_in))
		note("%s: the functions of %zu stacks are missing: there was no room for them", path,
		     lead_in_nameless(ring->lead_in));
	if (!dump.error)
		dump.error = recording_flush(dump.writer);
	number_late_frame(&dump);
	events = recording_events(dump.writer);
	bytes = recording_bytes(dump.writer);
	error = dump.error;
	if (error)
		recording_drop_writer(dump.writer);
	else
		error = recording_close_writer(dump.writer);
	if (error)
		return fail(path, "%s: nothing was written (%s)", strerror(-error), ring->cause);
	print_dump(ring, path, &state, events, bytes);
	return 0;
}

static void reap(struct record_ring *ring, bool waits)
{
	int status = 0;
	pid_t ended;

	if (!ring->writer)
		return;
	do
		ended = waitpid(ring->writer, &status, waits ? 0 : WNOHANG);
	while (ended < 0 && errno == EINTR);
	if (!ended)
		return;
	ring->writer = 0;
	if (ended > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		ring->sums.dumps++;
	else
		ring->sums.failed++;
}

static void dump(struct record_ring *ring, const struct recording_info *info, u64 now_ns)
{
	struct event_store_state state = event_store_state(ring->store);

	if (!state.events) {
		note("nothing has happened yet: nothing is written");
	} else {
		fflush(stdout);
		ring->writer = fork();
		if (!ring->writer) {
			int status = write_dump(ring, info);

			fflush(stdout);
			_exit(status);
		}
		if (ring->writer < 0) {
			ring->writer = 0;
			ring->sums.failed++;
			fail("record", "could not start a process that writes: %s", strerror(errno));
		}
		ring->dumped_ns = now_ns;
		ring->skipped = 0;
	}
	ring->cause[0] = '\0';
}

static void look_at_memory(struct record_ring *ring)
{
	u64 bytes = event_store_state(ring->store).bytes + lead_in_bytes(ring->lead_in);

	if (bytes > ring->sums.bytes_most)
		ring->sums.bytes_most = bytes;
}

void record_ring_tick(struct record_ring *ring, const struct recording_info *info, u64 now_ns)
{
	reap(ring, false);
	look_at_memory(ring);
	frames_turn_over_for_good(&ring->frames);
	/* Programs come and go for days: from time to time their paces are learned anew. */
	if (ring->frames.failed || ring->frames.rows_len > FRAMES_ROWS_MAX / 2) {
		frames_free(&ring->frames);
		frames_init(&ring->frames, false);
	}
	if (loop_was_requested())
		ask_for_dump(ring, "SIGUSR1", now_ns, now_ns + SETTLES_NS);
	if (ring->cause[0] && now_ns >= ring->due_ns && !ring->writer)
		dump(ring, info, now_ns);
}

void record_ring_end(struct record_ring *ring, const struct recording_info *info)
{
	u64 now_ns = clock_now_ns();

	look_at_memory(ring);
	if (loop_was_requested())
		ask_for_dump(ring, "SIGUSR1", now_ns, now_ns + SETTLES_NS);
	reap(ring, true);
	if (ring->cause[0])
		dump(ring, info, now_ns);
	reap(ring, true);
}

struct record_ring_sums record_ring_sums(const struct record_ring *ring)
{
	struct record_ring_sums sums = ring->sums;

	sums.pressed_out = event_store_state(ring->store).pressed_out;
	return sums;
}
