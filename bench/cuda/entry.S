/* SPDX-License-Identifier: GPL-2.0 */
/* A double of libcuda whose cuLaunchKernel does nothing but begin with the instruction FIRST, so that what a probe costs there
 * can be measured. The other functions are those that tests/workloads/cuda_calls.c looks for. */
	.text
.macro function name
	.globl	\name
	.type	\name, @function
	.p2align 6
\name:
.endm

function cuLaunchKernel
	FIRST
	xor	%eax, %eax
	LAST
	ret
function cuModuleGetFunction
	movq	$1, (%rdi)
function cuInit
function cuCtxCreate_v2
function cuMemAlloc_v2
function cuMemHostAlloc
function cuMemFree_v2
function cuStreamSynchronize
function cuMemcpyHtoD_v2
function cuMemcpyDtoH_v2
function cuLaunchKernelEx
	xor	%eax, %eax
	ret
	.section .note.GNU-stack, "", @progbits
