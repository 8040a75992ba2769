// SPDX-License-Identifier: GPL-2.0
/* Reads the few tables of an ELF file that lead from a name to an offset. Read, not mapped: a file that shrinks
 * meanwhile would be a SIGBUS. Every number in it is checked against the file's size before it is used. */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regular.h"

/* More than any library that is looked into has (libcuda: 674 symbols, Mesa's drivers fewer), and little enough that a
 * file which was made to cost much costs little: 4 MB, and a few milliseconds. */
enum { SEGMENTS_MAX = 256, SECTIONS_MAX = 4096, SYMBOLS_MAX = 32768, TABLE_MAX = 2 << 20 };
/* Any number of symbols can share one long name. */
enum { NAME_MAX_LEN = 255 };

#ifdef __aarch64__
enum { OUR_MACHINE = EM_AARCH64, OUR_MACHINE_32 = EM_ARM };
#else
enum { OUR_MACHINE = EM_X86_64, OUR_MACHINE_32 = EM_386 };
#endif

struct file {
	int fd;
	u64 bytes;
	u32 bits;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	void *symbols;
	char *names; /* ends with a NUL */
	u64 symbols_len, names_len;
};

static void *read_table(const struct file *file, u64 offset, u64 bytes)
{
	char *table;
	u64 done = 0;

	if (offset > file->bytes || bytes > file->bytes - offset || bytes > TABLE_MAX)
		return NULL;
	table = malloc(bytes + 1);
	while (table && done < bytes) {
		ssize_t got = pread(file->fd, table + done, bytes - done, (off_t)(offset + done));

		if (got <= 0) {
			free(table);
			return NULL;
		}
		done += (u64)got;
	}
	if (table)
		table[bytes] = '\0';
	return table;
}

/* 32-bit tables are widened, so that there is one way to go on. */
static void widen_header(Elf64_Ehdr *to, const Elf32_Ehdr *from)
{
	to->e_type = from->e_type;
	to->e_machine = from->e_machine;
	to->e_phoff = from->e_phoff;
	to->e_shoff = from->e_shoff;
	to->e_phentsize = from->e_phentsize;
	to->e_phnum = from->e_phnum;
	to->e_shentsize = from->e_shentsize;
	to->e_shnum = from->e_shnum;
}

static void widen_segments(Elf64_Phdr *to, const Elf32_Phdr *from, u32 len)
{
	for (u32 i = 0; i < len; i++) {
		to[i].p_type = from[i].p_type;
		to[i].p_flags = from[i].p_flags;
		to[i].p_offset = from[i].p_offset;
		to[i].p_vaddr = from[i].p_vaddr;
		to[i].p_filesz = from[i].p_filesz;
	}
}

static void widen_sections(Elf64_Shdr *to, const Elf32_Shdr *from, u32 len)
{
	for (u32 i = 0; i < len; i++) {
		to[i].sh_type = from[i].sh_type;
		to[i].sh_offset = from[i].sh_offset;
		to[i].sh_size = from[i].sh_size;
		to[i].sh_link = from[i].sh_link;
		to[i].sh_entsize = from[i].sh_entsize;
	}
}

static const char *read_header(struct file *file)
{
	Elf64_Ehdr *header = &file->header;
	Elf32_Ehdr *narrow;
	unsigned char *ident = read_table(file, 0, sizeof(*narrow));

	if (!ident)
		return "it is too short to be a library";
	if (memcmp(ident, ELFMAG, SELFMAG) != 0) {
		free(ident);
		return "it is not an ELF file";
	}
	file->bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : ident[EI_CLASS] == ELFCLASS32 ? 32 : 0;
	if (!file->bits || ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)) {
		free(ident);
		return "it is for another kind of machine";
	}
	narrow = (void *)ident;
	if (file->bits == 32)
		widen_header(header, narrow);
	free(ident);
	if (file->bits == 64) {
		Elf64_Ehdr *wide = read_table(file, 0, sizeof(*wide));

		if (!wide)
			return "it is too short to be a library";
		*header = *wide;
		free(wide);
	}
	if (header->e_machine != (file->bits == 64 ? OUR_MACHINE : OUR_MACHINE_32))
		return "it is for another kind of machine";
	if (header->e_type != ET_DYN && header->e_type != ET_EXEC)
		return "it is neither a library nor a program";
	return NULL;
}

