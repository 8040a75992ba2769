// SPDX-License-Identifier: GPL-2.0
/* A library that the dynamic loader of a traced program takes in by LD_AUDIT: whoever asks for a function of libcuda
 * that tactus samples gets a stub (stubs.c), which counts the call and leads it past the probe, but for one in N. It
 * needs nothing of the C library and says nothing; where anything is in the way it hands out the function itself, whose
 * calls the probe counts. */
#include "detour.h"

#ifdef __x86_64__

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>
#include <link.h>
#include <stddef.h>

enum {
	LIBRARIES = DETOUR_PROC_STUBS / DETOUR_PROC_NAMES,
	PATH_BYTES = DETOUR_FOLDER_BYTES + 16,
	PLAN_NAME_BYTES = 48,
	PATIENCE = 1 << 20
};
enum { AUDIT_VERSION = 2, PAGE_BYTES = 4096 };

#define for_loader __attribute__((visibility("default")))

struct library {
	const struct link_map *map; /* NULL: it is closed */
	u64 base;
	u64 device, inode;
	const struct detour_plan *plan; /* NULL: tactus has not probed it, or not yet */
	u32 proc_len;
	void *proc_real[DETOUR_PROC_NAMES];
};

static struct library libraries[LIBRARIES];
static u32 libraries_len, rows_len, lock, has_begun;
static const struct library *row_library[DETOUR_ROWS];

/* Written by tactus before the program starts, behind the mark. */
volatile const char detour_folder[sizeof(DETOUR_FOLDER_MARK) - 1 + DETOUR_FOLDER_BYTES]
	__attribute__((section(".data.folder"))) = DETOUR_FOLDER_MARK;

struct detour_page detour_page __attribute__((aligned(PAGE_BYTES)));
struct detour_stub detour_stubs[DETOUR_ROWS] __attribute__((aligned(64)));
u64 detour_every;

