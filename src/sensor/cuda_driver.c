// SPDX-License-Identifier: GPL-2.0
/* Reads the kernel's list of functions that can be traced, picks out the drivers', and puts kprobes on them: on all at
 * once, or one by one. What fentry can do comes before, see cuda_fentry.c. */
#include "cuda_driver.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/cuda.h"
#include "../../core/sched_config.h"
#include "../base/filter.h"
#include "../base/sort.h"
#include "../base/system.h"
#include "../base/vec.h"
#include "cuda_fentry.h"
#include "interrupts.h"
#include "sensor.h"
#include "cuda.skel.h"

enum { FUNCTIONS_MAX = 2048, LISTED_MAX = 1 << 20, LINE_SIZE = 512 };

/* One that may be hooked. */
struct driver_function {
	char *symbol;
	char *module;
	char *name; /* MODULE:SYMBOL */
};

struct driver_functions {
	struct driver_function *all;
	size_t len, room;
};

/* Which functions are meant, by a list of patterns with commas. */
struct wanted {
	const char *patterns;
	size_t most;
};

static void free_function(struct driver_function *function)
{
	free(function->symbol);
	free(function->module);
	free(function->name);
}

static int add(struct driver_functions *functions, const char *symbol, const char *module)
{
	struct driver_function function;
	char name[LINE_SIZE * 2];

	if (!vec_reserve(functions->all, functions->room, functions->len + 1, 64))
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s:%s", module, symbol);
	function.symbol = strdup(symbol);
	function.module = strdup(module);
	function.name = strdup(name);
	if (!function.symbol || !function.module || !function.name) {
		free_function(&function);
		return -ENOMEM;
	}
	functions->all[functions->len++] = function;
	return 0;
}

/* PATTERN or MODULE:PATTERN. */
static bool fits(char *pattern, const char *module, const char *symbol)
{
	char *colon = strchr(pattern, ':');
	bool is_so;

	if (!colon)
		return !fnmatch("nvidia*", module, 0) && !fnmatch(pattern, symbol, 0);
	*colon = '\0';
	is_so = !fnmatch(pattern, module, 0) && !fnmatch(colon + 1, symbol, 0);
	*colon = ':';
	return is_so;
}

static bool fits_any(const char *patterns, const char *module, const char *symbol)
{
	char pattern[LINE_SIZE];
	bool wrong;

	while (list_next(&patterns, pattern, sizeof(pattern), &wrong))
		if (fits(pattern, module, symbol))
			return true;
	return false;
}

/* "rm_ioctl [nvidia]"; functions of the kernel itself have no module. */
static int take_line(struct driver_functions *functions, const char *line, const struct wanted *wanted)
{
	char symbol[LINE_SIZE], of[LINE_SIZE] = "vmlinux";

	if (sscanf(line, "%511s [%511[^]]]", symbol, of) < 1 || !fits_any(wanted->patterns, of, symbol))
		return 0;
	return functions->len < wanted->most ? add(functions, symbol, of) : -E2BIG;
}