static const char *read_segments(struct file *file)
{
	bool narrow = file->bits == 32;
	u64 each = narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	u32 len = file->header.e_phnum;
	void *table;

	if (!len || len > SEGMENTS_MAX || file->header.e_phentsize != each)
		return "its program headers are damaged";
	table = read_table(file, file->header.e_phoff, len * each);
	if (!table)
		return "its program headers are not all there";
	if (!narrow) {
		file->segments = table;
		return NULL;
	}
	file->segments = calloc(len, sizeof(*file->segments));
	if (file->segments)
		widen_segments(file->segments, table, len);
	free(table);
	return file->segments ? NULL : "there is no memory left";
}

static const char *read_sections(struct file *file)
{
	bool narrow = file->bits == 32;
	u64 each = narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	u32 len = file->header.e_shnum;
	void *table;

	if (!len || !file->header.e_shoff)
		return "it is stripped of its section headers";
	if (file->header.e_shentsize != each || len > SECTIONS_MAX)
		return "its section headers are damaged";
	table = read_table(file, file->header.e_shoff, len * each);
	if (!table)
		return "its section headers are not all there";
	if (!narrow) {
		file->sections = table;
		return NULL;
	}
	file->sections = calloc(len, sizeof(*file->sections));
	if (file->sections)
		widen_sections(file->sections, table, len);
	free(table);
	return file->sections ? NULL : "there is no memory left";
}

static const char *read_symbols(struct file *file)
{
	u64 each = file->bits == 32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	const Elf64_Shdr *symbols = NULL, *names;

	for (u32 i = 0; i < file->header.e_shnum && !symbols; i++)
		if (file->sections[i].sh_type == SHT_DYNSYM)
			symbols = &file->sections[i];
	if (!symbols)
		return "it has no table of dynamic symbols";
	if (symbols->sh_entsize != each || symbols->sh_link >= file->header.e_shnum)
		return "its table of dynamic symbols is damaged";
	names = &file->sections[symbols->sh_link];
	file->symbols_len = symbols->sh_size / each;
	file->names_len = names->sh_size;
	if (names->sh_type != SHT_STRTAB)
		return "its table of dynamic symbols is damaged";
	if (file->symbols_len > SYMBOLS_MAX || file->names_len > TABLE_MAX)
		return "its table of dynamic symbols is too large";
	file->symbols = read_table(file, symbols->sh_offset, file->symbols_len * each);
	file->names = read_table(file, names->sh_offset, file->names_len);
	return file->symbols && file->names ? NULL : "its table of dynamic symbols is not all there";
}

static Elf64_Sym symbol_at(const struct file *file, u64 i)
{
	Elf64_Sym wide = { 0 };

	if (file->bits == 64) {
		wide = ((const Elf64_Sym *)file->symbols)[i];
	} else {
		const Elf32_Sym *narrow = &((const Elf32_Sym *)file->symbols)[i];

		wide.st_name = narrow->st_name;
		wide.st_info = narrow->st_info;
		wide.st_shndx = narrow->st_shndx;
		wide.st_value = narrow->st_value;
		wide.st_size = narrow->st_size;
	}
	return wide;
}

/* From where code is in memory to where it is in the file. */
static bool offset_of(const struct file *file, u64 address, u64 *offset)
{
	for (u32 i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*offset = address - segment->p_vaddr + segment->p_offset;
		return *offset >= segment->p_offset && *offset < file->bytes;
	}
	return false;
}

