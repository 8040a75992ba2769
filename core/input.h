/* SPDX-License-Identifier: GPL-2.0 */
/* Input devices: what kind one is, judged by what it can send, and its number in the kernel's list.
 * Pure: decided at the kernel's hook for a device that has just appeared, and by the program for its list of devices.
 */
#ifndef TACTUS_CORE_INPUT_H
#define TACTUS_CORE_INPUT_H

#include "role.h"

/* The kernel's codes in use (linux/input-event-codes.h), which are part of its promise to user space. */
enum {
	INPUT_EV_SYN = 0,
	INPUT_EV_KEY = 1,
	INPUT_EV_REL = 2,
	INPUT_EV_ABS = 3,
	INPUT_SYN_REPORT = 0,
	INPUT_KEY_WORDS = 12, /* keys and buttons, 64 a word */
	INPUT_AXIS_X = 0,     /* of REL and of ABS */
	INPUT_AXIS_Y = 1,
	INPUT_ABS_MT_X = 0x35,
	INPUT_ABS_MT_Y = 0x36,
	INPUT_BTN_MOUSE = 0x110,
	INPUT_BTN_JOYSTICK = 0x120,
	INPUT_BTN_GAMEPAD = 0x130,
	INPUT_BTN_TOOL_PEN = 0x140,
	INPUT_BTN_TOOL_FINGER = 0x145,
	INPUT_BTN_TOUCH = 0x14a,
	INPUT_BTN_STYLUS = 0x14b,
	INPUT_LEAST_LETTERS = 8,
};

/* Q to P, A to L, Z to M: all in the first word of keys. */
#define INPUT_LETTERS ((0x3ffull << 16) | (0x1ffull << 30) | (0x7full << 44))

/* What a device can send: bit n of a word is code n. */
struct input_bits {
	u64 types;
	u64 rel;
	u64 abs;
	u64 keys[INPUT_KEY_WORDS];
};

/* What was counted of one device. */
struct input_count {
	u64 events; /* reports not among them */
	u64 reports;
	u64 last_ns;
	u64 last_report_ns;
	u64 reported_events; /* that are in reports sent to the program */
	u16 bus;
	u16 vendor;
	u16 product;
	u16 kind; /* enum input_kind */
	u32 number;
	u32 unused;
};

/* `code` is a constant of the enum above, so the word is within the array. */
core_fn int input_has_key(const struct input_bits *bits, u32 code)
{
	return bits->keys[code / 64] >> (code % 64) & 1;
}

/* A block of 16 buttons: one for joysticks, one for gamepads. */
core_fn int input_has_buttons(const struct input_bits *bits, u32 first)
{
	return (bits->keys[first / 64] >> (first % 64) & 0xffff) != 0;
}

core_fn int input_has_axes(u64 axes, u32 x, u32 y)
{
	return (axes >> x & 1) && (axes >> y & 1);
}

core_fn u32 input_bits_count(u64 word)
{
	u32 count = 0;

	for (int i = 0; i < 64; i++)
		count += word >> i & 1;
	return count;
}

/* Some receivers send for a mouse and a keyboard at once, some keyboards claim a joystick's buttons: the order of the
 * questions says what such a device is taken for. */
core_fn u32 input_kind_of(const struct input_bits *bits)
{
	int keys = bits->types >> INPUT_EV_KEY & 1;
	int place = (bits->types >> INPUT_EV_ABS & 1) && input_has_axes(bits->abs, INPUT_AXIS_X, INPUT_AXIS_Y);
	int fingers = (bits->types >> INPUT_EV_ABS & 1) && input_has_axes(bits->abs, INPUT_ABS_MT_X, INPUT_ABS_MT_Y);
	int moves = (bits->types >> INPUT_EV_REL & 1) && input_has_axes(bits->rel, INPUT_AXIS_X, INPUT_AXIS_Y);
	int gamepad = keys && input_has_buttons(bits, INPUT_BTN_GAMEPAD);
	int touched = keys && (input_has_key(bits, INPUT_BTN_TOUCH) || input_has_key(bits, INPUT_BTN_TOOL_FINGER));

	if (keys && (place || fingers) &&
	    (input_has_key(bits, INPUT_BTN_TOOL_PEN) || input_has_key(bits, INPUT_BTN_STYLUS)))
		return INPUT_TABLET;
	if (!gamepad && (fingers || (place && touched)))
		return INPUT_TOUCH;
	if (keys && (moves || (place && !gamepad)) && input_has_key(bits, INPUT_BTN_MOUSE))
		return INPUT_MOUSE;
	if (keys && input_bits_count(bits->keys[0] & INPUT_LETTERS) >= INPUT_LEAST_LETTERS)
		return INPUT_KEYBOARD;
	if (gamepad || (keys && place && input_has_buttons(bits, INPUT_BTN_JOYSTICK)))
		return INPUT_PAD;
	return INPUT_OTHER;
}

enum { INPUT_NAME_LEN = 16 };

#define INPUT_NO_NUMBER 0xffffffffu

/* "input12" is number 12. The kernel gives each number once, so it names a device even after that has gone. */
core_fn u32 input_number_of(const char *name)
{
	const char prefix[] = { 'i', 'n', 'p', 'u', 't' };
	u32 number = 0;

	for (u32 i = 0; i < sizeof(prefix); i++)
		if (name[i] != prefix[i])
			return INPUT_NO_NUMBER;
	for (u32 i = sizeof(prefix); i < INPUT_NAME_LEN; i++) {
		if (!name[i])
			return i == sizeof(prefix) ? INPUT_NO_NUMBER : number;
		if (name[i] < '0' || name[i] > '9' || number >= 100 * 1000 * 1000)
			return INPUT_NO_NUMBER;
		number = number * 10 + (u32)(name[i] - '0');
	}
	return INPUT_NO_NUMBER;
}

#endif