/* Every function that the kernel's list of its symbols has. */
static int find_symbols(struct driver_functions *functions, const struct wanted *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	int error = file ? 0 : -errno, at;
	char line[LINE_SIZE], type;

	while (file && !error && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %c %n", &type, &at) == 1 && (type == 't' || type == 'T'))
			error = take_line(functions, line + at, wanted);
	if (file)
		fclose(file);
	return error;
}

/* Only what can be traced. Not every kernel lists that. */
static int find_traceable(struct driver_functions *functions, const struct wanted *wanted)
{
	int tracefs_fd = tracefs_open(), error = 0;
	int fd = tracefs_fd >= 0 ? openat(tracefs_fd, "available_filter_functions", O_RDONLY | O_CLOEXEC) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[LINE_SIZE];

	if (!file)
		error = -ENOTSUP;
	while (file && !error && fgets(line, sizeof(line), file))
		error = take_line(functions, line, wanted);
	if (tracefs_fd >= 0)
		close(tracefs_fd);
	if (file)
		fclose(file);
	return error;
}

/* One of several patterns may be misspelt. */
static void say_unfitted(const struct driver_functions *functions, const char *patterns)
{
	char pattern[LINE_SIZE];
	bool wrong;

	while (list_next(&patterns, pattern, sizeof(pattern), &wrong)) {
		size_t i = 0;

		while (i < functions->len && !fits(pattern, functions->all[i].module, functions->all[i].symbol))
			i++;
		if (i == functions->len)
			note("cuda: no function that can be hooked fits %s", pattern);
	}
}

static int find_functions(struct driver_functions *functions, const char *pattern, struct reason *why)
{
	struct wanted wanted = { pattern, FUNCTIONS_MAX };
	int error = find_traceable(functions, &wanted);

	if (error == -ENOTSUP)
		error = find_symbols(functions, &wanted);
	if (error == -E2BIG)
		reason_set(why, "more than %d functions fit %s: name fewer", FUNCTIONS_MAX, pattern);
	else if (!error && !functions->len)
		reason_set(why, "no function that can be hooked fits %s%s", pattern,
			   strchr(pattern, ':') ? "" : " in modules called nvidia*");
	else if (!error)
		say_unfitted(functions, pattern);
	return error ? error : functions->len ? 0 : -ENOENT;
}

static void free_functions(struct driver_functions *functions)
{
	for (size_t i = 0; i < functions->len; i++)
		free_function(&functions->all[i]);
	free(functions->all);
	*functions = (struct driver_functions){ 0 };
}

static int add_link(struct driver_probes *probes, struct bpf_link *link)
{
	if (!vec_one_more(probes->links, probes->len)) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
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

static bool can_probe(const char *hook, struct reason *why)
{
	return !is_skipped(hook, why) && probe_kprobes(why);
}

static int probe_all(struct driver_probes *probes, const struct bpf_program *program,
		     const struct driver_places *places, enum uprobe_side side, struct reason *why)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = places->symbols, .cookies = (const __u64 *)places->cookies,
		    .cnt = places->len, .retprobe = side == AT_RETURN);
	struct bpf_link *link;
	int error;

	if (!can_probe("kprobe.multi", why))
		return -ENOTSUP;
	link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
	if (link)
		return add_link(probes, link);
	error = -errno;
	reason_set(why, "%zu probes are refused: %s", places->len, strerror(-error));
	return error;
}

static int probe_each(struct driver_probes *probes, const struct bpf_program *program,
		      const struct driver_places *places, enum uprobe_side side, struct reason *why)
{
	size_t before = probes->len;
	int error = 0;

	if (!can_probe("kprobe", why))
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

static void free_probes(struct driver_probes *probes)
{
	for (size_t i = 0; i < probes->len; i++)
		bpf_link__destroy(probes->links[i]);
	free(probes->links);
	*probes = (struct driver_probes){ 0 };
}

/* Each pair first where functions end. Returns which hook it is, or NULL with the reason. */
static const char *probe_rest(struct driver_probes *probes, const struct driver_plan *plan,
			      const struct driver_places *places, struct reason *why)
{
	bool with_end = !plan->counts_only, seen = interrupts_are_seen();
	const struct bpf_program *all = seen ? plan->with->progs.on_driver : plan->with->progs.on_driver_blind;
	const struct bpf_program *each = seen ? plan->with->progs.on_driver_single
					      : plan->with->progs.on_driver_single_blind;
	int error = with_end ? probe_all(probes, plan->with->progs.on_driver_end, places, AT_RETURN, why) : 0;

	if (!error)
		error = probe_all(probes, all, places, AT_ENTRY, why);
	if (!error)
		return "kprobe.multi";
	free_probes(probes);
	error = with_end ? probe_each(probes, plan->with->progs.on_driver_single_end, places, AT_RETURN, why) : 0;
	if (!error)
		error = probe_each(probes, each, places, AT_ENTRY, why);
	return error ? NULL : "kprobe";
}

static int make_places(struct driver_places *places, const struct driver_functions *functions,
		       const struct driver_plan *plan)
{
	places->symbols = calloc(functions->len + 1, sizeof(*places->symbols));
	places->modules = calloc(functions->len + 1, sizeof(*places->modules));
	places->cookies = calloc(functions->len + 1, sizeof(*places->cookies));
	if (!places->symbols || !places->modules || !places->cookies)
		return -ENOMEM;
	for (size_t i = 0; i < functions->len; i++) {
		u32 number = plan->number_for(plan->data, functions->all[i].name);

		if (!number)
			continue;
		places->symbols[places->len] = functions->all[i].symbol;
		places->modules[places->len] = functions->all[i].module;
		places->cookies[places->len++] = number | (plan->counts_only ? CUDA_COOKIE_COUNT_ONLY : 0);
	}
	return places->len ? 0 : -E2BIG;
}

/* By fentry as far as it goes, then by kprobes. */
static int hook_places(struct driver_hooks *hooks, struct driver_places *places, const struct driver_plan *plan,
		       struct reason *why)
{
	struct fentry_plan first = { plan->with, plan->sched, !plan->counts_only,
				     plan->by == DRIVER_BY_AUTO ? DRIVER_FENTRY_MOST : FUNCTIONS_MAX };
	struct reason not_fentry = { "" }, not_probe = { "" };
	size_t all = places->len, by_fentry = 0;
	const char *rest = NULL;

	if (plan->by == DRIVER_BY_KPROBE)
		reason_set(&not_fentry, "not asked for");
	else if (!is_skipped("fentry", &not_fentry))
		by_fentry = fentry_attach(&hooks->fentry, &first, places, &not_fentry);
	if (places->len && plan->by == DRIVER_BY_FENTRY)
		reason_set(&not_probe, "not asked for");
	else if (places->len)
		rest = probe_rest(&hooks->probes, plan, places, &not_probe);
	if (!by_fentry && !rest) {
		reason_set(why, "by fentry: %.200s; by kprobe: %.200s", not_fentry.text, not_probe.text);
		return -ENOTSUP;
	}
	reason_set(why, "%zu of %zu functions of the driver are watched by fentry", by_fentry, all);
	if (places->len)
		reason_set(why, "%zu of %zu functions of the driver are watched by fentry, %zu by %s%s%.200s%s",
			   by_fentry, all, rest ? places->len : 0, rest ? rest : "kprobe",
			   not_fentry.text[0] ? " (not by fentry: " : "", not_fentry.text,
			   not_fentry.text[0] ? ")" : "");
	return 0;
}

int driver_watch(struct driver_hooks *hooks, const char *pattern, const struct driver_plan *plan, struct reason *why)
{
	struct driver_functions functions = { 0 };
	struct driver_places places = { 0 };
	int error = find_functions(&functions, pattern, why);

	if (!error)
		error = make_places(&places, &functions, plan);
	if (!error)
		error = hook_places(hooks, &places, plan, why);
	if (error && !why->text[0])
		reason_set(why, "%s", strerror(-error));
	free(places.symbols);
	free(places.modules);
	free(places.cookies);
	free_functions(&functions);
	return error;
}

void driver_hooks_free(struct driver_hooks *hooks)
{
	free_probes(&hooks->probes);
	fentry_free(hooks->fentry);
	hooks->fentry = NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct driver_function *)a)->name, ((const struct driver_function *)b)->name);
}

