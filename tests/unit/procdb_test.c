// SPDX-License-Identifier: GPL-2.0
/* What is learned of kinds of threads: the seed's numbers, eviction, ageing, and what one thread shows itself to be.
 * Needs no kernel and no root. */
#include "../../src/model/procdb.h"

#include "tap.h"

static struct kind_seen seen_as(u32 tier, u32 role, u64 avg_ns, u64 dev_ns)
{
	struct kind_seen seen = { .threads = 1,
				  .notes = 1,
				  .figures = { .avg_runtime_ns = avg_ns, .runtime_dev_ns = dev_ns } };

	seen.tier_votes[tier] = 1;
	seen.role_votes[role] = 1;
	return seen;
}

static void test_confidence(void)
{
	struct profile profile = { .tier_votes = { 7, 2, 1 }, .observations = 10 };

	is(profile_confidence_ppm(&profile), 700000, "confidence of 7 in 10 votes is 0.7");
	is(profile_tier(&profile), TIER_BATCH, "tier of a profile is that of most votes");
	is(profile_tier_ppm(&profile), 350000, "confidence without an average run is half");
	profile.figures = (struct kind_figures){ .avg_runtime_ns = 1000, .runtime_dev_ns = 0 };
	is(profile_tier_ppm(&profile), 700000, "confidence of a tier is all of the votes' where runs are all alike");
	profile.figures.runtime_dev_ns = 500;
	is(profile_tier_ppm(&profile), 525000,
	   "confidence of a tier is three quarters of the votes' where runs deviate by half the average");
	profile.figures.runtime_dev_ns = 5000;
	is(profile_tier_ppm(&profile), 350000, "a deviation beyond the average counts as the average");
	profile.observations = 2;
	is(profile_tier_ppm(&profile), 0, "two observations predict nothing");
	profile = (struct profile){ .tier_votes = { 0, 3, 0 }, .observations = 3 };
	profile.figures = (struct kind_figures){ .avg_runtime_ns = 10, .runtime_dev_ns = 8 };
	is(profile_tier_ppm(&profile), 600000, "1.0 x (0.5 + 0.5 x 0.2) is 0.6");
	ok(profile_is_confident(&profile), "confidence of just the limit is enough");
	profile.figures = (struct kind_figures){ .avg_runtime_ns = 1000000, .runtime_dev_ns = 800001 };
	ok(!profile_is_confident(&profile), "confidence a millionth below the limit is not enough");
	profile = (struct profile){ 0 };
	is(profile_confidence_ppm(&profile), 0, "confidence without votes is none");
	is(profile_tier(&profile), TIER_LATENCY_CRITICAL, "tier of equal votes is the last");
	profile.tier_votes[TIER_BATCH] = profile.tier_votes[TIER_INTERACTIVE] = 4;
	is(profile_tier(&profile), TIER_INTERACTIVE,
	   "tier of a profile with two tiers of equal votes is the last of them");
	profile = (struct profile){ .tier_votes = { 0, 0, 0xffffffff }, .observations = 0xffffffff };
	profile.figures = (struct kind_figures){ .avg_runtime_ns = PROCDB_FIGURE_MOST,
						 .runtime_dev_ns = PROCDB_FIGURE_MOST / 4 };
	is(profile_tier_ppm(&profile), 875000, "confidence of the largest numbers does not overflow");
}

