// SPDX-License-Identifier: GPL-2.0
/* D-Bus messages: what is written is what is read, bytes as a real bus sends them, and bytes that lie. */
#include "../../src/base/dbus.h"

#include "../../src/base/dbus_bus.h"
#include "../../src/base/notify.h"
#include "../../src/base/power_profile.h"
#include "tap.h"

static void write_call(struct dbus_writer *writer)
{
	dbus_begin(writer, &(struct dbus_head){ .type = DBUS_CALL,
						.serial = 7,
						.path = "/a",
						.interface = "b.c",
						.member = "Get",
						.destination = "d.e",
						.signature = "ss" });
	dbus_put_string(writer, "first");
	dbus_put_string(writer, "");
	dbus_end(writer);
}

static void test_round_trip(void)
{
	struct dbus_message message;
	struct dbus_writer writer;
	struct dbus_reader body;

	write_call(&writer);
	is(dbus_length(writer.bytes, writer.len), writer.len, "a written message has the length that it says");
	ok(dbus_parse(writer.bytes, writer.len, &message), "a written message can be read");
	is(message.type, DBUS_CALL, "a read message has the type that was written");
	is(message.serial, 7, "a read message has the serial that was written");
	is_text(message.path, "/a", "a read message has the path that was written");
	is_text(message.interface, "b.c", "a read message has the interface that was written");
	is_text(message.member, "Get", "a read message has the member that was written");
	is_text(message.destination, "d.e", "a read message has the destination that was written");
	is_text(message.signature, "ss", "a read message has the signature that was written");
	ok(!strcmp(message.sender, ""), "a field that was not written is empty");
	body = dbus_body(&message);
	ok(!strcmp(dbus_read_string(&body), "first"), "the first string of a body is read");
	is_text(dbus_read_string(&body), "", "an empty string of a body is read");
	ok(!body.failed, "a body with an empty string is read to its end");
	is_text(dbus_read_string(&body), "", "behind the end of a body there is nothing");
	ok(body.failed, "reading past the end of a body fails");
}

/* A return of a variant of a string, as a real bus sends it. */
static const u8 profile[] = { 'l', 2,	1, 1, 16,  0, 0,   0, 5, 0, 0,	 0,   47,  0,	0,   0,	  5, 1, 'u', 0, 9,   0,
			      0,   0,	6, 1, 's', 0, 5,   0, 0, 0, ':', '1', '.', '4', '2', 0,	  0, 0, 8,   1, 'g', 0,
			      1,   'v', 0, 0, 7,   1, 's', 0, 4, 0, 0,	 0,   ':', '1', '.', '3', 0, 0, 0,   0 };

static void test_real_bytes(void)
{
	u8 bytes[sizeof(profile) + 16];
	struct dbus_message message;
	struct dbus_reader body;
	static const u8 value[16] = { 1, 's', 0, 0, 8, 0, 0, 0, 'b', 'a', 'l', 'a', 'n', 'c', 'e', 'd' };
	size_t head = sizeof(profile);

	/* The string's NUL is the 17th byte. */
	memcpy(bytes, profile, head);
	bytes[4] = 17;
	bytes[12] = 45;
	memcpy(bytes + head, value, sizeof(value));
	ok(dbus_length(bytes, DBUS_HEAD_BYTES) > 0, "the head of a message tells its length");
	{
		u8 whole[sizeof(bytes) + 1];
		size_t len = (size_t)dbus_length(bytes, DBUS_HEAD_BYTES);

		memcpy(whole, bytes, sizeof(bytes));
		whole[sizeof(bytes)] = 0;
		is(len, sizeof(whole), "a reply's length is that of its head and body");
		ok(dbus_parse(whole, len, &message), "a reply as a real bus sends it can be read");
		is(message.reply_serial, 9, "a reply tells which call it is about");
		is_text(message.sender, ":1.3", "a reply tells who sent it");
		is_text(message.destination, ":1.42", "a reply tells whom it was sent to");
		body = dbus_body(&message);
		ok(!strcmp(dbus_read_signature(&body), "s"), "a variant tells what it holds");
		is_text(dbus_read_string(&body), "balanced", "a variant's string is read");
	}
}

