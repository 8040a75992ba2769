// SPDX-License-Identifier: GPL-2.0
/* tactus why PID: what a 'tactus run' holds each thread of a process for, why, and what it has done about it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../base/say.h"
#include "../model/roles.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "ask_run.h"
#include "role_words.h"
#include "thread_words.h"
#include "view.h"

enum { DEFAULT_ROWS = 40, ACT_SIZE = 80 };

const struct command_usage why_usage = {
	.name = "why",
	.text = "Shows what the running 'tactus run' holds each thread of a process for, why, and what it does about "
		"it.\v"
		"A user may ask about his own processes, unless the run's --readers says otherwise; root about all. "
		"The "
		"most urgent threads come first.\n"
		"ACT: 'sched_ext' by tier under the scheduler; the slice and nice value that a thread was given; "
		"'held' "
		"where an urgent thread has none for now, because it or its owner uses too much or somebody waited for "
		"it; 'left alone' where its owner or another tool has chosen; '-' where it is left to the kernel.\n"
		"\n"
		"Examples:\n"
		"  tactus why 1234\n"
		"  tactus why $(pidof -s supertux2) --json",
	.takes = TAKES_JSON | TAKES_WORD | TAKES_ROWS | TAKES_TABLE,
	.word = "PID",
};

#define WHY_TABLE(COLUMN, SHOWN)                     \
	COLUMN(WHY, tid, "TID", CELL_NUMBER)         \
	COLUMN(WHY, pid, NULL, CELL_NUMBER)          \
	COLUMN(WHY, comm, "COMM", CELL_TEXT)         \
	COLUMN(WHY, role, "ROLE", CELL_TEXT)         \
	COLUMN(WHY, confidence, "SURE", CELL_NUMBER) \
	COLUMN(WHY, tier, "TIER", CELL_TEXT)         \
	COLUMN(WHY, act, "ACT", CELL_TEXT)           \
	COLUMN(WHY, slice_ns, NULL, CELL_NUMBER)     \
	COLUMN(WHY, nice, NULL, CELL_SIGNED)         \
	COLUMN(WHY, evidence_kind, NULL, CELL_TEXT)  \
	COLUMN(WHY, evidence, "EVIDENCE", CELL_TEXT) \
	COLUMN(WHY, process, "PROCESS", CELL_TEXT)
TABLE_OF(columns, WHY);
const struct table_columns why_tables[] = { { columns, WHY_CELLS }, { 0 } };
static const struct table_look look = { .drops = "process" };

static const char *const acts[CONTROL_HINTS] = { "-", "hint", "held", "left alone", "sched_ext" };

static void act_words(char into[ACT_SIZE], const struct control_thread *thread, bool json)
{
	char slice[24];

	snprintf(into, ACT_SIZE, "%s", acts[thread->hint]);
	if (json || thread->hint != CONTROL_HINT_GIVEN)
		return;
	format_time(slice, sizeof(slice), thread->slice_ns);
	if (thread->slice_ns)
		snprintf(into, ACT_SIZE, "slice %s, nice %d", slice, thread->nice);
	else
		snprintf(into, ACT_SIZE, "nice %d", thread->nice);
}

static void add_row(struct table *table, const struct control_thread *thread, bool json)
{
	char comm[COMM_TEXT_SIZE], words[ROLE_WORDS_SIZE], process[ROLE_WORDS_SIZE], act[ACT_SIZE];
	bool is_given = thread->hint == CONTROL_HINT_GIVEN;

	comm_text(comm, &thread->comm);
	role_words(words, &thread->role);
	process_words(process, thread->role.process);
	act_words(act, thread, json);
	table_row(table, (union cell[WHY_CELLS]){
				 [WHY_tid] = { .number = thread->tid },
				 [WHY_pid] = { .number = thread->pid },
				 [WHY_comm] = { .text = comm },
				 [WHY_role] = { .text = role_name(thread->role.role) },
				 [WHY_confidence] = { .number = thread->role.confidence },
				 [WHY_tier] = { .text = tier_name(thread->role.tier) },
				 [WHY_act] = { .text = act },
				 [WHY_slice_ns] = { .number = is_given ? thread->slice_ns : 0 },
				 [WHY_nice] = { .number = is_given ? (u64)(s64)thread->nice : CELL_NONE },
				 [WHY_evidence_kind] = { .text = evidence_name(thread->role.evidence) },
				 [WHY_evidence] = { .text = words },
				 [WHY_process] = { .text = process },
			 });
}

static int show(int fd, const struct control_reply *reply, const struct options *options)
{
	char words[CONTROL_WORDS_SIZE * 2];
	struct control_thread thread;
	struct table table;

	format_plain(words, sizeof(words), reply->words);
	if (words[0] && !options->json)
		puts(words);
	table_open_for(&table, options, "why", columns, WHY_CELLS, DEFAULT_ROWS, &look);
	for (u32 i = 0; i < reply->rows; i++) {
		if (!control_thread_is_sound(&thread, ask_run_next(fd, &thread, sizeof(thread))))
			return fail("why", "the run did not send all of its answer");
		add_row(&table, &thread, options->json);
	}
	if (table_close(&table))
		return fail("why", "out of memory");
	if (reply->left_out)
		note("%u threads were left out: an answer has %u at most", reply->left_out, CONTROL_THREADS_MOST);
	if (!reply->rows && !options->json)
		puts("Nothing is known of its threads: they have not run since the run began.");
	return EXIT_SUCCESS;
}

int view_why(int argc, char **argv)
{
	struct control_reply reply;
	struct reason why = { "" };
	struct options options;
	int fd, status;
	u64 pid;

	options_parse(&options, &why_usage, NULL, argc, argv);
	table_check(&options, "why", why_tables);
	if (!options.word || parse_number(options.word, 1u << 22, &pid) || !pid) {
		fail("why", options.word ? "'%s' is no PID" : "which process? give its PID", options.word);
		return EXIT_USAGE;
	}
	fd = ask_run(CONTROL_WHY, (u32)pid, &reply, &why);
	if (fd < 0)
		return fail("why", "%s", why.text);
	privileges_give_up_all();
	status = show(fd, &reply, &options);
	close(fd);
	return status;
}
