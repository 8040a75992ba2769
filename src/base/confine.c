// SPDX-License-Identifier: GPL-2.0
/* Each step by itself is enough against most; where a kernel or container refuses one, the others are left. */
#include "confine.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"

/* Beyond all ranges that are given to users, services and containers; each process has its own, so that no other can
 * signal it. */
#define OWN_USER (0xc0000000u | ((u32)getpid() & 0xffffffu))
enum { NOBODY = 65534, CALLS_MAX = 32, CAPABILITIES = 64 };

void confine_files(int kept_fd)
{
	if (kept_fd > 0)
		syscall(SYS_close_range, 0, kept_fd - 1, 0);
	syscall(SYS_close_range, kept_fd + 1, ~0u, 0);
	setsid();
	if (chdir("/"))
		return;
}

static bool become(u32 user)
{
	return !setresgid(user, user, user) && !setresuid(user, user, user);
}

void confine_capabilities(u64 kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	for (int capability = 0; capability < CAPABILITIES; capability++)
		if (!(kept >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capget, &header, data);
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (u32)(kept >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool confine_user(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	bool is_another;

	for (int capability = 0; capability < CAPABILITIES; capability++)
		prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* A namespace may have no such user, but has nobody. */
	is_another = !setgroups(0, NULL) && (become(OWN_USER) || become(NOBODY));
	syscall(SYS_capset, &header, none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return is_another;
}

static void limit(int what, u64 most)
{
	struct rlimit both = { most, most };

	setrlimit((__rlimit_resource_t)what, &both);
}

/* The sanitizers' shadow is larger than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#ifndef HAS_SHADOW
#define HAS_SHADOW 0
#endif

void confine_limits(u64 more_bytes, u64 descriptors, u64 processes)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file) {
		if (fscanf(file, "%llu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	if (pages && !HAS_SHADOW)
		limit(RLIMIT_AS, pages * (u64)sysconf(_SC_PAGESIZE) + more_bytes);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, descriptors);
	/* Nobody may have many elsewhere. */
	if (getuid() == OWN_USER)
		limit(RLIMIT_NPROC, processes);
}

bool confine_calls(const int *allowed, size_t len)
{
	/* Beginning, mapping, allowed calls, end. */
	struct sock_filter code[CALL_FILTER_BEGINNING + 4 + 2 * CALLS_MAX + 1];
	size_t at = call_filter_begin(code, SECCOMP_RET_KILL_PROCESS);

	if (!at || len > CALLS_MAX)
		return false;
#define PUT(...) (code[at++] = (struct sock_filter)__VA_ARGS__)
	for (size_t i = 0; i < len; i++) {
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)allowed[i], 0, 1));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3));
	/* The lower half, which comes first on the machines that there are. */
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])));
	PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
#undef PUT
	return call_filter_put_on(code, at);
}
