/* SPDX-License-Identifier: GPL-2.0 */
/* Closes links of probes beside the program's own work: the kernel waits a third of a second for each until nobody can
 * be in it any more, and waits for many at once as long as for one. */
#ifndef TACTUS_SENSOR_LINK_CLOSER_H
#define TACTUS_SENSOR_LINK_CLOSER_H

struct bpf_link;

enum link_kind { LINK_OF_PERF, LINK_OF_MANY };
void link_close_soon(struct bpf_link *link, enum link_kind kind);
/* Until all of them are closed. */
void links_wait_closed(void);

#endif
