// SPDX-License-Identifier: GPL-2.0
/* tactus doctor: what this kernel offers, which hook each sensor gets and why not a better one, who schedules.
 * It really loads and attaches each sensor once, and loads the scheduler, so what it says is what the other commands
 * will meet; with --quick it asks and loads nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../base/system.h"
#include "../sched/scx.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "view.h"

enum { SENSORS_MAX = 16 };

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
};

struct report {
	struct finding findings[SENSORS_MAX];
	struct scheduler scheduler;
	bool can_run;
};

static bool quick;

static const struct argp_option own[] = {
	{ "quick", KEY_QUICK, NULL, 0, "load nothing, and guess by what the kernel says of itself", 0 },
	{ 0 },
};

static const char *take_own(int key, const char *value)
{
	(void)value;
	quick |= key == KEY_QUICK;
	return NULL;
}

static const struct command_usage usage = {
	.name = "doctor",
	.text = "Says what this kernel offers: each sensor with the hook it gets, its state (ok, fallback, off) and "
		"why, and whether the scheduler can be loaded. Everything is really loaded, the sensors attached too, "
		"and "
		"taken out again.\v"
		"Exit status 0: the main job, 'tactus run', can run here.\n"
		"\n"
		"Examples:\n"
		"  tactus doctor\n"
		"  tactus doctor --json | python3 -m json.tool",
	.takes = TAKES_JSON,
	.own = own,
	.take_own = take_own,
};

static void explain(struct finding *finding, const struct sensor *sensor)
{
	const char *loss = sensor->kind->hooks ? sensor->kind->hooks[sensor->hook].loss : NULL;

	if (sensor->state == SENSOR_FALLBACK && loss)
		reason_set(&finding->reason, "%.600s; so %.160s", sensor->reason.text, loss);
	else if (sensor->state == SENSOR_FALLBACK)
		reason_set(&finding->reason, "the best hook, in part");
	else if (sensor->state == SENSOR_OK)
		reason_set(&finding->reason, strcmp(finding->hook, SENSOR_WAITS)
						     ? "the best hook"
						     : "there is no such device; one that comes is noticed");
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

static void examine_scheduler(struct scheduler *scheduler)
{
	struct reason refused = { "" };

	scheduler->kernel = sched_ext_state();
	scheduler->keeps_quotas = scheduler->kernel.available && scx_keeps_quotas();
	scheduler->loads = scheduler->kernel.available && (quick || !scx_try(&refused));
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

static void print_json_losses(const struct load_losses *losses)
{
	for (int i = 0; i < losses->len; i++) {
		printf("%s{\"program\":\"%s\",\"loss\":", i ? "," : "", losses->all[i].program);
		print_json_string(stdout, losses->all[i].loss);
		fputs(",\"reason\":", stdout);
		print_json_string(stdout, losses->all[i].why.text);
		putchar('}');
	}
}

static void print_json(const struct report *report)
{
	const struct scheduler *scheduler = &report->scheduler;

	fputs("{\"version\":\"" TACTUS_VERSION "\",\"kernel\":", stdout);
	print_json_string(stdout, kernel_release());
	printf(",\"guessed\":%s,\"btf\":%s,\"interrupts\":%s,\"can_run\":%s,\"capabilities\":[",
	       quick ? "true" : "false", kernel_has_btf() ? "true" : "false",
	       kernel_tells_interrupts() ? "true" : "false", report->can_run ? "true" : "false");
	for (size_t i = 0; i < capabilities_len; i++)
		printf("%s{\"name\":\"%s\",\"held\":%s}", i ? "," : "", capabilities[i].name,
		       capability_held(&capabilities[i]) ? "true" : "false");
	fputs("],\"sensors\":[", stdout);
	for (int i = 0; i < sensor_kinds_len; i++) {
		const struct finding *finding = &report->findings[i];

		printf("%s{\"name\":\"%s\",\"hook\":\"%s\",\"state\":\"%s\",\"reason\":", i ? "," : "",
		       finding->kind->name, finding->hook, sensor_state_name(finding->state));
		print_json_string(stdout, finding->reason.text);
		fputs(",\"missing\":[", stdout);
		print_json_losses(&finding->losses);
		fputs("]}", stdout);
	}
	printf("],\"sched_ext\":{\"available\":%s,\"loads\":%s,\"loaded\":",
	       scheduler->kernel.available ? "true" : "false",
	       quick		  ? "null"
	       : scheduler->loads ? "true"
				  : "false");
	if (scheduler->kernel.loaded[0])
		print_json_string(stdout, scheduler->kernel.loaded);
	else
		fputs("null", stdout);
	printf(",\"keeps_quotas\":%s,\"reason\":", scheduler->keeps_quotas ? "true" : "false");
	print_json_string(stdout, scheduler->why.text);
	fputs("}}\n", stdout);
}

static void print_sensors(const struct finding *findings)
{
	static const struct column columns[] = {
		{ "name", "SENSOR", CELL_TEXT },
		{ "state", "STATE", CELL_TEXT },
		{ "hook", "HOOK", CELL_TEXT },
		{ "subject", "WATCHES", CELL_TEXT },
	};
	struct sheet sheet;

	sheet_open(&sheet, stdout, false, columns, 4);
	for (int i = 0; i < sensor_kinds_len; i++) {
		union cell cells[] = { { .text = findings[i].kind->name },
				       { .text = sensor_state_name(findings[i].state) },
				       { .text = findings[i].hook },
				       { .text = findings[i].kind->subject } };

		sheet_row(&sheet, cells);
	}
	sheet_close(&sheet);
	putchar('\n');
	for (int i = 0; i < sensor_kinds_len; i++) {
		const struct load_losses *losses = &findings[i].losses;

		printf("%s: %s.\n", findings[i].kind->name, findings[i].reason.text);
		for (int j = 0; j < losses->len; j++)
			printf("%s: %s: %s: %s.\n", findings[i].kind->name, losses->all[j].loss, losses->all[j].program,
			       losses->all[j].why.text);
	}
}

static void print_text(const struct report *report)
{
	const struct scheduler *scheduler = &report->scheduler;

	printf("kernel        %s\n", kernel_release());
	printf("BTF           %s\n", kernel_has_btf() ? "yes" : "no (/sys/kernel/btf/vmlinux is missing)");
	printf("interrupts    %s\n",
	       kernel_tells_interrupts()
		       ? "yes: whether a thread or an interrupt woke another is known"
		       : "no: who wakes a thread may just have been interrupted (it takes CONFIG_KALLSYMS_ALL)");
	printf("sched_ext     %s: %s\n", scheduler->loads ? "yes" : "no", scheduler->why.text);
	if (scheduler->loads)
		printf("cpu.max       %s\n",
		       scheduler->keeps_quotas
			       ? "kept by the scheduler"
			       : "has no effect while the scheduler is in charge (it takes Linux 6.17)");
	for (size_t i = 0; i < capabilities_len; i++)
		printf("%-13s %s: to %s\n", capabilities[i].name,
		       capability_held(&capabilities[i]) ? "held" : "missing", capabilities[i].for_what);
	putchar('\n');
	print_sensors(report->findings);
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

	options_parse(&options, &usage, argc, argv);
	loop_take_signals();
	sensor_set_verbose(options.verbose);
	for (int i = 0; i < sensor_kinds_len; i++)
		(quick ? guess : examine)(&report.findings[i], sensor_kinds[i]);
	examine_scheduler(&report.scheduler);
	/* Its fallback tells of CPUs, not of threads. */
	report.can_run = report.findings[0].state != SENSOR_OFF && !report.findings[0].hook_number;
	if (options.json)
		print_json(&report);
	else
		print_text(&report);
	return report.can_run ? EXIT_SUCCESS : EXIT_FAILURE;
}
