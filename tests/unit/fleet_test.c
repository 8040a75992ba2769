// SPDX-License-Identifier: GPL-2.0
/* model/fleet.c and fleet_answer.c: the rank that holds others up is found, with its cause, and nobody else; and what a
 * server answers is taken apart or refused. base/json_read.c and http_client.c beside them. */
#include "../../src/base/http_client.h"
#include "../../src/base/json_read.h"
#include "../../src/model/fleet_answer.h"
#include "tap.h"

enum { RANKS = 8, LATE = 5 };

static struct fleet fleet;

/* Eight ranks of 100 steps of 100 ms. All but LATE wait `waited` of a step for it; it does `part` meanwhile. */
static void make(double waited, enum step_part part, double noise)
{
	char rank[12];

	fleet_free(&fleet);
	for (u32 i = 0; i < RANKS; i++) {
		bool is_late = i == LATE;
		double own = noise * (double)(i * 7 % RANKS) / RANKS;

		snprintf(rank, sizeof(rank), "%u", i);
		fleet_take(&fleet, i < 4 ? "a" : "b", rank, FLEET_STEPS, "", 100);
		fleet_take(&fleet, i < 4 ? "a" : "b", rank, FLEET_STEP_S, "all", 10);
		for (u32 of = 0; of < STEP_PARTS; of++) {
			double share = 0.05 + own;

			if (of == STEP_COLLECTIVE)
				share = is_late ? 0.01 : waited + own;
			else if (of == part && is_late)
				share += waited;
			/* Those who wait for others sleep meanwhile. */
			if (of == STEP_SLEPT && !is_late)
				share += waited;
			fleet_take(&fleet, i < 4 ? "a" : "b", rank, FLEET_STEP_S, step_part_name(of), share * 10);
		}
	}
	fleet_judge(&fleet);
}

static void test_causes(void)
{
	static const struct {
		enum step_part part;
		enum fleet_cause cause;
	} cases[] = { { STEP_CPU_WAIT, FLEET_CPU }, { STEP_DATA, FLEET_DATA }, { STEP_LOCK, FLEET_LOCK },
		      { STEP_SYNC, FLEET_GPU },	    { STEP_COPY, FLEET_GPU },  { STEP_RAN, FLEET_WORK },
		      { STEP_SLEPT, FLEET_NOT_IT } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u32 others = 0;

		make(0.4, cases[i].part, 0.04);
		for (u32 rank = 0; rank < RANKS; rank++)
			others += rank != LATE && fleet.ranks[rank].cause != FLEET_NONE;
		is(fleet.ranks[LATE].cause, cases[i].cause, "the rank that is late by %s is found by it",
		   step_part_name(cases[i].part));
		is(others, 0, "nobody else is blamed where one is late by %s", step_part_name(cases[i].part));
	}
	make(0.0, STEP_DATA, 0.04);
	is(fleet.blamed, 0, "where all are equal nobody is blamed");
	make(0.05, STEP_DATA, 0);
	is(fleet.blamed, 0, "a rank that is late by a twentieth of a step is not blamed");
	fleet_free(&fleet);
	fleet_take(&fleet, "a", "0", FLEET_STEPS, "", 100);
	fleet_take(&fleet, "a", "0", FLEET_STEP_S, "all", 10);
	fleet_judge(&fleet);
	is(fleet.blamed, 0, "rank that is alone is not compared");
	fleet_take(&fleet, "a", "0", FLEET_STEP_S, "all", -1.0 / 0.0);
	fleet_judge(&fleet);
	is(fleet.judged, 0, "a figure that is no number is none");
	fleet_free(&fleet);
}

/* Steps of 88 ms on a full machine: each has 5 ms to do and waits 30 ms for CPUs meanwhile. LATE also waits 25 ms for
 * `part`, and 28 ms more for CPUs, since it is woken oftener; or 53 ms for a CPU that somebody has. */
