// SPDX-License-Identifier: GPL-2.0
/* Makes a row of each thread, sums them up by process, leaves out what is not wanted, and sorts.
 * Orders are total, so that equal rows do not change places from one second to the next. */
#include "top_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"
#include "roles.h"

static const char *const order_names[TOP_ORDERS] = { "cpu", "p99",  "worst",  "waits", "fps",
						     "gpu", "cuda", "misses", "name",  "tid" };
static const char *const group_names[TOP_GROUPS] = { "threads by process", "threads", "processes" };

const char *top_order_name(enum top_order order)
{
	return order < TOP_ORDERS ? order_names[order] : "?";
}

const char *top_group_name(enum top_group group)
{
	return group < TOP_GROUPS ? group_names[group] : "?";
}

enum top_order top_order_parse(const char *word)
{
	u32 order = 0;

	while (order < TOP_ORDERS && strcmp(word, order_names[order]))
		order++;
	return order;
}

static const struct top_presenter *presenter_of(const struct top *top, u32 pid)
{
	for (u32 i = 0; i < top->presenters_len; i++)
		if (top->presenters[i].pid == pid)
			return &top->presenters[i];
	return NULL;
}

static struct top_other most_of(const struct top_other *others, u32 len)
{
	struct top_other most = { 0 };

	for (u32 i = 0; i < len; i++)
		if (others[i].amount > most.amount)
			most = others[i];
	return most;
}

static void fill_thread(struct top_row *row, const struct top *top, const struct top_thread *thread)
{
	struct top_wait_sum sum;
	double span_ns = top->last_span_ns ? (double)top->last_span_ns : 1;

	*row = (struct top_row){ .tid = thread->tid,
				 .pid = thread->pid,
				 .threads = 1,
				 .comm = thread->comm,
				 .ended = thread->ended,
				 .has_role = thread->has_role,
				 .role = thread->role,
				 .tier = thread->tier,
				 .prio = thread->prio,
				 .cpu_hundredths = (u64)((double)thread->last.cpu_ns * 10000 / span_ns + 0.5),
				 .waits_tenths = top_rate_tenths(top, thread->waits.last),
				 .behind = most_of(thread->culprits, TOP_CULPRITS),
				 .submits_tenths = top_rate_tenths(top, thread->last.submits),
				 .launches_tenths = top_rate_tenths(top, thread->last.launches),
				 .misses = thread->all.misses,
				 .pushes = thread->all.pushes,
				 .all = thread->all };
	top_waits_begin(&sum);
	top_waits_sum(&sum, &thread->waits);
	row->wait = top_waits_summary(&sum);
	for (u32 i = 0; i < TOP_SHOWN; i++)
		row->worst_ns[i] = thread->worst_ns[(top->turns + 1 + i) % TOP_SHOWN];
}

/* Frames are a process's; of its threads the one that presents shows them too. */
static void fill_frames(struct top_row *row, const struct top *top)
{
	const struct top_presenter *presenter = presenter_of(top, row->pid);
	const struct frame_process *process = presenter ? top->frame_model.processes : NULL;

	while (process && process->pid != row->pid)
		process = process->next;
	if (!process)
		return;
	for (const struct frame_stream *stream = process->streams; stream; stream = stream->next) {
		if (!row->is_process && stream->tid != row->tid)
			continue;
		row->fps_tenths = presenter->fps_tenths;
		row->late_frames = presenter->all_late;
		return;
	}
}

/* A thread's row is added to its process's. */
static void add_row(struct top_row *sum, const struct top_row *row)
{
	bool more_urgent = row->has_role && (!sum->has_role || row->tier > sum->tier);

	if (more_urgent) {
		sum->role = row->role;
		sum->tier = row->tier;
		sum->has_role = true;
	}
	if (!sum->threads++)
		sum->prio = row->prio;
	sum->ended = sum->ended && row->ended;
	sum->cpu_hundredths += row->cpu_hundredths;
	sum->waits_tenths += row->waits_tenths;
	sum->submits_tenths += row->submits_tenths;
	sum->launches_tenths += row->launches_tenths;
	sum->misses += row->misses;
	sum->pushes += row->pushes;
	sum->all.cpu_ns += row->all.cpu_ns;
	sum->all.moves += row->all.moves;
	if (row->behind.amount > sum->behind.amount)
		sum->behind = row->behind;
	for (u32 i = 0; i < TOP_SHOWN; i++)
		if (row->worst_ns[i] > sum->worst_ns[i])
			sum->worst_ns[i] = row->worst_ns[i];
}

