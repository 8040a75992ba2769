// SPDX-License-Identifier: GPL-2.0
/* tactus gamemode: GameMode's interface on a user's session bus. Games that ask GameMode are made known to the running
 * 'tactus run', by its socket and as this user: it believes a user only about his own processes. The bus starts it when
 * somebody asks, and it ends when nobody has for a while. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/dbus_bus.h"
#include "../base/loop.h"
#include "../base/proc.h"
#include "../base/say.h"
#include "ask_run.h"
#include "gamemode_introspection.h"
#include "view.h"

#define NAME "com.feralinteractive.GameMode"
#define PATH "/com/feralinteractive/GameMode"

enum { GAMES_MOST = 16, IDLE_MS = 60000, LOOK_MS = 5000, OWNER = 1, NO_QUEUE = 4 };
/* GameMode's answers. */
enum { ANSWER_DONE = 0, ANSWER_FAILED = -1, ANSWER_REJECTED = -2, REGISTERED = 2 };

const struct command_usage gamemode_usage = {
	.name = "gamemode",
	.text = "Offers GameMode's interface (" NAME ") on the session bus, so that games which ask "
		"GameMode are known to the running 'tactus run'. The session bus starts it; nobody has to.\v"
		"Takes the place of gamemoded: only one of the two can have the name. It runs as the user, without "
		"rights, and ends when no game has asked for a minute.\n"
		"\n"
		"Examples:\n"
		"  tactus gamemode            by hand, until nobody asks\n"
		"  tactus gamemode && date    and then\n"
		"  gamemoderun ./game         what uses it",
	.takes = TAKES_NO_CONFIG,
};

struct service {
	struct dbus_bus bus;
	struct {
		u32 pid;
		u64 start_ticks;
	} games[GAMES_MOST];
	u32 games_len;
	u32 named;     /* the call that asked for the name */
	u64 looked_ns; /* after games and the run */
};

static int ask(enum control_verb verb, u32 pid, u32 *value)
{
	struct control_reply reply;
	struct reason why = { "" };
	int fd = ask_run(verb, pid, &reply, &why);

	*value = 0;
	if (fd < 0) {
		note("%s %u: %s", control_verb_name(verb), pid, why.text);
		return fd == -EPERM ? ANSWER_REJECTED : ANSWER_FAILED;
	}
	close(fd);
	*value = reply.value;
	return ANSWER_DONE;
}

static void forget(struct service *service, u32 pid)
{
	for (u32 i = service->games_len; i-- > 0;)
		if (service->games[i].pid == pid)
			service->games[i] = service->games[--service->games_len];
}

static void send_signal(struct service *service, const char *member, u32 pid)
{
	struct dbus_writer writer;
	char path[64];

	snprintf(path, sizeof(path), PATH "/Games/%u", pid);
	dbus_begin(&writer, &(struct dbus_head){ .type = DBUS_SIGNAL,
						 .serial = dbus_next_serial(&service->bus),
						 .path = PATH,
						 .interface = NAME,
						 .member = member,
						 .signature = "io" });
	dbus_put_u32(&writer, pid);
	dbus_put_string(&writer, path);
	dbus_send(&service->bus, &writer);
}

static int add_game(struct service *service, u32 pid)
{
	u32 value;
	int answer;

	if (service->games_len == GAMES_MOST)
		return ANSWER_FAILED;
	answer = ask(CONTROL_GAME, pid, &value);
	if (answer != ANSWER_DONE)
		return answer;
	service->games[service->games_len].start_ticks = proc_start_ticks(pid);
	service->games[service->games_len++].pid = pid;
	send_signal(service, "GameRegistered", pid);
	return ANSWER_DONE;
}

static int remove_game(struct service *service, u32 pid)
{
	u32 value;
	int answer = ask(CONTROL_NO_GAME, pid, &value);

	if (answer == ANSWER_DONE) {
		forget(service, pid);
		send_signal(service, "GameUnregistered", pid);
	}
	return answer;
}

static int query_game(u32 pid)
{
	u32 value;
	int answer = ask(CONTROL_IS_GAME, pid, &value);

	return answer == ANSWER_DONE ? (int)value : answer;
}

