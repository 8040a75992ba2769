// SPDX-License-Identifier: GPL-2.0
/* What a 'tactus run' elsewhere on the machine says of its last second: all that a client without rights gets.
 */
#include <inttypes.h>
#include <string.h>

#include "../model/roles.h"
#include "../sink/text.h"
#include "top_view.h"

static u64 per_second(const struct run_status *run, u64 count)
{
	double rate = run->span_ns ? (double)count * NSEC_PER_SEC / (double)run->span_ns + 0.5 : 0;

	return rate < 1e19 ? (u64)rate : ~0ULL;
}

static u32 put_busy(struct canvas *canvas, const struct top_scene *scene, u32 row)
{
	const struct run_status *run = scene->run;
	double total_ns = (double)run->busy_ns + (double)run->idle_ns;
	u32 shown = scene->run_busy_len, from;
	char words[TOP_LINE_SIZE];

	if (shown + 10 > canvas->width)
		shown = canvas->width > 10 ? canvas->width - 10 : 0;
	from = scene->run_busy_len - shown;
	snprintf(words, sizeof(words), "busy %3.0f %%", total_ns > 0 ? 100.0 * (double)run->busy_ns / total_ns : 0);
	canvas_put(canvas, row, 0, canvas->width, STYLE_PLAIN, words);
	for (u32 i = 0; i < shown; i++) {
		u32 percent = scene->run_busy[from + i];

		canvas_put(canvas, row, 11 + i, 1, percent >= 90 ? STYLE_BAD : STYLE_GOOD,
			   canvas_bar(canvas, percent ? 1 + percent * 7 / 100 : 0));
	}
	return row + 1;
}

static u32 put_tiers(struct canvas *canvas, const struct run_status *run, u32 row)
{
	static const u32 tiers[] = { TIER_LATENCY_CRITICAL, TIER_INTERACTIVE, TIER_BATCH };
	char words[TOP_LINE_SIZE], p99[TOP_TIME_SIZE];

	canvas_put(canvas, row, 0, canvas->width, STYLE_HEAD, "TIER    THREADS  WAITS/s     P99");
	canvas_style_row(canvas, row++, STYLE_HEAD);
	for (u32 i = 0; i < TIERS; i++) {
		u32 tier = tiers[i];

		format_time(p99, sizeof(p99), run->wait_p99_ns[tier]);
		snprintf(words, sizeof(words), "%-7s %7" PRIu64 " %8" PRIu64 " %7s", top_tier_word(tier),
			 run->by_tier[tier], per_second(run, run->waits[tier]), run->waits[tier] ? p99 : "-");
		canvas_put(canvas, row++, 0, canvas->width, top_wait_style(run->wait_p99_ns[tier]), words);
	}
	return row;
}

static u32 put_roles(struct canvas *canvas, const struct run_status *run, u32 row, u32 end)
{
	char words[TOP_LINE_SIZE] = "roles:";
	size_t used = strlen(words);

	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		if (run->by_role[role])
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s %s %" PRIu64,
						 used > 6 ? "," : "", role_name(role), run->by_role[role]);
	if (used == 6)
		strcat(words, " none found yet");
	return top_put_wrapped(canvas, row, end, 2, STYLE_PLAIN, words);
}

static u32 put_deeds(struct canvas *canvas, const struct run_status *run, u32 row, u32 end)
{
	const u64 *decisions = run->decisions;
	char words[TOP_LINE_SIZE], name[STATUS_NAME_LEN * 2];

	format_plain(name, sizeof(name), run->actuator);
	snprintf(words, sizeof(words),
		 "acts by: %s; %" PRIu64 " late urgent threads, %" PRIu64 " restarts, %" PRIu64 " lost", name,
		 run->deadline_misses, run->restarts, run->lost);
	row = top_put_wrapped(canvas, row, end, 2, run->deadline_misses ? STYLE_WARNING : STYLE_PLAIN, words);
	snprintf(words, sizeof(words),
		 "hints: %" PRIu64 " urgent now; %" PRIu64 " given, %" PRIu64 " taken back, %" PRIu64
		 " left alone, %" PRIu64 " refused",
		 run->hints_urgent, run->hints_given, run->hints_taken_back, run->hints_left_alone, run->hints_refused);
	row = top_put_wrapped(canvas, row, end, 2, STYLE_PLAIN, words);
	if (run->effect_worse) {
		char effect[EFFECT_WORDS_SIZE];

		effect_words(effect, &run->last);
		row = top_put_wrapped(canvas, row, end, 2, run->effect_held_back ? STYLE_WARNING : STYLE_PLAIN, effect);
	}
	snprintf(words, sizeof(words),
		 "decisions a second: %" PRIu64 " run at once, %" PRIu64 " queued, %" PRIu64 " preempted, %" PRIu64
		 " stolen, %" PRIu64 " inherited",
		 per_second(run, decisions[SCX_COUNT_IDLE]), per_second(run, decisions[SCX_COUNT_QUEUED]),
		 per_second(run, decisions[SCX_COUNT_PREEMPTED]), per_second(run, decisions[SCX_COUNT_STOLEN]),
		 per_second(run, decisions[SCX_COUNT_INHERITED]));
	if (!strcmp(run->actuator, "scx"))
		row = top_put_wrapped(canvas, row, end, 2, STYLE_PLAIN, words);
	return row;
}

void top_paint_run(struct canvas *canvas, const struct top_scene *scene, u32 row, u32 end)
{
	const struct run_status *run = scene->run;
	char words[TOP_LINE_SIZE];

	if (!run) {
		row = top_put_wrapped(canvas, row, end, 0, STYLE_FAINT,
				      scene->clock ? "A recording has no status of a 'tactus run'."
						   : "No 'tactus run' is at work here, or it has said nothing yet.");
		if (scene->no_run && scene->no_run[0])
			top_put_wrapped(canvas, row, end, 2, STYLE_FAINT, scene->no_run);
		return;
	}
	row = put_busy(canvas, scene, row);
	snprintf(words, sizeof(words), "%" PRIu64 " switches/s, %" PRIu64 " moves/s", per_second(run, run->switches),
		 per_second(run, run->moves));
	canvas_put(canvas, row++, 0, canvas->width, STYLE_PLAIN, words);
	row = put_tiers(canvas, run, row);
	row = put_roles(canvas, run, row, end);
	row = put_deeds(canvas, run, row, end);
	if (scene->source == TOP_CLIENT)
		top_put_wrapped(
			canvas, row + 1, end, 0, STYLE_FAINT,
			"The run reports sums only. Single threads, CPUs, frames and who waits behind whom need "
			"root: sudo tactus top");
}
