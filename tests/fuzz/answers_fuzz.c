// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what a server answers: any bytes as an answer by HTTP, its body as Prometheus's JSON, whose figures are
 * judged; and as an address to ask. What is found lies within the answer, texts end, numbers are numbers. The first
 * byte says what figure it is, or that it is an address. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/http_client.h"
#include "../../src/base/json_read.h"
#include "../../src/model/fleet_answer.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { FIGURES = 6, AN_ADDRESS = FIGURES };

struct taking {
	struct fleet *fleet;
	enum fleet_figure figure;
	long samples;
};

static void require(int held)
{
	if (!held)
		abort();
}

static void take(void *data, const struct fleet_sample *sample)
{
	struct taking *taking = data;

	require(strlen(sample->host) < sizeof(sample->host) && strlen(sample->rank) < sizeof(sample->rank) &&
		strlen(sample->part) < sizeof(sample->part) && strlen(sample->job) < sizeof(sample->job));
	taking->samples++;
	/* Of all figures, so that there is something to judge. */
	for (u32 figure = 0; figure < FIGURES; figure++)
		fleet_take(taking->fleet, sample->host, sample->rank,
			   (enum fleet_figure)((figure + taking->figure) % FIGURES), figure % 2 ? sample->part : "all",
			   sample->value);
}

static void judge(const char *body, size_t len, enum fleet_figure figure)
{
	struct fleet fleet = { 0 };
	struct taking taking = { &fleet, figure, 0 };
	char error[FLEET_ERROR_SIZE];
	long samples = fleet_answer_parse(body, len, take, &taking, error);

	require(samples < 0 ? error[0] && strlen(error) < sizeof(error) : samples == taking.samples);
	fleet_judge(&fleet);
	require(fleet.len <= FLEET_RANKS_MOST && fleet.judged <= fleet.len && fleet.blamed <= fleet.judged);
	for (size_t i = 0; i < fleet.len; i++) {
		require(isfinite(fleet.ranks[i].steps) && isfinite(fleet.ranks[i].step_s));
		require(fleet.ranks[i].cause < FLEET_CAUSES);
	}
	fleet_free(&fleet);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	size_t len = size ? size - 1 : 0, body_at = 0;
	char *bytes = malloc(len + 1), host[HTTP_NAME_SIZE];
	struct http_target target;
	u32 status, port;

	require(bytes != NULL);
	if (len)
		memcpy(bytes, data + 1, len);
	bytes[len] = '\0';
	if (size && data[0] % (FIGURES + 1) == AN_ADDRESS) {
		if (http_target_parse(&target, bytes, 9090, host, &port))
			require(port && port <= 0xffff && strlen(target.name) < sizeof(target.name) &&
				strlen(target.path) < sizeof(target.path) && !strpbrk(target.path, " \r\n"));
	} else if (size) {
		status = http_answer_status(bytes, len, &body_at);
		require(!status || (status <= 999 && body_at <= len));
		judge(bytes + body_at, len - body_at, (enum fleet_figure)(data[0] % FIGURES));
	}
	free(bytes);
	return 0;
}
