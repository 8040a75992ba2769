// SPDX-License-Identifier: GPL-2.0
/* How well the recorded policy was given back, and a sweep over machines, as tables or JSON lines.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../base/say.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "simulate.h"

static double ms(u64 ns)
{
	return (double)ns / NSEC_PER_MSEC;
}

static void print_waits(const char *name, const struct fidelity_waits *waits)
{
	if (!waits->a && !waits->b)
		return;
	printf("  %-12s %9" PRIu64 " %9" PRIu64 " %9.3f %9.3f %9.3f %9.3f", name, waits->a, waits->b,
	       ms(waits->a_p50_ns), ms(waits->b_p50_ns), ms(waits->a_p99_ns), ms(waits->b_p99_ns));
	if (isnan(waits->octaves))
		puts("         -");
	else
		printf(" %9.2f\n", waits->octaves);
}

/* Both are fidelities: to the recording of which the work was taken, and to the real run of what was predicted. */
struct wording {
	const char *waits_record, *record, *real, *simulated;
};
static const struct wording again_words = { "fidelity_waits", "fidelity", "recorded", "simulated" };
static const struct wording against_words = { "against_waits", "against", "real", "predicted" };

static void named_u64(struct json *json, const char *who, const char *what, u64 value)
{
	char name[48];

	snprintf(name, sizeof(name), "%s_%s", who, what);
	json_u64(json, name, value);
}

static void waits_json(const struct wording *words, const char *role, const struct fidelity_waits *waits)
{
	struct json json = { .out = stdout };

	if (!waits->a && !waits->b)
		return;
	json_record(&json, words->waits_record, false);
	json_string(&json, "role", role);
	named_u64(&json, words->real, "waits", waits->a);
	named_u64(&json, words->simulated, "waits", waits->b);
	named_u64(&json, words->real, "p50_ns", waits->a_p50_ns);
	named_u64(&json, words->simulated, "p50_ns", waits->b_p50_ns);
	named_u64(&json, words->real, "p99_ns", waits->a_p99_ns);
	named_u64(&json, words->simulated, "p99_ns", waits->b_p99_ns);
	if (isnan(waits->octaves))
		json_null(&json, "octaves");
	else
		json_double(&json, "octaves", waits->octaves, 3);
	json_object_end(&json);
	json_line_end(&json);
}

