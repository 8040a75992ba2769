// SPDX-License-Identifier: GPL-2.0
/* What learning costs: taking 512 observations out of the kernel and 512 predictions back, beside databases of several
 * sizes; loading and saving 100,000 profiles, and the memory that takes. In CPU time. Ends with 1 if a budget is
 * missed. */
#include "../src/sensor/sched.h"

/* The sensor's own functions, on maps that are made here. */
#define sched_set_learning(sched, flags) ((void)(sched))
#define learned_kind learned_kind_here
#include "../src/sensor/learned.c"
#undef learned_kind

#include <inttypes.h>
#include <stdio.h>
#include <malloc.h>
#include <sys/wait.h>

enum {
	KINDS = 100000,
	ROUNDS = 21,
	INGEST_MOST_US = 2000,
	LOAD_MOST_MS = 100,
	LOAD_MOST_MB = 32,
};

/* CPU time: the machine may have others to serve. */
static u64 cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static char path[64] = "/tmp/tactus-bench.XXXXXX";
static int missed;

static struct kind_key key_of(u32 number)
{
	char comm[COMM_LEN], exe[64];

	snprintf(comm, sizeof(comm), "kind-%u", number);
	snprintf(exe, sizeof(exe), "/usr/lib/programs/number-%u/program", number % 1000);
	return kind_key_of(comm, exe);
}

static void fill(struct procdb *db, u32 len)
{
	struct profile profile = { .tier_votes = { 9, 1, 0 },
				   .observations = 10,
				   .figures = { 1000000, 1000, 10, 10 },
				   .last_seen_s = wall_clock_s() };

	for (u32 i = 0; i < len; i++) {
		profile.key = key_of(i);
		procdb_add(db, &profile);
	}
}

static int by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 median(u64 *numbers, size_t len)
{
	qsort(numbers, len, sizeof(*numbers), by_number);
	return numbers[len / 2];
}

static void check(const char *what, u64 got, u64 most, const char *unit)
{
	printf("%-64s %6" PRIu64 " %s (budget %" PRIu64 ")%s\n", what, got, unit, most, got > most ? "  MISSED" : "");
	missed |= got > most;
}

/* One second's work: all that the kernel has room for is new. */
static u64 ingest_once(struct learned_state *state, u32 first)
{
	struct kind_seen seen = {
		.tier_votes = { 1, 0, 0 }, .threads = 1, .notes = 1, .figures = { 1000000, 1000, 10, 10 }
	};
	u64 began_ns;

	for (u32 i = 0; i < PROCDB_KERNEL_KINDS; i++) {
		struct kind_key key = key_of(first + i);

		bpf_map_update_elem(state->observed_fd, &key, &seen, BPF_ANY);
	}
	began_ns = cpu_now_ns();
	drain(state, wall_clock_s());
	return cpu_now_ns() - began_ns;
}

/* `others`: each second other kinds, for which older ones must make room in the kernel. */
static int ingest(u32 len, bool others)
{
	struct learned_state *state = calloc(1, sizeof(*state));
	u64 spans_ns[ROUNDS], drained = 0;
	char what[80];

	if (!state)
		return -ENOMEM;
	/* As roomy as the sensor's may become: what a small LRU map gives away too early would be work saved. */
	state->observed_fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "observed", sizeof(struct kind_key),
					    sizeof(struct kind_seen), 4 * PROCDB_KERNEL_KINDS, NULL);
	state->predicted_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "predicted", sizeof(struct kind_key),
					     sizeof(struct kind_guess), PROCDB_KERNEL_KINDS, NULL);
	if (state->observed_fd < 0 || state->predicted_fd < 0) {
		free(state);
		return -EPERM;
	}
	procdb_init(&state->store.db, 0);
	fill(&state->store.db, len);
	state->store.learns = true;
	for (int i = 0; i < ROUNDS; i++) {
		spans_ns[i] = ingest_once(state, others ? (u32)i * PROCDB_KERNEL_KINDS : 0);
		drained += state->drained;
		state->drained = 0;
		state->store.log_len = 0;
	}
	snprintf(what, sizeof(what), "%" PRIu64 " observations into a database of %zu%s", drained / ROUNDS,
		 state->store.db.len, others ? ", others each time" : "");
	check(what, median(spans_ns, ROUNDS) / 1000, INGEST_MOST_US, "us");
	procdb_free(&state->store.db);
	close(state->observed_fd);
	close(state->predicted_fd);
	free(state);
	return 0;
}

static u64 resident_kb(const char *field)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	u64 kb = 0;

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, field, strlen(field)))
			kb = strtoull(line + strlen(field) + 1, NULL, 10);
	if (status)
		fclose(status);
	return kb;
}

/* In a process of its own, so that its peak is its own. */
static int load_once(int out)
{
	struct procdb_settings settings = { .path = path };
	struct procdb_store store;
	struct reason why = { "" };
	u64 result[4], began_ns;

	result[2] = resident_kb("VmRSS:");
	began_ns = cpu_now_ns();
	if (store_open(&store, &settings, wall_clock_s(), &why) || store.db.len != KINDS) {
		fprintf(stderr, "tactus: bench: %s\n", why.text);
		return 1;
	}
	result[0] = cpu_now_ns() - began_ns;
	result[1] = resident_kb("VmHWM:");
	began_ns = cpu_now_ns();
	if (procdb_file_save(&store.file, &store.db, wall_clock_s(), &why))
		return 1;
	result[3] = cpu_now_ns() - began_ns;
	return write(out, result, sizeof(result)) != sizeof(result);
}

static int load(void)
{
	u64 spans_ns[ROUNDS], saves_ns[ROUNDS], peak_kb = 0, growth_kb = 0;
	int pipe_fds[2];
	struct procdb db;
	struct reason why;

	procdb_init(&db, 0);
	fill(&db, KINDS);
	if (pipe(pipe_fds) || procdb_write_any(path, &db, PDDB_OWN, wall_clock_s(), &why) != KINDS)
		return -EIO;
	procdb_free(&db);
	malloc_trim(0);
	chmod(path, 0600);
	for (int i = 0; i < ROUNDS; i++) {
		u64 result[4];

		if (fork() == 0)
			_exit(load_once(pipe_fds[1]));
		wait(NULL);
		if (read(pipe_fds[0], result, sizeof(result)) != sizeof(result))
			return -EIO;
		spans_ns[i] = result[0];
		saves_ns[i] = result[3];
		peak_kb = result[1] > peak_kb ? result[1] : peak_kb;
		growth_kb = result[1] - result[2] > growth_kb ? result[1] - result[2] : growth_kb;
	}
	check("loading 100000 profiles (median)", median(spans_ns, ROUNDS) / NSEC_PER_MSEC, LOAD_MOST_MS, "ms");
	check("resident memory at its peak, the program with it", peak_kb / 1024, LOAD_MOST_MB, "MB");
	printf("%-64s %6" PRIu64 " MB\n", "of that the database", growth_kb / 1024);
	printf("%-64s %6" PRIu64 " ms\n", "saving them, with fsync (median)", median(saves_ns, ROUNDS) / NSEC_PER_MSEC);
	return 0;
}

int main(void)
{
	static const u32 sizes[] = { 0, PROCDB_KERNEL_KINDS, 10000, KINDS };
	int fd = mkstemp(path), error = 0;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (fd < 0)
		return 1;
	close(fd);
	error = load();
	for (size_t i = 0; !error && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		error = ingest(sizes[i], false);
	if (!error)
		error = ingest(KINDS, true);
	unlink(path);
	if (error)
		fprintf(stderr, "tactus: bench: %s\n", strerror(-error));
	return error || missed;
}
