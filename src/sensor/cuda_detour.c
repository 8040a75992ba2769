// SPDX-License-Identifier: GPL-2.0
/* Writes the library that lies in this program into a folder of its own, with the folder's path in it, and a plan for
 * each libcuda. Programs of any user may be asked to take it in, so that others may enter; but nobody else can ever put
 * anything in its place, not even when it is gone: programs that are left behind still have its path. */
#include "cuda_detour.h"
#include "cuda_reporters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/own_folder.h"
#include "../base/sort.h"
#include "sched.h"

enum { NAME_MAX_BYTES = 64, PLANNED_MAX = DETOUR_PLANS * DETOUR_ROWS };

struct planned {
	u64 device, inode, offset;
	u32 function;
	u32 whole; /* its ends are watched */
};

struct cuda_detour {
	char folder[DETOUR_FOLDER_BYTES];
	int folder_fd;	 /* -1: there is none */
	bool has_ranges; /* the command takes the library for NVTX's ranges too */
	char *had;	 /* LD_AUDIT as it was; NULL: it was not set */
	u64 every;
	struct detour_place *places; /* of the library that is being added */
	u32 *numbers;		     /* of their functions */
	u32 places_len, places_room;
	struct planned *planned;
	u32 planned_len, plans;
	u64 refused; /* launches reported in the name of threads that are not the reporter's */
	struct cuda_reporters reporters;
};

static int write_file(int folder, const char *name, const void *bytes, size_t len, mode_t mode)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), error = 0;
	ssize_t done = fd < 0 ? -1 : write(fd, bytes, len);

	if (done != (ssize_t)len)
		error = done < 0 ? -errno : -ENOSPC;
	/* Whatever umask this program was started with. */
	if (!error && fchmod(fd, mode))
		error = -errno;
	if (fd >= 0)
		close(fd);
	return error;
}

#ifdef __x86_64__
__asm__(".pushsection .rodata\n"
	"detour_image: .incbin \"" DETOUR_IMAGE "\"\n"
	"detour_image_end:\n"
	".popsection\n");
extern const char detour_image[], detour_image_end[];

static int write_image(const struct cuda_detour *detour, const char *name)
{
	size_t len = (size_t)(detour_image_end - detour_image);
	char *image = malloc(len), *mark;
	int error = -ENOMEM;

	if (!image)
		return error;
	memcpy(image, detour_image, len);
	mark = memmem(image, len, DETOUR_FOLDER_MARK, strlen(DETOUR_FOLDER_MARK));
	error = -ENOEXEC;
	if (mark && (size_t)(image + len - mark) > strlen(DETOUR_FOLDER_MARK) + DETOUR_FOLDER_BYTES) {
		memcpy(mark + strlen(DETOUR_FOLDER_MARK), detour->folder, sizeof(detour->folder));
		error = write_file(detour->folder_fd, name, image, len, 0555);
	}
	free(image);
	return error;
}

/* Whether code may be run from a file there. */
static int try_image(const struct cuda_detour *detour, const char *name)
{
	int fd = openat(detour->folder_fd, name, O_RDONLY | O_CLOEXEC), error = 0;
	void *code = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		error = -errno;
	else
		munmap(code, 1);
	if (fd >= 0)
		close(fd);
	return error;
}

static void remove_folder(struct cuda_detour *detour)
{
	if (detour->folder_fd >= 0) {
		own_folder_remove(detour->folder_fd, detour->folder);
		close(detour->folder_fd);
	}
	detour->folder_fd = -1;
}

/* Programs of all users take part where root asks; else this user's alone. */
static int fill_folder(struct cuda_detour *detour)
{
	char ask[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES];
	int error = write_image(detour, DETOUR_NAME);

	snprintf(ask, sizeof(ask), "%s" DETOUR_ASK_NAME, detour->folder);
	if (!error)
		error = try_image(detour, DETOUR_NAME);
	if (!error)
		error = cuda_reporters_open(&detour->reporters, ask, geteuid() ? 0600 : 0666);
	if (!error && fchmod(detour->folder_fd, geteuid() ? 0700 : 0711))
		error = -errno;
	return error;
}

