// SPDX-License-Identifier: GPL-2.0
/* One second of 'tactus run' as a line for people or an object for programs.
 * Rates are per second, whatever the span really was. */
#include "status.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/text.h"

enum { WAIT_SIZE = 12 };

bool status_is_sound(const void *from, size_t bytes)
{
	struct run_status status;

	if (bytes != sizeof(status))
		return false;
	memcpy(&status, from, sizeof(status));
	return status.magic == STATUS_MAGIC && status.version == STATUS_VERSION &&
	       memchr(status.actuator, '\0', sizeof(status.actuator)) &&
	       memchr(status.last.comm.text, '\0', COMM_LEN) && memchr(status.last.cause_comm.text, '\0', COMM_LEN);
}

static u64 per_second(u64 count, u64 span_ns)
{
	double rate = span_ns ? (double)count * NSEC_PER_SEC / (double)span_ns + 0.5 : 0;

	/* Numbers come over a socket: what no integer holds is the largest. */
	return rate < 1e19 ? (u64)rate : ~0ULL;
}

void status_refusals(char *words, size_t size, const struct run_status *status)
{
	words[0] = '\0';
	if (status->addresses_refused || status->files_refused)
		snprintf(words, size,
			 "%" PRIu64 " addresses that programs reported were refused, and %" PRIu64
			 " times a library that they mapped was not looked at",
			 status->addresses_refused, status->files_refused);
}

void status_unfit(char *words, size_t size, const struct run_status *status)
{
	u64 of = status->hits[HIT_WINE_UNFIT] + status->hits[HIT_WINE_MICROSOFT] + status->hits[HIT_WINE_SYSTEM_V];

	words[0] = '\0';
	if (status->hits[HIT_WINE_UNFIT])
		snprintf(words, size,
			 "%" PRIu64 " of %" PRIu64 " calls of Windows programs fit no known calling convention",
			 status->hits[HIT_WINE_UNFIT], of);
}

void learned_words(char words[LEARNED_WORDS_SIZE], const struct run_status *status)
{
	u64 judged = status->learned_hits + status->learned_misses;
	int len = snprintf(words, LEARNED_WORDS_SIZE,
			   "%" PRIu64 " kinds of threads are known, %" PRIu64 " of them predict",
			   status->learned_profiles, status->learned_confident);

	if (judged)
		snprintf(words + len, LEARNED_WORDS_SIZE - (size_t)len,
			 "; of %" PRIu64 " threads of such kinds %" PRIu64 " turned out as predicted", judged,
			 status->learned_hits);
}

#define HIT_NAME(KIND, name) [HIT_##KIND] = #name,
static const char *const hit_names[HITS] = { HIT_TABLE(HIT_NAME) };

/* ", name 12" behind the others; without a comma for the first. */
static size_t add_count(char *words, size_t len, bool is_first, const char *name, u64 count)
{
	int more = 0;

	if (len < DETECTION_WORDS_SIZE)
		more = snprintf(words + len, DETECTION_WORDS_SIZE - len, "%s%s %" PRIu64, is_first ? "" : ", ", name,
				count);
	return len + (more > 0 ? (size_t)more : 0);
}

void detection_words(char words[DETECTION_WORDS_SIZE], const struct run_status *status)
{
	size_t len = (size_t)snprintf(words, DETECTION_WORDS_SIZE, "threads by evidence: "), begins = len;

	for (u32 evidence = EVIDENCES - 1; evidence > EVIDENCE_NONE; evidence--)
		if (status->by_evidence[evidence])
			len = add_count(words, len, len == begins, evidence_name(evidence),
					status->by_evidence[evidence]);
	if (len == begins)
		len = add_count(words, len, true, "none", 0);
	if (len < DETECTION_WORDS_SIZE)
		len += (size_t)snprintf(words + len, DETECTION_WORDS_SIZE - len, "; hits of hooks: ");
	begins = len;
	for (u32 hit = 0; hit < HITS; hit++)
		if (status->hits[hit])
			len = add_count(words, len, len == begins, hit_names[hit], status->hits[hit]);
	if (len == begins)
		add_count(words, len, true, "none", 0);
}

static const char *remedy_name(u64 remedy)
{
	static const char *const names[EFFECT_REMEDIES] = { "none", "hold_back", "ease", "leave" };

	return remedy < EFFECT_REMEDIES ? names[remedy] : "none";
}

