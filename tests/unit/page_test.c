// SPDX-License-Identifier: GPL-2.0
/* sink/page.c: nothing that goes into a page's data can end it or begin anything else there, however it is cut. */
#include <stdlib.h>

#include "../../src/sink/json.h"
#include "../../src/sink/page.h"
#include "tap.h"

static char text[4096];

/* Through a stream, in pieces of that many bytes. */
static const char *escaped(const char *bytes, size_t piece)
{
	char *made = NULL;
	size_t size = 0, len = strlen(bytes);
	FILE *out = open_memstream(&made, &size), *data = page_data_open(out);

	setvbuf(data, NULL, _IONBF, 0);
	for (size_t at = 0; at < len; at += piece)
		fwrite(bytes + at, 1, len - at < piece ? len - at : piece, data);
	fclose(data);
	fclose(out);
	snprintf(text, sizeof(text), "%s", made);
	free(made);
	return text;
}

static int is_harmless(const char *what)
{
	return !strpbrk(what, "<>&") && !strstr(what, "\xe2\x80\xa8") && !strstr(what, "\xe2\x80\xa9");
}

static void test_characters(void)
{
	is_text(escaped("a<b>c&d", 99), "a\\u003cb\\u003ec\\u0026d", "page data has escapes in place of <, > and &");
	is_text(escaped("x\xe2\x80\xa8y\xe2\x80\xa9z", 99), "x\\u2028y\\u2029z",
		"page data has escapes in place of U+2028 and U+2029");
	is_text(escaped("\xe2\x80\xa6 \xe2\x82\xac \xe2\xe2\x80\xa8", 99), "\xe2\x80\xa6 \xe2\x82\xac \xe2\\u2028",
		"page data keeps characters that only begin like U+2028");
	is_text(escaped("{\"a\":[1,-2.5,null]}\n", 99), "{\"a\":[1,-2.5,null]}\n",
		"page data keeps plain JSON as it is");
	is_text(escaped("end \xe2\x80", 99), "end \xe2\x80", "page data keeps a character that is cut off at the end");
}

static void test_pieces(void)
{
	static const char hostile[] = "</script><!--<script>&amp;\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xe2\x80\xa8";
	char whole[sizeof(text)];

	snprintf(whole, sizeof(whole), "%s", escaped(hostile, sizeof(hostile)));
	ok(is_harmless(whole), "page data of a hostile text has nothing that HTML knows");
	for (size_t piece = 1; piece < 8; piece++)
		is_text(escaped(hostile, piece), whole, "page data written by %zu bytes is the same", piece);
}

static void test_all_pairs(void)
{
	int harmless = 1;

	for (int first = 1; first < 256; first++)
		for (int second = 1; second < 256; second++) {
			char bytes[] = { (char)first, (char)second, (char)0xe2, (char)0x80, (char)0xa8, '<', 0 };

			harmless &= is_harmless(escaped(bytes, 3));
		}
	ok(harmless, "page data has nothing that HTML knows after any two bytes");
}

static void test_json(void)
{
	char *made = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&made, &size), *data = page_data_open(out);
	struct json json = { .out = data };

	json_object(&json, NULL);
	json_string(&json, "comm", "<script>alert('&')</script>");
	json_object_end(&json);
	fclose(data);
	fclose(out);
	is_text(made, "{\"comm\":\"\\u003cscript\\u003ealert('\\u0026')\\u003c/script\\u003e\"}",
		"a name that is a script is a JSON string in page data");
	free(made);
}

int main(void)
{
	test_characters();
	test_pieces();
	test_all_pairs();
	test_json();
	return tap_end();
}
