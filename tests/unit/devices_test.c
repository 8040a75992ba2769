// SPDX-License-Identifier: GPL-2.0
/* Input devices from the kernel's texts: kinds by what real devices say they can send, numbers, hostile texts; and what
 * a sleeping thread waits for. */
#include "../../src/model/devices.h"

#include <sys/syscall.h>

#include "tap.h"

static char texts[DEVICE_TEXTS][DEVICE_TEXT_SIZE];

static void set(enum device_text which, const char *text)
{
	snprintf(texts[which], DEVICE_TEXT_SIZE, "%s", text);
}

/* What sysfs says of a device, in the order of its files. */
static void describe(const char *ev, const char *key, const char *rel, const char *abs)
{
	memset(texts, 0, sizeof(texts));
	set(DEVICE_FOLDER, "../../input5");
	set(DEVICE_NAME, "A device");
	set(DEVICE_BUS, "0003");
	set(DEVICE_VENDOR, "046d");
	set(DEVICE_PRODUCT, "c077");
	set(DEVICE_TYPES, ev);
	set(DEVICE_KEYS, key);
	set(DEVICE_REL, rel);
	set(DEVICE_ABS, abs);
}

static void is_kind(u32 kind, const char *what, const char *ev, const char *key, const char *rel, const char *abs)
{
	struct input_device device = { 0 };

	describe(ev, key, rel, abs);
	ok(device_parse(&device, texts), "%s is understood as a device", what);
	is_text(device_kind_name(device.kind), device_kind_name(kind), "kind of %s is %s", what,
		device_kind_name(kind));
}

/* The words are those that these devices' drivers give. */
static void test_kinds(void)
{
	is_kind(INPUT_MOUSE, "USB mouse", "17", "70000 0 0 0 0", "903", "0");
	is_kind(INPUT_MOUSE, "gaming mouse with keys", "17", "ff0000 0 0 0 fffffffffffffffe", "1943", "0");
	is_kind(INPUT_MOUSE, "a VM's pointer, which has a place", "1f", "70000 0 0 0 0", "100", "3");
	is_kind(INPUT_KEYBOARD, "AT keyboard", "120013", "402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe",
		"0", "0");
	is_kind(INPUT_KEYBOARD, "keyboard that claims a joystick's buttons", "1f",
		"ffff00000000 0 0 0 feffffdfffefffff fffffffffffffffe", "0", "3");
	is_kind(INPUT_PAD, "Xbox pad", "20000b", "7cdb000000000000 0 0 0 0", "0", "3003f");
	is_kind(INPUT_PAD, "joystick", "1b", "ffff00000000 0 0 0 0", "0", "3003f");
	is_kind(INPUT_PAD, "pad without axes", "3", "1000000000000 0 0 0 0", "0", "0");
	is_kind(INPUT_TOUCH, "touch pad", "b", "e520 10000 0 0 0 0", "0", "660800011000003");
	is_kind(INPUT_TOUCH, "touch screen", "b", "400 0 0 0 0 0", "0", "260800000000003");
	is_kind(INPUT_TOUCH, "resistive touch screen", "b", "400 0 0 0 0 0", "0", "1000003");
	is_kind(INPUT_TABLET, "pen tablet", "1f", "1c03 1f0000 0 0 0 0", "100", "f00000f000003");
	is_kind(INPUT_OTHER, "power button", "3", "10000000000000 0", "0", "0");
	is_kind(INPUT_OTHER, "lid switch", "21", "0", "0", "0");
	is_kind(INPUT_OTHER, "media keys of a receiver", "1f",
		"3007f 0 0 0 0 483ffff17aff32d bf54444600000000 1 130f938b17c000 677bfad941dfed 9ed68000004400 "
		"10000002",
		"1040", "100000000");
	is_kind(INPUT_OTHER, "accelerometer", "9", "0", "0", "7");
	is_kind(INPUT_OTHER, "axes without the type that sends them", "3", "0", "3", "3");
	is_kind(INPUT_OTHER, "nothing at all", "", "", "", "");
}

static void test_attributes(void)
{
	struct input_device device = { 0 };

	describe("17", "70000 0 0 0 0", "903", "0");
	set(DEVICE_NAME, "Logitech USB \"Mouse\"\nH: Handlers=event0");
	ok(device_parse(&device, texts), "device with all fields is read");
	is(device.number, 5, "device reads back with its number");
	is(device.bus, 3, "device reads back with its bus");
	is(device.vendor, 0x046d, "device reads back with its vendor");
	is(device.product, 0xc077, "device reads back with its product");
	is_text(device.name, "Logitech USB \"Mouse\"\nH: Handlers=event0",
		"device reads back with its name, newline and all");

	memset(texts[DEVICE_NAME], 'x', DEVICE_TEXT_SIZE);
	ok(device_parse(&device, texts), "device with a name without an end is read");
	is(strlen(device.name), DEVICE_NAME_SIZE - 1, "device name that is too long is cut");
	set(DEVICE_NAME, "");
	ok(device_parse(&device, texts), "device without a name is read");
	is_text(device.name, "", "device without a name has an empty one");
}

static void refused(enum device_text which, const char *text)
{
	struct input_device device = { 0 };

	describe("17", "70000 0 0 0 0", "903", "0");
	set(which, text);
	ok(!device_parse(&device, texts), "text %d as '%s' is no device", which, text);
}

