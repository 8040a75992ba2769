// SPDX-License-Identifier: GPL-2.0
/* Which program a kernel refuses, and why, is only in what libbpf says while it loads: the last program that it names
 * is the one at which it gave up, and the verifier's last words stand in the log that it shows of that one. */
#include "load.h"
#undef bpf_object__destroy_skeleton

#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/system.h"
#include "hide.h"
#include "kernel_types.h"
#include "sensor.h"

enum { WORDS = 240, REFUSED_MAX = 32, NAME_MAX_LEN = 32 };

static struct {
	bool verbose;
	char first[WORDS];	    /* the first warning: it names the cause */
	char program[NAME_MAX_LEN]; /* that was named last, or a variable of the kernel's */
	char of_program[WORDS];	    /* the first warning that named it */
	char verifier[WORDS];	    /* the last words of its log */
	char lacks_memory[WORDS];   /* the first warning that tells of no memory */
	bool is_variable;
} said;

static struct load_losses *collecting;
static const char *collecting_for;

struct load_attempt {
	const struct load_plan *plan;
	struct {
		char name[NAME_MAX_LEN];
		bool is_variable;
	} refused[REFUSED_MAX];
	int refused_len;
};

/* Every skeleton begins so. */
struct any_skeleton {
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *object;
};

static void keep(char *into, const char *text, size_t len)
{
	if (len >= WORDS)
		len = WORDS - 1;
	memcpy(into, text, len);
	into[len] = '\0';
}

/* The line before the verifier's summary; without a summary the last one. */
static void keep_verdict(const char *log)
{
	const char *end = strstr(log, "\nprocessed "), *line;

	if (!end)
		end = strstr(log, "\n-- END PROG LOAD LOG");
	if (!end)
		return;
	for (line = end; line > log && line[-1] != '\n'; line--)
		;
	keep(said.verifier, line, (size_t)(end - line));
}

/* "libbpf: prog 'NAME': words", or "libbpf: extern (var ksym) 'NAME': words" of a variable */
static void note_program(const char *message)
{
	static const char prog[] = "prog '", variable[] = "extern (var ksym) '";
	const char *name = strstr(message, prog), *of_kernel = strstr(message, variable), *end, *words;

	/* Functions and variables of the kernel are the whole object's. */
	if (strstr(message, "extern (")) {
		load_log_clear();
		keep(said.first, message, strcspn(message, "\n"));
	}
	if (!name && !of_kernel)
		return;
	name = of_kernel ? of_kernel + strlen(variable) : name + strlen(prog);
	end = strchr(name, '\'');
	if (!end || end - name >= NAME_MAX_LEN)
		return;
	if (strncmp(said.program, name, (size_t)(end - name)) || said.program[end - name]) {
		memcpy(said.program, name, (size_t)(end - name));
		said.program[end - name] = '\0';
		said.of_program[0] = said.verifier[0] = '\0';
		said.is_variable = of_kernel != NULL;
	}
	words = end[1] == ':' && end[2] == ' ' ? end + 3 : end + 1;
	if (strstr(words, "BEGIN PROG LOAD LOG"))
		keep_verdict(words);
	else if (!said.of_program[0])
		keep(said.of_program, words, strcspn(words, "\n"));
}

static int on_libbpf_message(enum libbpf_print_level level, const char *format, va_list args)
{
	char *message = NULL;

	/* A verifier's log may be long, and its end is what matters. */
	if ((level != LIBBPF_WARN && !said.verbose) || vasprintf(&message, format, args) < 0)
		return 0;
	if (said.verbose)
		say_lines(message);
	if (level != LIBBPF_WARN) {
		free(message);
		return 0;
	}
	if (!said.first[0])
		keep(said.first, message, strcspn(message, "\n"));
	/* libbpf goes on without what it had no memory for, and fails for another reason later. */
	if (!said.lacks_memory[0] &&
	    (strstr(message, ": -12") || strstr(message, "(-12)") || strstr(message, "-ENOMEM")))
		keep(said.lacks_memory, message, strcspn(message, "\n"));
	note_program(message);
	free(message);
	return 0;
}

void load_set_verbose(bool verbose)
{
	said.verbose = verbose;
	libbpf_set_print(on_libbpf_message);
}

void skeleton_destroy(struct bpf_object_skeleton *skeleton)
{
	if (skeleton && !skeleton->progs)
		skeleton->prog_cnt = 0;
	bpf_object__destroy_skeleton(skeleton);
}

bool sensor_is_verbose(void)
{
	return said.verbose;
}

