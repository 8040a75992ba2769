/* SPDX-License-Identifier: GPL-2.0 */
/* Figures for engines, served while something is watched: by 'tactus serve', and by 'tactus run --metrics'. They are
 * read from the kernel half when somebody asks for them; between that, only threads that ended are taken over. */
#ifndef TACTUS_VIEW_METRICS_LIVE_H
#define TACTUS_VIEW_METRICS_LIVE_H

#include "../base/http.h"
#include "../capture/capture.h"
#include "../sensor/cuda.h"
#include "metrics_run.h"

enum { METRICS_FILES = 3 };

struct metrics_wishes {
	bool serves;
	struct http_address address;
	const char *token_file; /* NULL: none */
	const char *tls_cert;	/* NULL: what is sent is not encrypted */
	const char *tls_key;
	u64 groups; /* series by group at most; 0: the default */
	bool with_cuda;
	const char *library; /* a libcuda that is probed before anything maps it; NULL: none */
	const char *otlp;    /* where figures are sent; NULL: nowhere */
	u64 every_ns;	     /* how often; 0: the default */
	struct metrics_file {
		u64 device, number, bytes, changed_ns; /* 0: it is not there */
	} files[METRICS_FILES];			       /* token, certificate and key, when they were looked at */
};

/* Looks at the files that the wishes name: which they are, not what is in them. */
void metrics_look_at_files(struct metrics_wishes *wishes);
bool metrics_files_differ(const struct metrics_wishes *a, const struct metrics_wishes *b);

/* The options that both commands take, and what to do with each: as take_own. */
enum {
	KEY_METRICS = 0x500,
	KEY_TOKEN_FILE,
	KEY_TLS_CERT,
	KEY_TLS_KEY,
	KEY_GROUPS,
	KEY_OTLP,
	KEY_EVERY,
	KEY_CUDA,
	KEY_LIBRARY
};
#define METRICS_OPTIONS                                                                                              \
	{ "metrics",                                                                                                 \
	  KEY_METRICS,                                                                                               \
	  "ADDRESS:PORT",                                                                                            \
	  0,                                                                                                         \
	  "Serve figures at http://ADDRESS:PORT/metrics, for Prometheus (a port alone: of this machine)",            \
	  0 },                                                                                                       \
		{ "token-file",                                                                                      \
		  KEY_TOKEN_FILE,                                                                                    \
		  "FILE",                                                                                            \
		  0,                                                                                                 \
		  "With --metrics: answer only who sends the token in FILE; an address that others reach needs one", \
		  0 },                                                                                               \
		{ "tls-cert", KEY_TLS_CERT, "FILE", 0, "With --metrics: speak TLS; its key: --tls-key=FILE", 0 },    \
		{ "tls-key", KEY_TLS_KEY, "FILE", OPTION_HIDDEN, "With --tls-cert: its key", 0 },                    \
		{ "cuda",                                                                                            \
		  KEY_CUDA,                                                                                          \
		  0,                                                                                                 \
		  0,                                                                                                 \
		  "In these figures: CUDA, NCCL and training steps too; that needs every switch",                    \
		  0 },                                                                                               \
		{ "library",                                                                                         \
		  KEY_LIBRARY,                                                                                       \
		  "FILE",                                                                                            \
		  OPTION_HIDDEN,                                                                                     \
		  "With --cuda: probe this libcuda before anything maps it",                                         \
		  0 },                                                                                               \
	{                                                                                                            \
		"groups", KEY_GROUPS, "N", OPTION_HIDDEN,                                                            \
			"With --metrics: at most so many units, containers and control groups by name (64)", 0       \
	}
/* What of them is for --metrics, and is there without it; NULL: nothing. */
const char *metrics_misplaced(const struct metrics_wishes *wishes);
const char *metrics_take_option(struct metrics_wishes *wishes, int key, const char *value);

struct metrics_live;

/* What the capture is asked for besides what its view wants itself. `cuda` must live as long as that. */
void metrics_live_request(struct capture_request *request, const struct metrics_wishes *wishes,
			  struct cuda_settings *cuda);

enum metrics_watcher {
	METRICS_WATCH,	   /* 'tactus serve': a run elsewhere on the machine is listened to */
	METRICS_OF_RUN,	   /* this is the run, see metrics_live_status */
	METRICS_OF_RECORD, /* the same, and it records: every switch is wanted always */
};

/* Listens. `view`: for messages. Returns 0, or 1 after a message. */
int metrics_live_open(struct metrics_live **live, const struct metrics_wishes *wishes, const char *view,
		      enum metrics_watcher watcher);
void metrics_live_close(struct metrics_live *live);

/* Readable when somebody asks; for also_fd of a capture. */
int metrics_live_fd(const struct metrics_live *live);

/* When the sensors are in place. False after a message. */
bool metrics_live_begin(struct metrics_live *live, struct capture *capture, struct sensor *sched);

/* For every event, after `threads` has taken it. */
void metrics_live_event(struct metrics_live *live, const struct event_header *event);

/* What this run itself says, instead of one elsewhere on the machine. */
void metrics_live_status(struct metrics_live *live, const struct run_status *status);

/* At each tick. False, after a message: the server has ended. */
bool metrics_live_tick(struct metrics_live *live);

/* Before the sensors go. */
void metrics_live_end(struct metrics_live *live);

#endif