static void test_learning(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_CPU_BOUND, 800, 80);
	struct profile profile = { 0 };

	seen.figures.wakeup_freq = 16;
	seen.figures.csw_rate = 24;
	profile_learn(&profile, &seen, 1000);
	is(profile.figures.avg_runtime_ns, 800, "first observation is taken as it is");
	seen = seen_as(TIER_BATCH, ROLE_CPU_BOUND, 1600, 0);
	profile_learn(&profile, &seen, 2000);
	is(profile.figures.avg_runtime_ns, 900, "average of runs is 7/8 old and 1/8 new: (800 x 7 + 1600) / 8");
	is(profile.figures.runtime_dev_ns, 70, "deviation is 7/8 old: 80 x 7 / 8");
	is(profile.figures.wakeup_freq, 14, "wake-ups are 7/8 old: 16 x 7 / 8");
	is(profile.figures.csw_rate, 21, "switches are 7/8 old: 24 x 7 / 8");
	is(profile.observations, 2, "profile counts two observations");
	ok(!profile_is_confident(&profile), "two observations are too few to be confident");
	profile_learn(&profile, &seen, 3000);
	ok(profile_is_confident(&profile), "three observations are enough to be confident");
	is(profile_guess(&profile).tier, TIER_BATCH, "confident profile predicts its tier");
	is(profile_guess(&profile).role, ROLE_CPU_BOUND, "confident profile predicts its role");
	is(profile_guess(&profile).figures.avg_runtime_ns, profile.figures.avg_runtime_ns,
	   "confident profile predicts its average run");
	is(profile.first_seen_s, 1000, "profile keeps when it was seen first");
	is(profile.last_seen_s, 3000, "profile keeps when it was seen last");
	/* A thread that turns out to be something else takes its vote back. */
	seen = (struct kind_seen){ .tier_votes = { -1, 0, 1 }, .notes = 1 };
	seen.role_votes[ROLE_CPU_BOUND] = -1;
	seen.role_votes[ROLE_RENDER] = 1;
	profile_learn(&profile, &seen, 3000);
	is(profile.tier_votes[TIER_BATCH], 2, "a corrected vote is taken back");
	is(profile.tier_votes[TIER_LATENCY_CRITICAL], 1, "corrected vote is given to the other tier");
	is(profile.observations, 3, "corrected vote is no further observation");
	seen.tier_votes[TIER_BATCH] = -100;
	profile_learn(&profile, &seen, 3000);
	is(profile.tier_votes[TIER_BATCH], 0, "votes never fall below none");
	profile.tier_votes[TIER_LATENCY_CRITICAL] = 0xfffffffe;
	seen.tier_votes[TIER_LATENCY_CRITICAL] = 5;
	profile_learn(&profile, &seen, 3000);
	is(profile.tier_votes[TIER_LATENCY_CRITICAL], 0xffffffff, "votes never exceed what fits");
}

static void test_history(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	struct profile profile = { 0 };

	for (u64 day = 10; day < 16; day++)
		for (u64 i = 0; i <= day - 10; i++)
			profile_learn(&profile, &seen, day * DAY_S + i);
	is(profile.days[0].day, 15, "history: the newest day is first");
	is(profile.days[0].tier_votes[TIER_BATCH], 6, "newest day has its votes");
	is(profile.days[PROCDB_DAYS - 1].day, 12, "history keeps only so many days");
	is(profile.tier_votes[TIER_BATCH], 21, "history that forgets days keeps all votes");
}

static void test_adding(void)
{
	struct profile a = { .tier_votes = { 3, 1, 0 }, .observations = 4, .first_seen_s = 50, .last_seen_s = 60 };
	struct profile b = { .tier_votes = { 1, 0, 2 }, .observations = 12, .first_seen_s = 40, .last_seen_s = 55 };

	a.figures.avg_runtime_ns = 100;
	b.figures.avg_runtime_ns = 200;
	profile_add(&a, &b);
	is(a.tier_votes[0], 4, "merged profiles have the sum of votes of the first tier");
	is(a.tier_votes[2], 2, "merged profiles have the sum of votes of the last tier");
	is(a.observations, 16, "merged profiles have the sum of observations");
	is(a.figures.avg_runtime_ns, 175, "figures are weighed: (100 x 4 + 200 x 12) / 16");
	is(a.first_seen_s, 40, "merged profiles were first seen at the earlier time");
	is(a.last_seen_s, 60, "merged profiles were last seen at the later time");
}

static struct kind_key numbered(u32 number)
{
	char comm[COMM_LEN];

	snprintf(comm, sizeof(comm), "kind-%u", number);
	return kind_key_of(comm, "/usr/bin/program");
}

