// SPDX-License-Identifier: GPL-2.0
/* Prints stacks. Functions' names come from files of whoever runs them: only plain text of them is printed.
 */
#include <stdio.h>

#include "stack_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "../base/say.h"
#include "../base/sort.h"
#include "../sink/demangle.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "thread_words.h"

enum { NAME_SIZE = 512, TIME_SIZE = 24, WHO_SIZE = THREAD_WORDS_SIZE + THREAD_NAME_SIZE + 32 };

const char *stacks_conflict(const struct options *options, enum stack_form form)
{
	if (form != STACKS_FOLDED)
		return NULL;
	if (options->json)
		return "--folded is text, and --json is not";
	if (options->interval_ns)
		return "--folded is one list at the end: leave --interval out";
	if (options->inputs.len > 1)
		return "--folded is one list: name one recording";
	return NULL;
}

static void name_words(char into[NAME_SIZE], const struct stack *stack, u32 frame)
{
	const char *name = stack->names[frame] ? stack->names[frame] : "?";
	char *whole = demangle(name);

	format_plain(into, NAME_SIZE, whole ? whole : name);
	free(whole);
}

/* Of an interrupt's stack, that of whom it met is left out. */
static u32 len_of(const struct stack *stack, bool by_interrupt)
{
	u32 interrupt = by_interrupt ? stack_interrupt(stack) : 0;

	return interrupt ? interrupt : stack ? stack->len : 0;
}

/* A frame ends at a semicolon, and a line at its last blank. */
static void fold_stack(FILE *out, const struct stack *stack, u32 len, const char *mark)
{
	char name[NAME_SIZE];

	for (u32 frame = len; frame > 0; frame--) {
		name_words(name, stack, frame - 1);
		for (char *at = name; *at; at++)
			*at = *at == ';' ? ':' : *at;
		fprintf(out, ";%s%s", name, mark);
	}
}

void stack_fold(FILE *out, const struct stacks *stacks, const char *root, const struct comm *comm, u32 pid, u32 user,
		u32 kernel)
{
	const struct stack *of_user = stacks_find(stacks, pid, user), *of_kernel = stacks_find(stacks, 0, kernel);
	char name[COMM_TEXT_SIZE];

	comm_text(name, comm);
	for (char *at = name; *at; at++)
		*at = *at == ';' ? ':' : *at;
	fprintf(out, "%s;", root);
	print_plain(out, name[0] ? name : "?");
	fold_stack(out, of_user, of_user ? of_user->len : 0, "");
	fold_stack(out, of_kernel, len_of(of_kernel, !pid), "_[k]");
}

void stacks_count(struct stacks *stacks, const struct threads *threads, const struct event_stack *event, u64 ns)
{
	static const struct comm none;
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	const struct thread *waker = event->waker_tid ? threads_by_tid(threads, event->waker_tid) : NULL;

	stacks_add(stacks, event, thread ? thread->pid : 0, thread ? &thread->comm : &none,
		   waker ? &waker->comm : &none, ns);
}

static bool has_waker(const struct stack_sum *sum)
{
	return sum->waker_kernel != STACK_NONE || sum->waker_user != STACK_NONE;
}

struct folded_line {
	char *text;
	u64 ns;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->text, ((const struct folded_line *)b)->text);
}

static int most_first(const void *a, const void *b)
{
	const struct folded_line *one = a, *other = b;

	return one->ns != other->ns ? (one->ns > other->ns ? -1 : 1) : by_text(a, b);
}

static bool add_line(struct folded_line *line, const struct stacks *stacks, const struct stack_sum *sum, bool is_waker)
{
	static const struct comm interrupt = { "an interrupt" };
	size_t size;
	FILE *out = open_memstream(&line->text, &size);

	if (!out)
		return false;
	if (is_waker)
		stack_fold(out, stacks, "wakers", sum->waker_pid ? &sum->waker_comm : &interrupt, sum->waker_pid,
			   sum->waker_user, sum->waker_kernel);
	else
		stack_fold(out, stacks, "waits", &sum->comm, sum->pid, sum->user, sum->kernel);
	line->ns = sum->ns;
	return fclose(out) == 0;
}

/* One line a text: who waits is woken by several, and who wakes does so to several. */
static void print_folded(const struct stacks *stacks, size_t sums_len)
{
	struct folded_line *lines = calloc(2 * sums_len + 1, sizeof(*lines));
	size_t len = 0, kept = 0;
	bool is_whole = lines;

	for (size_t i = 0; i < sums_len && is_whole; i++) {
		is_whole = add_line(&lines[len++], stacks, &stacks->sums[i], false);
		if (is_whole && has_waker(&stacks->sums[i]))
			is_whole = add_line(&lines[len++], stacks, &stacks->sums[i], true);
	}
	if (!is_whole)
		note("out of memory: stacks are not printed");
	if (is_whole && len)
		sort_rows(lines, len, sizeof(*lines), by_text);
	for (size_t i = 1; i < len && is_whole; i++)
		if (!by_text(&lines[kept], &lines[i])) {
			lines[kept].ns += lines[i].ns;
			free(lines[i].text);
		} else {
			lines[++kept] = lines[i];
		}
	len = is_whole && len ? kept + 1 : len;
	if (is_whole && len)
		sort_rows(lines, len, sizeof(*lines), most_first);
	for (size_t i = 0; i < len; i++) {
		if (is_whole)
			printf("%s %" PRIu64 "\n", lines[i].text, (lines[i].ns + 999) / 1000);
		free(lines[i].text);
	}
	free(lines);
}

static void print_frames(const struct stack *stack, u32 len, const char *mark)
{
	char name[NAME_SIZE];

	for (u32 frame = 0; frame < len; frame++) {
		name_words(name, stack, frame);
		printf("      %s%s\n", name, mark);
	}
}

