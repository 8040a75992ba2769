// SPDX-License-Identifier: GPL-2.0
/* Keeps lines of a file that give options their values, and finds the one that counts.
 */
#include "defaults.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

static defaults_reader read_by;

int defaults_add(struct option_defaults *defaults, const char *command, const char *name, const char *value, int line)
{
	struct option_default one = {
		.command = command ? strdup(command) : NULL, .name = strdup(name), .value = strdup(value), .line = line
	};

	if ((command && !one.command) || !one.name || !one.value || !vec_one_more(defaults->all, defaults->len)) {
		free(one.command);
		free(one.name);
		free(one.value);
		return -ENOMEM;
	}
	defaults->all[defaults->len++] = one;
	return 0;
}

void defaults_free(struct option_defaults *defaults)
{
	for (size_t i = 0; i < defaults->len; i++) {
		free(defaults->all[i].command);
		free(defaults->all[i].name);
		free(defaults->all[i].value);
	}
	free(defaults->all);
	free(defaults->path);
	*defaults = (struct option_defaults){ 0 };
}

const struct option_default *defaults_find(const struct option_defaults *defaults, const char *command,
					   const char *name)
{
	const struct option_default *found = NULL;

	for (size_t i = 0; defaults && i < defaults->len; i++) {
		const struct option_default *one = &defaults->all[i];

		if (strcmp(one->name, name) != 0 || (one->command && strcmp(one->command, command) != 0))
			continue;
		if (!found || one->command || !found->command)
			found = one;
	}
	return found;
}

bool choices_have(const char *choices, const char *value)
{
	bool is_open = !strchr(choices, '|');

	for (size_t len; *choices && !is_open; choices += len + (choices[len] == '|')) {
		len = strcspn(choices, "|");
		is_open = isupper((unsigned char)choices[0]) || (!strncmp(choices, value, len) && !value[len]);
	}
	return is_open;
}

void defaults_read_by(defaults_reader reader)
{
	read_by = reader;
}

int defaults_read(const char *config, const struct option_defaults **out)
{
	*out = NULL;
	return read_by ? read_by(config, out) : 0;
}