long detour_call_kernel(long number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static char *append(char *at, const char *end, const char *text)
{
	while (*text && at < end)
		*at++ = *text++;
	return at;
}

static char *append_hex(char *at, const char *end, u64 number)
{
	u32 shift = 60;

	while (shift && !(number >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		if (at < end)
			*at++ = "0123456789abcdef"[number >> shift & 15];
		if (!shift)
			return at;
	}
}

/* The folder, and `behind` after it. Returns 0 if tactus wrote no folder. */
static int path_of(char *path, const char *behind)
{
	char *at = path;
	u32 i = sizeof(DETOUR_FOLDER_MARK) - 1;

	if (!detour_folder[i])
		return 0;
	for (; i < sizeof(detour_folder) && detour_folder[i]; i++)
		*at++ = detour_folder[i];
	at = append(at, path + PATH_BYTES - 1, behind);
	*at = '\0';
	return 1;
}

static void *map_file(int fd, u64 bytes, int protection, int flags)
{
	long address = detour_call_kernel(__NR_mmap, 0, bytes, (u64)protection, (u64)flags, (u64)fd, 0);

	return address < 0 && address > -PAGE_BYTES ? NULL : (void *)address;
}

static void unmap(const void *address, u64 bytes)
{
	detour_call_kernel(__NR_munmap, (u64)address, bytes, 0, 0, 0, 0);
}

static int open_in(int folder, const char *path, int flags)
{
	return (int)detour_call_kernel(__NR_openat, (u64)folder, (u64)path, (u64)(flags | O_CLOEXEC | O_NOFOLLOW), 0, 0,
				       0);
}

static void close_file(int fd)
{
	detour_call_kernel(__NR_close, (u64)fd, 0, 0, 0, 0, 0);
}

/* The folder, if it is tactus' still: who outlives tactus may find anything there. */
static int open_folder(void)
{
	char path[PATH_BYTES];
	int fd = path_of(path, "") ? open_in(AT_FDCWD, path, O_PATH | O_DIRECTORY) : -1;
	u64 bytes;

	if (fd < 0 || detour_trusts(fd, S_IFDIR, &bytes))
		return fd;
	close_file(fd);
	return -1;
}

static int open_plan(const struct library *library)
{
	char name[PLAN_NAME_BYTES];
	const char *end = name + sizeof(name) - 1;
	char *at = append_hex(append(name, end, "plan-"), end, library->device);
	int folder = open_folder(), fd;

	*append_hex(append(at, end, "-"), end, library->inode) = '\0';
	if (folder < 0)
		return -1;
	fd = open_in(folder, name, O_RDONLY);
	close_file(folder);
	return fd;
}

static const struct detour_plan *read_plan(const struct library *library)
{
	const struct detour_plan *plan = NULL;
	int fd = open_plan(library);
	u64 bytes = 0;

	if (fd < 0)
		return NULL;
	if (detour_trusts(fd, S_IFREG, &bytes) && bytes >= sizeof(*plan) &&
	    bytes <= sizeof(*plan) + DETOUR_PLAN_MAX * sizeof(plan->places[0]))
		plan = map_file(fd, bytes, PROT_READ, MAP_PRIVATE);
	close_file(fd);
	if (!plan)
		return NULL;
	if (plan->magic == DETOUR_PLAN_MAGIC && plan->version == DETOUR_VERSION && plan->every &&
	    plan->len <= DETOUR_PLAN_MAX && bytes == sizeof(*plan) + plan->len * sizeof(plan->places[0]))
		return plan;
	unmap(plan, bytes);
	return NULL;
}

/* Gets the memory that is counted in; afterwards detour_page says where it is, in this process and in no child. Its
 * room is taken at once, so that it is this program's and no later call has to wait for any. */
static void begin_counting(u32 reports)
{
	u32 pid = (u32)detour_call_kernel(__NR_getpid, 0, 0, 0, 0, 0, 0), seen_pid = 0;
	u64 bytes = reports ? DETOUR_REPORTING_BYTES : DETOUR_COUNTS_BYTES;
	struct detour_counts *counts = NULL;
	char path[PATH_BYTES];
	int fd;

	/* A page of memory that is nobody's file, see detour.h. */
	if (detour_call_kernel(__NR_madvise, (u64)&detour_page, sizeof(detour_page), MADV_WIPEONFORK, 0, 0, 0) ||
	    !path_of(path, DETOUR_ASK_NAME))
		return;
	fd = detour_ask(path, &seen_pid);
	if (fd < 0)
		return;
	if (!detour_call_kernel(__NR_fallocate, (u64)fd, 0, 0, bytes, 0, 0))
		counts = map_file(fd, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
	close_file(fd);
	if (!counts)
		return;
	counts->version = DETOUR_VERSION;
	counts->len = DETOUR_ROWS;
	counts->pid = pid;
	/* In a pid namespace of its own a thread would name itself by a number that is another's outside. */
	counts->reports = reports && pid == seen_pid;
	__atomic_store_n(&counts->magic, DETOUR_COUNTS_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&detour_page.counts, counts, __ATOMIC_RELEASE);
}

/* Not for ever: a signal's handler may ask for a function while its own thread is here. */
static int take_lock(void)
{
	for (u32 i = 0; i < PATIENCE; i++) {
		if (!__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
			return 1;
		__asm__ volatile("pause");
	}
	return 0;
}

static const struct detour_place *place_at(const struct library *library, u64 address)
{
	const struct detour_plan *plan = library->plan;
	u32 low = 0, high = plan->len;

	address -= library->base;
	while (low < high) {
		u32 middle = (low + high) / 2;

		if (plan->places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->len && plan->places[low].address == address ? &plan->places[low] : NULL;
}

static void *proc_stub(struct library *library, void *real)
{
	u32 i = 0;

	while (i < library->proc_len && library->proc_real[i] != real)
		i++;
	if (i == DETOUR_PROC_NAMES)
		return real;
	library->proc_real[i] = real;
	library->proc_len += i == library->proc_len;
	return (char *)detour_proc_code + ((u64)(library - libraries) * DETOUR_PROC_NAMES + i) * DETOUR_CODE_BYTES;
}

/* What is there must be what tactus saw in the file, or the breakpoint in its place. */
static int is_as_planned(const struct detour_place *place, const u8 *code)
{
	u32 is_high = place->reg >= 8;
	u8 push = 0x50 | (place->reg & 7);

	code += place->shift;
	return (code[0] == (is_high ? 0x41 : push) || code[0] == 0xcc) && (!is_high || code[1] == push);
}

static void *count_stub(const struct library *library, const struct detour_place *place, void *real)
{
	struct detour_counts *counts = detour_page.counts;
	struct detour_stub *stub;
	struct detour_row *row;
	u32 i = 0;

	while (i < rows_len && (row_library[i] != library || detour_stubs[i].real != real))
		i++;
	if (i == DETOUR_ROWS || (i == rows_len && !is_as_planned(place, real)))
		return real;
	if (i == rows_len) {
		stub = &detour_stubs[i];
		row_library[i] = library;
		stub->real = real;
		stub->mark = DETOUR_MARK ^ ((u64)real + place->shift);
		stub->behind = (char *)real + place->behind;
		stub->push = (char *)detour_push_code + place->reg * DETOUR_CODE_BYTES;
		stub->shape = place->shape;
		stub->function = place->function;
		stub->go = place->kind == DETOUR_WHOLE	  ? (void *)detour_whole
			   : place->kind == DETOUR_REPORT ? (void *)detour_report
							  : stub->push;
		row = &counts->rows[i];
		row->device = library->device;
		row->inode = library->inode;
		row->offset = place->offset;
		__atomic_store_n(&row->used, 1, __ATOMIC_RELEASE);
		rows_len++;
	}
	return (char *)detour_code + i * DETOUR_CODE_BYTES;
}

/* What to hand out for a function of a libcuda. */
static void *instead_of(struct library *library, void *real)
{
	const struct detour_place *place;
	void *instead = real;

	/* In a child that was forked, the parent's counts are not its own. */
	if ((has_begun && !detour_page.counts) || !take_lock())
		return real;
	if (!library->plan)
		library->plan = read_plan(library);
	place = library->plan ? place_at(library, (u64)real) : NULL;
	if (place && !has_begun) {
		detour_every = library->plan->every;
		begin_counting(library->plan->reports && detour_may_report());
		has_begun = 1;
	}
	/* Where nothing can be reported, every launch runs into the probe. */
	if (place && place->kind == DETOUR_REPORT && detour_page.counts && !detour_page.counts->reports)
		place = NULL;
	if (place && detour_page.counts)
		instead = place->kind == DETOUR_PROC_ADDRESS ? proc_stub(library, real)
							     : count_stub(library, place, real);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return instead;
}

/* cuGetProcAddress of the library that `which` is of, with the arguments of its longer version. */
int detour_proc_address(const char *name, void **function, int version, u64 flags, void *status, u32 which)
{
	struct library *library = &libraries[which / DETOUR_PROC_NAMES];
	int (*real)(const char *, void **, int, u64, void *);
	int result;

	real = (__typeof__(real))library->proc_real[which % DETOUR_PROC_NAMES];
	result = real(name, function, version, flags, status);
	if (!result && function && *function)
		*function = instead_of(library, *function);
	return result;
}

for_loader unsigned int la_version(unsigned int version)
{
	/* Older loaders go through the auditor at every call of any library. */
	return version < AUDIT_VERSION ? 0 : AUDIT_VERSION;
}

static int is_libcuda(const char *path)
{
	static const char wanted[] = "libcuda.so";
	const char *name = path;

	for (const char *at = path; *at; at++)
		if (*at == '/')
			name = at + 1;
	for (u32 i = 0; wanted[i]; i++)
		if (name[i] != wanted[i])
			return 0;
	return 1;
}

for_loader unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	struct library *library;
	struct stat seen;

	(void)space;
	(void)cookie;
	detour_find_clock(map);
	if (!is_libcuda(map->l_name) || libraries_len == LIBRARIES ||
	    detour_call_kernel(__NR_stat, (u64)map->l_name, (u64)&seen, 0, 0, 0, 0))
		return LA_FLG_BINDFROM;
	library = &libraries[libraries_len++];
	library->base = map->l_addr;
	library->device = seen.st_dev;
	library->inode = seen.st_ino;
	library->map = map;
	/* What it calls itself by name runs into the probe, as any call from inside does. */
	return LA_FLG_BINDTO;
}

/* Cookies are left as they come, the object's map: glibc 2.36 mixes up those of several auditors. */
static struct library *library_of(const uintptr_t *cookie)
{
	for (u32 i = 0; i < libraries_len; i++)
		if (libraries[i].map && (uintptr_t)libraries[i].map == *cookie)
			return &libraries[i];
	return NULL;
}

for_loader unsigned int la_objclose(uintptr_t *cookie)
{
	struct library *library = library_of(cookie);

	if (library)
		library->map = NULL;
	return 0;
}

for_loader uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int number, uintptr_t *from, uintptr_t *to,
				  unsigned int *flags, const char *name)
{
	struct library *library = name[0] == 'c' && name[1] == 'u' ? library_of(to) : NULL;

	(void)number;
	(void)from;
	(void)flags;
	return library ? (uintptr_t)instead_of(library, (void *)symbol->st_value) : symbol->st_value;
}

#endif
