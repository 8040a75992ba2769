// SPDX-License-Identifier: GPL-2.0
/* Reads the kernel's descriptions of input devices and of sleeping threads.
 * Whatever the text is, the answer is bounded and no byte past its end is looked at. */
#include "devices.h"

#include <string.h>
#include <sys/syscall.h>

static const char *const kind_names[INPUT_KINDS] = {
	[INPUT_NONE] = "none",	 [INPUT_MOUSE] = "mouse",   [INPUT_KEYBOARD] = "keyboard", [INPUT_PAD] = "pad",
	[INPUT_TOUCH] = "touch", [INPUT_TABLET] = "tablet", [INPUT_OTHER] = "other",
};

const char *device_kind_name(u32 kind)
{
	return kind_names[kind < INPUT_KINDS ? kind : INPUT_OTHER];
}

static int hex_digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	if (letter >= 'a' && letter <= 'f')
		return letter - 'a' + 10;
	return -1;
}

/* One number in hexadecimal digits, as the kernel prints them. Returns how many there were; 0: none, or more than fit.
 */
static size_t parse_hex(const char *text, u64 *value)
{
	size_t len = 0;

	*value = 0;
	for (; hex_digit(text[len]) >= 0; len++)
		*value = *value << 4 | (u64)hex_digit(text[len]);
	return len <= 16 ? len : 0;
}

static bool parse_id(const char *text, u16 *id)
{
	u64 value;
	size_t len = parse_hex(text, &value);

	if (!len || text[len] || value > 0xffff)
		return false;
	*id = (u16)value;
	return true;
}

/* Words of 64 bits, the highest first, leading ones left out if they are zero. More than `len` words are none that the
 * caller knows codes of; a text that is anything else has no bit set. */
static void parse_bits(const char *text, u64 *words, size_t len)
{
	memset(words, 0, len * sizeof(*words));
	while (*text) {
		u64 word;
		size_t digits = parse_hex(text, &word);

		text += digits;
		if (!digits || (*text && *text != ' ')) {
			memset(words, 0, len * sizeof(*words));
			return;
		}
		memmove(words + 1, words, (len - 1) * sizeof(*words));
		words[0] = word;
		while (*text == ' ')
			text++;
	}
}

bool device_event_number(const char *name, u32 *number)
{
	static const char prefix[] = "event";
	size_t at = sizeof(prefix) - 1;

	*number = 0;
	if (strncmp(name, prefix, at) != 0 || !name[at])
		return false;
	for (; name[at]; at++) {
		if (name[at] < '0' || name[at] > '9' || *number > 100000)
			return false;
		*number = *number * 10 + (u32)(name[at] - '0');
	}
	return true;
}

static u32 folder_number(const char *folder)
{
	const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;

	return strlen(last) < INPUT_NAME_LEN ? input_number_of(last) : INPUT_NO_NUMBER;
}

bool device_parse(struct input_device *device, char texts[DEVICE_TEXTS][DEVICE_TEXT_SIZE])
{
	struct input_bits bits;
	size_t len;

	for (int i = 0; i < DEVICE_TEXTS; i++)
		texts[i][DEVICE_TEXT_SIZE - 1] = '\0';
	device->number = folder_number(texts[DEVICE_FOLDER]);
	if (device->number == INPUT_NO_NUMBER || !parse_id(texts[DEVICE_BUS], &device->bus) ||
	    !parse_id(texts[DEVICE_VENDOR], &device->vendor) || !parse_id(texts[DEVICE_PRODUCT], &device->product))
		return false;
	parse_bits(texts[DEVICE_TYPES], &bits.types, 1);
	parse_bits(texts[DEVICE_REL], &bits.rel, 1);
	parse_bits(texts[DEVICE_ABS], &bits.abs, 1);
	parse_bits(texts[DEVICE_KEYS], bits.keys, INPUT_KEY_WORDS);
	device->kind = (u16)input_kind_of(&bits);
	len = strnlen(texts[DEVICE_NAME], DEVICE_NAME_SIZE - 1);
	memcpy(device->name, texts[DEVICE_NAME], len);
	device->name[len] = '\0';
	return true;
}

static enum wait_call wait_call_of(u64 number)
{
	switch (number) {
	case SYS_read:
	case SYS_readv:
		return WAIT_CALL_READ;
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return WAIT_CALL_POLL;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return WAIT_CALL_SELECT;
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return WAIT_CALL_EPOLL;
	default:
		return WAIT_CALL_NONE;
	}
}

/* "7 0x7ffd5d5b1b60 0x1 0xffffffff ...": the number, then arguments. A thread that runs has words there, one that
 * sleeps in no call has -1. */
enum wait_call wait_call_parse(const char *text, u64 args[WAIT_CALL_ARGS])
{
	u64 number = 0;
	size_t at = 0;

	for (; text[at] >= '0' && text[at] <= '9'; at++) {
		if (at > 5)
			return WAIT_CALL_NONE;
		number = number * 10 + (u64)(text[at] - '0');
	}
	if (!at)
		return WAIT_CALL_NONE;
	for (int i = 0; i < WAIT_CALL_ARGS; i++) {
		size_t digits;

		if (strncmp(text + at, " 0x", 3) != 0)
			return WAIT_CALL_NONE;
		at += 3;
		digits = parse_hex(text + at, &args[i]);
		if (!digits)
			return WAIT_CALL_NONE;
		at += digits;
	}
	return text[at] && text[at] != ' ' ? WAIT_CALL_NONE : wait_call_of(number);
}

int epoll_next_target(const char **at)
{
	while (*at && **at) {
		const char *line = *at, *end = strchr(line, '\n');
		int target = 0;
		size_t i = 4;

		*at = end ? end + 1 : NULL;
		if (strncmp(line, "tfd:", i) != 0)
			continue;
		while (line[i] == ' ')
			i++;
		if (line[i] < '0' || line[i] > '9')
			continue;
		for (; line[i] >= '0' && line[i] <= '9' && target < 100000000; i++)
			target = target * 10 + (line[i] - '0');
		if (line[i] == ' ')
			return target;
	}
	return -1;
}