/* The process of a pidfd, by what the kernel says of it; 0: it is none, or has ended. */
static u32 pid_of(int fd)
{
	char path[64], text[512];
	const char *at;
	ssize_t got;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	got = info >= 0 ? read(info, text, sizeof(text) - 1) : -1;
	if (info >= 0)
		close(info);
	text[got > 0 ? got : 0] = '\0';
	at = strstr(text, "\nPid:\t");
	return at ? (u32)strtoul(at + 6, NULL, 10) : 0;
}

/* The game's. As gamemoded and its library have it, numbers are of who asks and of the game, and descriptors of the
 * game and of who asks. */
static u32 game_of(const struct service *service, const struct dbus_message *message)
{
	struct dbus_reader body = dbus_body(message);
	u32 number = dbus_read_u32(&body);
	bool is_descriptor = message->signature[0] == 'h';

	if (!is_descriptor && message->signature[1])
		number = dbus_read_u32(&body);
	if (body.failed)
		return 0;
	if (is_descriptor)
		return number < service->bus.fds_len ? pid_of(service->bus.fds[number]) : 0;
	return number;
}

struct method {
	const char *name, *takes;
	int (*act)(struct service *service, u32 pid);
};

static int query(struct service *service, u32 pid)
{
	(void)service;
	return query_game(pid);
}

static int refresh(struct service *service, u32 pid)
{
	(void)service;
	(void)pid;
	return ANSWER_DONE;
}

static const struct method methods[] = {
	{ "RegisterGame", "i", add_game },
	{ "UnregisterGame", "i", remove_game },
	{ "QueryStatus", "i", query },
	{ "RegisterGameByPID", "ii", add_game },
	{ "UnregisterGameByPID", "ii", remove_game },
	{ "QueryStatusByPID", "ii", query },
	{ "RegisterGameByPIDFd", "hh", add_game },
	{ "UnregisterGameByPIDFd", "hh", remove_game },
	{ "QueryStatusByPIDFd", "hh", query },
	{ "RefreshConfig", "", refresh },
};

static void begin_reply(struct dbus_writer *writer, struct service *service, const struct dbus_message *message,
			const char *signature, const char *error)
{
	dbus_begin(writer, &(struct dbus_head){ .type = error ? DBUS_ERROR : DBUS_RETURN,
						.serial = dbus_next_serial(&service->bus),
						.reply_serial = message->serial,
						.destination = message->sender,
						.error = error,
						.signature = signature });
}

static void list_games(struct service *service, struct dbus_writer *writer)
{
	size_t began = dbus_begin_array(writer, 8);
	char path[64];

	for (u32 i = 0; i < service->games_len; i++) {
		dbus_align(writer, 8);
		dbus_put_u32(writer, service->games[i].pid);
		snprintf(path, sizeof(path), PATH "/Games/%u", service->games[i].pid);
		dbus_put_string(writer, path);
	}
	dbus_end_array(writer, began, 8);
}

/* What every object has. False: it is none of these. */
static bool answer_common(struct service *service, const struct dbus_message *message, struct dbus_writer *writer)
{
	struct dbus_reader body = dbus_body(message);

	if (!strcmp(message->member, "Introspect") && !message->signature[0]) {
		begin_reply(writer, service, message, "s", NULL);
		dbus_put_string(writer, gamemode_introspection);
		return true;
	}
	if (!strcmp(message->member, "Ping") && !message->signature[0]) {
		begin_reply(writer, service, message, NULL, NULL);
		return true;
	}
	if (!strcmp(message->member, "ListGames") && !message->signature[0]) {
		begin_reply(writer, service, message, "a(io)", NULL);
		list_games(service, writer);
		return true;
	}
	if (!strcmp(message->member, "GetAll") && !strcmp(message->signature, "s")) {
		size_t began;

		begin_reply(writer, service, message, "a{sv}", NULL);
		began = dbus_begin_array(writer, 8);
		dbus_put_string(writer, "ClientCount");
		dbus_put_signature(writer, "i");
		dbus_put_u32(writer, service->games_len);
		dbus_end_array(writer, began, 8);
		return true;
	}
	if (strcmp(message->member, "Get") != 0 || strcmp(message->signature, "ss") != 0)
		return false;
	dbus_read_string(&body);
	if (strcmp(dbus_read_string(&body), "ClientCount") != 0)
		return false;
	begin_reply(writer, service, message, "v", NULL);
	dbus_put_signature(writer, "i");
	dbus_put_u32(writer, service->games_len);
	return true;
}

