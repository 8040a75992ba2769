// SPDX-License-Identifier: GPL-2.0
/* tactus doctor: what this kernel offers, which hook each sensor gets and why not a better one, who schedules.
 * It really loads and attaches each sensor once, and loads the scheduler, so what it says is what the other commands
 * will meet; with --quick it asks and loads nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/elf_apart.h"
#include "../base/say.h"
#include "../base/system.h"
#include "../sched/scx.h"
#include "../sensor/interrupts.h"
#include "../sensor/sched.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "status_hear.h"
#include "view.h"

enum { KEY_QUICK = 0x200 };

struct finding {
	const struct sensor_kind *kind;
	const char *hook;
	enum sensor_state state;
	int hook_number;
	struct reason reason;
	struct load_losses losses;
};

/* Whether the scheduler can be had, and why not. */
struct scheduler {
	struct sched_ext_state kernel;
	bool loads, keeps_quotas;
	struct reason why;
	struct load_losses losses;
};

struct chosen {
	bool quick;
};

struct report {
	struct chosen chosen;
	struct finding findings[SENSORS_MAX];
	struct scheduler scheduler;
	bool can_run;
	bool has_run; /* one is at work, and reported this */
	struct run_status run;
};

static const struct argp_option own_options[] = {
	{ "quick", KEY_QUICK, NULL, 0, "Load nothing, and guess from what the kernel reports about itself", 0 },
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	(void)value;
	chosen->quick |= key == KEY_QUICK;
	return NULL;
}

