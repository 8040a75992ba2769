// SPDX-License-Identifier: GPL-2.0
/* 'tactus top' without rights: what a 'tactus run' on this machine tells everybody, a status a second.
 */
#include <time.h>

#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../capture/watch.h"
#include "../stream/feed.h"
#include "top_screen.h"
#include "top_session.h"

static bool on_tick(void *data)
{
	struct top_session *session = data;
	bool anew = false;
	bool news = top_session_hear_run(session, clock_now_ns());

	if (!top_session_take_input(session, &anew))
		return false;
	if (news && session->feed_fd < 0) {
		screen_close();
		note("the run has ended%s", session->scene.no_run ? ", or is of another version of tactus" : "");
		return false;
	}
	if (session->scene.run)
		session->scene.wall_ns = session->run.wall_ns;
	if (!session->on_screen)
		return !news || (top_session_show(session) && !session->wishes.once);
	return !(news || anew) || top_session_show(session);
}

int top_be_client(struct top_session *session)
{
	struct reason why = { "" };
	struct watch watch;
	int status;

	session->scene.source = TOP_CLIENT;
	session->feed_fd = feed_listen(&why);
	if (session->feed_fd < 0) {
		screen_close();
		if (session->wishes.as_client)
			return fail("top", "%s", why.text);
		return fail(
			"top",
			"needs root to watch threads; without it, it can follow a 'tactus run', and there is none: %s",
			why.text);
	}
	status = watch_prepare(&watch, session->options);
	if (!status)
		status = top_session_open_screen(session);
	privileges_give_up_all();
	screen_add_fd(session->feed_fd);
	if (!status && session->on_screen)
		top_session_show(session);
	if (!status)
		watch_wait(&watch, 0, session->on_screen ? screen_fd() : session->feed_fd, on_tick, session);
	screen_close();
	return status;
}