/* PLACE/tactus/cuda/NAME. Where root's are, nobody else can list the names. */
static int make_folder(struct cuda_detour *detour, const char *place)
{
	mode_t mode = geteuid() ? 0700 : 0711;
	int parent, in, error;

	/* What separates libraries in LD_AUDIT, and what the loader replaces there. */
	if (!place || strpbrk(place, ": ;$"))
		return -EINVAL;
	snprintf(detour->folder, sizeof(detour->folder), "%s/tactus", place);
	parent = own_folder_open(detour->folder, mode);
	if (parent < 0)
		return parent;
	snprintf(detour->folder, sizeof(detour->folder), "%s/tactus/cuda", place);
	in = own_folder_open(detour->folder, mode);
	/* Others may have made the first for themselves alone, and a umask both. */
	error = in < 0 ? in : geteuid() || (!fchmod(parent, 0755) && !fchmod(in, 0711)) ? 0 : -errno;
	close(parent);
	if (!error)
		error = detour->folder_fd = own_folder_make(in, detour->folder, sizeof(detour->folder));
	if (in >= 0)
		close(in);
	return error < 0 ? error : fill_folder(detour);
}

static int find_folder(struct cuda_detour *detour)
{
	/* Memory first, but from there nothing can be run on some machines. */
	static const char *const of_root[] = { "/run", "/var/lib", "/var/cache" };
	char of_home[DETOUR_FOLDER_BYTES];
	const char *of_user[] = { getenv("XDG_RUNTIME_DIR"), getenv("XDG_CACHE_HOME"), of_home };
	const char *const *places = geteuid() ? of_user : of_root;
	size_t len = geteuid() ? sizeof(of_user) / sizeof(of_user[0]) : sizeof(of_root) / sizeof(of_root[0]);
	int first = 0, error = -ENOENT;

	snprintf(of_home, sizeof(of_home), "%s/.cache", getenv("HOME") ? getenv("HOME") : "");
	for (size_t i = 0; error && i < len; i++) {
		detour->folder_fd = -1;
		error = make_folder(detour, places[i]);
		if (error)
			remove_folder(detour);
		first = first ? first : error;
	}
	return error ? first : 0;
}
#endif

/* Which function a row is of. From the last: a file may have been written anew. */
static bool find_planned(const void *data, const struct detour_row *row, struct detour_seen *seen)
{
	const struct cuda_detour *detour = data;

	for (u32 i = detour->planned_len; i > 0; i--) {
		const struct planned *planned = &detour->planned[i - 1];

		if (planned->offset != row->offset || planned->inode != row->inode || planned->device != row->device)
			continue;
		seen->function = planned->function;
		seen->is_whole = planned->whole;
		return true;
	}
	return false;
}

int cuda_detour_open(struct cuda_detour **out, u64 every, bool reports, struct reason *why)
{
#ifdef __x86_64__
	struct cuda_detour *detour = calloc(1, sizeof(*detour));
	int error = detour ? find_folder(detour) : -ENOMEM;

	*out = detour;
	if (!error) {
		detour->every = every;
		detour->reporters.has_rings = reports;
		detour->reporters.find = find_planned;
		detour->reporters.data = detour;
		return 0;
	}
	reason_set(why, "no place for its library that nobody else could write to: %s", strerror(-error));
	free(detour);
	*out = NULL;
	return error;
#else
	(void)every;
	(void)reports;
	(void)find_planned;
	*out = NULL;
	reason_set(why, "a program can be made to count by itself on x86-64 only");
	return -ENOTSUP;
#endif
}

void cuda_detour_close(struct cuda_detour *detour)
{
	if (!detour)
		return;
	cuda_reporters_close(&detour->reporters);
#ifdef __x86_64__
	remove_folder(detour);
#endif
	free(detour->had);
	free(detour->places);
	free(detour->numbers);
	free(detour->planned);
	free(detour);
}

bool cuda_detour_path(const struct cuda_detour *detour, char path[DETOUR_PATH_BYTES])
{
	snprintf(path, DETOUR_PATH_BYTES, "%s/" DETOUR_NAME, detour->folder);
	return detour->has_ranges;
}

