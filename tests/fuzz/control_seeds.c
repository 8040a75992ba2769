// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing a run's socket starts from: one of each packet.
 * Usage: control_seeds FOLDER */
#include <stdio.h>

#include "../../src/stream/control.h"

static int put(const char *folder, int number, const void *bytes, size_t len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed-%d", folder, number);
	file = fopen(path, "wb");
	return !file || fwrite(bytes, 1, len, file) != len || fclose(file);
}

int main(int argc, char **argv)
{
	const struct control_request request = { CONTROL_ASKS, CONTROL_VERSION, CONTROL_WHY, 1 };
	const struct control_reply reply = { .magic = CONTROL_REPLIES,
					     .version = CONTROL_VERSION,
					     .words = "reloaded" };
	const struct control_state state = { .magic = CONTROL_STATE,
					     .version = CONTROL_VERSION,
					     .config = "/etc/tactus.conf" };
	const struct control_thread thread = { .magic = CONTROL_THREAD,
					       .version = CONTROL_VERSION,
					       .role.head.kind = EVENT_ROLE };

	return argc != 2 || put(argv[1], 0, &request, sizeof(request)) || put(argv[1], 1, &reply, sizeof(reply)) ||
	       put(argv[1], 2, &state, sizeof(state)) || put(argv[1], 3, &thread, sizeof(thread));
}