static void test_keys(void)
{
	struct kind_key a = kind_key_of("worker", "/usr/bin/a"), b = kind_key_of("worker", "/usr/bin/b");
	struct kind_key deep = kind_key_of("sixteen-letters-and-more",
					   "/a/very/long/path/of/more/than/47/bytes/to/its/end/program");
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	struct procdb db;

	procdb_init(&db, 0);
	procdb_learn(&db, &a, &seen, 1);
	procdb_learn(&db, &b, &seen, 1);
	procdb_learn(&db, &b, &seen, 1);
	is(db.len, 2, "threads of one name in two programs are two kinds");
	is(procdb_find(&db, &b)->observations, 2, "kinds of one name in two programs have their own observations");
	is_text(deep.exe.text, "g/path/of/more/than/47/bytes/to/its/end/program", "key of a long path has its end");
	is(strlen(deep.comm.text), COMM_LEN - 1, "key of a long name has what the kernel keeps");
	procdb_free(&db);
}

/* Threads of ever new names, as a user starts them who means harm. */
enum { CHOSEN_KINDS = 4000 };

/* A name and a path for which a hash without a secret is always the same: the last word makes up for all before. */
static struct kind_key chosen_key(u64 number)
{
	u64 words[sizeof(struct kind_key) / sizeof(u64)] = { number }, hash = 0x9e3779b97f4a7c15ULL;
	size_t last = sizeof(words) / sizeof(words[0]) - 1;
	struct kind_key key;

	for (size_t i = 0; i < last; i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	words[last] = hash;
	memcpy(&key, words, sizeof(key));
	return key;
}

static int has_number(const struct procdb *db, u64 number)
{
	return map_get(&db->index, number) != 0;
}

static void test_chosen_names(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_CPU_BOUND, 1000, 0);
	u32 seconds = 0, found = 0;
	struct procdb db;

	procdb_init(&db, 0);
	for (u64 i = 0; i < CHOSEN_KINDS; i++) {
		struct kind_key key = chosen_key(i);

		procdb_learn(&db, &key, &seen, 1800000000);
	}
	/* Who has the number after another's was kept off his own by that one. */
	for (size_t i = 0; i < db.index.slots_len; i++)
		if (db.index.slots[i].place && has_number(&db, db.index.slots[i].key - 1))
			seconds++;
	for (u64 i = 0; i < CHOSEN_KINDS; i++) {
		struct kind_key key = chosen_key(i);

		found += procdb_find(&db, &key) != NULL;
	}
	is(seconds, 0, "kinds whose names were chosen to fall together have each a number of their own");
	is(found, CHOSEN_KINDS, "kinds whose names were chosen to fall together are all found");
	procdb_free(&db);
}

static void test_flood(void)
{
	enum { DAY = 24 * 3600, LIMIT = 1000, KNOWN = 100 };
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	u32 known = 0, came_again = 0;
	struct kind_key key;
	struct procdb db;

	procdb_init(&db, LIMIT);
	for (u32 i = 0; i < KNOWN; i++) {
		key = numbered(i);
		procdb_learn(&db, &key, &seen, 30 * DAY + i);
	}
	for (u32 i = 0; i < 20 * LIMIT; i++) {
		key = numbered(KNOWN + 1 + i);
		procdb_learn(&db, &key, &seen, 60 * DAY + i);
		key = numbered(KNOWN);
		procdb_learn(&db, &key, &seen, 60 * DAY + i);
		if (i % 500 == 0)
			procdb_evict(&db);
	}
	procdb_evict(&db);
	for (u32 i = 0; i < KNOWN; i++) {
		key = numbered(i);
		known += procdb_find(&db, &key) != NULL;
	}
	key = numbered(KNOWN);
	came_again = procdb_find(&db, &key) != NULL;
	is(db.len, LIMIT, "a database that is flooded with new kinds is as large as it may be");
	is(known, KNOWN,
	   "kinds that were learned a month ago outlast twenty times the database's room of new ones in a day");
	is(came_again, 1, "a new kind that comes again and again is kept beside others that come once");
	procdb_free(&db);
}

