// SPDX-License-Identifier: GPL-2.0
/* JSON as it is written: commas, nesting, every kind of value. */
#include "../../src/sink/json.h"

#include <stdlib.h>

#include "tap.h"

static char *text;
static size_t text_len;

static struct json begin(void)
{
	free(text);
	text = NULL;
	return (struct json){ .out = open_memstream(&text, &text_len) };
}

static const char *written(struct json *json)
{
	fclose(json->out);
	return text;
}

static void test_values(void)
{
	struct json json = begin();

	json_object(&json, NULL);
	json_u64(&json, "most", UINT64_MAX);
	json_s64(&json, "least", INT64_MIN);
	json_decimal(&json, "share", 1205, 2);
	json_decimal(&json, "ppm", 7, 6);
	json_double(&json, "us", 1.5, 3);
	json_hex(&json, "address", 0xbeef);
	json_bool(&json, "yes", true);
	json_bool(&json, "no", false);
	json_null(&json, "nothing");
	json_string(&json, "text", "a\"b\\c\n\xff");
	json_string(&json, "none", NULL);
	json_object_end(&json);
	json_line_end(&json);
	is_text(written(&json),
		"{\"most\":18446744073709551615,\"least\":-9223372036854775808,\"share\":12.05,\"ppm\":0.000007,"
		"\"us\":1.500,\"address\":\"0xbeef\",\"yes\":true,\"no\":false,\"nothing\":null,"
		"\"text\":\"a\\\"b\\\\c\\u000a\\ufffd\",\"none\":null}\n",
		"an object has every kind of value in the order in which they were written");
}

static void test_nesting(void)
{
	struct json json = begin();

	json_object(&json, NULL);
	json_array(&json, "empty");
	json_array_end(&json);
	json_array(&json, "some");
	json_u64(&json, NULL, 1);
	json_object(&json, NULL);
	json_object_end(&json);
	json_object(&json, NULL);
	json_u64(&json, "a", 2);
	json_object_end(&json);
	json_u64(&json, NULL, 3);
	json_array_end(&json);
	json_u64(&json, "after", 4);
	json_object_end(&json);
	is_text(written(&json), "{\"empty\":[],\"some\":[1,{},{\"a\":2},3],\"after\":4}",
		"a comma stands between neighbours only, however deep they are");
}

static void test_lines(void)
{
	struct json json = begin();

	for (u64 i = 0; i < 2; i++) {
		json_object(&json, NULL);
		json_u64(&json, "i", i);
		json_object_end(&json);
		json_line_end(&json);
	}
	is_text(written(&json), "{\"i\":0}\n{\"i\":1}\n",
		"documents on lines of their own have no commas between them");
	json = begin();
	json_array(&json, NULL);
	for (u64 i = 0; i < 3; i++) {
		json_next_line(&json);
		json_u64(&json, NULL, i);
	}
	json_array_end(&json);
	is_text(written(&json), "[0,\n1,\n2]", "values of an array can have a line each");
}

int main(void)
{
	test_values();
	test_nesting();
	test_lines();
	free(text);
	return tap_end();
}
