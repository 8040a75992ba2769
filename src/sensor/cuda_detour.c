// SPDX-License-Identifier: GPL-2.0
/* Writes the library that lies in this program into a folder of its own, with the folder's path in it, a plan for each
 * libcuda, and reads what programs counted. Programs of any user may be asked to take it in, so that others may enter.
 */
#include "cuda_detour.h"
#include "cuda_told.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 64 };

struct planned {
	u64 device, inode, offset;
	u32 function;
	u32 whole; /* its ends are watched */
};

struct cuda_detour {
	char folder[DETOUR_FOLDER_BYTES];
	char *had; /* LD_AUDIT as it was; NULL: it was not set */
	u64 every;
	struct detour_place *places; /* of the library that is being added */
	u32 *numbers;		     /* of their functions */
	u32 places_len, places_room;
	struct planned *planned;
	u32 planned_len;
	bool tells;
	u32 functions; /* one more than the highest number that was added */
	struct cuda_told told;
};

static int write_file(const char *path, const void *bytes, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode), error = 0;
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

static int write_image(const struct cuda_detour *detour, const char *path)
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
		error = write_file(path, image, len, 0755);
	}
	free(image);
	return error;
}

/* Whether code may be run from a file there. */
static int try_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	void *code = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		error = -errno;
	else
		munmap(code, 1);
	if (fd >= 0)
		close(fd);
	return error;
}

static int make_folder(struct cuda_detour *detour, const char *in)
{
	char path[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES];
	int error = 0;

	snprintf(detour->folder, sizeof(detour->folder), "%s/tactus-detour.XXXXXX", in);
	if (!mkdtemp(detour->folder)) {
		detour->folder[0] = '\0';
		return -errno;
	}
	snprintf(path, sizeof(path), "%s/counts", detour->folder);
	/* Who is asked to count can make a file there, and nobody else knows the folder's name. */
	if (chmod(detour->folder, 0711) || mkdir(path, 0700) || chmod(path, 01733))
		error = -errno;
	snprintf(path, sizeof(path), "%s/detour.so", detour->folder);
	if (!error)
		error = write_image(detour, path);
	return error ? error : try_image(path);
}
#endif

