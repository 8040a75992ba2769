// SPDX-License-Identifier: GPL-2.0
/* The socket of a run: what of the bytes that come is a request, a reply or a part of an answer, and who may ask for
 * what.
 */
#include "../../src/stream/control.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../core/role.h"
#include "tap.h"

enum { ROOT = 0, USER = 1000, OTHER = 1001 };
#define NOBODY ((uid_t)-1)

static void test_requests(void)
{
	struct control_request request = { CONTROL_ASKS, CONTROL_VERSION, CONTROL_WHY, 12 };

	ok(control_request_is_sound(&request, sizeof(request)), "a request as it is sent is sound");
	ok(!control_request_is_sound(&request, sizeof(request) - 1), "a request that lacks a byte is not sound");
	ok(!control_request_is_sound(&request, sizeof(request) + 1),
	   "a request that was cut to the buffer is not sound");
	request.verb = CONTROL_VERBS;
	ok(!control_request_is_sound(&request, sizeof(request)), "a request with a verb past the last is not sound");
	request.verb = CONTROL_WHY;
	request.version++;
	ok(!control_request_is_sound(&request, sizeof(request)), "a request of another version is not sound");
	request.version--;
	request.magic++;
	ok(!control_request_is_sound(&request, sizeof(request)), "a request with another mark is not sound");
}

static void test_answers(void)
{
	struct control_reply reply = { .magic = CONTROL_REPLIES, .version = CONTROL_VERSION, .verb = CONTROL_WHY };
	struct control_state state = { .magic = CONTROL_STATE, .version = CONTROL_VERSION };
	struct control_thread thread = { .magic = CONTROL_THREAD,
					 .version = CONTROL_VERSION,
					 .role.head.kind = EVENT_ROLE };

	ok(control_reply_is_sound(&reply, sizeof(reply)), "a reply as it is sent is sound");
	memset(reply.words, 'x', sizeof(reply.words));
	ok(!control_reply_is_sound(&reply, sizeof(reply)), "a reply whose words have no end is not sound");
	reply.words[0] = '\0';
	reply.rows = CONTROL_THREADS_MOST + 1;
	ok(!control_reply_is_sound(&reply, sizeof(reply)), "a reply that announces too many rows is not sound");
	ok(control_state_is_sound(&state, sizeof(state)), "a state as it is sent is sound");
	memset(state.config, '/', sizeof(state.config));
	ok(!control_state_is_sound(&state, sizeof(state)), "a state whose path has no end is not sound");
	ok(control_thread_is_sound(&thread, sizeof(thread)), "a thread's row as it is sent is sound");
	thread.role.role = ROLES;
	ok(!control_thread_is_sound(&thread, sizeof(thread)), "a thread's row with a role past the last is not sound");
	thread.role.role = 0;
	thread.role.evidence = EVIDENCES;
	ok(!control_thread_is_sound(&thread, sizeof(thread)),
	   "a thread's row with evidence past the last is not sound");
	thread.role.evidence = 0;
	memset(thread.comm.text, 'x', COMM_LEN);
	ok(!control_thread_is_sound(&thread, sizeof(thread)), "a thread's row whose name has no end is not sound");
}

static void test_rights(void)
{
	for (u32 verb = 0; verb < CONTROL_VERBS; verb++)
		ok(control_may(verb, ROOT, NOBODY, false), "root may ask for %s though users may not look",
		   control_verb_name(verb));
	for (u32 verb = CONTROL_PAUSE; verb <= CONTROL_RELOAD; verb++)
		ok(!control_may(verb, USER, USER, true), "a user may not ask for %s", control_verb_name(verb));
	ok(control_may(CONTROL_STATUS, USER, NOBODY, true), "a user may ask for the status where users may look");
	ok(!control_may(CONTROL_STATUS, USER, NOBODY, false), "a user may not ask for the status where only root may");
	ok(!control_may(CONTROL_FOLLOW, USER, NOBODY, false), "a user may not follow where only root may look");
	ok(control_may(CONTROL_WHY, USER, USER, true), "a user may ask why of his own process");
	ok(!control_may(CONTROL_WHY, USER, OTHER, true), "a user may not ask why of another user's process");
	ok(!control_may(CONTROL_WHY, USER, ROOT, true), "a user may not ask why of root's process");
	ok(!control_may(CONTROL_WHY, USER, NOBODY, true), "a user may not ask why of a process that is not there");
	ok(!control_may(CONTROL_WHY, USER, USER, false), "a user may not ask why where only root may look");
	ok(control_may(CONTROL_GAME, USER, USER, false), "a user may register his own process as a game");
	ok(!control_may(CONTROL_GAME, USER, OTHER, true), "a user may not register another user's process as a game");
	ok(!control_may(CONTROL_NO_GAME, USER, OTHER, true), "a user may not take another user's game back");
	ok(!control_may(CONTROL_VERBS, USER, USER, true), "a user may not ask for what there is not");
}

static void test_asking(void)
{
	struct control_request got;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return;
	is(control_ask(fds[0], CONTROL_WHY, 77), 0, "a request is sent over a socket");
	is(recv(fds[1], &got, sizeof(got), 0), sizeof(got), "a request that is sent arrives whole");
	ok(control_request_is_sound(&got, sizeof(got)), "a request that arrives is sound");
	is(got.pid, 77, "a request that arrives is about the process that it was sent about");
	close(fds[1]);
	is(-control_ask(fds[0], CONTROL_WHY, 77), EPIPE, "a request to a socket that nobody has open fails");
	close(fds[0]);
}

int main(void)
{
	test_requests();
	test_answers();
	test_rights();
	test_asking();
	return tap_end();
}
