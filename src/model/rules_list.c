// SPDX-License-Identifier: GPL-2.0
/* All rules on programs and on names of threads, one by one, for who shows them.
 */
#include "roles.h"
#include "rules.h"
#include "rules_table.h"

void rules_list(const struct rules *rules, void (*each)(void *data, const struct listed_rule *rule), void *data)
{
	static const char *const sections[RULE_KINDS] = { "games", "compositors", "sound", "helpers" };

	for (size_t i = 0; i < rules->len; i++) {
		const struct rule *rule = &rules->all[i];

		each(data, &(struct listed_rule){ .section = sections[rule->kind],
						  .pattern = rule->pattern,
						  .value = rule->yes ? "yes" : "no",
						  .line = rule->line });
	}
	for (size_t i = 0; i < rules->names_len; i++)
		each(data, &(struct listed_rule){ .section = "roles",
						  .pattern = rules->names[i].name,
						  .is_beginning = !rules->names[i].exact,
						  .value = role_name(rules->names[i].role),
						  .line = rules->name_lines[i] });
	for (const struct builtin_rule *rule = builtin_rules; rule->pattern; rule++)
		each(data, &(struct listed_rule){
				   .section = sections[rule->kind], .pattern = rule->pattern, .value = "yes" });
	for (const struct name_rule *rule = builtin_names; rule->name; rule++)
		each(data, &(struct listed_rule){ .section = "roles",
						  .pattern = rule->name,
						  .is_beginning = !rule->exact,
						  .value = role_name(rule->role) });
}