static void answer(struct service *service, const struct dbus_message *message)
{
	struct dbus_writer writer;

	if (message->type != DBUS_CALL)
		return;
	if (answer_common(service, message, &writer)) {
		dbus_send(&service->bus, &writer);
		return;
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		u32 pid;

		if (strcmp(message->member, methods[i].name) != 0 || strcmp(message->signature, methods[i].takes) != 0)
			continue;
		pid = methods[i].takes[0] ? game_of(service, message) : 0;
		begin_reply(&writer, service, message, "i", NULL);
		dbus_put_u32(&writer,
			     methods[i].takes[0] && !pid ? (u32)ANSWER_FAILED : (u32)methods[i].act(service, pid));
		dbus_send(&service->bus, &writer);
		return;
	}
	begin_reply(&writer, service, message, "s", "org.freedesktop.DBus.Error.UnknownMethod");
	dbus_put_string(&writer, "there is no such method");
	dbus_send(&service->bus, &writer);
}

/* Those that have ended are the run's to forget; here they only count. */
static void forget_ended(struct service *service)
{
	for (u32 i = service->games_len; i-- > 0;)
		if (proc_start_ticks(service->games[i].pid) != service->games[i].start_ticks) {
			send_signal(service, "GameUnregistered", service->games[i].pid);
			service->games[i] = service->games[--service->games_len];
		}
}

/* A run that was started since knows nothing of them; while there is none, nothing is said. */
static void register_again(struct service *service)
{
	for (u32 i = 0; i < service->games_len; i++) {
		struct control_reply reply;
		struct reason why;
		int fd = ask_run(CONTROL_IS_GAME, service->games[i].pid, &reply, &why);
		bool is_known = fd >= 0 && reply.value == REGISTERED;

		if (fd >= 0)
			close(fd);
		if (fd < 0 || is_known)
			continue;
		fd = ask_run(CONTROL_GAME, service->games[i].pid, &reply, &why);
		if (fd >= 0)
			close(fd);
	}
}

static void look(struct service *service)
{
	u64 now_ns = clock_now_ns();

	if (now_ns - service->looked_ns < (u64)LOOK_MS * NSEC_PER_MSEC)
		return;
	service->looked_ns = now_ns;
	forget_ended(service);
	register_again(service);
}

static int serve(struct service *service)
{
	struct dbus_message message;
	struct dbus_reader body;
	int got, idle_ms = 0;

	for (;;) {
		struct pollfd ready = { service->bus.fd, POLLIN, 0 };

		while ((got = dbus_next(&service->bus, &message)) > 0) {
			/* Who had it started may be heard before the answer about its name. */
			body = dbus_body(&message);
			if (message.reply_serial && message.reply_serial == service->named &&
			    (message.type != DBUS_RETURN || dbus_read_u32(&body) != OWNER))
				return fail("gamemode", "another program has the name " NAME ": is gamemoded at work?");
			answer(service, &message);
			idle_ms = 0;
		}
		if (got < 0)
			return got == -ECONNRESET ? EXIT_SUCCESS
						  : fail("gamemode", "the session bus: %s", strerror(-got));
		if (poll(&ready, 1, LOOK_MS) == 0)
			idle_ms += LOOK_MS;
		look(service);
		if (idle_ms >= IDLE_MS && !service->games_len)
			return EXIT_SUCCESS;
	}
}

int view_gamemode(int argc, char **argv)
{
	static struct service service;
	const u32 flags = NO_QUEUE;
	struct reason why = { "" };
	struct options options;
	int status;

	options_parse(&options, &gamemode_usage, NULL, argc, argv);
	if (dbus_open(&service.bus, false, &why))
		return fail("gamemode", "%s", why.text);
	if (dbus_tell_bus(&service.bus, "RequestName", NAME, &flags, &service.named))
		status = fail("gamemode", "the session bus can't be asked for a name");
	else
		status = serve(&service);
	dbus_close(&service.bus);
	return status;
}
