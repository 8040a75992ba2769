/* SPDX-License-Identifier: GPL-2.0 */
/* Whether programs can see that they are in an interrupt: see bpf/interrupt.h. */
#ifndef TACTUS_SENSOR_INTERRUPTS_H
#define TACTUS_SENSOR_INTERRUPTS_H

#include <stdbool.h>

/* What bpf/interrupt.h reads is in the kernel's BTF, and the kernel gives programs its address. */
bool interrupts_are_seen(void);
/* Its BTF does not have it. */
bool interrupts_are_not_described(void);
#define INTERRUPTS_NOT_DESCRIBED "the kernel's BTF has neither __preempt_count nor pcpu_hot"

#endif