static void make_crowded(enum step_part part)
{
	char rank[12];

	fleet_free(&fleet);
	for (u32 i = 0; i < RANKS; i++) {
		double parts_s[STEP_PARTS] = {
			[STEP_CPU_WAIT] = 3, [STEP_SYNC] = 0.4, [STEP_DATA] = 0.1, [STEP_COLLECTIVE] = 5.3
		};

		if (i == LATE) {
			parts_s[STEP_COLLECTIVE] = 0;
			parts_s[STEP_CPU_WAIT] += part == STEP_CPU_WAIT ? 0 : 2.8;
			parts_s[part] += part == STEP_CPU_WAIT ? 5.3 : 2.5;
		}
		snprintf(rank, sizeof(rank), "%u", i);
		fleet_take(&fleet, "a", rank, FLEET_STEPS, "", 100);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "all", 8.8);
		for (u32 of = 0; of < STEP_PARTS; of++)
			fleet_take(&fleet, "a", rank, FLEET_STEP_S, step_part_name(of), parts_s[of]);
	}
	fleet_judge(&fleet);
}

/* All are equal, but the waits for CPUs of one were a quarter longer. */
static void make_chance(void)
{
	char rank[12];

	fleet_free(&fleet);
	for (u32 i = 0; i < RANKS; i++) {
		bool is_late = i == LATE;

		snprintf(rank, sizeof(rank), "%u", i);
		fleet_take(&fleet, "a", rank, FLEET_STEPS, "", 100);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "all", 10);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "cpu_wait", is_late ? 7.5 : 6);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "sync", 1.5);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "collective", is_late ? 1 : 2.5);
	}
	fleet_judge(&fleet);
}

/* One that has a little more to do of two things, for which it waits three times as long for CPUs as all do. */
static void make_all_noise(void)
{
	char rank[12];

	fleet_free(&fleet);
	for (u32 i = 0; i < RANKS; i++) {
		bool is_late = i == LATE;

		snprintf(rank, sizeof(rank), "%u", i);
		fleet_take(&fleet, "a", rank, FLEET_STEPS, "", 100);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "all", 10);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "cpu_wait", is_late ? 6.75 : 4.5);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "data", is_late ? 1.15 : 0.75);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "lock", is_late ? 1.1 : 0.75);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "collective", is_late ? 1 : 4);
	}
	fleet_judge(&fleet);
}

/* As seen at a load of 25 on two CPUs: the others are late at times as well, so that the late one waits too. */
static void make_noisy(void)
{
	static const double waits[RANKS] = { 0.608, 0.528, 0.516, 0.507, 0.590, 0.286, 0.506, 0.599 };
	char rank[12];

	fleet_free(&fleet);
	for (u32 i = 0; i < RANKS; i++) {
		snprintf(rank, sizeof(rank), "%u", i);
		fleet_take(&fleet, "a", rank, FLEET_STEPS, "", 100);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "all", 10);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "collective", waits[i] * 10);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "cpu_wait", i == LATE ? 0.4 : 2.2);
		fleet_take(&fleet, "a", rank, FLEET_STEP_S, "data", i == LATE ? 6 : 1.5);
	}
	fleet_judge(&fleet);
}

static void test_crowded(void)
{
	make_crowded(STEP_LOCK);
	is(fleet.ranks[LATE].cause, FLEET_LOCK,
	   "a lock is not taken for the CPUs that all ranks of a full machine wait for");
	make_crowded(STEP_DATA);
	is(fleet.ranks[LATE].cause, FLEET_DATA,
	   "a DataLoader is not taken for the CPUs that all ranks of a full machine wait for");
	make_crowded(STEP_CPU_WAIT);
	is(fleet.ranks[LATE].cause, FLEET_CPU, "a rank whose CPU somebody has is found on a full machine too");
	is(fleet.blamed, 1, "nobody else is blamed on a full machine");
	make_noisy();
	is(fleet.ranks[LATE].cause, FLEET_DATA,
	   "a rank that is late in most steps is found where others are late in some");
	is(fleet.blamed, 1, "who is late in some steps is not blamed");
	make_chance();
	is(fleet.ranks[LATE].cause, FLEET_NONE,
	   "a rank that waited for CPUs by chance a little longer on a full machine is not named");
	is(fleet.blamed, 0, "nobody is blamed for what a full machine does by chance");
	make_all_noise();
	is(fleet.ranks[LATE].cause, FLEET_NONE,
	   "a rank that is late by the waits of a full machine is not blamed for a twenty-fifth of a step");
	fleet_free(&fleet);
}

