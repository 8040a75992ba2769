// SPDX-License-Identifier: GPL-2.0
/* What is said of a prediction before anybody can hold it against a real run: how far off others of its kind were.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../base/say.h"
#include "../model/expected.h"
#include "../sink/json.h"
#include "simulate.h"

enum { BASIS_SIZE = 160 };

int simulate_check_expected(const struct simulate_expected *expected)
{
	const struct work *work = expected->work;

	if (!expected_is_hopeless(expected->recorded->name, expected->policy->name, work->edges, work->external))
		return 0;
	return fail(expected->path,
		    "nothing is predicted: %" PRIu64 " of %" PRIu64
		    " wake-ups are by threads, and under %s one queue for all CPUs makes each of them wait so long "
		    "that such "
		    "work goes otherwise: predictions were off by two octaves and more (--bound predicts all the same)",
		    work->edges, work->edges + work->external, expected->policy->name);
}

/* The basis, and the error where there is one. */
static struct expected_error find(const struct simulate_expected *expected, char basis[BASIS_SIZE])
{
	struct expected_error error = expected_error_of(expected->recorded->name, expected->policy->name);

	if (expected->is_other_machine) {
		snprintf(basis, BASIS_SIZE, "no prediction for another machine was held against a real one");
		return (struct expected_error){ 0 };
	}
	if (expected->recorded == expected->policy) {
		snprintf(basis, BASIS_SIZE, "%s of this recording, simulated again", expected->policy->name);
		return (struct expected_error){ expected->again, expected->again, 1 };
	}
	if (!error.predictions)
		snprintf(basis, BASIS_SIZE, "no prediction of %s from %s was held against a real run",
			 expected->policy->name, expected->recorded->name);
	else
		snprintf(basis, BASIS_SIZE, "%u predictions of %s from %s in VMs with Linux 7.2%s: docs/simulate.md",
			 error.predictions, expected->policy->name, expected->recorded->name,
			 expected->is_other_settings ? ", with its usual settings" : "");
	return error;
}

void simulate_print_expected(const struct simulate_expected *expected, bool as_json)
{
	char basis[BASIS_SIZE];
	struct expected_error error = find(expected, basis);
	struct json json = { .out = stdout };

	if (!as_json && error.predictions) {
		printf("expected error: waits by %.2f octaves, at worst %.2f (%s)\n", error.median, error.worst, basis);
		return;
	}
	if (!as_json) {
		printf("expected error: not known (%s)\n", basis);
		return;
	}
	json_record(&json, "expected_error", false);
	json_string(&json, "recorded", expected->recorded->name);
	json_string(&json, "policy", expected->policy->name);
	if (error.predictions) {
		json_double(&json, "expected_error_octaves", error.median, 3);
		json_double(&json, "worst_error_octaves", error.worst, 3);
	} else {
		json_null(&json, "expected_error_octaves");
		json_null(&json, "worst_error_octaves");
	}
	json_u64(&json, "predictions", error.predictions);
	json_string(&json, "basis", basis);
	json_object_end(&json);
	json_line_end(&json);
}
