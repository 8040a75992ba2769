// SPDX-License-Identifier: GPL-2.0
/* Topologies of simulated machines, and the files that describe them.
 */
#include "topology.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/placement.h"

enum { LINE_MOST = 256, REMOTE_DISTANCE = 20, SMT_PERCENT = 60, CACHE_CPUS = 8, NODE_CACHES = 8 };

static void link_siblings(struct sim_topology *topology)
{
	for (u32 cpu = 0; cpu < topology->cpus_len; cpu++) {
		u32 next = cpu;

		do {
			next = (next + 1) % topology->cpus_len;
		} while (next != cpu && topology->cpus[next].core != topology->cpus[cpu].core);
		topology->next_sibling[cpu] = (u16)next;
	}
}

static void begin(struct sim_topology *topology, u32 len)
{
	*topology = (struct sim_topology){ .cpus_len = len, .smt_percent = 100 };
	for (u32 i = 0; i < SIM_NODES_MAX; i++)
		for (u32 j = 0; j < SIM_NODES_MAX; j++)
			topology->distances[i][j] = i == j ? DISTANCE_OWN_NODE : REMOTE_DISTANCE;
	for (u32 cpu = 0; cpu < SIM_CPUS_MAX; cpu++)
		topology->capacity[cpu] = CAPACITY_MOST;
}

void sim_topology_flat(struct sim_topology *topology, u32 len)
{
	begin(topology, len < SIM_CPUS_MAX ? len : SIM_CPUS_MAX);
	for (u32 cpu = 0; cpu < topology->cpus_len; cpu++)
		topology->cpus[cpu] = (struct cpu_topology){ .core = (u16)cpu, .known = 1 };
	link_siblings(topology);
}

void sim_topology_caches(struct sim_topology *topology, u32 len)
{
	sim_topology_flat(topology, len);
	for (u32 cpu = 0; cpu < topology->cpus_len; cpu++) {
		topology->cpus[cpu].llc = (u16)(cpu / CACHE_CPUS);
		topology->cpus[cpu].node = (u16)(cpu / (CACHE_CPUS * NODE_CACHES));
	}
}

void sim_topology_from(struct sim_topology *topology, const struct cpu_topology *cpus, u32 len)
{
	sim_topology_flat(topology, len);
	for (u32 cpu = 0; cpu < topology->cpus_len; cpu++)
		if (cpus[cpu].known)
			topology->cpus[cpu] = cpus[cpu];
	link_siblings(topology);
}

/* What a file builds up, line by line. */
struct parsing {
	struct sim_topology *topology;
	u32 caches, cores, nodes;
	u32 node;
	u32 nodes_named; /* by distances: the highest, plus one */
};

static bool number(const char *word, u64 least, u64 most, u64 *value)
{
	char *end;

	errno = 0;
	if (!word || *word < '0' || *word > '9')
		return false;
	*value = strtoull(word, &end, 10);
	return !errno && !*end && *value >= least && *value <= most;
}

/* "cache CORES [threads N] [capacity C]": so many cores that share a last-level cache. */
static const char *take_cache(struct parsing *parsing, char **words, u32 len)
{
	struct sim_topology *topology = parsing->topology;
	u64 cores, threads = 1, capacity = CAPACITY_MOST;

	if (len < 2 || !number(words[1], 1, SIM_CPUS_MAX, &cores))
		return "'cache' wants how many cores share it";
	for (u32 i = 2; i < len; i += 2) {
		const char *value = i + 1 < len ? words[i + 1] : NULL;

		if (!strcmp(words[i], "threads") && number(value, 1, SIM_SMT_MAX, &threads))
			continue;
		if (!strcmp(words[i], "capacity") && number(value, 1, CAPACITY_MOST, &capacity))
			continue;
		return "after 'cache N' only 'threads 1..8' and 'capacity 1..1024' may follow";
	}
	if (topology->cpus_len + cores * threads > SIM_CPUS_MAX)
		return "more than 512 CPUs";
	for (u64 i = 0; i < cores * threads; i++) {
		u32 cpu = topology->cpus_len++;

		topology->cpus[cpu] = (struct cpu_topology){ .core = (u16)(parsing->cores + i / threads),
							     .llc = (u16)parsing->caches,
							     .node = (u16)parsing->node,
							     .known = 1 };
		topology->capacity[cpu] = (u16)capacity;
	}
	parsing->cores += (u32)cores;
	parsing->caches++;
	if (threads > 1 && topology->smt_percent == 100)
		topology->smt_percent = SMT_PERCENT;
	return NULL;
}