void effect_words(char words[EFFECT_WORDS_SIZE], const struct effect_notice *notice)
{
	char acted[WAIT_SIZE], held[WAIT_SIZE], then[EFFECT_WORDS_SIZE / 3] = "nothing is left to take back";
	u64 span_s = notice->span_ns / NSEC_PER_SEC;

	format_time(acted, sizeof(acted), notice->acted_p99_ns);
	format_time(held, sizeof(held), notice->held_p99_ns);
	if (notice->remedy == EFFECT_REMEDY_LEAVE)
		snprintf(then, sizeof(then), "the scheduler leaves, and hints take over");
	else if (notice->remedy == EFFECT_REMEDY_EASE)
		snprintf(then, sizeof(then), "it is treated as urgent for %" PRIu64 " s", span_s);
	else if (notice->remedy == EFFECT_REMEDY_HOLD_BACK && notice->cause_pid == notice->pid)
		snprintf(then, sizeof(then), "it is left to the kernel for %" PRIu64 " s", span_s);
	else if (notice->remedy == EFFECT_REMEDY_HOLD_BACK)
		snprintf(then, sizeof(then), "%s [%u], which was urgent, is left to the kernel for %" PRIu64 " s",
			 notice->cause_comm.text, notice->cause_pid, span_s);
	if (notice->remedy == EFFECT_REMEDY_EASE && notice->cause_pid)
		snprintf(words, EFFECT_WORDS_SIZE,
			 "%s [%u]: waits too long for CPUs while the game %s [%u] is in front (p99 %s a wake-up, "
			 "before %s): "
			 "%s",
			 notice->comm.text, notice->pid, notice->cause_comm.text, notice->cause_pid, acted, held, then);
	else
		snprintf(words, EFFECT_WORDS_SIZE,
			 "%s [%u]: waits longer for CPUs while tactus acts (p99 %s a wake-up, without %s): %s",
			 notice->comm.text, notice->pid, acted, held, then);
}

/* One for the heading and the lines, so that the words stand over the numbers. */
#define LINE_BEGINS "%-8s  %-7s %6s  %8s  %6s  %6s  %5s | %7s %7s %7s"
#define LINE_ENDS " | %6s  %5s  %6s  %5s  %5s  %3s  %5s  %4s\n"

void status_print_head(FILE *out)
{
	fprintf(out, "%59s %-23s | %s\n", "|", "      WAIT, P99 OF", "        THREADS");
	fprintf(out, LINE_BEGINS LINE_ENDS, "TIME", "BY", "BUSY", "SWITCH/S", "MOVE/S", "PUSH/S", "LATE", "URGENT",
		"NORMAL", "BATCH", "URGENT", "BATCH", "RENDER", "AUDIO", "INPUT", "NET", "HINTS", "LOST");
}

enum { NUMBER_SIZE = 24 };

static const char *number(char into[NUMBER_SIZE], u64 value)
{
	snprintf(into, NUMBER_SIZE, "%" PRIu64, value);
	return into;
}

void status_print_line(FILE *out, const struct run_status *status)
{
	u64 total_ns = status->busy_ns + status->idle_ns;
	time_t at = (time_t)(status->wall_ns / NSEC_PER_SEC);
	char waits[TIERS][WAIT_SIZE], name[STATUS_NAME_LEN * 2], clock[16], busy[16], n[8][NUMBER_SIZE];
	struct tm local;

	for (u32 tier = 0; tier < TIERS; tier++) {
		if (status->waits[tier])
			format_time(waits[tier], sizeof(waits[tier]), status->wait_p99_ns[tier]);
		else
			strcpy(waits[tier], "-");
	}
	localtime_r(&at, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	format_plain(name, sizeof(name), status->actuator);
	snprintf(busy, sizeof(busy), "%.0f %%", total_ns ? 100.0 * (double)status->busy_ns / (double)total_ns : 0);
	fprintf(out, LINE_BEGINS, clock, name, busy, number(n[0], per_second(status->switches, status->span_ns)),
		number(n[1], per_second(status->moves, status->span_ns)),
		number(n[2], per_second(status->decisions[SCX_COUNT_PREEMPTED], status->span_ns)),
		number(n[3], status->deadline_misses), waits[TIER_LATENCY_CRITICAL], waits[TIER_INTERACTIVE],
		waits[TIER_BATCH]);
	fprintf(out, LINE_ENDS, number(n[0], status->by_tier[TIER_LATENCY_CRITICAL]),
		number(n[1], status->by_tier[TIER_BATCH]), number(n[2], status->by_role[ROLE_RENDER]),
		number(n[3], status->by_role[ROLE_AUDIO]), number(n[4], status->by_role[ROLE_INPUT]),
		number(n[5], status->by_role[ROLE_NETWORK]), number(n[6], status->hints_urgent),
		number(n[7], status->lost));
}

static void print_tiers(struct json *json, const char *name, const u64 of[TIERS])
{
	json_object(json, name);
	json_u64(json, "urgent", of[TIER_LATENCY_CRITICAL]);
	json_u64(json, "normal", of[TIER_INTERACTIVE]);
	json_u64(json, "batch", of[TIER_BATCH]);
	json_object_end(json);
}

static void print_events(struct json *json, const struct run_status *status)
{
	if (!status->counts_events) {
		json_null(json, "kernel_events");
		return;
	}
	json_object(json, "kernel_events");
	for (u32 event = 0; event < SCX_EVENTS; event++) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s", scx_event_names[event],
			 event == SCX_EVENT_BYPASS_DURATION ? "_ns" : "");
		json_u64(json, name, status->kernel_events[event]);
	}
	json_object_end(json);
}

