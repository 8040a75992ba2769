// SPDX-License-Identifier: GPL-2.0
/* Fuzzes what is read of input devices and of sleeping threads: the texts of a device, split at NULs, or one text that
 * is taken for a file name, a system call and an epoll set in turn. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/model/devices.h"

static void fuzz_device(const uint8_t *data, size_t size)
{
	char texts[DEVICE_TEXTS][DEVICE_TEXT_SIZE] = { { 0 } };
	struct input_device device;
	size_t at = 0;

	for (size_t which = 0, i = 0; i < size && which < DEVICE_TEXTS; i++) {
		if (data[i] && at < DEVICE_TEXT_SIZE) {
			texts[which][at++] = (char)data[i];
			continue;
		}
		which++;
		at = 0;
	}
	if (device_parse(&device, texts) &&
	    (device.kind == INPUT_NONE || device.kind >= INPUT_KINDS || device.number == INPUT_NO_NUMBER ||
	     strlen(device.name) >= DEVICE_NAME_SIZE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	u64 args[WAIT_CALL_ARGS];
	const char *at = text;
	u32 number;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	fuzz_device(data, size);
	if (device_event_number(text, &number) && number > 1000009)
		abort();
	wait_call_parse(text, args);
	while (epoll_next_target(&at) >= 0)
		;
	free(text);
	return 0;
}
