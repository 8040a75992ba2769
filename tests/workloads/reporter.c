// SPDX-License-Identifier: GPL-2.0
/* A program that misuses the ways by which a traced program counts and tells of itself (core/detour.h).
 * Usage: reporter FOLDER LIBRARY WHAT [N]; FOLDER: tactus' own, as LD_AUDIT tells. Prints what it got. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../core/detour.h"

static const char *folder;
static int (*launch)(const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
		     void **, void **);
static struct detour_row forged = { .calls = 1000000, .used = 1 };

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec;
}

/* The row of a function that tactus has planned. */
static int aim(const char *library)
{
	void *opened = dlopen(library, RTLD_NOW), *function = opened ? dlsym(opened, "cuLaunchKernel") : NULL;
	const ElfW(Phdr) * segments;
	struct stat file;
	Dl_info info;

	if (!function || stat(library, &file) || !dladdr(function, &info))
		return -1;
	launch = (__typeof__(launch))function;
	/* A stub of the auditor's has its function somewhere else; this finds it by the file's own table. */
	if (!info.dli_fname || strcmp(info.dli_fname, library) != 0) {
		struct link_map *map;
		const ElfW(Sym) *symbols = NULL;
		const char *names = NULL;

		if (dlinfo(opened, RTLD_DI_LINKMAP, &map))
			return -1;
		for (const ElfW(Dyn) *at = map->l_ld; at->d_tag; at++) {
			symbols = at->d_tag == DT_SYMTAB ? (const void *)at->d_un.d_ptr : symbols;
			names = at->d_tag == DT_STRTAB ? (const void *)at->d_un.d_ptr : names;
		}
		for (; symbols && names && strcmp(names + symbols->st_name, "cuLaunchKernel") != 0; symbols++)
			;
		function = (char *)map->l_addr + symbols->st_value;
		info.dli_fbase = (void *)map->l_addr;
	}
	segments = (const void *)((char *)info.dli_fbase + ((const ElfW(Ehdr) *)info.dli_fbase)->e_phoff);
	forged.offset = (u64)((char *)function - (char *)info.dli_fbase);
	for (int i = 0; i < ((const ElfW(Ehdr) *)info.dli_fbase)->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && forged.offset >= segments[i].p_vaddr &&
		    forged.offset < segments[i].p_vaddr + segments[i].p_memsz) {
			forged.offset += segments[i].p_offset - segments[i].p_vaddr;
			break;
		}
	forged.device = file.st_dev;
	forged.inode = file.st_ino;
	return 0;
}

/* Counts in a file, which tactus believed once. */
static int forge_file(const char *name, u64 bytes)
{
	struct detour_counts head = { .magic = DETOUR_COUNTS_MAGIC, .version = 2, .len = DETOUR_ROWS, .pid = 1 };
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/counts/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) || pwrite(fd, &head, sizeof(head), 0) < 0 ||
	    pwrite(fd, &forged, sizeof(forged), sizeof(head)) < 0)
		return -1;
	return close(fd);
}

/* Memory, as the library asks for it. -1: there is none. */
static int ask(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct detour_answer answer = { 0 };
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct timeval patience = { .tv_sec = 3 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), got = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s" DETOUR_ASK_NAME, folder);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)) &&
	    recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof(answer) && CMSG_FIRSTHDR(&message))
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(got));
	close(fd);
	return got;
}

static struct stat seen; /* of the memory that is mapped */