static struct fleet_sample last;

static void keep(void *data, const struct fleet_sample *sample)
{
	(void)data;
	last = *sample;
}

static long parse(const char *text)
{
	char error[FLEET_ERROR_SIZE];

	memset(&last, 0, sizeof(last));
	return fleet_answer_parse(text, strlen(text), keep, NULL, error);
}

static void test_answers(void)
{
	static const char good[] =
		"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{\"instance\":"
		"\"h\\u00e41:1\",\"rank\":\"3\",\"part\":\"data\",\"training_job\":\"j-1\",\"x\":[1,{\"y\":null}]},"
		"\"value\":[17.5,\"2.5e1\"]}]}"
		"}";
	char error[FLEET_ERROR_SIZE];
	bool holds = true;

	is(parse(good), 1, "an answer of one sample has one");
	is_text(last.rank, "3", "a sample has its rank");
	is_text(last.host,
		"h\xc3\xa4"
		"1:1",
		"a sample has its host, escapes and all");
	is_text(last.part, "data", "a sample has its part");
	is_text(last.job, "j-1", "a sample has its job");
	is((u64)last.value, 25, "a sample has its value");
	is(parse("{\"status\":\"success\",\"data\":{\"result\":[]}}"), 0, "an answer without samples has none");
	is((u64)parse("{\"status\":\"error\",\"error\":\"bad query\"}"), (u64)-1, "a refusal is one");
	fleet_answer_parse("{\"status\":\"error\",\"error\":\"bad query\"}", 40, keep, NULL, error);
	is((u64)parse("<html>"), (u64)-1, "what is no JSON is refused");
	is((u64)parse(""), (u64)-1, "nothing is refused");
	is((u64)parse("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["), (u64)-1, "depth without end is refused");
	for (size_t len = 0; len + 1 < sizeof(good) - 1; len++)
		holds &= fleet_answer_parse(good, len, keep, NULL, error) == -1;
	ok(holds, "an answer that is cut anywhere is refused");
}

static void test_client(void)
{
	struct http_target target;
	char host[HTTP_NAME_SIZE], escaped[32];
	size_t at;
	u32 port;

	ok(http_target_parse(&target, "http://10.0.0.1:9091/prom/", 9090, host, &port), "a URL with a prefix is one");
	is(port, 9091, "a URL has its port");
	is_text(target.path, "/prom", "a URL's prefix has no slash at its end");
	ok(http_target_parse(&target, "http://[::1]", 9090, host, &port), "a URL may have an address of IPv6");
	is(port, 9090, "a URL without a port has the usual one");
	ok(!http_target_parse(&target, "ftp://x", 1, host, &port), "another scheme is refused");
	ok(!http_target_parse(&target, "http://", 1, host, &port), "a URL without a host is refused");
	ok(!http_target_parse(&target, "http://a:0", 1, host, &port), "port 0 is refused");
	ok(!http_target_parse(&target, "http://a/b\r\nc", 1, host, &port), "a URL with a line's end is refused");
	ok(http_escape(escaped, sizeof(escaped), "a{b=\"c\"}"), "a query is escaped");
	is_text(escaped, "a%7Bb%3D%22c%22%7D", "all but letters and digits are escaped");
	ok(!http_escape(escaped, 8, "{{{{{{"), "a query without room is refused");
	is(http_answer_status("HTTP/1.1 200 OK\r\nA: b\r\n\r\nxy", 27, &at), 200, "an answer has its status");
	is(at, 25, "an answer's body is behind the empty line");
	is(http_answer_status("HTTP/1.1 2x0 OK\r\n\r\n", 19, &at), 0, "a status that is no number is none");
	is(http_answer_status("SSH-2.0-x\r\n\r\n", 13, &at), 0, "what is no HTTP has no status");
}

int main(void)
{
	test_causes();
	test_crowded();
	test_answers();
	test_client();
	return tap_end();
}