int cuda_detour_give(struct cuda_detour *detour, bool for_ranges)
{
	char path[DETOUR_PATH_BYTES];
	const char *had = getenv("LD_AUDIT");
	char *all = NULL;
	int error;

	if (asprintf(&all, "%s%s%s/" DETOUR_NAME, had ? had : "", had && had[0] ? ":" : "", detour->folder) < 0)
		return -ENOMEM;
	detour->had = had ? strdup(had) : NULL;
	error = setenv("LD_AUDIT", all, 1) ? -errno : 0;
	free(all);
	/* Who has a tool of NVIDIA's take them keeps it. */
	detour->has_ranges = !error && for_ranges && !getenv("NVTX_INJECTION64_PATH");
	if (cuda_detour_path(detour, path) && setenv("NVTX_INJECTION64_PATH", path, 1))
		detour->has_ranges = false;
	return error;
}

void cuda_detour_take_back(const struct cuda_detour *detour)
{
	if (detour->had)
		setenv("LD_AUDIT", detour->had, 1);
	else
		unsetenv("LD_AUDIT");
	if (detour->has_ranges)
		unsetenv("NVTX_INJECTION64_PATH");
}

static bool hands_out_functions(const struct cuda_function *function)
{
	const char *at = function->aliases;
	size_t len = strlen("cuGetProcAddress");

	if (cuda_plain_length(function->name) == len && !strncmp(function->name, "cuGetProcAddress", len))
		return true;
	for (; at && *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL))
		if (!strncmp(at, "cuGetProcAddress", len) && (at[len] == ',' || at[len] == '_' || !at[len]))
			return true;
	return false;
}

