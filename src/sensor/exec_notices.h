/* SPDX-License-Identifier: GPL-2.0 */
/* Ways to learn of started programs without BPF: the kernel's process connector (netlink), and looking through /proc.
 * For the launch sensor, where its better hooks don't work. */
#ifndef TACTUS_SENSOR_EXEC_NOTICES_H
#define TACTUS_SENSOR_EXEC_NOTICES_H

#include "../base/say.h"
#include "../../core/types.h"

typedef void (*exec_noticed)(void *data, u32 pid);

/* A socket on which the kernel reports each exec. Returns it, or -errno with a reason. */
int connector_open(struct reason *why);
void connector_close(int fd);

/* Calls `take` for what is there. Returns how often the kernel had no room for one. */
u64 connector_read(int fd, exec_noticed take, void *data);

struct proc_scan;

struct proc_scan *proc_scan_new(void);
void proc_scan_free(struct proc_scan *scan);

/* Calls `take` for each process that is new since the last call or runs another program. Looks only if processes were
 * made since, or it is long ago: an exec without a fork before it is rare. */
void proc_scan_changes(struct proc_scan *scan, exec_noticed take, void *data);

#endif
