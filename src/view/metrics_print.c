// SPDX-License-Identifier: GPL-2.0
/* A family is printed where it has anything to say; one that counts losses always is, so that 0 can be told from
 * nothing. */
#include "metrics_print.h"

#include <string.h>

#include "../model/gpu.h"
#include "../model/moves.h"
#include "../model/roles.h"

enum { NUMBER_SIZE = 12 };

#define COUNTER(text, of, says)                                                          \
	{                                                                                \
		.name = "tactus_" text, .unit = of, .help = says, .type = METRIC_COUNTER \
	}
#define GAUGE(text, of, says)                                                          \
	{                                                                              \
		.name = "tactus_" text, .unit = of, .help = says, .type = METRIC_GAUGE \
	}
#define LABELS(...) (&(struct metric_labels){ .all = { __VA_ARGS__ } })

static const char *short_tier(u32 tier)
{
	static const char *const names[TIERS] = {
		[TIER_BATCH] = "batch", [TIER_INTERACTIVE] = "normal", [TIER_LATENCY_CRITICAL] = "urgent"
	};

	return tier < TIERS ? names[tier] : "normal";
}

/* A name with a 0 behind it. */
struct named {
	char text[COMM_LEN + 1];
};

static struct named named(const struct comm *comm)
{
	struct named name;

	memcpy(name.text, comm->text, COMM_LEN);
	name.text[COMM_LEN] = '\0';
	return name;
}

static void print_histogram(struct openmetrics *out, const struct metrics_reading *reading,
			    const struct metric_family *family, const struct metric_labels *labels,
			    const struct metrics_hist *hist)
{
	struct metric_exemplar exemplars[METRICS_BUCKETS] = { { 0 } };
	struct named comms[METRICS_BUCKETS], behinds[METRICS_BUCKETS];
	char pids[METRICS_BUCKETS][NUMBER_SIZE];
	u64 most_ns[METRICS_BUCKETS];

	for (u32 i = 0; i < METRICS_BUCKETS; i++) {
		const struct metrics_example *example = &hist->examples[i];

		most_ns[i] = metrics_bucket_ns(i);
		if (!example->value_ns)
			continue;
		comms[i] = named(&example->comm);
		behinds[i] = named(&example->behind);
		snprintf(pids[i], sizeof(pids[i]), "%u", example->pid);
		exemplars[i] = (struct metric_exemplar){
			.value_ns = example->value_ns,
			.wall_ns = reading->wall_ns - span_between(example->at_ns, reading->now_ns),
			.labels = { { { "pid", pids[i] }, { "comm", comms[i].text } } }
		};
		if (behinds[i].text[0]) {
			exemplars[i].labels.all[2].name = "behind";
			exemplars[i].labels.all[2].value = behinds[i].text;
		}
	}
	openmetrics_histogram(out, family, labels,
			      &(struct metric_buckets){ .len = METRICS_BUCKETS,
							.counts = hist->counts,
							.most_ns = most_ns,
							.exemplars = exemplars,
							.sum_ns = hist->sum_ns });
}

typedef void (*role_printer)(struct openmetrics *out, const struct metrics_reading *reading,
			     const struct metric_labels *labels, u32 role, u32 tier);

/* Families lie in one piece: each goes over all roles by itself. */
static void each_role(struct openmetrics *out, const struct metrics_reading *reading, role_printer print)
{
	for (u32 role = 0; role < ROLES; role++)
		for (u32 tier = 0; tier < TIERS; tier++) {
			const struct metrics_role *one = &reading->metrics->roles[role][tier];

			if (one->sums.runs || one->sums.wakeups || one->sums.cpu_ns)
				print(out, reading, LABELS({ "role", role_name(role) }, { "tier", short_tier(tier) }),
				      role, tier);
		}
}

static void role_threads(struct openmetrics *out, const struct metrics_reading *reading,
			 const struct metric_labels *labels, u32 role, u32 tier)
{
	static const struct metric_family family = GAUGE("active_threads", "",
							 "Threads that ran or were woken since the last reading.");

	openmetrics_count(out, &family, labels, reading->metrics->threads[role][tier]);
}