/* By which kind of probe, tried on a function with a program that does nothing; NULL with the reason: by none. */
static const char *try_probe(const char *symbol, struct reason *why)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, load, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	LIBBPF_OPTS(bpf_link_create_opts, where, .kprobe_multi.syms = &symbol, .kprobe_multi.cnt = 1);
	int program, link;

	if (!probe_kprobes(why))
		return NULL;
	program = can_probe("kprobe.multi", why)
			  ? bpf_prog_load(BPF_PROG_TYPE_KPROBE, "nothing", "GPL", nothing, 2, &load)
			  : -1;
	link = program >= 0 ? bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &where) : -1;
	if (program >= 0)
		close(program);
	if (link >= 0) {
		close(link);
		return "kprobe.multi";
	}
	return can_probe("kprobe", why) ? "kprobe" : NULL;
}

void driver_list(const char *pattern, void (*take)(void *data, const char *module, const char *symbol, const char *how),
		 void *data)
{
	struct wanted wanted = { pattern ? pattern : "*", LISTED_MAX };
	struct driver_functions all = { 0 }, traceable = { 0 };
	struct reason why = { "" }, not_probe = { "" };
	bool reports = find_traceable(&traceable, &wanted) != -ENOTSUP;
	struct fentry_trial *trial = fentry_trial_begin();
	const char *probe = NULL;
	char how[sizeof(why.text) + 16];

	find_symbols(&all, &wanted);
	if (traceable.len)
		sort_rows(traceable.all, traceable.len, sizeof(*traceable.all), by_name);
	if (all.len)
		probe = try_probe(traceable.len ? traceable.all[0].symbol : all.all[0].symbol, &not_probe);
	for (size_t i = 0; trial && i < all.len; i++) {
		const struct driver_function *function = &all.all[i];

		if (reports &&
		    (!traceable.len || !bsearch(function, traceable.all, traceable.len, sizeof(*function), by_name)))
			snprintf(how, sizeof(how), "no: this kernel can't trace it");
		else if (!is_skipped("fentry", &why) &&
			 fentry_would_take(trial, function->module, function->symbol, &why))
			snprintf(how, sizeof(how), "fentry");
		else if (probe)
			snprintf(how, sizeof(how), "%s", probe);
		else
			snprintf(how, sizeof(how), "no: fentry: %.180s; kprobe: %.180s", why.text, not_probe.text);
		take(data, function->module, function->symbol, how);
	}
	if (trial)
		fentry_trial_end(trial);
	free_functions(&all);
	free_functions(&traceable);
}
