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
#include "simulate.h"

static double ms(u64 ns)
{
	return (double)ns / NSEC_PER_MSEC;
}

static void print_waits(const char *name, const struct fidelity_waits *waits)
{
	if (!waits->a && !waits->b)
		return;
	printf("  %-12s %8" PRIu64 " %8" PRIu64 " %9.3f %9.3f %9.3f %9.3f", name, waits->a, waits->b,
	       ms(waits->a_p50_ns), ms(waits->b_p50_ns), ms(waits->a_p99_ns), ms(waits->b_p99_ns));
	if (isnan(waits->octaves))
		puts("         -");
	else
		printf(" %9.2f\n", waits->octaves);
}

static void waits_json(const char *role, const struct fidelity_waits *waits)
{
	struct json json = { .out = stdout };

	if (!waits->a && !waits->b)
		return;
	json_record(&json, "fidelity_waits", false);
	json_string(&json, "role", role);
	json_u64(&json, "recorded_waits", waits->a);
	json_u64(&json, "simulated_waits", waits->b);
	json_u64(&json, "recorded_p50_ns", waits->a_p50_ns);
	json_u64(&json, "simulated_p50_ns", waits->b_p50_ns);
	json_u64(&json, "recorded_p99_ns", waits->a_p99_ns);
	json_u64(&json, "simulated_p99_ns", waits->b_p99_ns);
	if (isnan(waits->octaves))
		json_null(&json, "octaves");
	else
		json_double(&json, "octaves", waits->octaves, 3);
	json_object_end(&json);
	json_line_end(&json);
}

static void fidelity_json(const struct fidelity *fidelity, const char *policy)
{
	struct json json = { .out = stdout };

	for (u32 role = 0; role < ROLES; role++)
		waits_json(role_name(role), &fidelity->roles[role]);
	json_record(&json, "fidelity", false);
	json_string(&json, "policy", policy);
	json_double(&json, "waits_octaves", fidelity->waits, 3);
	json_double(&json, "late_share", fidelity->late, 4);
	json_double(&json, "cpu_share", fidelity->shares, 4);
	json_double(&json, "cpu_time", fidelity->cpu, 4);
	json_u64(&json, "recorded_frames", fidelity->frames[0]);
	json_u64(&json, "simulated_frames", fidelity->frames[1]);
	json_u64(&json, "recorded_late", fidelity->late_frames[0]);
	json_u64(&json, "simulated_late", fidelity->late_frames[1]);
	json_object_end(&json);
	json_line_end(&json);
}

void simulate_print_fidelity(const struct fidelity *fidelity, const char *policy, bool json)
{
	if (json) {
		fidelity_json(fidelity, policy);
		return;
	}
	printf("%s as recorded, and simulated again\n", policy);
	printf("  %-12s %8s %8s %9s %9s %9s %9s %9s\n", "WAITS OF", "RECORDED", "AGAIN", "P50 ms", "AGAIN", "P99 ms",
	       "AGAIN", "OCTAVES");
	for (u32 role = 0; role < ROLES; role++)
		print_waits(role_name(role), &fidelity->roles[role]);
	print_waits("all", &fidelity->all);
	printf("  error: waits by %.2f octaves, CPU shares by %.1f %%", fidelity->waits, fidelity->shares * 100);
	if (fidelity->frames[0])
		printf(", late frames by %.1f %% (%" PRIu64 " of %" PRIu64 " against %" PRIu64 " of %" PRIu64 ")",
		       fidelity->late * 100, fidelity->late_frames[1], fidelity->frames[1], fidelity->late_frames[0],
		       fidelity->frames[0]);
	putchar('\n');
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

	clock_gettime(CLOCK_MONOTONIC, &now);
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
	status = simulate_run(source, &source->work, &topology, &params, NULL, NULL, &counts);
	took_ns = clock_ns() - took_ns;
	if (!status)
		status = simulate_run(source, &source->work, &topology, &params, &run, NULL, NULL);
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