static void test_eviction(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	struct profile *best[3];
	struct kind_key key;
	struct procdb db;

	procdb_init(&db, 4);
	for (u32 i = 0; i < 8; i++) {
		key = numbered(i);
		procdb_learn(&db, &key, &seen, 1000 + i / 2);
	}
	key = numbered(4);
	procdb_learn(&db, &key, &seen, 1002);
	is(procdb_evict(&db), 4, "eviction above the limit takes four");
	for (u32 i = 0; i < 4; i++) {
		key = numbered(i);
		ok(!procdb_find(&db, &key), "kind longest unseen is evicted first: %u", i);
	}
	db.limit = 3;
	procdb_evict(&db);
	key = numbered(5);
	ok(!procdb_find(&db, &key), "kind less often observed is evicted of two equally long unseen");
	db.limit = 2;
	procdb_evict(&db);
	key = numbered(4);
	ok(!procdb_find(&db, &key), "kind less often observed is evicted next");
	db.limit = 1;
	procdb_evict(&db);
	key = numbered(6);
	ok(!procdb_find(&db, &key), "kind first by key is evicted of two equal in all else");
	key = numbered(7);
	ok(procdb_find(&db, &key), "kind that is last by key stays");
	for (u32 i = 10; i < 15; i++) {
		key = numbered(i);
		for (int k = 0; k < 3; k++)
			procdb_learn(&db, &key, &seen, 2000 + i);
	}
	is(procdb_best(&db, best, 3), 3, "kernel gets as many kinds as it has room for");
	key = numbered(14);
	is_text(best[0]->key.comm.text, key.comm.text, "kernel gets the kind last seen before all others");
	is_text(best[0]->key.exe.text, key.exe.text, "kernel gets the kind last seen with its program");
	procdb_free(&db);
}

static void test_ageing(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	u64 now_s = 20000 * (u64)DAY_S;
	struct kind_key key;
	struct procdb db;

	procdb_init(&db, 0);
	for (u32 i = 0; i < 100; i++) {
		key = numbered(i);
		procdb_use(&db, now_s + i * (u64)DAY_S);
		procdb_use(&db, now_s + i * (u64)DAY_S + 100);
		procdb_learn(&db, &key, &seen, now_s + i * (u64)DAY_S);
	}
	is(db.use_days, 100, "database in use on 100 days counts each once");
	is(procdb_age(&db, 30), 69, "kinds not seen for more than 30 days of use go");
	key = numbered(69);
	ok(procdb_find(&db, &key), "kind seen 30 days of use ago stays");
	is(procdb_forget_older(&db, now_s + 99 * (u64)DAY_S, 10), 20, "kinds older than 10 days go on the user's word");
	is(procdb_forget_older(&db, 1000, 10), 0, "clock of 1970 makes no kind older, on the user's word either");
	procdb_free(&db);
}

static void test_wrong_clocks(void)
{
	struct kind_seen seen = seen_as(TIER_BATCH, ROLE_UNKNOWN, 1, 0);
	u64 now_s = 20000 * (u64)DAY_S;
	struct kind_key key = numbered(1), other = numbered(2);
	struct procdb db;

	procdb_init(&db, 0);
	procdb_use(&db, now_s);
	procdb_learn(&db, &key, &seen, now_s);
	for (u32 i = 0; i < 100; i++)
		procdb_use(&db, i * (u64)DAY_S);
	is(db.use_days, 1, "clock of 1970 counts no day of use");
	is(db.saved_s, now_s, "clock of 1970 leaves when a day was last counted");
	procdb_learn(&db, &key, &seen, 1000);
	is(procdb_find(&db, &key)->last_seen_s, now_s, "kind seen by a clock of 1970 keeps when it was seen last");
	procdb_use(&db, now_s + 10000 * (u64)DAY_S);
	procdb_learn(&db, &other, &seen, now_s + 10000 * (u64)DAY_S);
	is(db.use_days, 2, "leap of 10000 days is one day of use");
	is(procdb_age(&db, 1), 0, "kind not seen across a leap stays");
	procdb_use(&db, now_s + DAY_S);
	is(db.use_days, 3, "clock that is put right again counts the day");
	is(procdb_age(&db, 1), 1, "kind not seen on two days of use goes after one day");
	ok(procdb_find(&db, &other), "kind seen in the future stays after the clock was put right");
	is(procdb_find(&db, &other)->last_seen_s, now_s + 10000 * (u64)DAY_S, "last time seen is never lowered");
	procdb_free(&db);
}

