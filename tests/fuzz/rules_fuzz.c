// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a config file, and after a double NUL as what a process says of itself.
 * Messages are caught here: none may hold a byte that a terminal would act on. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/say.h"
#include "../../src/store/rules_file.h"

static void check(const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			abort();
}

void reason_set(struct reason *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check(format, args);
	va_end(args);
}

int fail(const char *what, const char *format, ...)
{
	va_list args;

	(void)what;
	va_start(args, format);
	check(format, args);
	va_end(args);
	return EXIT_FAILURE;
}

static void take_name(void *data, const struct name_rule *rule)
{
	*(size_t *)data += strlen(rule->name) + (rule->role >= ROLES ? abort(), 0 : 0);
}

static void take_launch(void *data, const struct launch_rule *rule)
{
	for (size_t i = 0; i < rule->len; i++)
		*(size_t *)data += (unsigned char)rule->text[i];
}

/* The next part of the input, up to a double NUL, with an end of its own. */
static char *next_part(const uint8_t **at, size_t *left, size_t *len)
{
	const uint8_t *end = memmem(*at, *left, "\0\0", 2);
	char *part;

	*len = end ? (size_t)(end - *at) : *left;
	part = malloc(*len + 1);
	if (!part)
		abort();
	memcpy(part, *at, *len);
	part[*len] = '\0';
	*left -= end ? *len + 2 : *len;
	*at += end ? *len + 2 : *len;
	return part;
}

/* Each line that counts can be found again, and no text of it has a byte that no text has. */
static void read_defaults(const char *config, size_t len)
{
	struct option_defaults defaults = { 0 };

	defaults_read_bytes(&defaults, "fuzz.conf", config, len);
	for (size_t i = 0; i < defaults.len; i++) {
		const struct option_default *one = &defaults.all[i];

		if (!one->name[0] || !one->value[0] || one->line < 1)
			abort();
		if (!defaults_find(&defaults, one->command ? one->command : "any", one->name))
			abort();
		for (const char *at = one->value; *at; at++)
			if (*at == 0x7f || ((unsigned char)*at < ' ' && *at != '\t'))
				abort();
	}
	defaults_free(&defaults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rules *rules = rules_new();
	struct process_traits traits = { .pid = 1 };
	size_t config_len, unused, sum = 0;
	char *config = next_part(&data, &size, &config_len), *comm = next_part(&data, &size, &unused);
	char *exe = next_part(&data, &size, &unused), *words = next_part(&data, &size, &traits.words_len);
	char *environ = next_part(&data, &size, &traits.environ_len);
	const char *why;
	u32 bits;

	rules_read_bytes(rules, "fuzz.conf", config, config_len);
	read_defaults(config, config_len);
	traits.comm = comm;
	traits.exe = exe;
	traits.words = words;
	traits.environ = environ;
	bits = rules_process(rules, &traits, &why);
	if (!!bits != !!why[0] || bits >> 6)
		abort();
	rules_names(rules, take_name, &sum);
	rules_launches(rules, take_launch, &sum);
	rules_free(rules);
	free(config);
	free(comm);
	free(exe);
	free(words);
	free(environ);
	return 0;
}
