// SPDX-License-Identifier: GPL-2.0
/* Gets into the bus as who it is, then gives up everything and listens. A signal is only the occasion to ask: anybody
 * may send one, but the answer to a question comes from who was asked. */
#include "power_profile.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "dbus_bus.h"
#include "loop.h"

/* The newer name first. */
static const struct {
	const char *name, *path;
} daemons[] = {
	{ "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
	{ "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};
enum { DAEMONS = 2, HEARD_AT_ONCE = 64 };

/* Who sends signals for ever makes it ask no oftener. */
#define ASK_AGAIN_NS NSEC_PER_SEC

struct listener {
	struct dbus_bus bus;
	int tell_fd;
	u32 asked[DAEMONS]; /* serials of questions that are open; 0: none */
	u64 asked_ns;
	bool is_due;
	char told[POWER_PROFILE_SIZE];
	bool has_told;
};

bool power_profile_is_known(const char *word)
{
	return !strcmp(word, "power-saver") || !strcmp(word, "balanced") || !strcmp(word, "performance");
}

static void tell(struct listener *listener, const char *profile)
{
	char word[POWER_PROFILE_SIZE] = "";

	/* That there is none is no news at first. */
	if (listener->has_told ? !strcmp(listener->told, profile) : !profile[0])
		return;
	strncpy(word, profile, sizeof(word) - 1);
	memcpy(listener->told, word, sizeof(word));
	listener->has_told = true;
	if (send(listener->tell_fd, word, sizeof(word), MSG_NOSIGNAL) < 0)
		_exit(EXIT_SUCCESS);
}

static void ask_one(struct listener *listener, int which)
{
	struct dbus_writer writer;
	u32 serial = dbus_next_serial(&listener->bus);

	dbus_begin(&writer, &(struct dbus_head){ .type = DBUS_CALL,
						 .flags = DBUS_NO_START,
						 .serial = serial,
						 .path = daemons[which].path,
						 .interface = "org.freedesktop.DBus.Properties",
						 .member = "Get",
						 .destination = daemons[which].name,
						 .signature = "ss" });
	dbus_put_string(&writer, daemons[which].name);
	dbus_put_string(&writer, "ActiveProfile");
	memset(listener->asked, 0, sizeof(listener->asked));
	if (!dbus_send(&listener->bus, &writer))
		listener->asked[which] = serial;
}

static void hear(struct listener *listener, const struct dbus_message *message)
{
	struct dbus_reader body = dbus_body(message);
	const char *word;

	if (message->type == DBUS_SIGNAL) {
		listener->is_due = true;
		return;
	}
	for (int i = 0; i < DAEMONS; i++) {
		if (!message->reply_serial || message->reply_serial != listener->asked[i])
			continue;
		listener->asked[i] = 0;
		if (message->type == DBUS_RETURN && !strcmp(message->signature, "v") &&
		    !strcmp(dbus_read_signature(&body), "s")) {
			word = dbus_read_string(&body);
			if (!body.failed && power_profile_is_known(word))
				tell(listener, word);
		} else if (i + 1 < DAEMONS) {
			ask_one(listener, i + 1);
		} else {
			tell(listener, "");
		}
		return;
	}
}

static const int calls[] = {
#ifdef SYS_poll /* newer machines have ppoll alone */
	SYS_poll,
#endif
	SYS_ppoll, SYS_recvmsg, SYS_sendto, SYS_close, SYS_clock_gettime, SYS_exit_group, SYS_brk, SYS_restart_syscall
};

static void listen_for_ever(struct listener *listener)
{
	struct dbus_message message;
	int got;

	for (;;) {
		struct pollfd ready[2] = { { listener->bus.fd, POLLIN, 0 }, { listener->tell_fd, 0, 0 } };
		u64 now_ns = clock_now_ns();

		if (listener->is_due && now_ns - listener->asked_ns >= ASK_AGAIN_NS) {
			listener->is_due = false;
			listener->asked_ns = now_ns;
			ask_one(listener, 0);
		}
		/* Who sends without end does not keep it from asking. */
		for (u32 heard = 0; heard < HEARD_AT_ONCE && (got = dbus_next(&listener->bus, &message)) > 0; heard++)
			hear(listener, &message);
		if (got < 0)
			_exit(EXIT_FAILURE);
		if (poll(ready, 2, listener->is_due ? 200 : -1) < 0 || ready[1].revents)
			_exit(EXIT_SUCCESS);
	}
}

static bool add_matches(struct dbus_bus *bus)
{
	static const char *const rules[] = {
		"type='signal',sender='org.freedesktop.UPower.PowerProfiles',member='PropertiesChanged'",
		"type='signal',sender='net.hadess.PowerProfiles',member='PropertiesChanged'",
		"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='net.hadess.PowerProfiles'",
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (dbus_ask_bus(bus, "AddMatch", rules[i], NULL) < 0)
			return false;
	return true;
}

static void be_listener(struct listener *listener, pid_t run)
{
	sigset_t all;
	bool is_another;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "tactus-power");
	/* Both stay open, the rest goes. */
	if (dup2(listener->bus.fd, STDIN_FILENO) < 0 || dup2(listener->tell_fd, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
	listener->bus.fd = STDIN_FILENO;
	listener->tell_fd = STDOUT_FILENO;
	syscall(SYS_close_range, STDERR_FILENO, ~0u, 0);
	is_another = confine_user();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != run)
		_exit(EXIT_FAILURE);
	if (!confine_calls(calls, sizeof(calls) / sizeof(calls[0])) && !is_another && geteuid() == 0)
		_exit(EXIT_FAILURE);
	listener->is_due = true;
	listen_for_ever(listener);
}

/* Gets into the bus, now or, as the listener, once it runs. */
static bool get_in(struct listener *listener)
{
	struct reason why;

	if (dbus_open(&listener->bus, true, &why))
		return false;
	if (add_matches(&listener->bus))
		return true;
	dbus_close(&listener->bus);
	return false;
}

static bool start(struct power_profile *profile, bool is_in)
{
	static struct listener listener;
	pid_t self = getpid();
	int fds[2];

	listener = (struct listener){ .bus.fd = -1 };
	if (is_in && !get_in(&listener))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		dbus_close(&listener.bus);
		return false;
	}
	listener.tell_fd = fds[1];
	profile->listener = fork();
	if (!profile->listener && (is_in || get_in(&listener)))
		be_listener(&listener, self);
	if (!profile->listener)
		_exit(EXIT_FAILURE);
	close(fds[1]);
	dbus_close(&listener.bus);
	profile->fd = fds[0];
	if (profile->listener > 0)
		return true;
	close(fds[0]);
	*profile = (struct power_profile){ 0 };
	return false;
}

bool power_profile_start(struct power_profile *profile)
{
	return start(profile, true);
}

bool power_profile_start_again(struct power_profile *profile)
{
	return start(profile, false);
}

void power_profile_end(struct power_profile *profile)
{
	if (profile->fd <= 0)
		return;
	close(profile->fd);
	/* It ends by itself when it hears that; what has no rights need not be waited for. */
	kill(profile->listener, SIGKILL);
	waitpid(profile->listener, NULL, 0);
	*profile = (struct power_profile){ 0 };
}

bool power_profile_heard(const struct power_profile *profile, char heard[POWER_PROFILE_SIZE], bool *ended)
{
	char word[POWER_PROFILE_SIZE];
	bool is_news = false;
	ssize_t got;

	while ((got = recv(profile->fd, word, sizeof(word), MSG_DONTWAIT)) == (ssize_t)sizeof(word)) {
		word[sizeof(word) - 1] = '\0';
		if (word[0] && !power_profile_is_known(word))
			continue;
		memcpy(heard, word, sizeof(word));
		is_news = true;
	}
	*ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
	return is_news;
}
