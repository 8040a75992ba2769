// SPDX-License-Identifier: GPL-2.0
/* The way of a call: counted, it is led past the probe, by doing the function's first push here and going on behind it.
 * One in N is marked in r11 and runs into the probe. Arguments and stack are as they came; rax, r10 and r11 are free at
 * a call. */
#include "detour.h"

#ifdef __x86_64__

#include <stddef.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* What the code below says in numbers. */
#define HEAD 64
#define SENT 8
#define TRAPPED 16
#define FAILED 24
#define REAL 0
#define MARK 8
#define PUSH 16
#define BEHIND 24
#define GO 32
#define NEXT 40

_Static_assert(offsetof(struct detour_counts, rows) == HEAD, "the counts' head");
_Static_assert(sizeof(struct detour_row) == 64 && sizeof(struct detour_stub) == 64, "both by one shift");
_Static_assert(!offsetof(struct detour_row, calls) && offsetof(struct detour_row, sent) == SENT, "counts");
_Static_assert(offsetof(struct detour_row, trapped) == TRAPPED && offsetof(struct detour_row, failed) == FAILED,
	       "counts");
_Static_assert(offsetof(struct detour_stub, real) == REAL && offsetof(struct detour_stub, mark) == MARK, "stubs");
_Static_assert(offsetof(struct detour_stub, push) == PUSH && offsetof(struct detour_stub, behind) == BEHIND, "stubs");
_Static_assert(offsetof(struct detour_stub, go) == GO && offsetof(struct detour_stub, next) == NEXT, "stubs");
_Static_assert(DETOUR_ROWS == 1024 && DETOUR_CODE_BYTES == 16 && DETOUR_PROC_STUBS == 16, "as many as below");
_Static_assert(DETOUR_STACK_WORDS == 16 && DETOUR_MARK_COUNTED_BIT == 62, "as below");

/* clang-format off */
__asm__(
"	.text\n"
"	.globl detour_code, detour_push_code, detour_proc_code, detour_whole, detour_report\n"
"	.hidden detour_code, detour_push_code, detour_proc_code, detour_whole, detour_report\n"
"	.cfi_startproc\n"
"	.p2align 6\n"
/* r10: the row's number. */
"count:\n"
"	shlq	$6, %r10\n"
"	movq	detour_page(%rip), %r11\n"
"	testq	%r11, %r11\n"
"	je	straight\n"
"	movl	$1, %eax\n"
"	lock xaddq %rax, " TEXT(HEAD) "(%r11,%r10)\n"
"	leaq	detour_stubs(%rip), %r11\n"
"	addq	%r10, %r11\n"
"	cmpq	" TEXT(NEXT) "(%r11), %rax\n"
"	jae	send\n"
"	jmp	*" TEXT(GO) "(%r11)\n"
/* Two threads may come here for one turn: then the next turn is left out. */
"send:\n"
"	movq	detour_every(%rip), %rax\n"
"	lock addq %rax, " TEXT(NEXT) "(%r11)\n"
"let_in:\n"
"	movq	detour_page(%rip), %rax\n"
"	testq	%rax, %rax\n"
"	je	1f\n"
"	lock incq " TEXT(HEAD) "+" TEXT(SENT) "(%rax,%r10)\n"
"1:	movq	" TEXT(REAL) "(%r11), %rax\n"
"	movq	" TEXT(MARK) "(%r11), %r11\n"
"	jmp	*%rax\n"
"straight:\n"
"	leaq	detour_stubs(%rip), %r11\n"
"	jmp	*" TEXT(REAL) "(%r11,%r10)\n"
/* The same, and how it ends is looked at: it is called, with what may be arguments on the stack once more. They are read only
 * where the stack is sure to be: in the page that has the return address. */
"	.p2align 4\n"
"detour_whole:\n"
"	leaq	135(%rsp), %rax\n"
"	xorq	%rsp, %rax\n"
"	shrq	$12, %rax\n"
"	jne	trap\n"
"	pushq	%r10\n"
"	.cfi_adjust_cfa_offset 8\n"
"	.rept	16\n"
"	pushq	136(%rsp)\n"
"	.cfi_adjust_cfa_offset 8\n"
"	.endr\n"
"	call	*" TEXT(PUSH) "(%r11)\n"
"	addq	$128, %rsp\n"
"	.cfi_adjust_cfa_offset -128\n"
"	popq	%r10\n"
"	.cfi_adjust_cfa_offset -8\n"
"	testl	%eax, %eax\n"
"	jne	1f\n"
"	ret\n"
"1:	movq	detour_page(%rip), %r11\n"
"	testq	%r11, %r11\n"
"	je	2f\n"
"	lock incq " TEXT(HEAD) "+" TEXT(FAILED) "(%r11,%r10)\n"
"2:	ret\n"
"trap:\n"
"	movq	detour_page(%rip), %rax\n"
"	testq	%rax, %rax\n"
"	je	1f\n"
"	lock incq " TEXT(HEAD) "+" TEXT(TRAPPED) "(%rax,%r10)\n"
"1:	movq	" TEXT(REAL) "(%r11), %rax\n"
"	movq	" TEXT(MARK) "(%r11), %r11\n"
"	btcq	$62, %r11\n"
"	jmp	*%rax\n"
/* The arguments are handed over as struct detour_saved. */
"	.p2align 4\n"
"detour_report:\n"
"	.irp	reg, %rdi, %rsi, %rdx, %rcx, %r8, %r9, %r10, %r11\n"
"	pushq	\\reg\n"
"	.cfi_adjust_cfa_offset 8\n"
"	.endr\n"
"	movq	%rsp, %rdi\n"
"	movq	%r11, %rsi\n"
"	subq	$8, %rsp\n"
"	.cfi_adjust_cfa_offset 8\n"
"	call	detour_note\n"
"	addq	$8, %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.irp	reg, %r11, %r10, %r9, %r8, %rcx, %rdx, %rsi, %rdi\n"
"	popq	\\reg\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.endr\n"
"	testq	%rax, %rax\n"
"	je	let_in\n"
"	jmp	*" TEXT(PUSH) "(%r11)\n"
/* By the number that instructions have for a register. The tenth and eleventh are never asked for. */
"	.p2align 4\n"
"detour_push_code:\n"
"	.irp	reg, %rax, %rcx, %rdx, %rbx, %rsp, %rbp, %rsi, %rdi, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15\n"
"	.p2align 4\n"
"	movq	" TEXT(BEHIND) "(%r11), %r11\n"
"	pushq	\\reg\n"
"	.cfi_adjust_cfa_offset 8\n"
"	jmp	*%r11\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.endr\n"
"	.set	number, 0\n"
"	.p2align 4\n"
"detour_code:\n"
"	.rept	1024\n"
"	.p2align 4\n"
"	endbr64\n"
"	movl	$number, %r10d\n"
"	jmp	count\n"
"	.set	number, number + 1\n"
"	.endr\n"
"	.set	number, 0\n"
"	.p2align 4\n"
"detour_proc_code:\n"
"	.rept	16\n"
"	.p2align 4\n"
"	endbr64\n"
"	movl	$number, %r9d\n"
"	jmp	detour_proc_address\n"
"	.set	number, number + 1\n"
"	.endr\n"
"	.p2align 4\n"
"	.cfi_endproc\n"
);
/* clang-format on */

#endif
