// SPDX-License-Identifier: GPL-2.0
/* tactus doctor: what this kernel offers, which hook each sensor gets and why not a better one, who schedules.
 * It really loads and attaches each sensor once, so what it says is what the other commands will meet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../base/system.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "view.h"

enum { SENSORS_MAX = 16 };

static const struct command_usage usage = {
	.name = "doctor",
	.text = "Says what this kernel offers: each sensor with the hook it gets, its state (ok, fallback, off) and "
		"why, and "
		"whether sched_ext is there.\v"
		"Exit status 0: the main job, 'tactus run', can run here.\n"
		"\n"
		"Examples:\n"
		"  tactus doctor\n"
		"  tactus doctor --json | python3 -m json.tool",
	.takes = TAKES_JSON,
};

struct finding {
	const struct sensor_kind *kind;
	const char *hook;
	enum sensor_state state;
	struct reason reason;
};

static void examine(struct finding *finding, const struct sensor_kind *kind)
{
	struct sensor sensor;

	sensor_start(&sensor, kind, NULL);
	*finding = (struct finding){ kind, sensor_hook_name(&sensor), sensor.state, sensor.reason };
	if (sensor.state == SENSOR_OK)
		reason_set(&finding->reason, strcmp(finding->hook, SENSOR_WAITS)
						     ? "the best hook"
						     : "there is no such device; one that comes is noticed");
	if (sensor.state == SENSOR_FALLBACK)
		reason_set(&finding->reason, "%.600s; so %.160s", sensor.reason.text, kind->hooks[sensor.hook].loss);
	sensor_stop(&sensor);
}

static void explain_sched_ext(struct reason *why, const struct sched_ext_state *state)
{
	if (!state->available)
		reason_set(
			why,
			"this kernel is built without it (it takes Linux 6.12 or later with CONFIG_SCHED_CLASS_EXT)");
	else if (state->loaded[0])
		reason_set(why, "%s is in charge", state->loaded);
	else
		reason_set(why, "ready; the kernel's own scheduler is in charge");
}

static void print_json(const struct finding *findings, bool can_run)
{
	struct sched_ext_state scx = sched_ext_state();
	struct reason why;

	fputs("{\"version\":\"" TACTUS_VERSION "\",\"kernel\":", stdout);
	print_json_string(stdout, kernel_release());
	printf(",\"btf\":%s,\"interrupts\":%s,\"can_run\":%s,\"capabilities\":[", kernel_has_btf() ? "true" : "false",
	       kernel_tells_interrupts() ? "true" : "false", can_run ? "true" : "false");
	for (size_t i = 0; i < capabilities_len; i++)
		printf("%s{\"name\":\"%s\",\"held\":%s}", i ? "," : "", capabilities[i].name,
		       capability_held(&capabilities[i]) ? "true" : "false");
	fputs("],\"sensors\":[", stdout);
	for (int i = 0; i < sensor_kinds_len; i++) {
		printf("%s{\"name\":\"%s\",\"hook\":\"%s\",\"state\":\"%s\",\"reason\":", i ? "," : "",
		       findings[i].kind->name, findings[i].hook, sensor_state_name(findings[i].state));
		print_json_string(stdout, findings[i].reason.text);
		putchar('}');
	}
	explain_sched_ext(&why, &scx);
	printf("],\"sched_ext\":{\"available\":%s,\"loaded\":", scx.available ? "true" : "false");
	if (scx.loaded[0])
		print_json_string(stdout, scx.loaded);
	else
		fputs("null", stdout);
	fputs(",\"reason\":", stdout);
	print_json_string(stdout, why.text);
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
	for (int i = 0; i < sensor_kinds_len; i++)
		printf("%s: %s.\n", findings[i].kind->name, findings[i].reason.text);
}

static void print_text(const struct finding *findings, bool can_run)
{
	struct sched_ext_state scx = sched_ext_state();
	struct reason why;

	explain_sched_ext(&why, &scx);
	printf("kernel        %s\n", kernel_release());
	printf("BTF           %s\n", kernel_has_btf() ? "yes" : "no (/sys/kernel/btf/vmlinux is missing)");
	printf("interrupts    %s\n",
	       kernel_tells_interrupts()
		       ? "yes: whether a thread or an interrupt woke another is known"
		       : "no: who wakes a thread may just have been interrupted (it takes CONFIG_KALLSYMS_ALL)");
	printf("sched_ext     %s: %s\n", scx.available ? "yes" : "no", why.text);
	for (size_t i = 0; i < capabilities_len; i++)
		printf("%-13s %s: to %s\n", capabilities[i].name,
		       capability_held(&capabilities[i]) ? "held" : "missing", capabilities[i].for_what);
	putchar('\n');
	print_sensors(findings);
	printf("\n'tactus run' %s.\n",
	       !can_run	       ? "cannot run here: the sched sensor is off"
	       : scx.available ? "schedules by sched_ext here"
			       : "gives hints to the kernel's scheduler here, since there is no sched_ext");
}

int view_doctor(int argc, char **argv)
{
	struct finding findings[SENSORS_MAX] = { 0 };
	struct options options;
	bool can_run;

	options_parse(&options, &usage, argc, argv);
	loop_take_signals();
	sensor_set_verbose(options.verbose);
	for (int i = 0; i < sensor_kinds_len; i++)
		examine(&findings[i], sensor_kinds[i]);
	can_run = findings[0].state != SENSOR_OFF;
	if (options.json)
		print_json(findings, can_run);
	else
		print_text(findings, can_run);
	return can_run ? EXIT_SUCCESS : EXIT_FAILURE;
}