static int go_over(const struct file *file, const char *pattern,
		   int (*take)(void *data, const struct elf_symbol *symbol), void *data)
{
	bool is_plain = !strpbrk(pattern, "*?[\\");
	int taken = 0;

	for (u64 i = 0; i < file->symbols_len; i++) {
		Elf64_Sym symbol = symbol_at(file, i);
		struct elf_symbol found = { .bits = file->bits, .bytes = symbol.st_size, .address = symbol.st_value };

		/* The address of an indirect function is that of the code which chooses it. */
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= file->names_len)
			continue;
		found.name = file->names + symbol.st_name;
		if (strnlen(found.name, NAME_MAX_LEN + 1) > NAME_MAX_LEN)
			continue;
		if ((is_plain ? strcmp(pattern, found.name) : fnmatch(pattern, found.name, 0)) != 0 ||
		    !offset_of(file, symbol.st_value, &found.offset))
			continue;
		taken++;
		if (take(data, &found))
			break;
	}
	return taken;
}

static void close_file(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->segments);
	free(file->sections);
	free(file->symbols);
	free(file->names);
}

/* Reads the headers by which code is found. Returns 0 or -errno with a reason; either way it is to be closed. */
static int open_code(struct file *file, const char *path, struct reason *why)
{
	const char *trouble = NULL;
	struct stat seen;

	*file = (struct file){ .fd = regular_open(path, &seen) };
	if (file->fd == -EINVAL) {
		reason_set(why, "it is no file");
		return -ENOEXEC;
	}
	if (file->fd < 0) {
		reason_set(why, "it can't be read: %s", strerror(-file->fd));
		return file->fd;
	}
	file->bytes = (u64)seen.st_size;
	if ((trouble = read_header(file)) || (trouble = read_segments(file))) {
		reason_set(why, "%s", trouble);
		return -ENOEXEC;
	}
	return 0;
}

/* The same, with its symbols. */
static int open_file(struct file *file, const char *path, struct reason *why)
{
	const char *trouble = NULL;
	int error = open_code(file, path, why);

	if (error)
		return error;
	if ((trouble = read_sections(file)) || (trouble = read_symbols(file))) {
		reason_set(why, "%s", trouble);
		return -ENOEXEC;
	}
	return 0;
}

int elf_symbols(const char *path, const char *pattern, int (*take)(void *data, const struct elf_symbol *symbol),
		void *data, struct reason *why)
{
	struct file file;
	int taken = open_file(&file, path, why);

	if (!taken) {
		taken = go_over(&file, pattern, take, data);
		if (!taken) {
			reason_set(why, "it exports no function %s", pattern);
			taken = -ENOENT;
		}
	}
	close_file(&file);
	return taken;
}

/* One entry of the dynamic section: its tag and value. */
static Elf64_Dyn entry_at(const struct file *file, const void *table, u64 i)
{
	const Elf32_Dyn *narrow = table;

	if (file->bits == 64)
		return ((const Elf64_Dyn *)table)[i];
	return (Elf64_Dyn){ .d_tag = narrow[i].d_tag, .d_un.d_val = narrow[i].d_un.d_val };
}

bool elf_needs(const char *path, const char *pattern)
{
	const Elf64_Shdr *section = NULL;
	void *table = NULL;
	struct reason why;
	struct file file;
	bool needs = false;
	u64 each, len = 0;

	if (!open_file(&file, path, &why))
		for (u32 i = 0; i < file.header.e_shnum && !section; i++)
			if (file.sections[i].sh_type == SHT_DYNAMIC)
				section = &file.sections[i];
	each = file.bits == 32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);
	if (section) {
		len = section->sh_size / each;
		len = len < SYMBOLS_MAX ? len : SYMBOLS_MAX;
		table = read_table(&file, section->sh_offset, len * each);
	}
	for (u64 i = 0; table && i < len && !needs; i++) {
		Elf64_Dyn entry = entry_at(&file, table, i);
		u64 at = entry.d_un.d_val;

		/* The names are in the same table as those of symbols. */
		needs = entry.d_tag == DT_NEEDED && at < file.names_len &&
			strnlen(file.names + at, NAME_MAX_LEN + 1) <= NAME_MAX_LEN &&
			!fnmatch(pattern, file.names + at, 0);
	}
	free(table);
	close_file(&file);
	return needs;
}

static int take_first(void *data, const struct elf_symbol *symbol)
{
	struct elf_symbol *first = data;

	*first = *symbol;
	return 1;
}