static struct detour_counts *map(int fd)
{
	void *at = fd < 0 || fstat(fd, &seen)
			   ? MAP_FAILED
			   : mmap(NULL, (size_t)seen.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void begin(struct detour_counts *counts)
{
	counts->magic = DETOUR_COUNTS_MAGIC;
	counts->version = DETOUR_VERSION;
	counts->len = DETOUR_ROWS;
	counts->reports = 1;
}

static void forge(void)
{
	struct detour_counts *counts = map(ask());

	printf("file=%d memory=%d\n", !forge_file("1-1", DETOUR_COUNTS_BYTES), counts != NULL);
	if (!counts)
		return;
	begin(counts);
	counts->rows[0] = forged;
}

static void make_files(long n)
{
	char path[4096], name[64];
	long made = 0, odd = 0;
	int fd;

	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%lx-2", i);
		made += !forge_file(name, DETOUR_REPORTING_BYTES);
	}
	snprintf(path, sizeof(path), "%s/counts/fifo", folder);
	odd += !mkfifo(path, 0666);
	snprintf(path, sizeof(path), "%s/counts/link", folder);
	odd += !symlink("/etc/shadow", path);
	snprintf(path, sizeof(path), "%s/counts/large", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	odd += fd >= 0 && !ftruncate(fd, 1LL << 40);
	printf("files=%ld odd=%ld\n", made, odd);
}

/* Whatever can be done to one's own memory. */
static void spoil_size(void)
{
	int fd = ask();
	int cut = fd >= 0 ? ftruncate(fd, 0) ? errno : 0 : -1,
	    grow = fd >= 0 ? ftruncate(fd, 1LL << 40) ? errno : 0 : -1;
	int fill = fd >= 0 ? fallocate(fd, 0, 1 << 30, 1 << 30) ? errno : 0 : -1;
	int hole = fd >= 0 ? fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20) ? errno : 0 : -1;

	printf("cut=%d grow=%d fill=%d hole=%d\n", cut, grow, fill, hole);
}

/* Counts near 2^64 that come and go, launches of any time and thread, a ring whose numbers leap. */
static void tell_lies(long ms)
{
	struct detour_counts *counts = map(ask());
	struct detour_reports *told = (void *)((char *)counts + DETOUR_COUNTS_BYTES);
	u64 until_ns = now_ns() + (u64)ms * 1000000, sequence = 0;
	const u32 tids[] = { (u32)getpid(), 1, (u32)getppid() };

	if (!counts)
		return;
	begin(counts);
	/* So that the kernel has seen this thread launch. */
	for (u32 i = 0; launch && i < 2; i++)
		launch("kernel", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	for (u32 i = 0; i < DETOUR_ROWS; i++)
		counts->rows[i] = forged;
	while (now_ns() < until_ns) {
		for (u32 i = 0; i < 256; i++) {
			counts->rows[i].calls = sequence % 2 ? ~0ULL - sequence : sequence;
			counts->rows[i].sent = ~0ULL;
			counts->rows[i].failed = sequence * 0x9e3779b97f4a7c15ull;
		}
		for (u32 i = 0; seen.st_size == DETOUR_REPORTING_BYTES && i < 4096; i++, sequence++) {
			struct detour_launch *lie = &told->launches[sequence % DETOUR_REPORTS_LEN];

			lie->event = (struct event_cuda_launch){
				.head = { .time_ns = i % 3 == 0 ? ~0ULL - i : i % 3, .tid = tids[i % 3] },
				.function = i % 64,
				.kernel = sequence,
			};
			lie->sequence = sequence + 1;
		}
		sequence += seen.st_size != DETOUR_REPORTING_BYTES;
		if (seen.st_size != DETOUR_REPORTING_BYTES)
			continue;
		told->begun = sequence;
		/* What is read is believed or not: it is to be read. */
		while (sequence - told->taken > DETOUR_REPORTS_LEN - 4096 && now_ns() < until_ns)
			usleep(1000);
	}
	printf("memory=1 lies=%llu\n", (unsigned long long)sequence);
	if (seen.st_size == DETOUR_REPORTING_BYTES)
		told->begun = ~0ULL;
}

static void ask_often(long n)
{
	long got = 0;

	for (long i = 0; i < n; i++) {
		int fd = ask();

		got += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	printf("got=%ld\n", got);
}

/* So many processes at once that each ask, and stay until a line comes. */
static void crowd(long n)
{
	int gate[2], told[2];
	char byte;
	long got = 0;

	if (pipe(gate) || pipe(told))
		return;
	for (long i = 0; i < n; i++)
		if (!fork()) {
			close(gate[1]);
			byte = ask() >= 0 ? 1 : 0;
			if (write(told[1], &byte, 1) == 1 && read(gate[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
	for (long i = 0; i < n; i++)
		got += read(told[0], &byte, 1) == 1 && byte;
	printf("got=%ld\n", got);
	fflush(stdout);
	if (read(0, &byte, 1) < 0)
		printf("no line\n");
	close(gate[1]);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	long n = argc > 4 ? atol(argv[4]) : 0;

	if (argc < 4 || aim(argv[2])) {
		fprintf(stderr, "usage: reporter FOLDER LIBRARY WHAT [N]\n");
		return 2;
	}
	folder = argv[1];
	if (!strcmp(argv[3], "forge"))
		forge();
	else if (!strcmp(argv[3], "files"))
		make_files(n);
	else if (!strcmp(argv[3], "size"))
		spoil_size();
	else if (!strcmp(argv[3], "lies"))
		tell_lies(n);
	else if (!strcmp(argv[3], "often"))
		ask_often(n);
	else if (!strcmp(argv[3], "crowd"))
		crowd(n);
	else
		return 2;
	return 0;
}
