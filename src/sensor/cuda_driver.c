// SPDX-License-Identifier: GPL-2.0
/* Reads the kernel's list of functions that can be probed, in tracefs, picks out the drivers', and probes them. All at
 * once comes first: a pattern may name hundreds, and fentry, whose hits cost less, takes two programs for each of them,
 * loaded and verified one by one. */
#include "cuda_driver.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/system.h"
#include "sensor.h"

enum { FUNCTIONS_MAX = 2048, LINE_SIZE = 512 };

static int add(struct driver_functions *functions, const char *symbol, const char *module)
{
	struct driver_function function;
	char name[LINE_SIZE * 2];

	if (functions->len == functions->room) {
		size_t room = functions->room ? functions->room * 2 : 64;
		struct driver_function *all = realloc(functions->all, room * sizeof(*all));

		if (!all)
			return -ENOMEM;
		functions->all = all;
		functions->room = room;
	}
	snprintf(name, sizeof(name), "%s:%s", module, symbol);
	function.symbol = strdup(symbol);
	function.name = strdup(name);
	if (!function.symbol || !function.name) {
		free(function.symbol);
		free(function.name);
		return -ENOMEM;
	}
	functions->all[functions->len++] = function;
	return 0;
}

/* "rm_ioctl [nvidia]"; functions of the kernel itself have no module. */
static int take_line(struct driver_functions *functions, const char *line, const char *module, const char *pattern)
{
	char symbol[LINE_SIZE], of[LINE_SIZE] = "vmlinux";

	if (sscanf(line, "%511s [%511[^]]]", symbol, of) < 1 || fnmatch(module, of, 0) || fnmatch(pattern, symbol, 0))
		return 0;
	return functions->len < FUNCTIONS_MAX ? add(functions, symbol, of) : -E2BIG;
}

int driver_functions_find(struct driver_functions *functions, const char *pattern, struct reason *why)
{
	const char *colon = strchr(pattern, ':');
	char module[64] = "nvidia*", line[LINE_SIZE];
	int tracefs_fd, fd, error = 0;
	FILE *file;

	if (colon)
		snprintf(module, sizeof(module), "%.*s", (int)(colon - pattern), pattern);
	if (!probe_kprobes(why))
		return -ENOTSUP;
	tracefs_fd = tracefs_open();
	fd = tracefs_fd >= 0 ? openat(tracefs_fd, "available_filter_functions", O_RDONLY | O_CLOEXEC) : -1;
	file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file)
		reason_set(why, "this kernel does not list its functions (CONFIG_DYNAMIC_FTRACE): %s", strerror(errno));
	while (file && !error && fgets(line, sizeof(line), file))
		error = take_line(functions, line, module, colon ? colon + 1 : pattern);
	if (tracefs_fd >= 0)
		close(tracefs_fd);
	if (!file)
		return -ENOTSUP;
	fclose(file);
	if (error == -E2BIG)
		reason_set(why, "more than %d functions fit %s: name fewer", FUNCTIONS_MAX, pattern);
	else if (!error && !functions->len)
		reason_set(why, "no function that can be probed fits %s in modules called %s", pattern, module);
	return error ? error : functions->len ? 0 : -ENOENT;
}

void driver_functions_free(struct driver_functions *functions)
{
	for (size_t i = 0; i < functions->len; i++) {
		free(functions->all[i].symbol);
		free(functions->all[i].name);
	}
	free(functions->all);
	*functions = (struct driver_functions){ 0 };
}

static int add_link(struct driver_probes *probes, struct bpf_link *link)
{
	struct bpf_link **links = realloc(probes->links, (probes->len + 1) * sizeof(*links));

	if (!links) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	probes->links = links;
	probes->links[probes->len++] = link;
	return 0;
}

static bool is_skipped(const char *hook, struct reason *why)
{
	if (!sensor_hook_is_skipped("cuda", hook))
		return false;
	reason_set(why, SENSOR_SKIPPED_WORDS);
	return true;
}

int driver_probe_all(struct driver_probes *probes, const struct bpf_program *program,
		     const struct driver_places *places, enum uprobe_side side, struct reason *why)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = places->symbols, .cookies = (const __u64 *)places->cookies,
		    .cnt = places->len, .retprobe = side == AT_RETURN);
	struct bpf_link *link;
	int error;

	if (is_skipped("kprobe.multi", why))
		return -ENOTSUP;
	link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
	if (link)
		return add_link(probes, link);
	error = -errno;
	reason_set(why, "%zu probes are refused: %s", places->len, strerror(-error));
	return error;
}

int driver_probe_each(struct driver_probes *probes, const struct bpf_program *program,
		      const struct driver_places *places, enum uprobe_side side, struct reason *why)
{
	size_t before = probes->len;
	int error = 0;

	if (is_skipped("kprobe", why))
		return -ENOTSUP;
	for (size_t i = 0; i < places->len && error != -ENOMEM; i++) {
		LIBBPF_OPTS(bpf_kprobe_opts, options, .bpf_cookie = places->cookies[i], .retprobe = side == AT_RETURN);
		struct bpf_link *link = bpf_program__attach_kprobe_opts(program, places->symbols[i], &options);

		error = link ? add_link(probes, link) : -errno;
	}
	if (probes->len > before)
		return 0;
	reason_set(why, "a probe on %s is refused: %s", places->symbols[places->len - 1], strerror(-error));
	return error;
}

void driver_probes_free(struct driver_probes *probes)
{
	for (size_t i = 0; i < probes->len; i++)
		bpf_link__destroy(probes->links[i]);
	free(probes->links);
	*probes = (struct driver_probes){ 0 };
}
