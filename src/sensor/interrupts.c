// SPDX-License-Identifier: GPL-2.0
/* See interrupts.h. To look for a symbol in /proc/kallsyms takes as long as all else at a start, so the kernel is asked
 * by a program that names the variable and does nothing. */
#include "interrupts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "../base/system.h"
#include "kernel_types.h"

static enum { NOT_ASKED, SHOWN, NOT_SHOWN, NOT_DESCRIBED } answer;

#ifdef __aarch64__
/* A field of every thread's there, which is found or refused like any other. */
static int ask(void)
{
	return kernel_shows_interrupts() ? SHOWN : NOT_SHOWN;
}
#else
static int ask(void)
{
	int variable = kernel_variable("__preempt_count"), fd;
	struct bpf_insn program[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_BTF_ID },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	if (!variable)
		variable = kernel_variable("pcpu_hot");
	if (!variable)
		return NOT_DESCRIBED;
	program[0].imm = variable;
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "tactus_asks", "GPL", program,
			   sizeof(program) / sizeof(program[0]), NULL);
	if (fd >= 0) {
		close(fd);
		return SHOWN;
	}
	/* Who may not load programs can still look. */
	return errno == EPERM && kernel_shows_interrupts() ? SHOWN : NOT_SHOWN;
}
#endif

bool interrupts_are_seen(void)
{
	if (answer == NOT_ASKED)
		answer = ask();
	return answer == SHOWN;
}

bool interrupts_are_not_described(void)
{
	return !interrupts_are_seen() && answer == NOT_DESCRIBED;
}