/* Days of use from here on, so many threads a day, all of them alike. */
static void live(struct procdb *db, const struct kind_key *key, u32 tier, u32 role, u32 first_day, u32 days, u32 a_day)
{
	struct kind_seen seen = seen_as(tier, role, 1000, 0);

	for (u32 day = first_day; day < first_day + days; day++) {
		procdb_use(db, (20000 + day) * (u64)DAY_S);
		for (u32 i = 0; i < a_day; i++)
			procdb_learn(db, key, &seen, (20000 + day) * (u64)DAY_S + i);
	}
}

/* How many starts until it is predicted what it is by now; the day goes on, or each is on a day of its own. */
static u32 starts_until_known(struct procdb *db, const struct kind_key *key, u32 tier, u32 role, u32 day, bool same_day)
{
	for (u32 start = 1; start <= 100; start++) {
		const struct profile *profile;

		live(db, key, tier, role, same_day ? day : day + start, 1, 1);
		profile = procdb_find(db, key);
		if (profile_is_confident(profile) && profile_guess(profile).tier == tier &&
		    profile_guess(profile).role == role)
			return start;
	}
	return 0;
}

static void test_changed_nature(void)
{
	struct kind_key key = numbered(1);
	static const u32 a_day[] = { 1, 3, 10, 500 };

	for (size_t i = 0; i < sizeof(a_day) / sizeof(a_day[0]); i++)
		for (int same_day = 0; same_day < 2; same_day++) {
			struct procdb db;
			u32 starts;

			procdb_init(&db, 0);
			live(&db, &key, TIER_BATCH, ROLE_CPU_BOUND, 0, 90, a_day[i]);
			is(profile_guess(procdb_find(&db, &key)).tier, TIER_BATCH,
			   "kind that was batch for 90 days, %u threads a day, is predicted to be that", a_day[i]);
			is(procdb_find(&db, &key)->observations, 90 * a_day[i],
			   "kind whose votes fade counts all its observations, %u a day", a_day[i]);
			starts = starts_until_known(&db, &key, TIER_LATENCY_CRITICAL, ROLE_RENDER, same_day ? 89 : 90,
						    same_day);
			is_between(3, starts, 10,
				   "kind of 90 days with %u threads a day that changes its nature %s is known for what "
				   "it is "
				   "within ten starts: after %u",
				   a_day[i], same_day ? "in the middle of a day" : "and starts once a day", starts);
			procdb_free(&db);
		}
}

/* A kind of which four threads in five are batch, in no order, stays what it is. */
static void test_mixed_nature(void)
{
	struct kind_key key = numbered(2);
	u32 random = 12345, wrong = 0, looks = 0;
	struct procdb db;

	procdb_init(&db, 0);
	for (u32 day = 0; day < 200; day++) {
		procdb_use(&db, (20000 + day) * (u64)DAY_S);
		for (u32 i = 0; i < 50; i++) {
			struct kind_seen seen;

			random = random * 1664525 + 1013904223;
			seen = (random >> 16) % 5 ? seen_as(TIER_BATCH, ROLE_CPU_BOUND, 1000, 0)
						  : seen_as(TIER_INTERACTIVE, ROLE_UNKNOWN, 1000, 0);
			procdb_learn(&db, &key, &seen, (20000 + day) * (u64)DAY_S + i);
			looks += day > 0;
			wrong += day > 0 && profile_tier(procdb_find(&db, &key)) != TIER_BATCH;
		}
	}
	ok(wrong * 100 <= looks,
	   "kind of which one thread in five is otherwise keeps its tier while votes fade: %u of %u looks "
	   "were wrong",
	   wrong, looks);
	procdb_free(&db);
}

