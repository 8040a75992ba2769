// SPDX-License-Identifier: GPL-2.0
/* Parses and keeps the options about roles.
 * Games are kept as words until the rules are made. */
#include "role_options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "../base/say.h"
#include "../sensor/sensor_set.h"
#include "../store/rules_file.h"

enum { GAMES_MAX = 64 };

static struct role_options chosen = { .wakeups = ROLE_WAKEUPS_DEFAULT };
static const char *games[GAMES_MAX];
static int games_len;
static int first_key; /* 0: none was given */

const char *role_options_given(void)
{
	static const struct argp_option options[] = { ROLE_OPTIONS, { 0 } };

	for (int i = 0; options[i].name; i++)
		if (options[i].key == first_key)
			return options[i].name;
	return NULL;
}

const char *role_options_take(int key, const char *value)
{
	u64 number;

	first_key = first_key ? first_key : key;

	switch (key) {
	case KEY_WITHOUT:
		chosen.without = value;
		return sensor_set_check_names(value);
	case KEY_AFTER_WAKEUPS:
		if (parse_number(value, 1000000, &number) || number < 2)
			return "is not a number from 2 to 1000000";
		chosen.wakeups = (u32)number;
		return NULL;
	case KEY_DB_FILE:
		chosen.db.path = value;
		return NULL;
	case KEY_DB_LIMIT:
		if (parse_number(value, PROCDB_LIMIT_MOST, &number) || !number)
			return "is not a number from 1 to 1000000";
		chosen.db.limit = (size_t)number;
		return NULL;
	case KEY_DB_DAYS:
		if (parse_number(value, 36500, &number) || !number)
			return "is not a number of days from 1 to 36500";
		chosen.db.days = number;
		return NULL;
	case KEY_GAME:
		if (!value[0])
			return "is neither a PID nor a name";
		if (games_len == GAMES_MAX)
			return "is one game too many: use the config file";
		games[games_len++] = value;
		return NULL;
	default:
		return "is not known";
	}
}

void role_options_forget(void)
{
	chosen = (struct role_options){ .wakeups = ROLE_WAKEUPS_DEFAULT };
	games_len = 0;
	first_key = 0;
}

const struct role_options *role_options(void)
{
	return &chosen;
}

u32 role_options_wakeups(void)
{
	return sensor_set_leaves_out(chosen.without, "runtime") ? ROLE_WAKEUPS_NEVER : chosen.wakeups;
}

int role_options_check_games(void)
{
	u64 pid;

	for (int i = 0; i < games_len; i++)
		if (!parse_number(games[i], INT_MAX, &pid) && pid && kill((pid_t)pid, 0) && errno == ESRCH)
			return fail("--game", "no process has pid %s", games[i]);
	return 0;
}

int role_options_rules(struct rules **out)
{
	const char *config = options_config();

	*out = rules_new();
	if (!*out)
		return fail("rules", "out of memory");
	if (rules_read(*out, config ? config : CONFIG_FILE, config != NULL) < 0)
		return EXIT_FAILURE;
	for (int i = 0; i < games_len; i++) {
		const char *wrong = rules_add_game(*out, games[i]);

		if (wrong)
			return fail("--game", "'%s' %s", games[i], wrong);
	}
	return 0;
}
