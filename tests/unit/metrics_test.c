// SPDX-License-Identifier: GPL-2.0
/* model/metrics.c and metrics_names.c: what threads did adds up by role, group and rank, within bounds. */
#include "../../src/model/metrics.h"
#include "tap.h"

#define MS NSEC_PER_MSEC

static struct metrics metrics;

static struct sums_row row_of(u32 tid, u32 pid, u32 role, u32 tier, u64 cgroup)
{
	struct sums_row row = { .head = { .tid = tid,
					  .pid = pid,
					  .role = (u16)role,
					  .tier = (u16)tier,
					  .cgroup = cgroup,
					  .cpu_ns = 5 * MS,
					  .wait_ns = 3 * MS,
					  .runs = 2,
					  .wakeups = 2 } };

	row.head.moved[DISTANCE_NODE] = 1;
	row.sums.waits = 2;
	row.sums.counts[sums_slot(1 * MS)]++;
	row.sums.counts[sums_slot(2 * MS)]++;
	return row;
}

static void test_buckets(void)
{
	bool fits = true, rises = true;

	is(metrics_bucket(0), 0, "no wait at all is in the first bucket");
	is(metrics_bucket_ns(METRICS_BUCKETS - 1), ~0ULL, "the last bucket takes all");
	for (u32 i = 0; i + 1 < METRICS_BUCKETS; i++) {
		fits &= metrics_bucket(metrics_bucket_ns(i)) == i && metrics_bucket(metrics_bucket_ns(i) + 1) == i + 1;
		rises &= i == 0 || metrics_bucket_ns(i) > metrics_bucket_ns(i - 1);
	}
	ok(fits, "a bucket's largest value is in it, and one more in the next");
	ok(rises, "buckets' edges rise");
	for (u32 slot = 0, whole = 1; slot < SUMS_SLOTS; slot++) {
		u64 low = hist_slot_low(slot + SUMS_FIRST_SLOT), high = hist_slot_high(slot + SUMS_FIRST_SLOT);

		whole &= metrics_bucket(low) == metrics_bucket(high);
		if (slot + 1 == SUMS_SLOTS || !whole) {
			ok(whole, "every slot of the kernel half's histogram lies in one bucket");
			break;
		}
	}
}

static void test_roles(void)
{
	struct sums_row waiter = row_of(10, 10, ROLE_AUDIO, TIER_LATENCY_CRITICAL, 7);
	struct sums_row hog = row_of(11, 11, ROLE_CPU_BOUND, TIER_BATCH, 7);
	const struct metrics_role *audio = &metrics.roles[ROLE_AUDIO][TIER_LATENCY_CRITICAL];

	metrics_init(&metrics, 4);
	waiter.sums.behind_tid = 11;
	waiter.sums.behind_ns = 2 * MS;
	waiter.sums.longest = (struct sums_wait){ .wait_ns = 2 * MS, .to_ns = 99, .behind_tid = 11, .has_behind = 1 };
	strcpy(waiter.head.comm.text, "sound");
	strcpy(hog.head.comm.text, "hog");
	hog.sums.behind_tid = 10;
	hog.sums.behind_ns = 1 * MS;
	metrics_add(&metrics, &waiter, 1);
	metrics_add(&metrics, &hog, 1);
	metrics_settle(&metrics);
	is(audio->sums.cpu_ns, 5 * MS, "CPU time is its role's");
	is(audio->waits.total, 2, "waits are its role's");
	is(audio->waits.sum_ns, 3 * MS, "the sum of waits is the account's, not the slots'");
	is(audio->waits.counts[metrics_bucket(1 * MS)] + audio->waits.counts[metrics_bucket(2 * MS)], 2,
	   "waits are in their buckets");
	is(audio->inversion_ns, 2 * MS, "a wait behind a less urgent thread is an inversion");
	is(metrics.roles[ROLE_CPU_BOUND][TIER_BATCH].inversion_ns, 0, "a wait behind a more urgent thread is none");
	is(audio->moved[DISTANCE_NODE], 1, "moves are counted by distance");
	is_text(audio->waits.examples[metrics_bucket(2 * MS)].behind.text, "hog",
		"the example says behind whom it was");
	is(metrics.threads[ROLE_AUDIO][TIER_LATENCY_CRITICAL], 1, "an active thread is counted");
	metrics_begin_anew(&metrics);
	is(audio->waits.examples[metrics_bucket(2 * MS)].value_ns, 0, "examples are of one reading");
	is(audio->sums.cpu_ns, 5 * MS, "counts are of all");
	waiter.head.role = 999;
	waiter.head.tier = 999;
	metrics_add(&metrics, &waiter, 2);
	metrics_settle(&metrics);
	is(metrics.roles[ROLE_UNKNOWN][TIER_INTERACTIVE].sums.runs, 2, "a role that is none is unknown");
	metrics_free(&metrics);
}

