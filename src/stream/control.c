// SPDX-License-Identifier: GPL-2.0
/* Requests, replies and who may ask for what.
 * Anybody may send any bytes: sizes, marks, numbers and ends of texts are looked at before use. */
#include "control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "../../core/role.h"

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

bool control_request_is_sound(const void *from, size_t bytes)
{
	struct control_request request;

	if (bytes != sizeof(request))
		return false;
	memcpy(&request, from, sizeof(request));
	return request.magic == CONTROL_ASKS && request.version == CONTROL_VERSION && request.verb < CONTROL_VERBS;
}

bool control_reply_is_sound(const void *from, size_t bytes)
{
	struct control_reply reply;

	if (bytes != sizeof(reply))
		return false;
	memcpy(&reply, from, sizeof(reply));
	return reply.magic == CONTROL_REPLIES && reply.version == CONTROL_VERSION && reply.verb < CONTROL_VERBS &&
	       reply.status < CONTROL_STATUSES && reply.rows <= CONTROL_THREADS_MOST &&
	       ends(reply.words, sizeof(reply.words));
}

bool control_state_is_sound(const void *from, size_t bytes)
{
	struct control_state state;

	if (bytes != sizeof(state))
		return false;
	memcpy(&state, from, sizeof(state));
	return state.magic == CONTROL_STATE && state.version == CONTROL_VERSION &&
	       ends(state.tactus, sizeof(state.tactus)) && ends(state.actuator, sizeof(state.actuator)) &&
	       ends(state.power, sizeof(state.power)) && ends(state.profile, sizeof(state.profile)) &&
	       ends(state.readers, sizeof(state.readers)) && ends(state.config, sizeof(state.config));
}

bool control_thread_is_sound(const void *from, size_t bytes)
{
	struct control_thread thread;

	if (bytes != sizeof(thread))
		return false;
	memcpy(&thread, from, sizeof(thread));
	return thread.magic == CONTROL_THREAD && thread.version == CONTROL_VERSION && thread.hint < CONTROL_HINTS &&
	       thread.role.head.kind == EVENT_ROLE && thread.role.role < ROLES && thread.role.tier < TIERS &&
	       thread.role.evidence < EVIDENCES && ends(thread.comm.text, COMM_LEN);
}

bool control_may(u32 verb, uid_t user, uid_t owner, bool users_look)
{
	if (!user)
		return true;
	switch (verb) {
	case CONTROL_FOLLOW:
	case CONTROL_STATUS:
		return users_look;
	case CONTROL_WHY:
		return users_look && user == owner;
	case CONTROL_GAME:
	case CONTROL_NO_GAME:
	case CONTROL_IS_GAME:
		return user == owner;
	default:
		return false;
	}
}

const char *control_verb_name(u32 verb)
{
	static const char *const names[CONTROL_VERBS] = { "follow", "status", "why",	 "pause",  "resume",
							  "reload", "game",   "no-game", "is-game" };

	return verb < CONTROL_VERBS ? names[verb] : "?";
}

int control_ask(int fd, enum control_verb verb, u32 pid)
{
	const struct control_request request = {
		.magic = CONTROL_ASKS, .version = CONTROL_VERSION, .verb = verb, .pid = pid
	};

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) == (ssize_t)sizeof(request) ? 0 : -errno;
}