static void test_fading(void)
{
	struct kind_seen seen = seen_as(TIER_INTERACTIVE, ROLE_UNKNOWN, 1, 0), none = { 0 };
	struct profile profile = { .tier_votes = { 3, 2, 1 }, .role_votes = { 1 } };

	profile_fade(&profile, &none);
	is(profile.tier_votes[0] * 100 + profile.tier_votes[1] * 10 + profile.tier_votes[2], 321,
	   "few votes do not fade");
	profile.tier_votes[0] = 3000000000u;
	profile.tier_votes[1] = 1500000000u;
	profile.tier_votes[2] = 0;
	profile_fade(&profile, &none);
	is(profile.tier_votes[0], 4, "two thirds of very many votes fade to four of six");
	is(profile.tier_votes[1], 2, "votes that are one third of very many fade to two of six");
	profile = (struct profile){ .tier_votes = { 6, 1, 0 } };
	profile_fade(&profile, &seen);
	is(profile.tier_votes[1], 1, "what rounding leaves goes to what was seen last");
	is(profile.tier_votes[0], 5, "what rounding takes is taken from the others");
	profile = (struct profile){ .tier_votes = { 5, 5, 5 }, .role_votes = { 2, 2, 2, 2, 2, 2, 2, 2 } };
	profile_fade(&profile, &seen);
	is(votes_sum(profile.tier_votes, TIERS), 6, "votes fade to six in all, for each tier alike");
	is(votes_sum(profile.role_votes, ROLES), 6, "role votes fade to six in all, for eight roles alike");
}

/* A thread that began at 1 s and is looked at later. */
struct life {
	struct learner learner;
	struct role_state role;
	struct thread_account account;
};

static struct role_answer judged(struct life *life, u64 cpu_ms, u64 wait_ms, u64 span_ms)
{
	struct role_answer answer = { 0 };

	learner_begin(&life->learner, &life->account, NSEC_PER_SEC);
	life->account.cpu_ns += cpu_ms * NSEC_PER_MSEC;
	life->account.preempt_wait_ns += wait_ms * NSEC_PER_MSEC;
	learner_judge(&life->learner, &life->role, &life->account, NSEC_PER_SEC + span_ms * NSEC_PER_MSEC, &answer);
	return answer;
}

static void test_observing(void)
{
	struct life life = { 0 };
	struct role_answer answer = judged(&life, 12, 6, 20);

	is(answer.tier, TIER_BATCH, "thread that wanted a CPU all its short life is batch");
	is(answer.role, ROLE_CPU_BOUND, "thread that wanted a CPU all its short life is CPU-bound");
	answer = judged(&life, 1, 1, 2);
	is(answer.tier, TIER_INTERACTIVE, "thread gone at once is not taken for batch");
	answer = judged(&life, 12, 0, 100);
	is(answer.tier, TIER_INTERACTIVE, "thread that mostly slept is not taken for batch");
	life.role.pattern = (struct pattern){ .calls = 1 };
	answer = judged(&life, 400, 100, 510);
	is(answer.tier, TIER_INTERACTIVE, "thread whose behaviour was judged has that tier");
	life.role.facts = (struct role_facts){ .user_role = ROLE_AUDIO,
					       .name_role = ROLE_RENDER,
					       .learned_role = ROLE_INPUT,
					       .learned_confidence = 90,
					       .learned_tier = TIER_LATENCY_CRITICAL,
					       .has = HAS_LEARNED };
	life.role.pattern = (struct pattern){ 0 };
	answer = judged(&life, 1, 0, 100);
	is(answer.role, ROLE_UNKNOWN, "role by user, name and database is no observation");
	is(answer.tier, TIER_INTERACTIVE, "tier by user, name and database is no observation");
	life.role.facts.gpu_submits = 20;
	answer = judged(&life, 1, 0, 100);
	is(answer.role, ROLE_RENDER, "role by what the thread did is an observation");
}

static void test_averages(void)
{
	struct life life = { 0 };
	struct kind_figures figures;

	life.account.cpu_ns = 77;
	life.account.wakeups = 5;
	learner_begin(&life.learner, &life.account, NSEC_PER_SEC);
	for (int i = 0; i < LEARN_AGE; i++) {
		life.account.cpu_ns += i ? 1600 : 800;
		life.account.wakeups++;
		life.account.voluntary++;
		learner_ran(&life.learner, &life.account);
	}
	is(life.learner.age, 8, "learner's average has the age of 8 runs");
	figures = learner_figures(&life.learner, &life.account, 3ULL * NSEC_PER_SEC);
	is(figures.avg_runtime_ns, 1288, "learner's average is of runs since its program began");
	is(figures.wakeup_freq, 4, "8 wake-ups in 2 s are 4 a second");
	is(figures.csw_rate, 4, "8 switches in 2 s are 4 a second");
	learner_begin(&life.learner, &life.account, 3ULL * NSEC_PER_SEC);
	is(life.learner.age, 0, "learner begins anew at an exec");
	figures = learner_figures(&life.learner, &life.account, 3ULL * NSEC_PER_SEC);
	is(figures.wakeup_freq, 0, "learner without time has no rate");
}

