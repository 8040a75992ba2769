// SPDX-License-Identifier: GPL-2.0
#include "cuda_xid.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "../../core/cuda.h"
#include "../../core/sched_config.h"
#include "../base/say.h"
#include "../base/tracepoint_format.h"
#include "sensor.h"
#include "cuda.skel.h"

static const char category[] = "nvidia", name[] = "nvidia_dev_xid";

void cuda_xids_attach(struct cuda_xids *xids, struct cuda_bpf *skeleton)
{
	struct xid_format format;

	if (xids->link || xids->given_up || !bpf_program__autoload(skeleton->progs.on_xid) ||
	    !tracepoint_is_here(category, name))
		return;
	if (tracepoint_offset(category, name, "error_code", &format.code) ||
	    tracepoint_offset(category, name, "msg", &format.message)) {
		note("cuda: errors of the GPU are not seen: %s:%s has other fields than those that are known", category,
		     name);
		xids->given_up = true;
		return;
	}
	memcpy(&skeleton->bss->xid_format, &format, sizeof(format));
	xids->link = sensor_attach_tracepoint(skeleton->progs.on_xid, category, name);
	xids->given_up = !xids->link;
	if (xids->given_up)
		note("cuda: errors of the GPU are not seen: %s", strerror(errno));
}

void cuda_xids_detach(struct cuda_xids *xids)
{
	bpf_link__destroy(xids->link);
	xids->link = NULL;
}