static void role_cpu(struct openmetrics *out, const struct metrics_reading *reading, const struct metric_labels *labels,
		     u32 role, u32 tier)
{
	static const struct metric_family family = COUNTER("cpu_seconds", "seconds", "CPU time of threads.");

	openmetrics_seconds(out, &family, labels, reading->metrics->roles[role][tier].sums.cpu_ns);
}

static void role_waits(struct openmetrics *out, const struct metrics_reading *reading,
		       const struct metric_labels *labels, u32 role, u32 tier)
{
	static const struct metric_family family = { .name = "tactus_wait_seconds",
						     .unit = "seconds",
						     .help = "How long threads that could run waited for a CPU.",
						     .type = METRIC_HISTOGRAM };

	print_histogram(out, reading, &family, labels, &reading->metrics->roles[role][tier].waits);
}

static void role_inversions(struct openmetrics *out, const struct metrics_reading *reading,
			    const struct metric_labels *labels, u32 role, u32 tier)
{
	static const struct metric_family family =
		COUNTER("inversion_seconds", "seconds",
			"Of waits of 100 us and more, time behind a less urgent thread, at the least.");

	openmetrics_seconds(out, &family, labels, reading->metrics->roles[role][tier].inversion_ns);
}

static void role_wakeups(struct openmetrics *out, const struct metrics_reading *reading,
			 const struct metric_labels *labels, u32 role, u32 tier)
{
	static const struct metric_family family = COUNTER("wakeups", "", "Times that threads were woken.");

	openmetrics_count(out, &family, labels, reading->metrics->roles[role][tier].sums.wakeups);
}

static void print_moves(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family family = COUNTER("migrations", "", "Moves of threads to another CPU.");

	for (u32 far = 0; far < DISTANCES; far++)
		for (u32 tier = 0; tier < TIERS; tier++) {
			u64 moves = 0;

			for (u32 role = 0; role < ROLES; role++)
				moves += reading->metrics->roles[role][tier].moved[far];
			openmetrics_count(out, &family,
					  LABELS({ "distance", distance_name(far) }, { "tier", short_tier(tier) }),
					  moves);
		}
}

static void print_groups(struct openmetrics *out, const struct metrics *metrics)
{
	static const struct metric_family cpu = COUNTER("group_cpu_seconds", "seconds",
							"CPU time by unit, container or control group.");
	static const struct metric_family wait = COUNTER("group_wait_seconds", "seconds",
							 "Waiting for CPUs by unit, container or control group.");
	static const struct metric_family waits = COUNTER("group_waits", "", "Waits for a CPU, likewise.");
	static const struct metric_family refused =
		COUNTER("groups_refused", "", "Groups for which there was no series: they are in kind=other.");

	for (u32 of = 0; of < 3; of++)
		for (u32 i = 0; i <= metrics->groups_len; i++) {
			bool is_rest = i == metrics->groups_len;
			const struct metrics_sums *sums = is_rest ? &metrics->others : &metrics->groups[i].sums;
			const struct metric_labels *labels =
				is_rest ? LABELS({ "kind", "other" }, { "group", "" })
					: LABELS({ "kind", group_kind_name(metrics->groups[i].name.kind) },
						 { "group", metrics->groups[i].name.text });

			if (of == 2)
				openmetrics_count(out, &waits, labels, sums->waits);
			else
				openmetrics_seconds(out, of ? &wait : &cpu, labels, of ? sums->wait_ns : sums->cpu_ns);
		}
	openmetrics_count(out, &refused, NULL, metrics->groups_refused);
}

enum rank_figure { RANK_CPU, RANK_WAIT, RANK_STEPS, RANK_SLOW, RANK_LAUNCHES, RANK_STEP_SECONDS, RANK_FIGURES };

