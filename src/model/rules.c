// SPDX-License-Identifier: GPL-2.0
/* What names say: stands in until the real one does.
 * It knows nothing. */
#include "rules.h"

#include <stdlib.h>

struct rules {
	int none;
};
struct rules *rules_new(void)
{
	return calloc(1, sizeof(struct rules));
}
void rules_free(struct rules *rules)
{
	free(rules);
}
int rules_read(struct rules *rules, const char *path, bool required)
{
	(void)rules;
	(void)path;
	(void)required;
	return 0;
}
const char *rules_add_game(struct rules *rules, const char *pid_or_comm)
{
	(void)rules;
	(void)pid_or_comm;
	return NULL;
}
u32 rules_process(const struct rules *rules, const struct process_traits *traits, const char **why)
{
	(void)rules;
	(void)traits;
	*why = "";
	return 0;
}
void rules_names(const struct rules *rules, void (*each)(void *data, const struct name_rule *rule), void *data)
{
	(void)rules;
	(void)each;
	(void)data;
}