const struct command_usage doctor_usage = {
	.name = "doctor",
	.text = "Shows what this kernel offers: the hook of each sensor, its state (ok, fallback, off) and why, "
		"and whether the scheduler can be loaded. It really loads and attaches each sensor, loads the "
		"scheduler, and removes them again.\v"
		"The exit status is 0 if the main job, 'tactus run', can run here.\n"
		"\n"
		"Examples:\n"
		"  tactus doctor\n"
		"  tactus doctor --sort state --columns sensor,state\n"
		"  tactus doctor --json | python3 -m json.tool",
	.takes = TAKES_JSON | TAKES_TABLE,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

static void explain(struct finding *finding, const struct sensor *sensor)
{
	const char *loss = sensor->kind->hooks ? sensor->kind->hooks[sensor->hook].loss : NULL;

	if (sensor->state == SENSOR_FALLBACK && loss)
		reason_set(&finding->reason, "%.600s; so %.160s", sensor->reason.text, loss);
	else if (sensor->state == SENSOR_FALLBACK)
		reason_set(&finding->reason, "the best hook, in part");
	else if (sensor->state == SENSOR_OK && strcmp(finding->hook, SENSOR_WAITS))
		reason_set(&finding->reason, "the best hook");
	else if (sensor->state == SENSOR_OK)
		reason_set(&finding->reason, "%s; one that comes is noticed",
			   sensor->kind->absent ? sensor->kind->absent : "there is no such device");
}

static void examine(struct finding *finding, const struct sensor_kind *kind)
{
	struct sensor sensor;

	sensor_start(&sensor, kind, NULL);
	*finding = (struct finding){ kind,	   sensor_hook_name(&sensor), sensor.state, sensor.hook, sensor.reason,
				     sensor.losses };
	explain(finding, &sensor);
	sensor_stop(&sensor);
}

static void guess(struct finding *finding, const struct sensor_kind *kind)
{
	struct sensor sensor;
	struct reason why;

	sensor_guess(&sensor, kind);
	*finding = (struct finding){ .kind = kind,
				     .hook = sensor.state == SENSOR_OFF ? "none" : kind->hooks[sensor.hook].name,
				     .state = sensor.state,
				     .hook_number = sensor.hook,
				     .reason = sensor.reason };
	explain(finding, &sensor);
	why = finding->reason;
	reason_set(&finding->reason, "%.700s (not loaded: a guess)", why.text);
}

static void examine_scheduler(struct scheduler *scheduler, bool quick)
{
	struct reason refused = { "" };

	scheduler->kernel = sched_ext_state();
	scheduler->keeps_quotas = scheduler->kernel.available && scx_keeps_quotas();
	scheduler->loads = scheduler->kernel.available && (quick || !scx_try(&scheduler->losses, &refused));
	if (!scheduler->kernel.available)
		reason_set(&scheduler->why, "this kernel is built without it (it takes Linux 6.12 or later with "
					    "CONFIG_SCHED_CLASS_EXT)");
	else if (!scheduler->loads)
		reason_set(&scheduler->why, "%.600s; 'tactus run' acts by hints here", refused.text);
	else if (scheduler->kernel.loaded[0])
		reason_set(&scheduler->why, "%s is in charge", scheduler->kernel.loaded);
	else
		reason_set(&scheduler->why, "%s; the kernel's own scheduler is in charge",
			   quick ? "the kernel has it (not loaded: a guess)" : "it loads");
}

/* The kernel may have it, and no program of ours be able to read it. */
static bool shows_interrupts(const struct report *report)
{
	const struct load_losses *losses = &report->findings[0].losses;

	for (int i = 0; i < losses->len; i++)
		if (!strcmp(losses->all[i].loss, SCHED_LOSS_INTERRUPTS))
			return false;
	return report->chosen.quick ? kernel_shows_interrupts() : interrupts_are_seen();
}

static void print_json_losses(struct json *json, const struct load_losses *losses)
{
	json_array(json, "missing");
	for (int i = 0; i < losses->len; i++) {
		json_object(json, NULL);
		json_string(json, "program", losses->all[i].program);
		json_string(json, "loss", losses->all[i].loss);
		json_string(json, "reason", losses->all[i].why.text);
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_json_scheduler(struct json *json, const struct scheduler *scheduler, bool quick)
{
	json_object(json, "sched_ext");
	json_bool(json, "available", scheduler->kernel.available);
	if (quick)
		json_null(json, "loads");
	else
		json_bool(json, "loads", scheduler->loads);
	json_string(json, "loaded", scheduler->kernel.loaded[0] ? scheduler->kernel.loaded : NULL);
	json_bool(json, "keeps_quotas", scheduler->keeps_quotas);
	json_string(json, "reason", scheduler->why.text);
	print_json_losses(json, &scheduler->losses);
	json_object_end(json);
}

static void print_json(const struct report *report)
{
	struct json json = { .out = stdout };
	bool quick = report->chosen.quick;

	json_record(&json, "doctor", false);
	json_string(&json, "version", TACTUS_VERSION);
	json_string(&json, "kernel", kernel_release());
	json_bool(&json, "guessed", quick);
	json_bool(&json, "btf", kernel_has_btf());
	json_bool(&json, "interrupts", shows_interrupts(report));
	json_bool(&json, "groups_sessions", kernel_groups_sessions());
	json_bool(&json, "can_run", report->can_run);
	json_array(&json, "capabilities");
	for (size_t i = 0; i < capabilities_len; i++) {
		json_object(&json, NULL);
		json_string(&json, "name", capabilities[i].name);
		json_bool(&json, "held", capability_held(&capabilities[i]));
		json_object_end(&json);
	}
	json_array_end(&json);
	json_array(&json, "sensors");
	for (int i = 0; i < sensor_kinds_len; i++) {
		const struct finding *finding = &report->findings[i];

		json_object(&json, NULL);
		json_string(&json, "name", finding->kind->name);
		json_string(&json, "hook", finding->hook);
		json_string(&json, "state", sensor_state_name(finding->state));
		json_string(&json, "reason", finding->reason.text);
		print_json_losses(&json, &finding->losses);
		json_object_end(&json);
	}
	json_array_end(&json);
	print_json_scheduler(&json, &report->scheduler, quick);
	if (report->has_run) {
		json_object(&json, "run");
		json_u64(&json, "addresses_refused", report->run.addresses_refused);
		json_u64(&json, "files_refused", report->run.files_refused);
		json_u64(&json, "wine_unfit", report->run.hits[HIT_WINE_UNFIT]);
		json_object_end(&json);
	} else {
		json_null(&json, "run");
	}
	json_object_end(&json);
	json_line_end(&json);
}

static void print_losses(const char *of, const struct load_losses *losses)
{
	for (int i = 0; i < losses->len; i++)
		printf("%s: %s: %s: %s.\n", of, losses->all[i].loss, losses->all[i].program, losses->all[i].why.text);
}

#define FINDING_TABLE(COLUMN, SHOWN)               \
	COLUMN(FINDING, name, "SENSOR", CELL_TEXT) \
	COLUMN(FINDING, state, "STATE", CELL_TEXT) \
	COLUMN(FINDING, hook, "HOOK", CELL_TEXT)   \
	COLUMN(FINDING, subject, "WATCHES", CELL_TEXT)
TABLE_OF(finding_columns, FINDING);

const struct table_columns doctor_tables[] = { { finding_columns, FINDING_CELLS }, { 0 } };

static void print_sensors(const struct options *options, const struct finding *findings)
{
	struct table table;

	table_open_for(&table, options, "", finding_columns, FINDING_CELLS, ROWS_ALL, NULL);
	for (int i = 0; i < sensor_kinds_len; i++) {
		union cell cells[FINDING_CELLS] = {
			[FINDING_name] = { .text = findings[i].kind->name },
			[FINDING_state] = { .text = sensor_state_name(findings[i].state) },
			[FINDING_hook] = { .text = findings[i].hook },
			[FINDING_subject] = { .text = findings[i].kind->subject },
		};

		table_row(&table, cells);
	}
	table_close(&table);
	putchar('\n');
	for (int i = 0; i < sensor_kinds_len; i++) {
		printf("%s: %s.\n", findings[i].kind->name, findings[i].reason.text);
		print_losses(findings[i].kind->name, &findings[i].losses);
	}
}

static void print_text(const struct options *options, const struct report *report)
{
	const struct scheduler *scheduler = &report->scheduler;
	bool quick = report->chosen.quick;
	char refusals[200], unfit[200];

	status_refusals(refusals, sizeof(refusals), &report->run);
	status_unfit(unfit, sizeof(unfit), &report->run);
	printf("kernel        %s\n", kernel_release());
	printf("BTF           %s\n", kernel_has_btf() ? "yes" : "no (/sys/kernel/btf/vmlinux is missing)");
	printf("interrupts    %s\n",
	       shows_interrupts(report) ? "yes: whether a thread or an interrupt woke another is known"
	       : !quick && (interrupts_are_seen() || interrupts_are_not_described())
		       ? "no: who wakes a thread may just have been interrupted (see sched below)"
		       : "no: who wakes a thread may just have been interrupted (it takes CONFIG_KALLSYMS_ALL)");
	printf("sched_ext     %s: %s\n", scheduler->loads ? "yes" : "no", scheduler->why.text);
	if (scheduler->loads)
		printf("cpu.max       %s\n",
		       scheduler->keeps_quotas
			       ? "kept by the scheduler"
			       : "has no effect while the scheduler is in charge (it takes Linux 6.17)");
	printf("sessions      %s\n", kernel_groups_sessions()
					     ? "share CPUs as one each (kernel.sched_autogroup_enabled): by hints nice "
					       "values count within one, slices everywhere"
					     : "are no matter to the kernel's scheduler");
	for (size_t i = 0; i < capabilities_len; i++)
		printf("%-13s %s: to %s\n", capabilities[i].name,
		       capability_held(&capabilities[i]) ? "held" : "missing", capabilities[i].for_what);
	putchar('\n');
	print_sensors(options, report->findings);
	print_losses("scheduler", &scheduler->losses);
	if (report->has_run)
		printf("\nA 'tactus run' is at work: %s%s%s.\n",
		       refusals[0] ? refusals : "it has refused nothing so far", unfit[0] ? "; " : "", unfit);
	printf("\n'tactus run' %s%s.\n",
	       !report->can_run	  ? "cannot run here: threads can't be watched"
	       : scheduler->loads ? "schedules by sched_ext here"
	       : scheduler->kernel.available
		       ? "gives hints to the kernel's scheduler here, since its own does not load"
		       : "gives hints to the kernel's scheduler here, since there is no sched_ext",
	       quick ? " (nothing was loaded: a guess)" : "");
}

int view_doctor(int argc, char **argv)
{
	static struct report report;
	struct options options;
	struct reason why;

	options_parse(&options, &doctor_usage, &report.chosen, argc, argv);
	table_check(&options, "doctor", doctor_tables);
	loop_take_signals();
	load_set_verbose(options.verbose);
	/* Before anything is loaded; a library that can't be read then says why. */
	if (!report.chosen.quick)
		elf_apart_start(&why);
	for (int i = 0; i < sensor_kinds_len; i++)
		(report.chosen.quick ? guess : examine)(&report.findings[i], sensor_kinds[i]);
	examine_scheduler(&report.scheduler, report.chosen.quick);
	report.has_run = status_ask(&report.run);
	/* Its fallback reports CPUs, not threads. */
	report.can_run = report.findings[0].state != SENSOR_OFF && !report.findings[0].hook_number;
	if (options.json)
		print_json(&report);
	else
		print_text(&options, &report);
	return report.can_run ? EXIT_SUCCESS : EXIT_FAILURE;
}
