// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of D-Bus messages starts from: calls, a reply, a signal, addresses.
 * Usage: dbus_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../src/base/dbus.h"

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
	static const char *const addresses[] = { "unix:path=/run/dbus/system_bus_socket",
						 "unix:abstract=/tmp/dbus-x,guid=12" };
	struct dbus_writer writer;

	if (argc != 2)
		return 1;
	dbus_begin(&writer, &(struct dbus_head){ .type = DBUS_CALL,
						 .serial = 1,
						 .path = "/com/feralinteractive/GameMode",
						 .interface = "com.feralinteractive.GameMode",
						 .member = "RegisterGameByPID",
						 .destination = "com.feralinteractive.GameMode",
						 .signature = "ii" });
	dbus_put_u32(&writer, 12);
	dbus_put_u32(&writer, 13);
	if (!dbus_end(&writer) || put(argv[1], 0, writer.bytes, writer.len))
		return 1;
	dbus_begin(&writer,
		   &(struct dbus_head){ .type = DBUS_RETURN, .serial = 2, .reply_serial = 1, .signature = "v" });
	dbus_put_signature(&writer, "s");
	dbus_put_string(&writer, "power-saver");
	if (!dbus_end(&writer) || put(argv[1], 1, writer.bytes, writer.len))
		return 1;
	for (int i = 0; i < 2; i++)
		if (put(argv[1], 2 + i, addresses[i], strlen(addresses[i])))
			return 1;
	return 0;
}