static void fidelity_json(const struct wording *words, const struct fidelity *fidelity, const char *policy,
			  const char *path)
{
	struct json json = { .out = stdout };

	for (u32 role = 0; role < ROLES; role++)
		waits_json(words, role_name(role), &fidelity->roles[role]);
	waits_json(words, "all", &fidelity->all);
	json_record(&json, words->record, false);
	json_string(&json, "policy", policy);
	if (path)
		json_string(&json, "file", path);
	json_double(&json, "waits_octaves", fidelity->waits, 3);
	json_double(&json, "late_share", fidelity->late, 4);
	/* Between two real runs, processes are others. */
	json_double(&json, "cpu_share", path ? fidelity->names : fidelity->shares, 4);
	json_double(&json, "cpu_time", fidelity->cpu, 4);
	json_double(&json, "urgent_cpu", fidelity->urgent, 4);
	named_u64(&json, words->real, "urgent_cpu_ns", fidelity->urgent_ns[0]);
	named_u64(&json, words->simulated, "urgent_cpu_ns", fidelity->urgent_ns[1]);
	named_u64(&json, words->real, "frames", fidelity->frames[0]);
	named_u64(&json, words->simulated, "frames", fidelity->frames[1]);
	named_u64(&json, words->real, "late", fidelity->late_frames[0]);
	named_u64(&json, words->simulated, "late", fidelity->late_frames[1]);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_roles(const struct fidelity *fidelity, const char *real, const char *simulated)
{
	printf("  %-12s %9s %9s %9s %9s %9s %9s %9s\n", "WAITS OF", real, simulated, "P50 ms", simulated, "P99 ms",
	       simulated, "OCTAVES");
	for (u32 role = 0; role < ROLES; role++)
		print_waits(role_name(role), &fidelity->roles[role]);
	print_waits("all", &fidelity->all);
}

static void print_late(const struct fidelity *fidelity)
{
	if (fidelity->urgent_ns[0] >= FIDELITY_URGENT_LEAST_NS)
		printf(", CPU time of urgent threads by %.1f %% (%.0f against %.0f ms)", fidelity->urgent * 100,
		       ms(fidelity->urgent_ns[1]), ms(fidelity->urgent_ns[0]));
	if (fidelity->frames[0])
		printf(", late frames by %.1f %% (%" PRIu64 " of %" PRIu64 " against %" PRIu64 " of %" PRIu64 ")",
		       fidelity->late * 100, fidelity->late_frames[1], fidelity->frames[1], fidelity->late_frames[0],
		       fidelity->frames[0]);
	putchar('\n');
}

void simulate_print_fidelity(const struct fidelity *fidelity, const char *policy, bool json)
{
	if (json) {
		fidelity_json(&again_words, fidelity, policy, NULL);
		return;
	}
	printf("%s as recorded, and simulated again\n", policy);
	print_roles(fidelity, "RECORDED", "AGAIN");
	printf("  error: waits by %.2f octaves, CPU shares by %.1f %%", fidelity->waits, fidelity->shares * 100);
	print_late(fidelity);
}

void simulate_print_against(const struct fidelity *fidelity, const char *policy, const char *path, bool json)
{
	if (json) {
		fidelity_json(&against_words, fidelity, policy, path);
		return;
	}
	printf("\n%s in ", policy);
	print_plain(stdout, path);
	puts(", and as predicted");
	print_roles(fidelity, "REAL", "PREDICTED");
	printf("  error: waits by %.2f octaves, CPU shares of threads by name by %.1f %%", fidelity->waits,
	       fidelity->names * 100);
	print_late(fidelity);
}

static u64 p99_of(const struct compare_run *run, u32 spread)
{
	u64 sum = 0, seen = 0;

	for (u32 pass = 0; pass < 2; pass++)
		for (u32 slot = 0; slot < SPREAD_SLOTS; slot++)
			for (u32 block = 0; block < run->blocks.len; block++) {
				const u32 *of = run->blocks.all[block].spreads[spread];

				if (!of)
					continue;
				if (!pass)
					sum += of[slot];
				else if ((seen += of[slot]) * 100 >= sum * 99 && of[slot])
					return fidelity_slot_ns(slot);
			}
	return 0;
}

static u64 clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static int sweep_one(const struct simulate_source *source, const struct sim_params *given, u32 cpus,
		     const struct sim_policy *policy, bool as_json)
{
	struct sim_params params = *given;
	struct sim_topology topology;
	struct compare_run run;
	struct sim_counts counts;
	struct json json = { .out = stdout };
	double seconds;
	u64 took_ns;
	int status;

	params.policy = policy;
	sim_topology_caches(&topology, cpus);
	took_ns = clock_ns();
	status = simulate_run(source, &source->work, &topology, &params, NULL, false, NULL, &counts);
	took_ns = clock_ns() - took_ns;
	if (!status)
		status = simulate_run(source, &source->work, &topology, &params, &run, true, NULL, NULL);
	if (status)
		return status;
	seconds = (double)(source->work.last_ns - source->work.first_ns) / NSEC_PER_SEC;
	if (!as_json) {
		printf("%5u %-7s %8u %10.0f %9.0f %8" PRIu64 " %11.3f %11.3f %9.0f\n", cpus, policy->name,
		       source->work.len, (double)counts.switches / seconds, (double)counts.moves / seconds,
		       counts.queued_most, ms(p99_of(&run, SPREAD_TIERS + TIER_LATENCY_CRITICAL)),
		       ms(p99_of(&run, SPREAD_WAITS)), (double)took_ns / (double)(counts.picks ? counts.picks : 1));
	} else {
		json_record(&json, "sweep", false);
		json_u64(&json, "cpus", cpus);
		json_string(&json, "policy", policy->name);
		json_u64(&json, "threads", source->work.len);
		json_u64(&json, "switches", counts.switches);
		json_u64(&json, "moves", counts.moves);
		json_u64(&json, "queued_most", counts.queued_most);
		json_u64(&json, "urgent_wait_p99_ns", p99_of(&run, SPREAD_TIERS + TIER_LATENCY_CRITICAL));
		json_u64(&json, "wait_p99_ns", p99_of(&run, SPREAD_WAITS));
		json_u64(&json, "picks", counts.picks);
		json_u64(&json, "took_ns", took_ns);
		json_object_end(&json);
		json_line_end(&json);
	}
	compare_run_free(&run);
	return 0;
}

int simulate_sweep(struct simulate_source *source, const struct sim_params *params, const u32 *sizes, u32 len,
		   bool json)
{
	static const struct sim_policy *const policies[] = { &policy_eevdf, &policy_tactus };
	u32 own = source->work.len;
	int status = 0;

	if (!json)
		printf("\n%5s %-7s %8s %10s %9s %8s %11s %11s %9s\n", "CPUS", "POLICY", "THREADS", "SWITCH/S", "MOVE/S",
		       "QUEUED", "URGENT P99", "ALL P99 ms", "NS/PICK");
	for (u32 i = 0; i < len && !status; i++) {
		u32 copies = sizes[i] > source->topology.cpus_len ? sizes[i] / source->topology.cpus_len - 1 : 0;

		if (copies && work_copy(&source->work, copies, 100 * NSEC_PER_MSEC, 10, params->seed))
			status = fail("simulate", "out of memory");
		for (u32 p = 0; p < sizeof(policies) / sizeof(*policies) && !status; p++)
			status = sweep_one(source, params, sizes[i], policies[p], json);
		work_truncate(&source->work, own);
	}
	return status;
}