static void print_both(const struct stacks *stacks, u32 pid, u32 user, u32 kernel, bool by_interrupt)
{
	const struct stack *of_user = stacks_find(stacks, pid, user), *of_kernel = stacks_find(stacks, 0, kernel);

	print_frames(of_kernel, len_of(of_kernel, by_interrupt), " [kernel]");
	print_frames(of_user, len_of(of_user, false), "");
}

static void who_words(char into[WHO_SIZE], const struct comm *comm, u32 tid, const char *several)
{
	char words[THREAD_WORDS_SIZE], name[THREAD_NAME_SIZE];

	comm_words(words, comm, tid, THREAD_TIGHT);
	comm_name(name, comm);
	if (tid)
		snprintf(into, WHO_SIZE, "%s", words);
	else
		snprintf(into, WHO_SIZE, "%s named %s", several, name);
}

static void print_listed(const struct stacks *stacks, const struct stack_sum *sum, const char *what)
{
	char who[WHO_SIZE], all[TIME_SIZE], longest[TIME_SIZE];

	who_words(who, &sum->comm, sum->tid, "several threads");
	format_time(all, sizeof(all), sum->ns);
	format_time(longest, sizeof(longest), sum->max_ns);
	printf("\n%s %s %s in all, %" PRIu64 " times, at most %s, in\n", who, what, all, sum->times, longest);
	print_both(stacks, sum->pid, sum->user, sum->kernel, false);
	if (!has_waker(sum))
		return;
	who_words(who, &sum->waker_comm, sum->waker_tid, "one of several threads");
	printf("  until %s woke it in\n", sum->waker_pid ? who : "an interrupt");
	print_both(stacks, sum->waker_pid, sum->waker_user, sum->waker_kernel, !sum->waker_pid);
}

static void print_names(struct json *json, const char *field, const struct stack *stack, bool by_interrupt)
{
	u32 len = len_of(stack, by_interrupt);
	char name[NAME_SIZE];

	json_array(json, field);
	for (u32 frame = 0; frame < len; frame++) {
		name_words(name, stack, frame);
		json_string(json, NULL, name);
	}
	json_array_end(json);
}

static void print_json(const struct stacks *stacks, const struct stack_sum *sum)
{
	struct json json = { .out = stdout };
	char comm[COMM_TEXT_SIZE];

	json_record(&json, "stack", false);
	json_u64(&json, "tid", sum->tid);
	json_u64(&json, "pid", sum->pid);
	comm_text(comm, &sum->comm);
	json_string(&json, "comm", comm);
	json_u64(&json, "times", sum->times);
	json_u64(&json, "wait_ns", sum->ns);
	json_u64(&json, "max_ns", sum->max_ns);
	print_names(&json, "kernel", stacks_find(stacks, 0, sum->kernel), false);
	print_names(&json, "user", stacks_find(stacks, sum->pid, sum->user), false);
	json_u64(&json, "waker_tid", sum->waker_tid);
	json_u64(&json, "waker_pid", sum->waker_pid);
	comm_text(comm, &sum->waker_comm);
	json_string(&json, "waker_comm", comm);
	print_names(&json, "waker_kernel", stacks_find(stacks, 0, sum->waker_kernel), !sum->waker_pid);
	print_names(&json, "waker_user", stacks_find(stacks, sum->waker_pid, sum->waker_user), false);
	json_object_end(&json);
	json_line_end(&json);
}

/* Who recorded them had no right to read the kernel's names. */
static bool kernel_is_nameless(const struct stacks *stacks)
{
	bool any = false;

	for (size_t i = 0; i < stacks->sums_len; i++) {
		const struct stack *stack = stacks_find(stacks, 0, stacks->sums[i].kernel);

		for (u32 frame = 0; stack && frame < stack->len; frame++) {
			if (stack->names[frame] && strncmp(stack->names[frame], "0x", 2) != 0)
				return false;
			any |= stack->names[frame] != NULL;
		}
	}
	return any;
}

void stacks_print(struct stacks *stacks, const struct options *options, enum stack_form form, const char *what,
		  u32 rows_by_default)
{
	u32 rows = form == STACKS_FOLDED && !options->rows ? ROWS_ALL : options_rows(options, rows_by_default);

	stacks_order(stacks);
	if (form == STACKS_FOLDED)
		print_folded(stacks, stacks->sums_len < rows ? stacks->sums_len : rows);
	for (size_t i = 0; form != STACKS_FOLDED && i < stacks->sums_len && i < rows; i++)
		if (options->json)
			print_json(stacks, &stacks->sums[i]);
		else
			print_listed(stacks, &stacks->sums[i], what);
	if (form != STACKS_FOLDED && !options->json && stacks->sums_len > rows)
		printf("\nand %zu more (-n all shows them)\n", stacks->sums_len - rows);
	if (!stacks->len && !stacks->sums_len)
		note("no stacks: %s", options->input
					      ? "the recording has none; 'tactus record --stacks' makes one that has"
					      : "nobody was without a CPU for that long");
	if (options->input && kernel_is_nameless(stacks))
		note("the kernel's functions are addresses without names: /proc/kallsyms hid them from who recorded "
		     "(CAP_SYSLOG, kernel.kptr_restrict)");
	if (stacks->refused)
		note("%" PRIu64 " functions or stacks are missing: there was no room for them", stacks->refused);
}

bool stacks_fit(enum stack_form form, const struct options *options, const char *option)
{
	if (!strcmp(option, "json"))
		return form != STACKS_FOLDED;
	return strcmp(option, "folded") != 0 || !options->json;
}
