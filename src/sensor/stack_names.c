// SPDX-License-Identifier: GPL-2.0
/* Finds and keeps names of functions. What a process maps is read once, and again when an address is not in it; a file
 * is asked about an address once. All that is kept has bounds: how much there is of it is for users to choose. */
#include "stack_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/elf.h"
#include "../base/map.h"
#include "../base/maps.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "libraries.h"

enum { PROCESSES_MAX = 256, FUNCTIONS_MAX = 1 << 15, KERNEL_MAX = 1 << 20, ASKED_AT_ONCE = 64, PATH_MAX_KEPT = 256 };

/* A function that somebody was in. */
struct known {
	u64 inode, device, offset;
	struct long_name name;
};

struct code {
	struct mapping mapping;
	char path[PATH_MAX_KEPT];
};

struct process_code {
	u32 pid;
	struct code *all;
	size_t len, room;
};

struct kernel_function {
	u64 address;
	char *name;
};

struct stack_names {
	struct kernel_function *kernel;
	size_t kernel_len, kernel_room;
	struct process_code processes[PROCESSES_MAX];
	u32 processes_next;
	struct known *known;
	size_t known_len, known_room;
	struct map by_place; /* index into known, plus one */
};

static int by_address(const void *a, const void *b)
{
	const struct kernel_function *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static int read_kernel(struct stack_names *names)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[LONG_NAME_LEN], type;
	u64 address;

	while (file && fgets(line, sizeof(line), file) && names->kernel_len < KERNEL_MAX) {
		if (sscanf(line, "%" SCNx64 " %c %183s", &address, &type, name) != 3 || !address ||
		    !strchr("tTwW", type))
			continue;
		if (!vec_reserve(names->kernel, names->kernel_room, names->kernel_len + 1, 1 << 16) ||
		    !(names->kernel[names->kernel_len].name = strdup(name))) {
			fclose(file);
			return -ENOMEM;
		}
		names->kernel[names->kernel_len++].address = address;
	}
	if (file)
		fclose(file);
	if (names->kernel_len)
		sort_rows(names->kernel, names->kernel_len, sizeof(*names->kernel), by_address);
	return 0;
}

int stack_names_open(struct stack_names **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? read_kernel(*out) : -ENOMEM;
}

bool stack_names_has_kernel(const struct stack_names *names)
{
	return names->kernel_len;
}

void stack_names_close(struct stack_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->kernel_len; i++)
		free(names->kernel[i].name);
	for (u32 i = 0; i < PROCESSES_MAX; i++)
		free(names->processes[i].all);
	free(names->kernel);
	free(names->known);
	map_free(&names->by_place);
	free(names);
}

