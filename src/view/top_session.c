// SPDX-License-Identifier: GPL-2.0
/* What 'tactus top' does whatever it looks at: shows, takes keys, hears of a 'tactus run'.
 */
#include "top_session.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../sched/hints_given.h"
#include "../stream/feed.h"
#include "top_screen.h"

enum { TEXT_WIDTH = 80, TEXT_HEIGHT = 24, LOOK_AGAIN_NS = NSEC_PER_SEC };

static u32 size_from(const char *name, u32 otherwise)
{
	const char *text = getenv(name);
	u64 number;

	return text && !parse_number(text, CANVAS_WIDTH_MOST, &number) && number ? (u32)number : otherwise;
}

/* Of the text that is printed: as COLUMNS and LINES say, else the terminal's, else the classic one. */
static void text_size(u32 *width, u32 *height)
{
	struct winsize size = { 0 };
	bool is_known = isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col;

	*width = size_from("COLUMNS", is_known ? size.ws_col : TEXT_WIDTH);
	*height = size_from("LINES", is_known ? size.ws_row : TEXT_HEIGHT);
}

static bool put_out(struct top_session *session, const struct canvas *canvas)
{
	if (session->on_screen) {
		screen_show(canvas);
		return true;
	}
	if (session->printed++)
		putchar('\n');
	canvas_print(canvas, stdout);
	return fflush(stdout) == 0;
}

bool top_session_show(struct top_session *session)
{
	struct top_scene *scene = &session->scene;
	struct canvas canvas;
	u32 width, height;
	bool is_read;

	if (scene->top) {
		if (top_rows_make(&scene->rows, scene->top, scene->threads, &session->view.choice))
			return true; /* the next second may have room */
		top_follow(&session->view, &scene->rows);
		session->view.changed = false;
	}
	if (session->on_screen)
		screen_size(&width, &height);
	else
		text_size(&width, &height);
	scene->is_text = !session->on_screen;
	scene->notice = session->on_screen ? screen_last_words() : "";
	if (canvas_open(&canvas, width, height,
			session->on_screen ? screen_is_ascii() : strcmp(nl_langinfo(CODESET), "UTF-8") != 0))
		return true;
	top_paint(&canvas, &session->view, scene);
	is_read = put_out(session, &canvas);
	canvas_close(&canvas);
	return is_read;
}

bool top_session_take_input(struct top_session *session, bool *anew)
{
	bool goes_on = true;
	int key;

	if (!session->on_screen)
		return true;
	if (screen_take_signals(&goes_on))
		*anew = true;
	while (goes_on && (key = screen_key()) != TOP_KEY_NONE) {
		top_press(&session->view, &session->scene, key, clock_now_ns());
		*anew = true;
	}
	return goes_on && !session->view.quits;
}

int top_session_open_screen(struct top_session *session)
{
	struct reason why = { "" };

	if (session->wishes.once || session->wishes.batch)
		return 0;
	if (screen_open(&why))
		return fail("top", "%s", why.text);
	session->on_screen = true;
	return 0;
}

static void look_at_hints(struct top_session *session)
{
	u64 changes = session->run.hints_given + session->run.hints_taken_back;
	struct hint_given *given;
	struct top_hint *hints;
	size_t len;

	if (changes == session->run_hints)
		return;
	session->run_hints = changes;
	given = hints_given(&len);
	hints = calloc(len + 1, sizeof(*hints));
	for (size_t i = 0; hints && i < len; i++)
		hints[i] = (struct top_hint){ given[i].tid, given[i].hint.nice, given[i].hint.slice_ns };
	free((void *)session->scene.hints);
	session->scene.hints = hints;
	session->scene.hints_len = hints ? len : 0;
	free(given);
}

static void keep_busy(struct top_scene *scene, const struct run_status *run)
{
	double all_ns = (double)run->busy_ns + (double)run->idle_ns;

	if (scene->run_busy_len == TOP_BUSY_SHOWN)
		memmove(scene->run_busy, scene->run_busy + 1, --scene->run_busy_len);
	scene->run_busy[scene->run_busy_len++] = (u8)(all_ns > 0 ? 100 * (double)run->busy_ns / all_ns : 0);
}

static void forget_run(struct top_session *session)
{
	close(session->feed_fd);
	session->feed_fd = -1;
	session->scene.run = NULL;
	session->scene.run_busy_len = 0;
	free((void *)session->scene.hints);
	session->scene.hints = NULL;
	session->scene.hints_len = 0;
	session->run_hints = 0;
}

bool top_session_hear_run(struct top_session *session, u64 now_ns)
{
	union {
		struct control_reply reply;
		struct run_status status;
	} heard;
	struct reason why;
	bool news = false;
	ssize_t got;

	if (session->feed_fd < 0 && now_ns - session->looked_for_run_ns >= LOOK_AGAIN_NS) {
		session->looked_for_run_ns = now_ns;
		session->feed_fd = feed_listen(&why);
	}
	if (session->feed_fd < 0)
		return false;
	while ((got = recv(session->feed_fd, &heard, sizeof(heard), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		if (control_reply_is_sound(&heard, (size_t)got)) {
			if (heard.reply.status == CONTROL_DONE)
				continue;
			session->scene.no_run = "There is one that only root may follow.";
			break;
		}
		if (!status_is_sound(&heard, (size_t)got)) {
			session->scene.no_run = "There is one of another version of tactus.";
			break;
		}
		session->run = heard.status;
		session->scene.run = &session->run;
		keep_busy(&session->scene, &heard.status);
		look_at_hints(session);
		news = true;
	}
	if (got > 0 || got == 0 || (errno != EAGAIN && errno != EINTR)) {
		forget_run(session);
		news = true;
	}
	return news;
}