static void print_rank(struct openmetrics *out, const struct metrics_rank *rank, enum rank_figure figure)
{
	static const struct metric_family families[RANK_FIGURES] = {
		[RANK_CPU] = COUNTER("rank_cpu_seconds", "seconds", "CPU time of a rank's processes."),
		[RANK_WAIT] = COUNTER("rank_wait_seconds", "seconds", "Waiting for CPUs of a rank's threads."),
		[RANK_STEPS] = COUNTER("rank_steps", "", "Training steps that a rank has ended."),
		[RANK_SLOW] = COUNTER("rank_slow_steps", "", "Of them, those that took much longer than usual."),
		[RANK_LAUNCHES] = COUNTER("rank_launches", "", "Kernels launched in a rank's steps."),
		[RANK_STEP_SECONDS] = COUNTER("rank_step_seconds", "seconds",
					      "What a rank's steps went into; part=all is the steps themselves."),
	};
	const u64 values[RANK_FIGURES] = { [RANK_CPU] = rank->sums.cpu_ns,
					   [RANK_WAIT] = rank->sums.wait_ns,
					   [RANK_STEPS] = rank->steps,
					   [RANK_SLOW] = rank->slow_steps,
					   [RANK_LAUNCHES] = rank->launches };
	const struct metric_labels *labels = LABELS({ "training_job", rank->name.job }, { "rank", rank->name.rank });

	if (figure <= RANK_WAIT)
		openmetrics_seconds(out, &families[figure], labels, values[figure]);
	else if (figure < RANK_STEP_SECONDS)
		openmetrics_count(out, &families[figure], labels, values[figure]);
	if (figure != RANK_STEP_SECONDS)
		return;
	for (u32 part = 0; part <= STEP_PARTS; part++)
		openmetrics_seconds(out, &families[figure],
				    LABELS({ "training_job", rank->name.job }, { "rank", rank->name.rank },
					   { "part", part < STEP_PARTS ? step_part_name(part) : "all" }),
				    part < STEP_PARTS ? rank->parts_ns[part] : rank->step_ns);
}

static void print_ranks(struct openmetrics *out, const struct metrics *metrics)
{
	static const struct metric_family refused = COUNTER("ranks_refused", "",
							    "Ranks for which there was no series.");
	static const struct metric_family apart =
		COUNTER("ranks_apart", "", "Processes that claimed a job which was another user's first: JOB#UID.");

	for (u32 figure = 0; figure < RANK_FIGURES; figure++)
		for (u32 i = 0; i < metrics->ranks_len; i++)
			if (figure < RANK_STEPS || metrics->ranks[i].steps)
				print_rank(out, &metrics->ranks[i], figure);
	openmetrics_count(out, &refused, NULL, metrics->ranks_refused);
	openmetrics_count(out, &apart, NULL, metrics->ranks_apart);
}

static void print_machine(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family cpu = COUNTER("machine_cpu_seconds", "seconds",
							"Time of all CPUs together, by what they did.");
	static const struct metric_family switches = COUNTER("context_switches", "", "Context switches of all CPUs.");
	static const struct metric_family misses =
		COUNTER("urgent_waits_too_long", "", "Times that an urgent thread waited more than 2 ms for a CPU.");

	if (reading->has_cpus) {
		openmetrics_seconds(out, &cpu, LABELS({ "state", "busy" }), reading->cpus.busy_ns);
		openmetrics_seconds(out, &cpu, LABELS({ "state", "idle" }), reading->cpus.idle_ns);
		openmetrics_count(out, &switches, NULL, reading->cpus.switches);
	}
	if (reading->has_tally)
		openmetrics_count(out, &misses, NULL, reading->tally.deadline_misses);
}

static void print_frames(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family times = { .name = "tactus_frame_seconds",
						    .unit = "seconds",
						    .help = "Time from one frame of a program to its next.",
						    .type = METRIC_HISTOGRAM };
	static const struct metric_family late = COUNTER("late_frames", "", "Late frames, by what most of it was.");
	static const struct metric_family misses = COUNTER("timer_misses", "",
							   "Times that a thread that works by a timer ran too late.");
	const struct metrics_events *events = reading->events;

	print_histogram(out, reading, &times, NULL, &events->frame_times);
	for (u32 cause = 0; cause < LATE_CAUSES; cause++)
		openmetrics_count(out, &late, LABELS({ "cause", late_cause_name(cause) }), events->late[cause]);
	for (u32 role = 0; role < ROLES; role++)
		if (events->missed[role] || role == ROLE_RENDER || role == ROLE_AUDIO)
			openmetrics_count(out, &misses, LABELS({ "role", role_name(role) }), events->missed[role]);
}

