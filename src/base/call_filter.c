// SPDX-License-Identifier: GPL-2.0
#include "call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0
#endif

enum { X32_CALLS = 0x40000000 };

size_t call_filter_begin(struct sock_filter code[CALL_FILTER_BEGINNING], u32 foreign_ends)
{
	const struct sock_filter beginning[CALL_FILTER_BEGINNING] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, foreign_ends),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, foreign_ends),
	};

	memcpy(code, beginning, sizeof(beginning));
	return OWN_ARCH ? CALL_FILTER_BEGINNING : 0;
}

bool call_filter_put_on(struct sock_filter *code, size_t len)
{
	struct sock_fprog program = { .len = (unsigned short)len, .filter = code };

	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
