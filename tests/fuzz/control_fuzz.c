// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what comes over a run's socket, from either end: any bytes. What is taken for sound can be used: its numbers
 * are within their tables, its texts end. */
#include <stdlib.h>
#include <string.h>

#include "../../core/role.h"
#include "../../src/stream/control.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int held)
{
	if (!held)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct control_request request;
	struct control_reply reply;
	struct control_state state;
	struct control_thread thread;

	if (control_request_is_sound(data, size)) {
		memcpy(&request, data, sizeof(request));
		require(request.verb < CONTROL_VERBS);
		/* Whoever it is about, a user may not act. */
		require(request.verb < CONTROL_PAUSE || request.verb > CONTROL_RELOAD ||
			!control_may(request.verb, 1000, request.pid, true));
	}
	if (control_reply_is_sound(data, size)) {
		memcpy(&reply, data, sizeof(reply));
		require(strlen(reply.words) < sizeof(reply.words) && reply.rows <= CONTROL_THREADS_MOST);
	}
	if (control_state_is_sound(data, size)) {
		memcpy(&state, data, sizeof(state));
		require(strlen(state.config) < sizeof(state.config) && strlen(state.profile) < sizeof(state.profile));
	}
	if (control_thread_is_sound(data, size)) {
		memcpy(&thread, data, sizeof(thread));
		require(strlen(thread.comm.text) < COMM_LEN && thread.role.role < ROLES && thread.hint < CONTROL_HINTS);
	}
	return 0;
}