int elf_symbol(const char *path, const char *name, u64 *offset, struct reason *why)
{
	struct elf_symbol found = { 0 };
	int taken = elf_symbols(path, name, take_first, &found, why);

	if (taken < 0)
		return taken;
	if (found.bits != 64) {
		reason_set(why, "it is a %u-bit library", found.bits);
		return -ENOTSUP;
	}
	*offset = found.offset;
	return 0;
}

/* How the linker writes .eh_frame_hdr: four bytes each, and addresses from where it is itself. */
enum { FRAMES_VERSION = 1, POINTER_SIGNED_4 = 0x0b, POINTER_FORM = 0x0f, COUNT_UNSIGNED_4 = 0x03, FROM_TABLE_4 = 0x3b };

struct frames_header {
	u8 version, pointer_form, count_form, table_form;
	s32 frames;
	u32 count;
};

struct frames_row {
	s32 function, frame;
};

/* Whether the table of frames, which is in the order of addresses, has a function that begins there. Rows are read one
 * by one: at most 32 of them, however long it is. */
static bool begins_frame(const struct file *file, u64 address)
{
	const Elf64_Phdr *table = NULL;
	struct frames_header header;
	u64 from = 0, to, first;

	for (u32 i = 0; i < file->header.e_phnum && !table; i++)
		if (file->segments[i].p_type == PT_GNU_EH_FRAME)
			table = &file->segments[i];
	if (!table || table->p_offset >= file->bytes ||
	    pread(file->fd, &header, sizeof(header), (off_t)table->p_offset) != (ssize_t)sizeof(header))
		return false;
	if (header.version != FRAMES_VERSION || (header.pointer_form & POINTER_FORM) != POINTER_SIGNED_4 ||
	    header.count_form != COUNT_UNSIGNED_4 || header.table_form != FROM_TABLE_4)
		return false;
	first = table->p_offset + sizeof(header);
	for (to = header.count; from < to;) {
		u64 middle = from + (to - from) / 2, begins;
		struct frames_row row;

		if (pread(file->fd, &row, sizeof(row), (off_t)(first + middle * sizeof(row))) != (ssize_t)sizeof(row))
			return false;
		begins = table->p_vaddr + (u64)(int64_t)row.function;
		if (file->bits == 32)
			begins = (u32)begins;
		if (begins == address)
			return true;
		if (begins < address)
			from = middle + 1;
		else
			to = middle;
	}
	return false;
}

static bool address_of(const struct file *file, u64 offset, u64 *address)
{
	if (offset >= file->bytes)
		return false;
	for (u32 i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || offset < segment->p_offset ||
		    offset - segment->p_offset >= segment->p_filesz)
			continue;
		*address = offset - segment->p_offset + segment->p_vaddr;
		return true;
	}
	return false;
}

static bool begins_symbol(const struct file *file, u64 address)
{
	for (u64 i = 0; i < file->symbols_len; i++) {
		Elf64_Sym symbol = symbol_at(file, i);

		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
		    symbol.st_value == address)
			return true;
	}
	return false;
}

int elf_begins_function(const char *path, u64 offset, struct reason *why)
{
	struct file file;
	int error = open_code(&file, path, why);
	u64 address = 0;

	if (!error && !address_of(&file, offset, &address)) {
		reason_set(why, "it has no code at 0x%llx", (unsigned long long)offset);
		error = -ENOENT;
	}
	/* Symbols may be stripped, as may frames. */
	if (!error && !begins_frame(&file, address) &&
	    (read_sections(&file) || read_symbols(&file) || !begins_symbol(&file, address))) {
		reason_set(why, "no function of it begins at 0x%llx", (unsigned long long)offset);
		error = -ENOENT;
	}
	close_file(&file);
	return error;
}

static int take_any(void *data, const struct elf_symbol *symbol)
{
	(void)data;
	(void)symbol;
	return 1;
}

bool elf_exports_any(const char *path, const char *const *patterns)
{
	struct reason why;
	struct file file;
	bool found = false;

	if (!open_file(&file, path, &why))
		for (; *patterns && !found; patterns++)
			found = go_over(&file, *patterns, take_any, NULL) > 0;
	close_file(&file);
	return found;
}