static void print_gpu(struct openmetrics *out, const struct metrics_events *events)
{
	static const struct metric_family submits = COUNTER("gpu_submits", "", "Submits to GPUs.");
	static const struct metric_family took = COUNTER("gpu_submit_seconds", "seconds",
							 "Time in the calls that submit.");
	static const struct metric_family stalls =
		COUNTER("gpu_stalls", "", "Submits, gaps, fences and jobs that took far longer than usual.");
	static const struct metric_family memory = GAUGE("gpu_memory_bytes", "bytes", "Memory of a GPU in use.");
	char gpu[NUMBER_SIZE];

	for (u32 of = 0; of < 2; of++)
		for (u32 driver = 0; driver < GPU_DRIVERS; driver++)
			if (events->submitted[driver] && of == 0)
				openmetrics_count(out, &submits, LABELS({ "driver", gpu_driver_name(driver) }),
						  events->submitted[driver]);
			else if (events->submitted[driver])
				openmetrics_seconds(out, &took, LABELS({ "driver", gpu_driver_name(driver) }),
						    events->submit_ns[driver]);
	for (u32 kind = STALL_NONE + 1; kind < METRICS_STALLS; kind++)
		openmetrics_count(out, &stalls, LABELS({ "kind", metrics_stall_name(kind) }), events->stalls[kind]);
	for (const struct memory_row *row = events->submits.memories; row; row = row->next) {
		snprintf(gpu, sizeof(gpu), "%u", row->gpu);
		if (!row->pid)
			openmetrics_count(out, &memory, LABELS({ "gpu", gpu }), row->bytes);
	}
}

static void print_cuda(struct openmetrics *out, const struct metrics_events *events)
{
	static const struct metric_family families[] = {
		COUNTER("cuda_launches", "", "Kernels launched, by the processes' name."),
		COUNTER("cuda_copies", "", "Copies to, from and on GPUs."),
		COUNTER("cuda_copied_bytes", "bytes", "Bytes of these copies."),
		COUNTER("cuda_syncs", "", "Calls that wait for a GPU."),
		COUNTER("cuda_sync_seconds", "seconds", "Time in calls that wait for a GPU."),
		COUNTER("cuda_collectives", "", "Calls of NCCL that exchange data between ranks."),
		COUNTER("cuda_collective_seconds", "seconds", "Time in these calls."),
	};
	enum { FIGURES = sizeof(families) / sizeof(families[0]) };

	for (u32 figure = 0; figure < FIGURES; figure++)
		for (u32 i = 0; i <= METRICS_CUDA_NAMES; i++) {
			const struct metrics_cuda *of = &events->of[i];
			const u64 values[FIGURES] = { of->launches, of->copies,	     of->copied_bytes, of->syncs,
						      of->sync_ns,  of->collectives, of->collective_ns };
			struct named process = named(&of->comm);
			const struct metric_labels *labels = i < METRICS_CUDA_NAMES
								     ? LABELS({ "process", process.text })
								     : LABELS({ "process", "" });

			if (i >= events->of_len && i < METRICS_CUDA_NAMES)
				continue;
			if (strstr(families[figure].unit, "seconds"))
				openmetrics_seconds(out, &families[figure], labels, values[figure]);
			else
				openmetrics_count(out, &families[figure], labels, values[figure]);
		}
}