static int make_room(struct cuda_detour *detour)
{
	u32 room = detour->places_room ? detour->places_room * 2 : 64;
	struct detour_place *places;
	u32 *numbers;

	if (detour->places_len < detour->places_room)
		return 0;
	if (room > DETOUR_PLAN_MAX)
		return -ENOSPC;
	places = realloc(detour->places, room * sizeof(*places));
	if (!places)
		return -ENOMEM;
	detour->places = places;
	numbers = realloc(detour->numbers, room * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	detour->numbers = numbers;
	detour->places_room = room;
	return 0;
}

void cuda_detour_add(struct cuda_detour *detour, int fd, const struct cuda_function *function, u64 cookie)
{
	struct detour_place place = { .address = function->address,
				      .offset = function->offset,
				      .shape = (u16)cuda_cookie_shape(cookie),
				      .function = cookie & CUDA_COOKIE_FUNCTION };
	bool is_launch = cookie & CUDA_COOKIE_ENTRY_ONLY && shape_is_launch(place.shape);
	u8 code[CUDA_CODE_BYTES];

	if (hands_out_functions(function))
		place.kind = DETOUR_PROC_ADDRESS;
	else if (!cookie || (detour->reporters.has_rings && !is_launch) ||
		 (cookie & CUDA_COOKIE_ALWAYS && !(cookie & CUDA_COOKIE_COUNT_ONLY)) ||
		 pread(fd, code, sizeof(code), (off_t)function->offset) != (ssize_t)sizeof(code) ||
		 !detour_place_of(&place, code))
		return;
	else
		place.kind = detour->reporters.has_rings       ? DETOUR_REPORT
			     : cookie & CUDA_COOKIE_ENTRY_ONLY ? DETOUR_ENTRY
							       : DETOUR_WHOLE;
	if (make_room(detour))
		return;
	detour->numbers[detour->places_len] = place.function;
	if (place.function >= detour->reporters.functions)
		detour->reporters.functions = place.function + 1u;
	detour->places[detour->places_len++] = place;
}

static int by_address(const void *a, const void *b)
{
	const struct detour_place *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static int remember(struct cuda_detour *detour, const struct stat *seen)
{
	u32 len = detour->planned_len + detour->places_len;
	struct planned *planned;

	if (detour->plans == DETOUR_PLANS || len > PLANNED_MAX)
		return -ENOSPC;
	planned = realloc(detour->planned, len * sizeof(*planned));
	if (!planned)
		return -ENOMEM;
	detour->planned = planned;
	for (u32 i = 0; i < detour->places_len; i++)
		if (detour->places[i].kind != DETOUR_PROC_ADDRESS)
			planned[detour->planned_len++] = (struct planned){ seen->st_dev, seen->st_ino,
									   detour->places[i].offset, detour->numbers[i],
									   detour->places[i].kind == DETOUR_WHOLE };
	return 0;
}

int cuda_detour_plan(struct cuda_detour *detour, int fd)
{
	size_t places_bytes = detour->places_len * sizeof(*detour->places);
	size_t bytes = sizeof(struct detour_plan) + places_bytes;
	struct detour_plan *plan = calloc(1, bytes);
	char name[NAME_MAX_BYTES];
	int error = plan ? 0 : -ENOMEM;
	struct stat seen;

	if (!error && fstat(fd, &seen))
		error = -errno;
	if (!error && detour->places_len)
		error = remember(detour, &seen);
	if (!error && detour->places_len) {
		sort_rows(detour->places, detour->places_len, sizeof(*detour->places), by_address);
		plan->magic = DETOUR_PLAN_MAGIC;
		plan->version = DETOUR_VERSION;
		plan->len = detour->places_len;
		plan->every = detour->every;
		plan->reports = detour->reporters.has_rings;
		memcpy(plan->places, detour->places, places_bytes);
		snprintf(name, sizeof(name), "plan-%llx-%llx", (unsigned long long)seen.st_dev,
			 (unsigned long long)seen.st_ino);
		/* Programs find it whole or not at all. */
		error = write_file(detour->folder_fd, "fresh", plan, bytes, 0444);
		if (!error && renameat(detour->folder_fd, "fresh", detour->folder_fd, name))
			error = -errno;
		if (error)
			unlinkat(detour->folder_fd, "fresh", 0);
		detour->plans += !error;
	}
	free(plan);
	detour->places_len = 0;
	return error;
}

int cuda_detour_fd(const struct cuda_detour *detour)
{
	return detour->reporters.listen_fd;
}

static bool is_of_command(void *data, int pidfd)
{
	return sched_is_of_command(data, pidfd);
}

void cuda_detour_serve(struct cuda_detour *detour, struct sensor *sched)
{
	cuda_reporters_serve(&detour->reporters, is_of_command, sched);
}

struct handing {
	void (*take)(void *data, u32 function, const struct cuda_counts *counts);
	void *data;
};

static void hand_over(void *data, const struct detour_seen *seen)
{
	const struct handing *handing = data;
	struct cuda_counts counts = { .entered = seen->calls, .returned = seen->returned, .failed = seen->failed };

	handing->take(handing->data, seen->function, &counts);
}

struct cuda_detour_counts cuda_detour_read(struct cuda_detour *detour,
					   void (*take)(void *data, u32 function, const struct cuda_counts *counts),
					   void *data)
{
	struct handing handing = { take, data };
	struct cuda_reporters_sum sum = cuda_reporters_read(&detour->reporters, hand_over, &handing);

	return (struct cuda_detour_counts){ sum.processes, sum.broken, sum.calls, detour->reporters.lost,
					    detour->refused };
}

void cuda_detour_collect(struct cuda_detour *detour, bool all)
{
	cuda_reporters_collect(&detour->reporters, all);
}

const struct event_header *cuda_detour_first(struct cuda_detour *detour, u64 before_ns, const struct threads *threads)
{
	const struct cuda_reports_launch *launch;

	while ((launch = cuda_reports_first(&detour->reporters.reports, before_ns))) {
		const struct thread *thread = threads_by_tid(threads, launch->event.head.tid);

		/* Its first launch ran into the probe, where the kernel has said whose thread it is. */
		if (thread && thread->pid == launch->pid)
			return &launch->event.head;
		detour->refused++;
		cuda_reports_drop(&detour->reporters.reports);
	}
	return NULL;
}

void cuda_detour_drop(struct cuda_detour *detour)
{
	cuda_reports_drop(&detour->reporters.reports);
}
