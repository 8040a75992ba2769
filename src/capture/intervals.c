// SPDX-License-Identifier: GPL-2.0
#include "intervals.h"

enum { EMPTY_MOST = 1000, REST_PART = 10 };

void intervals_begin(struct capture *capture)
{
	capture->interval_from_ns = capture->threads.first_ns;
}

void intervals_pass(struct capture *capture, u64 now_ns)
{
	const struct capture_request *request = &capture->request;
	u64 length_ns = request->interval_ns;

	if (!length_ns || !capture->interval_from_ns)
		return;
	for (u32 pieces = 0; now_ns >= capture->interval_from_ns + length_ns; pieces++) {
		u64 from_ns = capture->interval_from_ns;

		/* A recording may claim to be idle for years. */
		if (pieces == EMPTY_MOST) {
			capture->interval_from_ns += (now_ns - from_ns) / length_ns * length_ns;
			return;
		}
		capture->interval_from_ns += length_ns;
		request->on_interval(request->data, from_ns, from_ns + length_ns);
	}
}

bool intervals_have_rest(const struct capture *capture)
{
	u64 length_ns = capture->request.interval_ns;

	/* What ends a command or a window takes a moment: that is no piece of its own. */
	return !length_ns || span_between(capture->interval_from_ns, capture->threads.last_ns) >= length_ns / REST_PART;
}