static void name_kernel(const struct stack_names *names, u64 address, struct long_name *into)
{
	size_t low = 0, high = names->kernel_len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->kernel[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		snprintf(into->text, sizeof(into->text), "%s", names->kernel[low - 1].name);
	else
		snprintf(into->text, sizeof(into->text), "0x%" PRIx64, address);
}

static int keep_code(void *data, const struct mapping *mapping)
{
	struct process_code *process = data;
	struct code *code;

	if (!mapping->executable)
		return 0;
	if (!vec_reserve(process->all, process->room, process->len + 1, 64))
		return -ENOMEM;
	code = &process->all[process->len++];
	code->mapping = *mapping;
	snprintf(code->path, sizeof(code->path), "%s", mapping->path);
	return 0;
}

static void read_process(struct process_code *process, u32 pid)
{
	process->pid = pid;
	process->len = 0;
	/* One that is gone has none. */
	maps_read(pid, keep_code, process);
	for (size_t i = 0; i < process->len; i++)
		process->all[i].mapping.path = process->all[i].path;
}

static const struct code *code_at(const struct process_code *process, u64 address)
{
	for (size_t i = 0; i < process->len; i++)
		if (address >= process->all[i].mapping.start && address < process->all[i].mapping.end)
			return &process->all[i];
	return NULL;
}

static struct process_code *process_of(struct stack_names *names, u32 pid)
{
	struct process_code *process;

	for (u32 i = 0; i < PROCESSES_MAX; i++)
		if (names->processes[i].pid == pid)
			return &names->processes[i];
	process = &names->processes[names->processes_next++ % PROCESSES_MAX];
	read_process(process, pid);
	return process;
}

static bool is_of(const struct known *known, const struct code *code)
{
	return known->inode == code->mapping.inode &&
	       known->device == ((u64)code->mapping.major << 32 | code->mapping.minor);
}

static u64 place_key(const struct code *code, u64 offset)
{
	u64 key = (code->mapping.inode * 0x9e3779b97f4a7c15ull) ^
		  ((u64)code->mapping.major << 32 | code->mapping.minor);

	return (key ^ offset) * 0x100000001b3ull;
}

static const struct known *known_at(const struct stack_names *names, const struct code *code, u64 offset)
{
	u32 place = map_get(&names->by_place, place_key(code, offset));
	const struct known *known = place ? &names->known[place - 1] : NULL;

	return known && known->offset == offset && is_of(known, code) ? known : NULL;
}

static void forget(struct stack_names *names)
{
	names->known_len = 0;
	map_clear(&names->by_place);
}

struct asked {
	const u64 *offsets;
	u32 len;
	struct long_name *into;
	u64 begins[ASKED_AT_ONCE];
};

static int take_function(void *data, const struct elf_symbol *symbol)
{
	struct asked *asked = data;

	for (u32 i = 0; i < asked->len; i++) {
		u64 offset = asked->offsets[i];

		if (offset < symbol->offset || (symbol->bytes && offset - symbol->offset >= symbol->bytes) ||
		    symbol->offset < asked->begins[i])
			continue;
		asked->begins[i] = symbol->offset;
		snprintf(asked->into[i].text, sizeof(asked->into[i].text), "%s", symbol->name);
	}
	return 0;
}

/* Asks a file about offsets that nobody asked it about, and keeps the answers, none among them. */
static void ask_file(struct stack_names *names, u32 pid, const struct code *code, const u64 *offsets, u32 len)
{
	struct long_name found[ASKED_AT_ONCE] = { 0 };
	struct asked asked = { .offsets = offsets, .len = len, .into = found };
	struct reason why;
	struct stat seen;
	int fd = code->mapping.inode ? library_open(pid, &code->mapping, &seen) : -ENOENT;

	if (fd >= 0) {
		elf_functions_at(fd, (u64)seen.st_size, offsets, len, take_function, &asked, &why);
		close(fd);
	}
	for (u32 i = 0; i < len; i++) {
		if (names->known_len >= FUNCTIONS_MAX)
			forget(names);
		if (!vec_reserve(names->known, names->known_room, names->known_len + 1, 1024) ||
		    !map_set(&names->by_place, place_key(code, offsets[i]), (u32)names->known_len + 1))
			return;
		if (!found[i].text[0])
			snprintf(found[i].text, sizeof(found[i].text), "%.150s+0x%" PRIx64,
				 code->path[0] ? path_base(code->path) : "[anonymous]", offsets[i]);
		names->known[names->known_len++] = (struct known){ .inode = code->mapping.inode,
								   .device = (u64)code->mapping.major << 32 |
									     code->mapping.minor,
								   .offset = offsets[i],
								   .name = found[i] };
	}
}

static u64 offset_in(const struct code *code, u64 address)
{
	return address - code->mapping.start + code->mapping.offset;
}

/* All that the stack has of one file, in one question. */
static void ask_about(struct stack_names *names, u32 pid, const struct process_code *process, const struct code *code,
		      const u64 *addresses, u32 len)
{
	u64 offsets[ASKED_AT_ONCE];
	u32 asked = 0;

	for (u32 i = 0; i < len && asked < ASKED_AT_ONCE; i++) {
		const struct code *other = code_at(process, addresses[i]);

		if (other && other->mapping.inode == code->mapping.inode &&
		    !known_at(names, code, offset_in(other, addresses[i])))
			offsets[asked++] = offset_in(other, addresses[i]);
	}
	ask_file(names, pid, code, offsets, asked);
}

void stack_names_find(struct stack_names *names, u32 pid, const u64 *addresses, u32 len, struct long_name *into)
{
	struct process_code *process = pid ? process_of(names, pid) : NULL;
	bool is_read_again = false;

	for (u32 i = 0; i < len; i++) {
		const struct code *code = process ? code_at(process, addresses[i]) : NULL;
		const struct known *known;

		if (!process) {
			name_kernel(names, addresses[i], &into[i]);
			continue;
		}
		if (!code && !is_read_again) {
			/* It may have mapped more since, or be another process by now. */
			is_read_again = true;
			read_process(process, pid);
			code = code_at(process, addresses[i]);
		}
		if (!code) {
			snprintf(into[i].text, sizeof(into[i].text), "0x%" PRIx64, addresses[i]);
			continue;
		}
		known = known_at(names, code, offset_in(code, addresses[i]));
		if (!known)
			ask_about(names, pid, process, code, addresses, len);
		known = known ? known : known_at(names, code, offset_in(code, addresses[i]));
		if (known)
			into[i] = known->name;
	}
}