static void test_malformed(void)
{
	static const char *const folders[] = { "",
					       "input",
					       "input-1",
					       "input5x",
					       "../../event5",
					       "input5/",
					       "inpu",
					       "input99999999999999",
					       "../../input5 ",
					       "/",
					       "xinput5",
					       "input 5" };
	static const char *const ids[] = { "", "g000", "10000", "0x03", "-1", " 3", "3 ", "ffffffffffffffffff", "3,4" };
	static const char *const bits[] = {
		"g", "7x", "70000  0 0 0 0 z", "11111111111111111", "70000,0", "-1", "0x7"
	};
	struct input_device device = { 0 };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		refused(DEVICE_FOLDER, folders[i]);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		refused(DEVICE_BUS, ids[i]);
		refused(DEVICE_VENDOR, ids[i]);
		refused(DEVICE_PRODUCT, ids[i]);
	}
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		describe("17", bits[i], "903", "0");
		ok(device_parse(&device, texts), "device with keys '%s' is understood", bits[i]);
		is(device.kind, INPUT_OTHER, "keys '%s' make no known kind of device", bits[i]);
	}
	/* More words than there are codes: the low ones count. */
	describe("17", "1 2 3 4 5 6 7 8 9 a b c d e 70000 0 0 0 0", "903", "0");
	ok(device_parse(&device, texts), "device with key words past the last code is understood");
	is(device.kind, INPUT_MOUSE, "key words past the last code change nothing");
	describe("17", "70000 0 0 0 0", "ffffffffffffffff 903", "0");
	ok(device_parse(&device, texts), "device with axes past the last code is understood");
	is(device.kind, INPUT_MOUSE, "axes past the last code change nothing");
}

static void test_event_numbers(void)
{
	static const char *const wrong[] = { "",       "event",	  "mouse0",	   "event1x",
					     "eventx", "event-1", "event99999999", " event1" };
	u32 number;

	ok(device_event_number("event0", &number), "event0 is an event device");
	is(number, 0, "event0 has the number 0");
	ok(device_event_number("event256", &number), "event256 is an event device");
	is(number, 256, "event256 has the number 256");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!device_event_number(wrong[i], &number), "'%s' is no event device", wrong[i]);
	is_text(device_kind_name(1000), "other", "a kind that is not known");
}

static enum wait_call parse_call(long number, const char *rest, u64 *args)
{
	char line[256];

	snprintf(line, sizeof(line), "%ld%s", number, rest);
	return wait_call_parse(line, args);
}

static void test_wait_calls(void)
{
	static const char *const wrong[] = { "",
					     "running",
					     "-1 0x7ffd 0x1",
					     "0",
					     "0 0x5",
					     "0 5 6",
					     "0 0x5 0x",
					     "0 0xg 0x1",
					     "0 0x5 0x1zz",
					     "0 0x11111111111111111 0x1",
					     "99999999 0x1 0x1",
					     " 0 0x5 0x1" };
	u64 args[WAIT_CALL_ARGS] = { 0 };

	is(parse_call(SYS_read, " 0x5 0x7ffd00001000 0x18 0x0 0x0 0x0 0x7ffd 0x7fff", args), WAIT_CALL_READ,
	   "read is a call that waits");
	is(args[0], 5, "read that waits tells its descriptor");
	is(parse_call(SYS_ppoll, " 0x7ffd5d5b1b60 0x2 0x0", args), WAIT_CALL_POLL, "ppoll is a call that waits");
	is(args[0], 0x7ffd5d5b1b60, "ppoll tells the address of its array");
	is(args[1], 2, "ppoll tells the length of its array");
	is(parse_call(SYS_pselect6, " 0x6 0x7ffd5d5b1b60", args), WAIT_CALL_SELECT, "pselect is a call that waits");
	is(parse_call(SYS_epoll_pwait, " 0x4 0x7ffd5d5b1b60 0x1", args), WAIT_CALL_EPOLL,
	   "epoll_pwait is a call that waits");
	is(parse_call(SYS_futex, " 0x4 0x7ffd5d5b1b60 0x1", args), WAIT_CALL_NONE, "futex waits for no descriptor");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is(wait_call_parse(wrong[i], args), WAIT_CALL_NONE, "'%s' is no call that waits", wrong[i]);
}

static void test_epoll_targets(void)
{
	const char *at = "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1058\n"
			 "tfd:        5 events:       19 data:                5  pos:0 ino:61 sdev:5\n"
			 "tfd:       12 events: 8000001d data: ffffffffffffffff  pos:0 ino:61 sdev:5\n";

	is(epoll_next_target(&at), 5, "first target of an epoll set is found");
	is(epoll_next_target(&at), 12, "second target of an epoll set is found");
	is(epoll_next_target(&at), -1, "epoll set of two targets has no third");
	is(epoll_next_target(&at), -1, "epoll set at its end stays at its end");
	at = "tfd:\ntfd: x\ntfd: 99999999999999 \ntfd: -1 \ntfd: 7";
	is(epoll_next_target(&at), -1, "lines that are cut or wrong name none");
	at = "";
	is(epoll_next_target(&at), -1, "empty text has no epoll target");
}

int main(void)
{
	test_kinds();
	test_attributes();
	test_malformed();
	test_event_numbers();
	test_wait_calls();
	test_epoll_targets();
	return tap_end();
}
