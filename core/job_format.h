/* SPDX-License-Identifier: GPL-2.0 */
/* Where the fields of the tracepoints of gpu_scheduler lie, in bytes from their beginning. */
#ifndef TACTUS_CORE_JOB_FORMAT_H
#define TACTUS_CORE_JOB_FORMAT_H

#include "types.h"

struct job_format {
	u32 job_first, job_second; /* of a job that is queued or run: what names it; second 0: there is none */
	u32 ring;		   /* where its text is */
	u32 device;		   /* likewise; 0: none is reported */
	u32 done_first, done_second;
};

#endif