static void test_lies(void)
{
	struct dbus_message message;
	struct dbus_writer writer;
	u32 broken = 0;

	write_call(&writer);
	is(dbus_length(writer.bytes, DBUS_HEAD_BYTES - 1), 0, "fewer bytes than a head tell no length");
	for (size_t cut = 0; cut < writer.len; cut++)
		broken += dbus_parse(writer.bytes, cut, &message);
	is(broken, 0, "a message that was cut anywhere is not read");
	writer.bytes[0] = 'B';
	is(dbus_length(writer.bytes, writer.len), -1, "a message of the other byte order is refused");
	writer.bytes[0] = 'l';
	writer.bytes[7] = 0xff;
	is(dbus_length(writer.bytes, writer.len), -1, "a message whose body is 4 GB long is refused");
	write_call(&writer);
	writer.bytes[15] = 0xff;
	is(dbus_length(writer.bytes, writer.len), -1, "a message whose fields are 4 GB long is refused");
	write_call(&writer);
	writer.bytes[20] = 0xff;
	ok(!dbus_parse(writer.bytes, writer.len, &message), "a field whose text is longer than the message is refused");
	write_call(&writer);
	writer.bytes[8] = 0;
	ok(!dbus_parse(writer.bytes, writer.len, &message), "a message with serial 0 is refused");
}

static void test_too_long(void)
{
	struct dbus_writer writer;
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	dbus_begin(&writer, &(struct dbus_head){ .type = DBUS_CALL, .serial = 1, .signature = "ss" });
	dbus_put_string(&writer, text);
	ok(dbus_end(&writer), "a message with one long string fits");
	dbus_put_string(&writer, text);
	ok(!dbus_end(&writer), "a message that does not fit says so");
}

static void test_addresses(void)
{
	char into[108];

	is(dbus_address("unix:path=/run/user/1000/bus", into, sizeof(into)), 18, "an address that is a path is known");
	ok(!memcmp(into, "/run/user/1000/bus", 18), "the path of an address is the socket's");
	is(dbus_address("unix:guid=1,path=/x;tcp:host=y", into, sizeof(into)), 2, "a path is found behind other keys");
	is(dbus_address("unix:abstract=/tmp/d,guid=1", into, sizeof(into)), 7,
	   "an abstract name is known, with its NUL");
	is(into[0], 0, "an abstract name begins with a NUL");
	is(dbus_address("tcp:host=1.2.3.4,port=5", into, sizeof(into)), 0, "an address of the network is refused");
	is(dbus_address("unix:path=/a%20b", into, sizeof(into)), 0, "an escaped address is refused");
	is(dbus_address("unix:path=/run/user/1000/bus", into, 8), 0, "an address that does not fit is refused");
	is(dbus_address("", into, sizeof(into)), 0, "an empty address is refused");
}

static void test_watchdog(void)
{
	is(notify_watchdog_ns("30000000", NULL, 5), 10000000000ULL, "a watchdog of 30 s is fed every 10 s");
	is(notify_watchdog_ns("30000000", "5", 5), 10000000000ULL, "a watchdog of this process is fed");
	is(notify_watchdog_ns("30000000", "6", 5), 0, "a watchdog of another process is not fed");
	is(notify_watchdog_ns(NULL, NULL, 5), 0, "a process without a watchdog feeds none");
	is(notify_watchdog_ns("3e7", NULL, 5), 0, "a watchdog whose time is no number is not fed");
	is(notify_watchdog_ns("99999999999999999999", NULL, 5), 0,
	   "a watchdog whose time is past all numbers is not fed");
	ok(power_profile_is_known("power-saver"), "power-saver is a profile");
	ok(!power_profile_is_known("turbo"), "turbo is no profile");
}

int main(void)
{
	test_round_trip();
	test_real_bytes();
	test_lies();
	test_too_long();
	test_addresses();
	test_watchdog();
	return tap_end();
}
