/* SPDX-License-Identifier: GPL-2.0 */
/* One 'tactus top' from its start to its end, whatever it looks at: what it was asked for, what it shows, and where:
 * on a screen, or as text. */
#ifndef TACTUS_VIEW_TOP_SESSION_H
#define TACTUS_VIEW_TOP_SESSION_H

#include "../base/options.h"
#include "../sensor/cuda.h"
#include "top_view.h"

struct top_wishes {
	bool once;	/* one screen as text */
	bool batch;	/* one a second */
	bool as_client; /* only what a 'tactus run' reports */
	u64 at_ns;	/* of a recording; ~0: its end, or for a screen its beginning */
	bool with_cuda;
	struct cuda_settings cuda;
};

struct top_session {
	const struct options *options;
	struct top_wishes wishes;
	struct top_view view;
	struct top_scene scene;
	struct top top;
	bool on_screen;
	u64 printed; /* screens, as text */
	u64 shown_turns;
	int feed_fd; /* of a 'tactus run'; -1: none */
	struct run_status run;
	u64 run_hints; /* that were given and taken back when they were last looked at */
	u64 looked_for_run_ns;
	int status;
};

/* Makes rows, paints, and shows that. False: nobody reads it any more. */
bool top_session_show(struct top_session *session);
/* Takes keys and signals; true in *anew: what is shown has changed by that. False: it ends. */
bool top_session_take_input(struct top_session *session, bool *anew);
/* Looks for a 'tactus run', and takes what it says. True: there is news. */
bool top_session_hear_run(struct top_session *session, u64 now_ns);
/* Takes the screen, if there is to be one. Returns 0, or after a message the status to end with. */
int top_session_open_screen(struct top_session *session);

int top_watch_live(struct top_session *session);
int top_play_recording(struct top_session *session);
int top_be_client(struct top_session *session);

#endif
