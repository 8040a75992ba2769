// SPDX-License-Identifier: GPL-2.0
/* Both curves of a comparison, for its page: the spreads that the percentiles are told from, all blocks of a side
 * together, and what each block has. */
#include <stdlib.h>
#include <string.h>

#include "../model/roles.h"
#include "../sink/json.h"
#include "compare_print.h"
#include "thread_words.h"

/* What a curve is of: a program's frames, or waits of all or of a tier. */
struct curve {
	const char *of;
	const char *name; /* NULL: all threads */
	const struct comm *program;
	u32 spread; /* of a program: not yet its number */
};

static bool is_same(const struct comm *one, const struct comm *other)
{
	return !memcmp(one->text, other->text, COMM_LEN);
}

/* The spread of a run that the curve is of; SPREADS: it has none. */
static u32 spread_of(const struct blocks *run, const struct curve *curve)
{
	if (!curve->program)
		return curve->spread;
	for (u32 i = 0; i < run->programs_len; i++)
		if (is_same(&run->programs[i], curve->program))
			return SPREAD_FRAMES + i;
	return SPREADS;
}

static u64 add_up(const struct compare_side *side, const struct curve *curve, u64 *counts, u64 *sums_ns)
{
	u64 total = 0;

	for (u32 i = 0; i < side->len; i++) {
		const struct blocks *run = &side->runs[i];
		u32 spread = spread_of(run, curve);

		for (u32 slot = 0; spread < SPREADS && run->sums[spread] && slot < SPREAD_SLOTS; slot++)
			sums_ns[slot] += run->sums[spread][slot];
		for (u32 block = 0; spread < SPREADS && block < run->len; block++)
			for (u32 slot = 0; run->all[block].spreads[spread] && slot < SPREAD_SLOTS; slot++) {
				counts[slot] += run->all[block].spreads[spread][slot];
				total += run->all[block].spreads[spread][slot];
			}
	}
	return total;
}

static void print_curve(const struct compare_side *side, int which, const struct curve *curve)
{
	u64 *counts = calloc(2 * SPREAD_SLOTS, sizeof(*counts)), *sums_ns = counts + SPREAD_SLOTS;
	u64 total = counts ? add_up(side, curve, counts, sums_ns) : 0;
	struct json json = { .out = stdout };
	char program[COMM_TEXT_SIZE];

	if (!total) {
		free(counts);
		return;
	}
	if (curve->program)
		comm_text(program, curve->program);
	json_record(&json, "compare_curve", false);
	json_string(&json, "side", which ? "b" : "a");
	json_string(&json, "of", curve->of);
	json_string(&json, "name", curve->program ? program : curve->name);
	json_u64(&json, "total", total);
	/* What a slot stands for is the mean of what is in it. */
	json_array(&json, "times_ns");
	for (u32 slot = 0; slot < SPREAD_SLOTS; slot++)
		if (counts[slot])
			json_u64(&json, NULL, sums_ns[slot] / counts[slot]);
	json_array_end(&json);
	json_array(&json, "counts");
	for (u32 slot = 0; slot < SPREAD_SLOTS; slot++)
		if (counts[slot])
			json_u64(&json, NULL, counts[slot]);
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
	free(counts);
}

static void print_run(const struct blocks *run, int which)
{
	struct json json = { .out = stdout };

	json_record(&json, "compare_blocks", false);
	json_string(&json, "side", which ? "b" : "a");
	json_array(&json, "blocks");
	for (u32 i = 0; i < run->len; i++) {
		const u64 *counts = run->all[i].counts;
		u64 frames = 0, late = 0;

		for (u32 program = 0; program < BLOCKS_PROGRAMS; program++) {
			frames += counts[COUNT_FRAMES + program];
			late += counts[COUNT_LATE + program];
		}
		json_array(&json, NULL);
		json_u64(&json, NULL, counts[COUNT_SPAN_NS]);
		json_u64(&json, NULL, frames);
		json_u64(&json, NULL, late);
		json_u64(&json, NULL, counts[COUNT_LAUNCHES]);
		json_u64(&json, NULL, counts[COUNT_SWITCHES]);
		json_array_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

/* Whether an earlier run of the side had that program. */
static bool is_known(const struct compare_side *side, u32 run, u32 program)
{
	for (u32 i = 0; i < run; i++)
		for (u32 j = 0; j < side->runs[i].programs_len; j++)
			if (is_same(&side->runs[i].programs[j], &side->runs[run].programs[program]))
				return true;
	return false;
}

void compare_print_curves(const struct compare_side *side, int which)
{
	for (u32 run = 0; run < side->len; run++)
		for (u32 program = 0; program < side->runs[run].programs_len; program++)
			if (!is_known(side, run, program))
				print_curve(side, which,
					    &(struct curve){ .of = "frames",
							     .program = &side->runs[run].programs[program] });
	print_curve(side, which, &(struct curve){ .of = "waits", .spread = SPREAD_WAITS });
	for (u32 tier = 0; tier < TIERS; tier++)
		print_curve(side, which,
			    &(struct curve){ .of = "waits", .name = tier_name(tier), .spread = SPREAD_TIERS + tier });
	for (u32 run = 0; run < side->len; run++)
		print_run(&side->runs[run], which);
}
