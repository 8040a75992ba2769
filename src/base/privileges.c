// SPDX-License-Identifier: GPL-2.0
/* What the program gives up once everything is in place: capabilities but for those in a table, ways to get them back,
 * system calls that it never needs and, where it looks at no other process, writing to files. */
#include "privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"

static const struct {
	int capability;
	unsigned int needed_by;
	const char *what_for;
} kept[] = {
	{ CAP_BPF, NEED_SENSORS, "to read maps and iterators, and to load a scheduler again" },
	{ CAP_PERFMON, NEED_SENSORS, "the same, for programs that read the kernel's memory" },
	{ CAP_SYS_ADMIN, NEED_TO_PROBE,
	  "to put probes on libraries that are mapped later: less does not do for the kernel" },
	{ CAP_SYS_PTRACE, NEED_TO_PROBE, "to read in /proc what other users' processes map and have open" },
	{ CAP_DAC_READ_SEARCH, NEED_TO_PROBE, "to read programs and libraries in other users' folders" },
	{ CAP_SYSLOG, NEED_TO_PROBE, "to find functions of a driver that is loaded later" },
	{ CAP_SYS_NICE, NEED_TO_ACT,
	  "to give other users' threads nice values, slices and policies, and take them back" },
	{ CAP_DAC_OVERRIDE, NEED_TO_CREATE, "to make a file in a folder of the user who called" },
	{ CAP_CHOWN, NEED_TO_CREATE, "to give it to that user" },
	{ CAP_KILL, NEED_TO_SIGNAL, "to pass signals on to a command that runs as another user" },
};

static unsigned int needed;

void privileges_need(unsigned int needs)
{
	needed |= needs;
}

/* Only ever fewer than there are. */
static void keep_capabilities(u64 wanted)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	u64 held;

	if (syscall(SYS_capget, &header, data))
		return;
	held = data[0].permitted | (u64)data[1].permitted << 32;
	/* A container may have been given the old one, which is all of the new ones and much more, in their place. */
	if (wanted & ~held & (1ULL << CAP_BPF | 1ULL << CAP_PERFMON))
		wanted |= 1ULL << CAP_SYS_ADMIN;
	for (int capability = 0; capability < 64; capability++)
		if (!(wanted >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (u32)(wanted >> (32 * i));
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
}

/* Never needed from here on, and each a way to more: to other programs and privileges, into other processes and the
 * kernel, around this filter. A list of what is needed would be a list of what libbpf and every C library call. */
static const int denied[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_mount_setattr,
	SYS_unshare,
	SYS_setns,
	SYS_acct,
	SYS_quotactl,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_userfaultfd,
	SYS_personality,
	SYS_mknodat,
	SYS_open_by_handle_at,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_vhangup,
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_mknod,
	SYS_uselib,
	SYS_modify_ldt,
#endif
};

enum { DENIED = sizeof(denied) / sizeof(denied[0]), REFUSE = SECCOMP_RET_ERRNO | EPERM };

/* To other programs on this machine and to the kernel; to servers; to nobody. */
enum calls { CALLS_LOCAL, CALLS_SERVERS, CALLS_NOBODY };
static const u32 families[][2] = {
	[CALLS_LOCAL] = { AF_UNIX, AF_NETLINK },
	[CALLS_SERVERS] = { AF_INET, AF_INET6 },
	[CALLS_NOBODY] = { ~0u, ~0u },
};

static void filter_calls(enum calls whom)
{
	/* Beginning, denied calls, sockets, end. */
	struct sock_filter code[CALL_FILTER_BEGINNING + 2 * DENIED + 6];
	size_t len = call_filter_begin(code, REFUSE);

	if (!len)
		return;
#define PUT(...) (code[len++] = (struct sock_filter)__VA_ARGS__)
	for (size_t i = 0; i < DENIED; i++) {
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)denied[i], 0, 1));
		PUT(BPF_STMT(BPF_RET | BPF_K, REFUSE));
	}
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4));
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])));
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, families[whom][0], 2, 0));
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, families[whom][1], 1, 0));
	PUT(BPF_STMT(BPF_RET | BPF_K, REFUSE));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef PUT
	/* Where the kernel has none, capabilities are what protects. */
	call_filter_put_on(code, len);
}

void privileges_give_up(void)
{
	u64 wanted = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i].needed_by & needed)
			wanted |= 1ULL << kept[i].capability;
	keep_capabilities(wanted);
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		filter_calls(CALLS_LOCAL);
	/* No Landlock: within it the kernel lets a process look at none outside of it, and looking at other processes
	 * is what sensors do. */
}

/* What was opened before stays as it is. */
static void write_no_file(int but_folder, u64 allowed)
{
	u64 kinds = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
		    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
		    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
		    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
	/* In the first version of it, which all others know. */
	struct {
		u64 handled_access_fs;
	} rules = { kinds };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	struct landlock_path_beneath_attr beneath = {
		.allowed_access = allowed,
		.parent_fd = but_folder,
	};

	if (fd < 0)
		return;
	if (but_folder < 0 || !syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0))
		syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}

static void give_up(int folder, u64 allowed, enum calls whom)
{
	/* To rename and remove in a folder of the user who called, be it one where each removes only what is his. */
	keep_capabilities(folder < 0 ? 0 : 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return;
	write_no_file(folder, allowed);
	filter_calls(whom);
}

void privileges_give_up_but_folder(int folder)
{
	give_up(folder, LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG, CALLS_NOBODY);
}

void privileges_give_up_but_writing(int folder)
{
	give_up(folder, LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_WRITE_FILE,
		CALLS_NOBODY);
}

void privileges_give_up_but_asking(void)
{
	give_up(-1, 0, CALLS_SERVERS);
}

void privileges_give_up_all(void)
{
	privileges_give_up_but_folder(-1);
}