void load_log_clear(void)
{
	said.first[0] = said.program[0] = said.of_program[0] = said.verifier[0] = said.lacks_memory[0] = '\0';
	said.is_variable = false;
}

bool load_may_read_memory(void)
{
	static enum { NOT_ASKED, NO, YES } answer;

	/* The helper is there in every kernel that does not refuse it. */
	if (answer == NOT_ASKED)
		answer = libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_probe_read_kernel, NULL) ? YES
														 : NO;
	return answer == YES;
}

void sensor_explain(struct reason *why, int error)
{
	struct reason missing = { "" };

	if (!may_load_programs(&missing))
		*why = missing;
	else if (said.lacks_memory[0])
		reason_set(why, "%s (%s)", strerror(ENOMEM), said.lacks_memory);
	/* The helper that reads memory is there unless the kernel keeps that to itself. Older ones call it unknown. */
	else if (strstr(said.verifier, " bpf_probe_read") || (error == -EPERM && !load_may_read_memory()))
		reason_set(why, "this kernel is locked down (lockdown=confidentiality): it keeps its memory from "
				"programs");
	else if (said.verifier[0])
		reason_set(why, "this kernel's verifier rejects the program: %s", said.verifier);
	else if (error == -EPERM)
		reason_set(why, "this kernel's policy refuses it (%s)", strerror(-error));
	else if (error == -EACCES)
		reason_set(why, "this kernel's verifier rejects the program ('-v' shows its log)");
	else if (said.first[0])
		reason_set(why, "%s (%s)", strerror(-error), said.of_program[0] ? said.of_program : said.first);
	else
		reason_set(why, "%s", strerror(-error));
	load_log_clear();
}

void load_collect(const char *sensor, struct load_losses *losses)
{
	collecting = losses;
	collecting_for = sensor;
}

static void add_loss(const struct load_optional *optional, const struct reason *why)
{
	struct load_loss *loss;

	if (!collecting) {
		note("%s: %s: %s", optional->loss, optional->program, why->text);
		return;
	}
	/* Several programs may be for one thing, which is missed once. */
	for (int i = 0; i < collecting->len; i++)
		if (!strcmp(collecting->all[i].loss, optional->loss))
			return;
	if (collecting->len == LOSSES_MAX)
		return;
	loss = &collecting->all[collecting->len++];
	snprintf(loss->program, sizeof(loss->program), "%s", optional->program);
	loss->loss = optional->loss;
	loss->why = *why;
}

static const struct load_optional *find_optional(const struct load_optional *optional, const char *program)
{
	for (; optional && optional->program; optional++)
		if (!strcmp(optional->program, program))
			return optional;
	return NULL;
}

void load_print(const char *sensor, const struct load_losses *losses)
{
	for (int i = 0; i < losses->len; i++)
		note("%s: %s: %s: %s", sensor, losses->all[i].loss, losses->all[i].program, losses->all[i].why.text);
}

void load_note_absent(const char *program, const struct load_optional *optional, int error)
{
	const struct load_optional *found = find_optional(optional, program);
	struct reason why;

	sensor_explain(&why, error);
	if (found)
		add_loss(found, &why);
}

void load_left_out(const char *program, const struct load_optional *optional, const char *why)
{
	const struct load_optional *found = find_optional(optional, program);
	struct reason words;

	reason_set(&words, "%s", why);
	if (found)
		add_loss(found, &words);
}

bool load_lacks(const struct load_attempt *attempt, const char *program)
{
	for (int i = 0; attempt && i < attempt->refused_len; i++)
		if (!strcmp(attempt->refused[i].name, program))
			return true;
	return false;
}

bool load_lacks_what(const struct load_attempt *attempt, const char *loss)
{
	for (int i = 0; attempt && i < attempt->refused_len; i++)
		if (!strcmp(find_optional(attempt->plan->optional, attempt->refused[i].name)->loss, loss))
			return true;
	return false;
}

/* For tests, see sensor_hook_is_skipped: whether the kernel is to have refused a program that is wanted. */
static bool is_refused_by_test(const struct load_attempt *attempt, const struct any_skeleton *any)
{
	for (const struct load_optional *one = attempt->plan->optional; one && one->program; one++) {
		const struct bpf_program *program = bpf_object__find_program_by_name(any->object, one->program);

		if (!collecting_for || !program || load_lacks(attempt, one->program) ||
		    !sensor_hook_is_skipped(collecting_for, one->program) || !bpf_program__autoload(program))
			continue;
		snprintf(said.program, sizeof(said.program), "%s", one->program);
		keep(said.first, SENSOR_SKIPPED_WORDS, strlen(SENSOR_SKIPPED_WORDS));
		return true;
	}
	return false;
}

