// SPDX-License-Identifier: GPL-2.0
/* {"status":"success","data":{"resultType":"vector","result":[{"metric":{...},"value":[TIME,"VALUE"]},...]}}
 */
#include "fleet_answer.h"

#include <stdlib.h>
#include <string.h>

#include "../base/json_read.h"

enum { KEY_SIZE = 32, VALUE_SIZE = 40 };

struct answer {
	void (*take)(void *data, const struct fleet_sample *sample);
	void *data;
	long samples;
	bool is_success, has_result;
	char *error;
};

static void take_labels(struct json_at *json, struct fleet_sample *sample)
{
	char key[KEY_SIZE];
	bool is_first = true;

	if (!json_enter(json, JSON_OBJECT))
		return;
	while (json_key(json, &is_first, key, sizeof(key))) {
		if (!strcmp(key, "instance"))
			json_text(json, sample->host, sizeof(sample->host));
		else if (!strcmp(key, "rank"))
			json_text(json, sample->rank, sizeof(sample->rank));
		else if (!strcmp(key, "part"))
			json_text(json, sample->part, sizeof(sample->part));
		else if (!strcmp(key, "training_job"))
			json_text(json, sample->job, sizeof(sample->job));
		else
			json_skip(json);
	}
}

/* The second of a pair. */
static void take_value(struct json_at *json, struct fleet_sample *sample)
{
	char text[VALUE_SIZE] = "";
	bool is_first = true;
	u32 at = 0;

	if (!json_enter(json, JSON_ARRAY))
		return;
	while (json_item(json, &is_first)) {
		if (at++ == 1)
			json_text(json, text, sizeof(text));
		else
			json_skip(json);
	}
	sample->value = strtod(text, NULL);
}

static void take_result(struct json_at *json, struct answer *answer)
{
	bool is_first = true, is_first_key;
	char key[KEY_SIZE];

	if (!json_enter(json, JSON_ARRAY))
		return;
	answer->has_result = true;
	while (json_item(json, &is_first)) {
		struct fleet_sample sample = { .value = 0 };

		is_first_key = true;
		if (!json_enter(json, JSON_OBJECT))
			continue;
		while (json_key(json, &is_first_key, key, sizeof(key))) {
			if (!strcmp(key, "metric"))
				take_labels(json, &sample);
			else if (!strcmp(key, "value"))
				take_value(json, &sample);
			else
				json_skip(json);
		}
		if (json->failed)
			return;
		answer->samples++;
		answer->take(answer->data, &sample);
	}
}

static void take_data(struct json_at *json, struct answer *answer)
{
	char key[KEY_SIZE];
	bool is_first = true;

	if (!json_enter(json, JSON_OBJECT))
		return;
	while (json_key(json, &is_first, key, sizeof(key))) {
		if (!strcmp(key, "result"))
			take_result(json, answer);
		else
			json_skip(json);
	}
}

long fleet_answer_parse(const char *text, size_t len, void (*take)(void *data, const struct fleet_sample *sample),
			void *data, char error[FLEET_ERROR_SIZE])
{
	struct answer answer = { .take = take, .data = data, .error = error };
	struct json_at json = { .at = text, .end = text + len };
	char key[KEY_SIZE], word[KEY_SIZE];
	bool is_first = true;

	error[0] = '\0';
	if (!json_enter(&json, JSON_OBJECT))
		json.failed = true;
	while (!json.failed && json_key(&json, &is_first, key, sizeof(key))) {
		if (!strcmp(key, "status"))
			answer.is_success = json_text(&json, word, sizeof(word)) && !strcmp(word, "success");
		else if (!strcmp(key, "error"))
			json_text(&json, error, FLEET_ERROR_SIZE);
		else if (!strcmp(key, "data"))
			take_data(&json, &answer);
		else
			json_skip(&json);
	}
	if (!json.failed && answer.is_success && answer.has_result)
		return answer.samples;
	if (!error[0] || json.failed)
		strcpy(error, "what it answers is not as Prometheus does");
	return -1;
}