static struct top_wait_summary waits_of(const struct top_thread **threads, size_t len)
{
	struct top_wait_sum sum;

	top_waits_begin(&sum);
	for (size_t i = 0; i < len; i++)
		top_waits_sum(&sum, &threads[i]->waits);
	return top_waits_summary(&sum);
}

static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int by_name = strncmp(a->comm.text, b->comm.text, COMM_LEN);

	return by_name ? by_name : a->tid < b->tid ? -1 : a->tid > b->tid;
}

static u64 order_key(const struct top_row *row, enum top_order order)
{
	switch (order) {
	case TOP_BY_P99:
		return row->wait.p99_ns;
	case TOP_BY_WORST:
		return row->wait.max_ns;
	case TOP_BY_WAITS:
		return row->waits_tenths;
	case TOP_BY_FPS:
		return row->fps_tenths;
	case TOP_BY_GPU:
		return row->submits_tenths;
	case TOP_BY_CUDA:
		return row->launches_tenths;
	case TOP_BY_MISSES:
		return row->misses;
	case TOP_BY_TID:
		return ~(u64)row->tid; /* the lowest first */
	default:
		return row->cpu_hundredths;
	}
}

static int compare(const void *a, const void *b, void *data)
{
	const struct top_row *left = a, *right = b;
	const struct top_choice *choice = data;
	u64 x = order_key(left, choice->order), y = order_key(right, choice->order);
	int result = choice->order == TOP_BY_NAME ? compare_names(left, right) : x != y ? (x > y ? -1 : 1) : 0;

	if (choice->reversed)
		result = -result;
	return result ? result : left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int by_process(const void *a, const void *b)
{
	const struct top_thread *x = *(const struct top_thread *const *)a, *y = *(const struct top_thread *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, size_t size, const char *part)
{
	size_t len = strlen(part), text_len = strnlen(text, size);

	for (size_t at = 0; at + len <= text_len; at++) {
		size_t same = 0;

		while (same < len && lower(text[at + same]) == lower(part[same]))
			same++;
		if (same == len)
			return true;
	}
	return false;
}

static bool names_number(const char *filter, u32 number)
{
	u64 value = 0;

	for (const char *at = filter; *at; at++) {
		if (*at < '0' || *at > '9' || value > ~0u)
			return false;
		value = value * 10 + (u64)(*at - '0');
	}
	return filter[0] && value == number;
}

static bool is_named(const struct top_row *row, const char *filter)
{
	return !filter[0] || contains(row->comm.text, COMM_LEN, filter) || names_number(filter, row->tid);
}

static bool matches(const struct top_row *row, const char *filter)
{
	const char *role = row->has_role ? role_name(row->role) : "";

	return is_named(row, filter) || contains(role, strlen(role), filter);
}

static bool is_idle(const struct top_thread *thread)
{
	return thread->idle_turns >= TOP_WAIT_TURNS - 1;
}

/* One process, its threads in `rows`, becomes its rows in `to`. Returns how many. */
static size_t put_process(struct top_row *to, const struct top_row *process, struct top_row *rows, size_t len,
			  const struct top_choice *choice)
{
	bool all = is_named(process, choice->filter); /* its role is one thread's */
	size_t kept = 0;

	for (size_t i = 0; i < len; i++)
		if (all || matches(&rows[i], choice->filter))
			rows[kept++] = rows[i];
	if (!all && !kept)
		return 0;
	*to = *process;
	if (choice->group == TOP_ONLY_PROCESSES)
		return 1;
	if (choice->group == TOP_ONLY_THREADS || (len == 1 && rows[0].tid == process->tid)) {
		memmove(to, rows, kept * sizeof(*rows));
		/* A process of one thread is one row. */
		if (choice->group == TOP_TREE)
			to->fps_tenths = process->fps_tenths;
		return kept;
	}
	sort_rows_by(rows, kept, sizeof(*rows), compare, (void *)choice);
	for (size_t i = 0; i < kept; i++) {
		rows[i].is_below = true;
		rows[i].is_last = i + 1 == kept;
	}
	memmove(to + 1, rows, kept * sizeof(*rows));
	return kept + 1;
}

/* A process's sums, and where its rows begin: what is sorted. */
struct block {
	struct top_row sum;
	size_t from, len;
};

static int compare_blocks(const void *a, const void *b, void *data)
{
	return compare(&((const struct block *)a)->sum, &((const struct block *)b)->sum, data);
}

/* Scratch for one making of rows, kept for the next. */
struct top_rows_making {
	const struct top_thread **order;
	struct top_row *rows, *threads;
	struct block *blocks;
	size_t rows_len, blocks_len;
	size_t order_room, rows_room, threads_room, blocks_room, all_room;
};

static void sum_process(struct top_rows_making *making, const struct top *top, const struct threads *threads,
			size_t from, size_t to, const struct top_choice *choice)
{
	struct block *block = &making->blocks[making->blocks_len];
	const struct thread *leader = threads_by_tid(threads, making->order[from]->pid);
	struct top_row *sum = &block->sum;

	*sum = (struct top_row){ .is_process = true,
				 .tid = making->order[from]->pid,
				 .pid = making->order[from]->pid,
				 .comm = leader ? leader->comm : making->order[from]->comm,
				 .ended = true };
	for (size_t i = from; i < to; i++) {
		struct top_row *row = &making->threads[i - from];

		fill_thread(row, top, making->order[i]);
		fill_frames(row, top);
		add_row(sum, row);
	}
	/* Most processes have one thread. */
	sum->wait = to - from == 1 ? making->threads[0].wait : waits_of(&making->order[from], to - from);
	fill_frames(sum, top);
	block->from = making->rows_len;
	block->len = put_process(&making->rows[making->rows_len], sum, making->threads, to - from, choice);
	making->rows_len += block->len;
	making->blocks_len += block->len > 0;
}

static size_t choose_threads(const struct top_thread **order, const struct top *top, const struct top_choice *choice)
{
	size_t len = 0;

	for (size_t i = 0; i < top->len; i++)
		if (choice->idle_too || !is_idle(top->threads[i]))
			order[len++] = top->threads[i];
	sort_rows(order, len, sizeof(*order), by_process);
	return len;
}

static void put_in_order(struct top_rows *rows, struct top_rows_making *making, const struct top_choice *choice)
{
	if (choice->group != TOP_TREE) {
		memcpy(rows->all, making->rows, making->rows_len * sizeof(*rows->all));
		rows->len = making->rows_len;
		sort_rows_by(rows->all, rows->len, sizeof(*rows->all), compare, (void *)choice);
		return;
	}
	sort_rows_by(making->blocks, making->blocks_len, sizeof(*making->blocks), compare_blocks, (void *)choice);
	for (size_t i = 0; i < making->blocks_len; i++) {
		memcpy(&rows->all[rows->len], &making->rows[making->blocks[i].from],
		       making->blocks[i].len * sizeof(*rows->all));
		rows->len += making->blocks[i].len;
	}
}

static bool make_room(struct top_rows *rows, size_t wanted)
{
	struct top_rows_making *making;

	if (!rows->making)
		rows->making = calloc(1, sizeof(*rows->making));
	making = rows->making;
	return making && vec_reserve(making->order, making->order_room, wanted, 64) &&
	       vec_reserve(making->rows, making->rows_room, wanted, 64) &&
	       vec_reserve(making->threads, making->threads_room, wanted, 64) &&
	       vec_reserve(making->blocks, making->blocks_room, wanted, 64) &&
	       vec_reserve(rows->all, making->all_room, wanted, 64);
}

int top_rows_make(struct top_rows *rows, const struct top *top, const struct threads *threads,
		  const struct top_choice *choice)
{
	size_t len, from = 0;

	rows->len = 0;
	if (!make_room(rows, top->len * 2 + 1))
		return -ENOMEM;
	rows->making->rows_len = rows->making->blocks_len = 0;
	len = choose_threads(rows->making->order, top, choice);
	rows->hidden = top->len - len;
	while (from < len) {
		size_t to = from + 1;

		while (to < len && rows->making->order[to]->pid == rows->making->order[from]->pid)
			to++;
		sum_process(rows->making, top, threads, from, to, choice);
		from = to;
	}
	put_in_order(rows, rows->making, choice);
	return 0;
}

void top_rows_free(struct top_rows *rows)
{
	struct top_rows_making *making = rows->making;

	if (making) {
		free(making->order);
		free(making->rows);
		free(making->threads);
		free(making->blocks);
	}
	free(making);
	free(rows->all);
	*rows = (struct top_rows){ 0 };
}