static void print_decisions(struct json *json, const u64 *decisions)
{
	json_u64(json, "at_once", decisions[SCX_COUNT_IDLE]);
	json_u64(json, "queued", decisions[SCX_COUNT_QUEUED]);
	json_u64(json, "preempted", decisions[SCX_COUNT_PREEMPTED]);
	json_u64(json, "stolen", decisions[SCX_COUNT_STOLEN]);
	json_u64(json, "burnt", decisions[SCX_COUNT_BURNT]);
	json_u64(json, "inherited", decisions[SCX_COUNT_INHERITED]);
	json_u64(json, "parked", decisions[SCX_COUNT_PARKED]);
	json_u64(json, "over_budget", decisions[SCX_COUNT_SPENT]);
	json_u64(json, "lock_holders", decisions[SCX_COUNT_HOLDERS]);
	json_u64(json, "speeds", decisions[SCX_COUNT_SPEEDS]);
}

static void print_effect(struct json *json, const struct run_status *status)
{
	const struct effect_notice *last = &status->last;

	json_object(json, "effect");
	json_u64(json, "trials", status->effect_trials);
	json_u64(json, "worse", status->effect_worse);
	json_u64(json, "for_game", status->effect_for_game);
	json_u64(json, "held_back", status->effect_held_back);
	if (!status->effect_worse) {
		json_null(json, "last");
	} else {
		json_object(json, "last");
		json_u64(json, "pid", last->pid);
		json_string(json, "comm", last->comm.text);
		json_u64(json, "cause_pid", last->cause_pid);
		json_string(json, "cause_comm", last->cause_comm.text);
		json_u64(json, "acted_p99_ns", last->acted_p99_ns);
		json_u64(json, "held_p99_ns", last->held_p99_ns);
		json_u64(json, "span_ns", last->span_ns);
		json_string(json, "remedy", remedy_name(last->remedy));
		json_object_end(json);
	}
	json_object_end(json);
}

static void print_hints(struct json *json, const struct run_status *status)
{
	json_object(json, "hints");
	json_u64(json, "urgent", status->hints_urgent);
	json_u64(json, "given", status->hints_given);
	json_u64(json, "taken_back", status->hints_taken_back);
	json_u64(json, "left_alone", status->hints_left_alone);
	json_u64(json, "refused", status->hints_refused);
	json_object_end(json);
}

static void print_hits(struct json *json, const u64 hits[HITS])
{
	json_object(json, "hits");
	for (u32 hit = 0; hit < HITS; hit++)
		json_u64(json, hit_names[hit], hits[hit]);
	json_object_end(json);
}

void status_print_json(FILE *out, const struct run_status *status)
{
	struct json json = { .out = out };

	json_record(&json, "run_second", false);
	json_u64(&json, "wall_ns", status->wall_ns);
	json_u64(&json, "span_ns", status->span_ns);
	json_string(&json, "scheduler", !strcmp(status->actuator, "scx") ? "tactus" : NULL);
	json_string(&json, "actuator", status->actuator);
	json_u64(&json, "switches", status->switches);
	json_u64(&json, "busy_ns", status->busy_ns);
	json_u64(&json, "idle_ns", status->idle_ns);
	json_u64(&json, "moves", status->moves);
	json_u64(&json, "deadline_misses", status->deadline_misses);
	json_u64(&json, "lost", status->lost);
	json_u64(&json, "restarts", status->restarts);
	json_u64(&json, "untimed_cpus", status->untimed_cpus);
	print_decisions(&json, status->decisions);
	print_events(&json, status);
	print_tiers(&json, "wait_p99_ns", status->wait_p99_ns);
	print_tiers(&json, "waits", status->waits);
	print_tiers(&json, "threads_by_tier", status->by_tier);
	json_object(&json, "threads_by_role");
	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		json_u64(&json, role_name(role), status->by_role[role]);
	json_object_end(&json);
	json_object(&json, "threads_by_evidence");
	for (u32 evidence = EVIDENCE_NONE + 1; evidence < EVIDENCES; evidence++)
		json_u64(&json, evidence_name(evidence), status->by_evidence[evidence]);
	json_object_end(&json);
	json_u64_or_null(&json, "game_pid", status->game_pid != 0, status->game_pid);
	print_hints(&json, status);
	print_effect(&json, status);
	json_object(&json, "learned");
	json_u64(&json, "profiles", status->learned_profiles);
	json_u64(&json, "confident", status->learned_confident);
	json_u64(&json, "hits", status->learned_hits);
	json_u64(&json, "misses", status->learned_misses);
	json_object_end(&json);
	json_object(&json, "refused");
	json_u64(&json, "addresses", status->addresses_refused);
	json_u64(&json, "files", status->files_refused);
	json_object_end(&json);
	print_hits(&json, status->hits);
	json_object_end(&json);
	json_line_end(&json);
}