/* Where the kernel can't share the memory of a map with this process, or did not want to when it was asked, libbpf goes
 * on without; nothing here does, which is the one failure with a reason. */
static int load_skeleton(struct bpf_object_skeleton *skeleton, struct reason *why)
{
	const char *at = (const char *)skeleton->maps;
	int error = bpf_object__load_skeleton(skeleton);

	for (int i = 0; !error && i < skeleton->map_cnt; i++, at += skeleton->map_skel_sz) {
		const struct bpf_map_skeleton *one = (const struct bpf_map_skeleton *)at;

		if (!one->mmaped || *one->mmaped)
			continue;
		reason_set(why, "the kernel does not share the memory of the map %s", one->name);
		error = -ENOTSUP;
	}
	return error;
}

/* libbpf loads nothing of an object that asks for a variable which is of another kind in this kernel, even if it is
 * weak; so such variables get names that no kernel has. */
static int open_object(const struct load_attempt *attempt, struct bpf_object_skeleton *skeleton)
{
	const void *file = skeleton->data;
	void *copy = attempt->refused_len ? malloc(skeleton->data_sz) : NULL;
	int error;

	if (copy)
		skeleton->data = memcpy(copy, file, skeleton->data_sz);
	for (int i = 0; copy && i < attempt->refused_len; i++)
		if (attempt->refused[i].is_variable)
			hide_variable(copy, skeleton->data_sz, attempt->refused[i].name);
	error = bpf_object__open_skeleton(skeleton, NULL);
	skeleton->data = file;
	free(copy);
	return error;
}

static int attempt_load(const struct load_attempt *attempt, struct any_skeleton **out, struct reason *why)
{
	const struct load_plan *plan = attempt->plan;
	struct any_skeleton *any = plan->loadable->make();
	int error;

	*out = any;
	if (!any)
		return -errno;
	error = open_object(attempt, any->skeleton);
	if (!error && plan->configure)
		error = plan->configure(plan->data, any, attempt, why);
	for (int i = 0; !error && i < attempt->refused_len; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(any->object, attempt->refused[i].name);

		if (program)
			bpf_program__set_autoload(program, false);
	}
	if (!error && is_refused_by_test(attempt, any))
		error = -ENOTSUP;
	return error ? error : load_skeleton(any->skeleton, why);
}

/* Takes the program that was refused out of the next attempt. False: it is not to be done without, or not known. */
static bool give_up_one(struct load_attempt *attempt, int error)
{
	const struct load_optional *optional = find_optional(attempt->plan->optional, said.program);
	struct reason why;

	if (!optional || load_lacks(attempt, optional->program) || attempt->refused_len == REFUSED_MAX)
		return false;
	snprintf(attempt->refused[attempt->refused_len].name, NAME_MAX_LEN, "%s", optional->program);
	attempt->refused[attempt->refused_len++].is_variable = said.is_variable;
	sensor_explain(&why, error);
	add_loss(optional, &why);
	return true;
}

static void *load_in_attempts(const struct load_plan *plan, int *error, struct reason *why)
{
	struct load_attempt attempt = { .plan = plan };
	struct any_skeleton *any;

	for (;;) {
		load_log_clear();
		why->text[0] = '\0';
		*error = attempt_load(&attempt, &any, why);
		if (!*error)
			return any;
		plan->loadable->destroy(any);
		if (why->text[0] || !give_up_one(&attempt, *error))
			return NULL;
	}
}

/* The loads of a start are over: each later one is alone. */
static bool start_is_over;

void load_give_back(void)
{
	start_is_over = true;
	kernel_types_forget();
	malloc_trim(0);
}

void *load_programs(const struct load_plan *plan, int *error, struct reason *why)
{
	void *loaded = load_in_attempts(plan, error, why);

	if (start_is_over)
		load_give_back();
	return loaded;
}

int load_attach(void *skeleton, const struct load_optional *optional)
{
	struct any_skeleton *any = skeleton;
	char *at = (char *)any->skeleton->progs;

	for (int i = 0; i < any->skeleton->prog_cnt; i++, at += any->skeleton->prog_skel_sz) {
		struct bpf_prog_skeleton *one = (struct bpf_prog_skeleton *)at;
		struct bpf_program *program = *one->prog;
		int error;

		if (!bpf_program__autoload(program) || !bpf_program__autoattach(program) || *one->link)
			continue;
		*one->link = bpf_program__attach(program);
		if (*one->link)
			continue;
		error = -errno;
		if (!find_optional(optional, bpf_program__name(program)))
			return error;
		load_note_absent(bpf_program__name(program), optional, error);
	}
	return 0;
}