static void print_losses(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family events = COUNTER("lost_events", "", "Events that a ring had no room for.");
	static const struct metric_family unseen = COUNTER("unseen_switches", "",
							   "Context switches that the kernel did not show.");
	static const struct metric_family threads = COUNTER("lost_threads", "",
							    "Threads of which a full map or ring kept nothing.");
	static const struct metric_family facts = COUNTER("lost_facts", "",
							  "What a sensor's maps, rings or hooks could not take.");
	static const struct metric_family rows = COUNTER("lost_rows", "", "Threads for which a reading had no memory.");
	static const struct metric_family refused =
		COUNTER("refused_events", "",
			"Events that are in no figure of their kind: of a thread for which there was no room.");
	const struct metrics_events *models = reading->events;

	openmetrics_count(out, &events, NULL, reading->losses.events);
	openmetrics_count(out, &unseen, NULL, reading->losses.unseen_switches);
	openmetrics_count(out, &threads, NULL, reading->losses.threads + reading->sums_refused);
	for (u32 i = 0; i < reading->lost_facts_len; i++)
		openmetrics_count(out, &facts, LABELS({ "sensor", reading->lost_facts[i].sensor }),
				  reading->lost_facts[i].facts);
	openmetrics_count(out, &rows, NULL, reading->metrics->rows_refused);
	openmetrics_count(out, &refused, LABELS({ "kind", "frames" }), models->frames.rows_refused);
	openmetrics_count(out, &refused, LABELS({ "kind", "displays" }), models->frames.displays_refused);
	openmetrics_count(out, &refused, LABELS({ "kind", "gpu" }), models->submits.refused);
	if (!models->with_cuda)
		return;
	openmetrics_count(out, &refused, LABELS({ "kind", "cuda" }), models->cuda.refused);
	openmetrics_count(out, &refused, LABELS({ "kind", "steps" }), models->steps.refused);
}

static void print_self(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const struct metric_family build = { .name = "tactus_build",
						    .unit = "",
						    .help = "The version, and the kernel that it runs on.",
						    .type = METRIC_INFO };
	static const struct metric_family cpu = COUNTER("self_cpu_seconds", "seconds",
							"CPU time of tactus itself, without what its hooks take.");
	static const struct metric_family memory = GAUGE("self_memory_bytes", "bytes", "Resident memory of tactus.");
	static const struct metric_family readings = COUNTER("self_readings", "", "Times that figures were read.");
	static const struct metric_family took = COUNTER("self_reading_seconds", "seconds",
							 "Time that reading and writing figures took before this.");
	static const struct metric_family rows = COUNTER("self_rows", "", "Threads' sums that were read.");
	static const struct metric_family pushes = COUNTER("self_pushes", "", "Times that figures were sent by OTLP.");

	openmetrics_count(out, &build, LABELS({ "version", TACTUS_VERSION }, { "kernel", reading->kernel }), 1);
	openmetrics_seconds(out, &cpu, NULL, reading->own_cpu_ns);
	openmetrics_count(out, &memory, NULL, reading->own_bytes);
	openmetrics_count(out, &readings, NULL, reading->readings);
	openmetrics_seconds(out, &took, NULL, reading->reading_ns);
	openmetrics_count(out, &rows, NULL, reading->metrics->taken);
	if (!reading->pushed && !reading->push_failed)
		return;
	openmetrics_count(out, &pushes, LABELS({ "result", "taken" }), reading->pushed);
	openmetrics_count(out, &pushes, LABELS({ "result", "failed" }), reading->push_failed);
}

void metrics_print(struct openmetrics *out, const struct metrics_reading *reading)
{
	static const role_printer printers[] = {
		role_threads, role_cpu, role_waits, role_inversions, role_wakeups, NULL
	};

	print_self(out, reading);
	for (u32 i = 0; printers[i]; i++)
		each_role(out, reading, printers[i]);
	print_moves(out, reading);
	print_machine(out, reading);
	print_groups(out, reading->metrics);
	print_ranks(out, reading->metrics);
	print_frames(out, reading);
	print_gpu(out, reading->events);
	if (reading->events->with_cuda)
		print_cuda(out, reading->events);
	metrics_print_run(out, reading);
	print_losses(out, reading);
	openmetrics_end(out);
}