static void test_groups(void)
{
	struct group_name name = { .kind = GROUP_UNIT };
	u64 now_ns = NSEC_PER_SEC;

	metrics_init(&metrics, 4);
	for (u64 group = 1; group <= 6; group++) {
		struct sums_row row = row_of(1, 1, ROLE_UNKNOWN, TIER_INTERACTIVE, group);

		ok(metrics_wants_group(&metrics, group), "a group that is new has to be named");
		snprintf(name.text, sizeof(name.text), "unit%llu.service", (unsigned long long)group);
		metrics_name_group(&metrics, group, &name, now_ns);
		metrics_add(&metrics, &row, now_ns);
	}
	is(metrics.groups_len, 4, "groups are no more than were asked for");
	is(metrics.groups_refused, 2, "groups for which there is no place are counted");
	is(metrics.others.runs, 4, "what they do is among the others");
	is(metrics.groups[0].sums.runs, 2, "what a group does is its own");
	metrics_name_group(&metrics, 1, &name, now_ns);
	now_ns += METRICS_IDLE_NS + 1;
	strcpy(name.text, "late.service");
	metrics_name_group(&metrics, 77, &name, now_ns);
	is(metrics.groups_len, 4, "a group that did nothing for long gives its place away");
	is(metrics_wants_group(&metrics, 77), 0, "who got it is known");
	metrics_free(&metrics);
}

static void test_ranks(void)
{
	struct rank_name name = { "job", "3" };
	struct sums_row row = row_of(20, 20, ROLE_UNKNOWN, TIER_INTERACTIVE, 1);
	struct step step = { .wall_ns = 50 * MS, .launches = 6, .is_slow = true };

	metrics_init(&metrics, 4);
	strcpy(row.head.comm.text, "bash");
	ok(metrics_wants_rank(&metrics, &row.head), "a process that is new has to be looked at");
	metrics_name_rank(&metrics, 20, &row.head.comm, NULL, 0, 1);
	ok(!metrics_wants_rank(&metrics, &row.head), "process that is of no rank is looked at once");
	strcpy(row.head.comm.text, "python3");
	ok(metrics_wants_rank(&metrics, &row.head), "process that was no rank is looked at again after an exec");
	metrics_name_rank(&metrics, 20, &row.head.comm, &name, 1000, 1);
	metrics_add(&metrics, &row, 1);
	step.parts_ns[STEP_DATA] = 30 * MS;
	metrics_add_step(&metrics, 20, &step, 2);
	is(metrics.ranks_len, 1, "a rank is one");
	is(metrics.ranks[0].sums.cpu_ns, 5 * MS, "a rank has the CPU time of its threads");
	is(metrics.ranks[0].parts_ns[STEP_DATA], 30 * MS, "a rank has what its steps went into");
	is(metrics.ranks[0].slow_steps, 1, "a rank has its slow steps");
	row.head.ended = 1;
	metrics_add(&metrics, &row, 3);
	row.head.ended = 0;
	ok(metrics_wants_rank(&metrics, &row.head), "process with the number of a rank that ended is looked at");
	for (u32 i = 0; i < METRICS_RANKS_OF_USER + 5; i++) {
		snprintf(name.rank, sizeof(name.rank), "%u", i);
		metrics_name_rank(&metrics, 100 + i, &row.head.comm, &name, 1000, 4);
	}
	is(metrics.ranks_len, METRICS_RANKS_OF_USER, "a user's ranks are bounded");
	is(metrics.ranks_refused, 5, "ranks for which there is no place are counted");
	strcpy(name.job, "another");
	for (u32 i = 0; i < METRICS_RANKS_MOST; i++) {
		snprintf(name.rank, sizeof(name.rank), "%u", i);
		metrics_name_rank(&metrics, 1000 + i, &row.head.comm, &name, 1001 + i / 16, 4);
	}
	is(metrics.ranks_len, METRICS_RANKS_MOST, "other users have places of their own, up to a number for all");
	is_text(metrics.ranks[METRICS_RANKS_OF_USER].name.job, "another", "a job is the user's who has it first");
	is_text(metrics.ranks[METRICS_RANKS_OF_USER + 16].name.job, "another#1002",
		"a job that another user had first has this one's number in its name");
	metrics_free(&metrics);
}

