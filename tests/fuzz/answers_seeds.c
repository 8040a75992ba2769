// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing a server's answers starts from: Prometheus's, with and without a head, and addresses.
 * Usage: answers_seeds FOLDER */
#include <stdio.h>

#define VECTOR(samples) "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" samples "]}}"
#define SAMPLE(host, rank, part, value)                                                                               \
	"{\"metric\":{\"instance\":\"" host "\",\"rank\":\"" rank "\",\"part\":\"" part "\",\"training_job\":\"7\"}," \
	"\"value\":[1763400000.1,\"" value "\"]}"

static const char *const answers[] = {
	"\1HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" VECTOR(
		SAMPLE("a:9783", "0", "collective", "12.5") "," SAMPLE("b:9783", "1", "ran", "3e1") "," SAMPLE(
			"c:9783", "2", "cpu_wait", "+Inf") "," SAMPLE("d:9783", "3", "all", "NaN")),
	"\5" VECTOR(SAMPLE("a", "0", "all", "100") "," SAMPLE("b", "1", "all", "100") "," SAMPLE("c", "2", "collective",
												 "9")),
	"\0HTTP/1.1 400 Bad Request\r\n\r\n{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error "
	"\\u001b[2J\"}",
	"\2" VECTOR("{\"metric\":{\"instance\":\"\\ud83d\\ude00\\\"\\\\\"},\"value\":[[[[1]]],{\"a\":null}]}"),
	"\3[1,2,{\"a\":[true,false,null,-1.5e300]}]",
	"\6http://127.0.0.1:9090/prefix/",
	"\6http://[::1]:4318",
	"\6https://example.org",
};
static const size_t lengths[] = { 0, 0, 100, 0, 0, 0, 0, 0 };

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc == 2 && i < sizeof(answers) / sizeof(answers[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed-%zu", argv[1], i);
		file = fopen(path, "wb");
		if (!file ||
		    (lengths[i] ? fwrite(answers[i], 1, lengths[i], file) != lengths[i]
				: fputs(answers[i], file) < 0) ||
		    fclose(file))
			return 1;
	}
	return argc != 2;
}