/* "node": the caches that follow belong to a memory node of their own. */
static const char *take_node(struct parsing *parsing, u32 len)
{
	if (len != 1)
		return "'node' stands alone";
	if (parsing->nodes >= SIM_NODES_MAX)
		return "more than 64 nodes";
	parsing->node = parsing->nodes++;
	return NULL;
}

/* "distance A B D" */
static const char *take_distance(struct parsing *parsing, char **words, u32 len)
{
	u64 from, to, distance;

	if (len != 4 || !number(words[1], 0, SIM_NODES_MAX - 1, &from) ||
	    !number(words[2], 0, SIM_NODES_MAX - 1, &to) || !number(words[3], DISTANCE_OWN_NODE, 255, &distance))
		return "'distance' wants two nodes and a number from 10 to 255";
	parsing->nodes_named = to >= parsing->nodes_named ? (u32)to + 1 : parsing->nodes_named;
	parsing->nodes_named = from >= parsing->nodes_named ? (u32)from + 1 : parsing->nodes_named;
	parsing->topology->distances[from][to] = parsing->topology->distances[to][from] = (u16)distance;
	return NULL;
}

/* "move core|cache|node|cross US": what a move so far costs. */
static const char *take_move(struct parsing *parsing, char **words, u32 len)
{
	static const char *const names[DISTANCES] = { "core", "cache", "node", "cross" };
	u64 cost_us;

	if (len == 3 && number(words[2], 0, 100000, &cost_us))
		for (u32 i = 0; i < DISTANCES; i++)
			if (!strcmp(words[1], names[i])) {
				parsing->topology->move_ns[i] = cost_us * NSEC_PER_USEC;
				return NULL;
			}
	return "'move' wants core, cache, node or cross, and microseconds up to 100000";
}

static const char *take_line(struct parsing *parsing, char **words, u32 len)
{
	u64 percent;

	if (!strcmp(words[0], "node"))
		return take_node(parsing, len);
	if (!strcmp(words[0], "cache"))
		return take_cache(parsing, words, len);
	if (!strcmp(words[0], "distance"))
		return take_distance(parsing, words, len);
	if (!strcmp(words[0], "move"))
		return take_move(parsing, words, len);
	if (strcmp(words[0], "smt"))
		return "none of node, cache, distance, move, smt";
	if (len != 2 || !number(words[1], 10, 100, &percent))
		return "'smt' wants a percentage from 10 to 100: the speed beside a busy sibling";
	parsing->topology->smt_percent = (u32)percent;
	return NULL;
}

static const char *take_text_line(struct parsing *parsing, const char *from, size_t bytes)
{
	char line[LINE_MOST], *words[8], *rest = NULL;
	u32 len = 0;

	if (bytes >= sizeof(line))
		return "is longer than 255 bytes";
	memcpy(line, from, bytes);
	line[bytes] = '\0';
	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
		if (len == 8)
			return "has more words than any line may have";
		words[len++] = word;
	}
	return len ? take_line(parsing, words, len) : NULL;
}

int sim_topology_parse(struct sim_topology *topology, const char *text, struct reason *why)
{
	struct parsing parsing = { .topology = topology };
	u32 line = 1;

	begin(topology, 0);
	for (const char *at = text; *at; line++) {
		size_t bytes = strcspn(at, "\n");
		const char *wrong = take_text_line(&parsing, at, bytes);

		if (wrong) {
			reason_set(why, "line %u: %s", line, wrong);
			return -EINVAL;
		}
		at += bytes + (at[bytes] == '\n');
	}
	if (topology->cpus_len < 1) {
		reason_set(why, "has no 'cache' line, so no CPU");
		return -EINVAL;
	}
	if (parsing.nodes_named > parsing.node + 1) {
		reason_set(why, "a 'distance' names node %u, and there are %u", parsing.nodes_named - 1,
			   parsing.node + 1);
		return -EINVAL;
	}
	link_siblings(topology);
	return 0;
}