static void test_forged_ranks(void)
{
	struct rank_name name = { "job", "3" };
	struct sums_row row = row_of(20, 20, ROLE_UNKNOWN, TIER_INTERACTIVE, 1);

	metrics_init(&metrics, 4);
	metrics_name_rank(&metrics, 20, &row.head.comm, &name, 1000, 1);
	metrics_add(&metrics, &row, 1);
	row.head.tid = row.head.pid = 30;
	metrics_name_rank(&metrics, 30, &row.head.comm, &name, 65534, 2);
	metrics_add(&metrics, &row, 2);
	is(metrics.ranks[0].sums.cpu_ns, 5 * MS, "another user's process of the same job and rank adds nothing to it");
	is(metrics.ranks_apart, 1, "another user's claim to a job is counted");
	is_text(metrics.ranks[1].name.job, "job#65534", "another user's process is of a job of his own");
	is(metrics.ranks[1].sums.cpu_ns, 5 * MS, "another user's process is counted for his own job");
	strcpy(name.rank, "4");
	metrics_name_rank(&metrics, 31, &row.head.comm, &name, 65534, 3);
	is_text(metrics.ranks[2].name.job, "job#65534", "another user has no other rank of the job either");
	metrics_name_rank(&metrics, 33, &row.head.comm, &name, 65534, 3);
	is(metrics.ranks_len, 3, "a second process of the same rank is of the same rank");
	strcpy(name.rank, "3");
	metrics_name_rank(&metrics, 32, &row.head.comm, &name, 65534, METRICS_IDLE_NS + 10);
	is(metrics.ranks_len, 3, "a job that did nothing for long is another's, in the same place");
	is(metrics.ranks[0].sums.cpu_ns, 0, "who has a job after another begins with nothing");
	metrics_free(&metrics);
}

static void test_groups_of_user(void)
{
	struct group_name name = { .kind = GROUP_UNIT, .user = 1000 };

	metrics_init(&metrics, 8);
	for (u32 i = 0; i < 8; i++) {
		snprintf(name.text, sizeof(name.text), "run-%u.scope", i);
		metrics_name_group(&metrics, 10 + i, &name, 1);
	}
	is(metrics.groups_len, 4, "a user's own groups have half of the places");
	name = (struct group_name){ .kind = GROUP_UNIT, .text = "nginx.service" };
	metrics_name_group(&metrics, 30, &name, 1);
	is(metrics.groups_len, 5, "a service has a place beside a user with many groups");
	metrics_free(&metrics);
}