static void remove_all(const char *folder)
{
	char path[DETOUR_FOLDER_BYTES + 2 * NAME_MAX_BYTES + NAME_MAX];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

static void remove_folder(const struct cuda_detour *detour)
{
	char path[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES];

	if (!detour->folder[0])
		return;
	snprintf(path, sizeof(path), "%s/counts", detour->folder);
	remove_all(path);
	remove_all(detour->folder);
}

int cuda_detour_open(struct cuda_detour **out, u64 every, bool tells, struct reason *why)
{
#ifdef __x86_64__
	/* Memory first: who counts must not wait for a disk to be written. Not TMPDIR: that may be one user's alone. */
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", "/run" };
	struct cuda_detour *detour = calloc(1, sizeof(*detour));
	int error = -ENOMEM;

	*out = detour;
	for (size_t i = 0; detour && error && i < sizeof(places) / sizeof(places[0]); i++) {
		error = make_folder(detour, places[i]);
		if (error)
			remove_folder(detour);
	}
	if (!error) {
		detour->every = every;
		detour->tells = tells;
		return 0;
	}
	reason_set(why, "no place for its library: %s", strerror(-error));
	free(detour);
	*out = NULL;
	return error;
#else
	(void)every;
	(void)tells;
	*out = NULL;
	reason_set(why, "a program can be made to count by itself on x86-64 only");
	return -ENOTSUP;
#endif
}

void cuda_detour_close(struct cuda_detour *detour)
{
	if (!detour)
		return;
	cuda_told_free(&detour->told);
	remove_folder(detour);
	free(detour->had);
	free(detour->places);
	free(detour->numbers);
	free(detour->planned);
	free(detour);
}

int cuda_detour_give(struct cuda_detour *detour)
{
	const char *had = getenv("LD_AUDIT");
	char *all = NULL;
	int error;

	if (asprintf(&all, "%s%s%s/detour.so", had ? had : "", had && had[0] ? ":" : "", detour->folder) < 0)
		return -ENOMEM;
	detour->had = had ? strdup(had) : NULL;
	error = setenv("LD_AUDIT", all, 1) ? -errno : 0;
	free(all);
	return error;
}

void cuda_detour_take_back(const struct cuda_detour *detour)
{
	if (detour->had)
		setenv("LD_AUDIT", detour->had, 1);
	else
		unsetenv("LD_AUDIT");
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
	else if (!cookie || (detour->tells && !is_launch) ||
		 (cookie & CUDA_COOKIE_ALWAYS && !(cookie & CUDA_COOKIE_COUNT_ONLY)) ||
		 pread(fd, code, sizeof(code), (off_t)function->offset) != (ssize_t)sizeof(code) ||
		 !detour_place_of(&place, code))
		return;
	else
		place.kind = detour->tells		       ? DETOUR_TELL
			     : cookie & CUDA_COOKIE_ENTRY_ONLY ? DETOUR_ENTRY
							       : DETOUR_WHOLE;
	if (make_room(detour))
		return;
	detour->numbers[detour->places_len] = place.function;
	if (place.function >= detour->functions)
		detour->functions = place.function + 1u;
	detour->places[detour->places_len++] = place;
}

static int by_address(const void *a, const void *b)
{
	const struct detour_place *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static int remember(struct cuda_detour *detour, const struct stat *seen)
{
	struct planned *planned = realloc(detour->planned,
					  (detour->planned_len + detour->places_len) * sizeof(*planned));

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
	char path[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES], fresh[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES];
	int error = plan ? 0 : -ENOMEM;
	struct stat seen;

	if (!error && fstat(fd, &seen))
		error = -errno;
	if (!error && detour->places_len)
		error = remember(detour, &seen);
	if (!error && detour->places_len) {
		qsort(detour->places, detour->places_len, sizeof(*detour->places), by_address);
		plan->magic = DETOUR_PLAN_MAGIC;
		plan->version = DETOUR_VERSION;
		plan->len = detour->places_len;
		plan->every = detour->every;
		plan->tells = detour->tells;
		memcpy(plan->places, detour->places, places_bytes);
		snprintf(fresh, sizeof(fresh), "%s/fresh", detour->folder);
		snprintf(path, sizeof(path), "%s/plan-%llx-%llx", detour->folder, (unsigned long long)seen.st_dev,
			 (unsigned long long)seen.st_ino);
		/* Programs find it whole or not at all. */
		error = write_file(fresh, plan, bytes, 0644);
		if (!error && rename(fresh, path))
			error = -errno;
	}
	free(plan);
	detour->places_len = 0;
	return error;
}

struct reading {
	const struct cuda_detour *detour;
	struct cuda_detour_counts *counts;
	void (*take)(void *data, u32 function, const struct cuda_counts *counts);
	void *data;
};

static void take_row(void *data, const struct detour_row *row)
{
	struct reading *reading = data;
	/* What runs into a probe is seen to return there. */
	struct cuda_counts counts = { .entered = row->calls, .failed = row->failed };

	/* From the last: a file may have been written anew. */
	for (u32 i = reading->detour->planned_len; i > 0; i--) {
		const struct planned *planned = &reading->detour->planned[i - 1];

		if (planned->offset != row->offset || planned->inode != row->inode || planned->device != row->device)
			continue;
		reading->counts->calls += row->calls;
		if (planned->whole)
			counts.returned = row->calls - row->sent - row->trapped;
		reading->take(reading->data, planned->function, &counts);
		return;
	}
}

static void read_file(struct reading *reading, const char *path, void *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat seen;
	ssize_t got = -1;

	if (fd >= 0 && !fstat(fd, &seen) && S_ISREG(seen.st_mode) &&
	    (seen.st_size == DETOUR_COUNTS_BYTES || seen.st_size == DETOUR_TELLING_BYTES))
		got = pread(fd, bytes, DETOUR_COUNTS_BYTES, 0);
	if (got >= 0 && detour_counts_read(bytes, (size_t)got, take_row, reading) >= 0)
		reading->counts->processes++;
	else
		reading->counts->refused++;
	if (fd >= 0)
		close(fd);
}

struct cuda_detour_counts cuda_detour_read(const struct cuda_detour *detour,
					   void (*take)(void *data, u32 function, const struct cuda_counts *counts),
					   void *data)
{
	struct cuda_detour_counts counts = { 0 };
	struct reading reading = { detour, &counts, take, data };
	char path[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES + NAME_MAX];
	struct dirent *entry;
	void *bytes = malloc(DETOUR_COUNTS_BYTES);
	DIR *dir;

	snprintf(path, sizeof(path), "%s/counts", detour->folder);
	dir = bytes ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/counts/%s", detour->folder, entry->d_name);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			read_file(&reading, path, bytes);
	}
	if (dir)
		closedir(dir);
	free(bytes);
	return counts;
}

void cuda_detour_collect(struct cuda_detour *detour, bool all)
{
	char path[DETOUR_FOLDER_BYTES + NAME_MAX_BYTES];

	if (!detour->tells)
		return;
	snprintf(path, sizeof(path), "%s/counts", detour->folder);
	cuda_told_collect(&detour->told, path, detour->functions, all);
}

const struct event_cuda_launch *cuda_detour_take(struct cuda_detour *detour, u64 before_ns)
{
	return cuda_told_take(&detour->told, before_ns);
}