static void test_predicting(void)
{
	struct role_facts facts = { .has = HAS_LEARNED, .learned_tier = TIER_BATCH };
	struct pattern pattern = { 0 };

	is(role_decide(&facts, &pattern).tier, TIER_BATCH, "a new thread starts in the tier of its kind");
	is(role_decide(&facts, &pattern).role, ROLE_UNKNOWN, "learned tier may be all that is known");
	is(role_decide(&facts, &pattern).evidence, EVIDENCE_LEARNED, "learned tier is evidence");
	facts.name_role = ROLE_RENDER;
	is(role_decide(&facts, &pattern).tier, TIER_BATCH, "learned tier outweighs a name");
	facts.learned_role = ROLE_CPU_BOUND;
	facts.learned_confidence = 80;
	is(role_decide(&facts, &pattern).evidence, EVIDENCE_LEARNED, "a learned role is evidence");
	facts.presents = 20;
	is(role_decide(&facts, &pattern).tier, TIER_LATENCY_CRITICAL, "what a thread does outweighs what was learned");
	facts = (struct role_facts){ .has = HAS_LEARNED, .learned_tier = TIER_BATCH };
	pattern.timely = 100;
	is(role_decide(&facts, &pattern).tier, TIER_LATENCY_CRITICAL, "how a thread runs outweighs what was learned");
	pattern = (struct pattern){ .calls = LEARNED_CALLS };
	is(role_decide(&facts, &pattern).tier, TIER_INTERACTIVE,
	   "thread judged often enough is what it is, not what its kind was");
	facts.learned_tier = TIER_LATENCY_CRITICAL;
	pattern.calls = 0;
	is(role_decide(&facts, &pattern).boost, 1, "an urgent kind is boosted");
}

/* Beside other work a thread is pushed off again and again; what it does at a time is the same. */
static void test_runs_pushed_off(void)
{
	struct life quiet = { 0 }, busy = { 0 };

	learner_begin(&quiet.learner, &quiet.account, 0);
	learner_begin(&busy.learner, &busy.account, 0);
	for (u64 i = 0; i < 2ULL * LEARN_AGE; i++) {
		quiet.account.cpu_ns += 1000;
		learner_ran(&quiet.learner, &quiet.account);
		busy.account.cpu_ns += 50 * i;
		busy.account.wait_kind = WAIT_PREEMPTED;
		learner_ran(&busy.learner, &busy.account);
		busy.account.cpu_ns += 1000 - 50 * i;
		busy.account.wait_kind = WAIT_NONE;
		learner_ran(&busy.learner, &busy.account);
	}
	is(learner_figures(&busy.learner, &busy.account, 1).avg_runtime_ns,
	   learner_figures(&quiet.learner, &quiet.account, 1).avg_runtime_ns,
	   "a run from sleep to sleep is as long for a thread that is pushed off as for one that is not");
	is(busy.learner.run_dev_ns, 0, "runs of equal length have no deviation where each is cut at another place");
	learner_begin(&busy.learner, &busy.account, 0);
	busy.account.cpu_ns += 700;
	busy.account.wait_kind = WAIT_PREEMPTED;
	learner_ran(&busy.learner, &busy.account);
	is(busy.learner.age, 1, "a thread that never sleeps matures by each time that it is pushed off");
	is(learner_figures(&busy.learner, &busy.account, 1).avg_runtime_ns, 700,
	   "the run of a thread that never slept is all that it ran");
}

int main(void)
{
	test_confidence();
	test_learning();
	test_history();
	test_adding();
	test_keys();
	test_eviction();
	test_chosen_names();
	test_flood();
	test_ageing();
	test_wrong_clocks();
	test_fading();
	test_changed_nature();
	test_mixed_nature();
	test_observing();
	test_averages();
	test_runs_pushed_off();
	test_predicting();
	return tap_end();
}
