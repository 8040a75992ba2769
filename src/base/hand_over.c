// SPDX-License-Identifier: GPL-2.0
/* The terminal stays the command's, since Ctrl-C and the like come by it; only the calls by which a process types on it
 * are taken away, by a filter. Root needs no no_new_privs for that. */
#include "hand_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../core/types.h"

/* Each machine's own calls and those of its 32-bit programs. x32 has the same as x86-64 with a bit more, and a number
 * of its own for ioctl; kernels before 5.4 took either number with and without that bit. */
#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#define SMALL_ARCH AUDIT_ARCH_I386
enum { OWN_IOCTL = 16, OWN_OTHER_IOCTL = 514, SMALL_IOCTL = 54, CALL_BITS = ~0x40000000 };
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#define SMALL_ARCH AUDIT_ARCH_ARM
enum { OWN_IOCTL = 29, OWN_OTHER_IOCTL = OWN_IOCTL, SMALL_IOCTL = 54, CALL_BITS = ~0 };
#endif

enum { FIRST_FILE = 3, CLOEXEC_RANGE = 1 << 2 /* CLOSE_RANGE_CLOEXEC */ };

#ifdef OWN_ARCH
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define IF_IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

/* Of the request the kernel takes the lower half, which comes first on these machines. What needs no look at it the
 * kernel finds out once, and asks no more (since 5.11). */
static bool refuse_typing(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_IS(OWN_ARCH, 3, 0),
		IF_IS(SMALL_ARCH, 0, 10),
		LOAD(nr),
		IF_IS(SMALL_IOCTL, 4, 7),
		LOAD(nr),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (u32)CALL_BITS),
		IF_IS(OWN_IOCTL, 1, 0),
		IF_IS(OWN_OTHER_IOCTL, 0, 3),
		LOAD(args[1]),
		IF_IS(TIOCSTI, 2, 0),
		IF_IS(TIOCLINUX, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	/* Without that flag kernels before 5.16 make all of the command slower, which is no use here. */
	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) ||
	       (errno == EINVAL && !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}
#else
static bool refuse_typing(void)
{
	errno = ENOSYS;
	return false;
}
#endif

/* Some containers' root may have a filter only for good; where there is none at all, only who has a terminal can type
 * on it. */
static int part_from_terminal(void)
{
	if (refuse_typing())
		return 0;
	if (errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && refuse_typing())
		return 0;
	return setsid() < 0 ? -errno : 0;
}

/* They are closed by exec: until then its failure is reported through one of them. */
static int part_from_files(void)
{
	struct dirent *entry;
	DIR *dir;

	if (!syscall(SYS_close_range, FIRST_FILE, ~0u, CLOEXEC_RANGE))
		return 0;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd >= FIRST_FILE)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	closedir(dir);
	return 0;
}

int hand_over_apart(void)
{
	int error = part_from_files();

	return error ? error : part_from_terminal();
}
