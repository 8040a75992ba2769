// SPDX-License-Identifier: GPL-2.0
/* Events that a view itself adds to the stream: what it did, which no hook sees.
 */
#include "../stream/stream.h"
#include "capture.h"

void capture_put(struct capture *capture, const struct event_header *event)
{
	if (capture->stream)
		stream_put(capture->stream, event);
}