static void test_group_names(void)
{
	static const struct {
		const char *text, *name;
		enum group_kind kind;
	} cases[] = {
		{ "0::/system.slice/nginx.service\n", "nginx.service", GROUP_UNIT },
		{ "12:cpu:/x\n0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-1.scope\n",
		  "user@1000.service/app-firefox-1.scope", GROUP_UNIT },
		{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service\n",
		  "user@1000.service/nginx.service", GROUP_UNIT },
		{ "0::/user.slice/user-1000.slice/user@1000.service/user.slice/"
		  "docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n",
		  "user@1000.service/0123456789ab", GROUP_CONTAINER },
		{ "0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope", GROUP_UNIT },
		{ "0::/machine.slice/machine-web.scope/payload/system.slice/nginx.service\n",
		  "machine-web.scope/nginx.service", GROUP_UNIT },
		{ "0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n",
		  "0123456789ab", GROUP_CONTAINER },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		  "cri-containerd-fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope\n",
		  "fedcba987654", GROUP_CONTAINER },
		{ "0::/docker/fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210\n", "fedcba987654",
		  GROUP_CONTAINER },
		{ "0::/lxc.payload.web/system.slice/nginx.service\n", "web", GROUP_CONTAINER },
		{ "0::/\n", "/", GROUP_CGROUP },
		{ "0::/jobs/\"evil\\\n", "/jobs/_evil_", GROUP_CGROUP },
	};
	struct group_name name;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ok(group_name_parse(&name, cases[i].text, strlen(cases[i].text)),
		   "a text of /proc/PID/cgroup is understood");
		is_text(name.text, cases[i].name, "a control group has the name of its unit, container or path");
		is(name.kind, cases[i].kind, "a control group is of the kind that its path says");
	}
	ok(!group_name_parse(&name, "1:cpu:/a\n", 9), "process outside of the unified hierarchy has no group name");
}

#define ENVIRONMENT(text) text, sizeof(text)

/* Where each starter's processes get their rank and job from. */
static void test_rank_variables(void)
{
	static const struct {
		const char *environment;
		size_t len;
		const char *job, *rank; /* NULL: it is none */
		const char *says;
	} cases[] = {
		{ ENVIRONMENT("PATH=/bin\0SLURM_JOB_ID=4711\0SLURM_PROCID=12\0RANK=3"), "4711", "12",
		  "SLURM's task goes before a RANK of which nothing says whose it is" },
		{ ENVIRONMENT("SLURM_JOB_ID=4711\0SLURM_PROCID=1\0RANK=9\0LOCAL_RANK=1"), "4711", "9",
		  "torchrun's RANK goes before the SLURM task that torchrun runs in" },
		{ ENVIRONMENT("SLURM_JOB_ID=4711\0SLURM_PROCID=1\0RANK=9\0TORCHELASTIC_RUN_ID=none"), "4711", "9",
		  "a RANK beside torchrun's variables is torchrun's" },
		{ ENVIRONMENT("SLURM_JOB_ID=4711\0SLURM_PROCID=1\0RANK=x\0LOCAL_RANK=1"), "4711", "1",
		  "a RANK that is no number is passed over" },
		{ ENVIRONMENT("SLURM_JOB_ID=4711\0SLURM_PROCID=0\0OMPI_COMM_WORLD_RANK=5"), "4711", "5",
		  "Open MPI's rank goes before the SLURM task that mpirun runs in" },
		{ ENVIRONMENT("SLURM_JOB_ID=4711\0SLURM_PROCID=0\0PMI_RANK=6"), "4711", "6",
		  "MPICH's rank goes before the SLURM task that mpiexec runs in" },
		{ ENVIRONMENT("SLURM_PROCID=3"), NULL, NULL, "a SLURM task without a job is no rank" },
		{ ENVIRONMENT("TORCHELASTIC_RUN_ID=llama-7\0RANK=7\0WORLD_SIZE=8\0LOCAL_RANK=3"), "llama-7", "7",
		  "torchrun's run is the job" },
		{ ENVIRONMENT("TORCHELASTIC_RUN_ID=none\0RANK=7\0LOCAL_RANK=3\0MASTER_ADDR=127.0.0.1"), NULL, NULL,
		  "torchrun's job that nobody named, on one machine, is none" },
		{ ENVIRONMENT("TORCHELASTIC_RUN_ID=none\0RANK=7\0LOCAL_RANK=3\0MASTER_ADDR=node17"), "node17", "7",
		  "a torchrun's job that nobody named is that of its first machine" },
		{ ENVIRONMENT("TORCHELASTIC_RUN_ID=none\0RANK=7\0TACTUS_JOB=mine"), "mine", "7",
		  "a label names a torchrun's job that nobody named" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=localhost"), NULL, NULL, "localhost is no job" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=127.0.1.1"), NULL, NULL, "an address of 127/8 is no job" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=::1"), NULL, NULL, "IPv6's loopback is no job" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=[::1]"), NULL, NULL, "IPv6's loopback in brackets is no job" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=0.0.0.0"), NULL, NULL, "any address is no job" },
		{ ENVIRONMENT("RANK=1\0MASTER_ADDR=127-0.example"), "127-0.example", "1",
		  "a machine whose name begins as a loopback address is one" },
		{ ENVIRONMENT("PMIX_NAMESPACE=prterun-1@1\0OMPI_COMM_WORLD_RANK=2"), "prterun-1@1", "2",
		  "Open MPI's namespace is the job" },
		{ ENVIRONMENT("PMIX_NAMESPACE=slurm.pmix.4711.0\0PMIX_RANK=4"), "slurm.pmix.4711.0", "4",
		  "PMIx's namespace and rank make a rank" },
		{ ENVIRONMENT("PBS_JOBID=99.head\0OMPI_COMM_WORLD_RANK=2\0PMIX_NAMESPACE=a"), "99.head", "2",
		  "PBS's job goes before Open MPI's namespace" },
		{ ENVIRONMENT("PBS_JOBID=99.head\0PMI_RANK=3"), "99.head", "3",
		  "MPICH's rank in PBS's job makes a rank" },
		{ ENVIRONMENT("HYDI_CONTROL_FD=7\0PMI_RANK=3"), NULL, NULL,
		  "the number of a descriptor of MPICH's starter is no job" },
		{ ENVIRONMENT("HYDI_CONTROL_FD=7"), NULL, NULL, "a descriptor of MPICH's starter alone is no rank" },
		{ ENVIRONMENT("TACTUS_JOB=mine\0HYDI_CONTROL_FD=7\0PMI_RANK=3"), "mine", "3",
		  "a label names a job of MPICH's" },
		{ ENVIRONMENT("TACTUS_RANK=1\0TACTUS_JOB=a b\"c\0SLURM_JOB_ID=1\0SLURM_PROCID=9"), "a_b_c", "1",
		  "the label goes before all others, and comes out plain" },
		{ ENVIRONMENT("RANK=x\0MASTER_ADDR=h"), NULL, NULL, "a rank that is no number is none" },
		{ ENVIRONMENT("RANK=1"), NULL, NULL, "a rank without a job is none" },
		{ ENVIRONMENT("XRANK=1\0SLURM_JOB_ID=4711"), NULL, NULL, "a job without a rank is none" },
	};
	struct rank_name name;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = rank_name_parse(&name, cases[i].environment, cases[i].len);

		is(found, cases[i].job != NULL, "whether a process is a rank: %s", cases[i].says);
		if (!found || !cases[i].job)
			continue;
		is_text(name.job, cases[i].job, "job: %s", cases[i].says);
		is_text(name.rank, cases[i].rank, "rank: %s", cases[i].says);
	}
}

static void test_rank_names(void)
{
	struct rank_name name, apart;

	ok(!rank_name_parse(&name, "", 0), "an empty environment has no rank");
	ok(rank_name_parse(&name, "TACTUS_JOB=a#7\0TACTUS_RANK=1", 28), "a label with any sign makes a rank");
	is_text(name.job, "a_7", "no environment can give the name by which a user's job is told apart");
	memset(name.job, 'x', sizeof(name.job) - 1);
	rank_name_of_user(&apart, &name, 4294967295u);
	is_text(apart.job + sizeof(apart.job) - 12, "#4294967295",
		"the longest job's name has room for the largest number");
	rank_name_of_user(&apart, &(struct rank_name){ "4711", "1" }, 0);
	is_text(apart.job, "4711#0", "root's job is told apart as any other");
}

int main(void)
{
	test_buckets();
	test_roles();
	test_groups();
	test_ranks();
	test_forged_ranks();
	test_groups_of_user();
	test_group_names();
	test_rank_variables();
	test_rank_names();
	return tap_end();
}
