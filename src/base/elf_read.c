// SPDX-License-Identifier: GPL-2.0
/* Reads the few tables of an ELF file that lead from a name to an offset. Read, not mapped: a file that shrinks
 * meanwhile would be a SIGBUS. Every number in it is checked against the file's size before it is used. */
#include "elf_read.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any library that is looked into has (libcuda: 674 symbols, Mesa's drivers fewer), and little enough that a
 * file which was made to cost much costs little: 4 MB, and a few milliseconds. */
enum { SEGMENTS_MAX = 256, SECTIONS_MAX = 4096, SYMBOLS_MAX = 32768, TABLE_MAX = 2 << 20 };
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

static const char *read_symbols_of(struct file *file, u32 type)
{
	u64 each = file->bits == 32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	const Elf64_Shdr *symbols = NULL, *names;

	for (u32 i = 0; i < file->header.e_shnum && !symbols; i++)
		if (file->sections[i].sh_type == type)
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

static const char *read_symbols(struct file *file)
{
	return read_symbols_of(file, SHT_DYNSYM);
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

bool elf_name_fits(const char *pattern, const char *name)
{
	return (strpbrk(pattern, "*?[\\") ? fnmatch(pattern, name, 0) : strcmp(pattern, name)) == 0;
}

/* Any number of symbols can share one long name. */
static bool is_short(const char *name)
{
	return strnlen(name, ELF_NAME_MAX + 1) <= ELF_NAME_MAX;
}

static int go_over(const struct file *file, const char *pattern, elf_take take, void *data)
{
	int taken = 0;

	for (u64 i = 0; i < file->symbols_len; i++) {
		Elf64_Sym symbol = symbol_at(file, i);
		struct elf_symbol found = { .bits = file->bits, .bytes = symbol.st_size, .address = symbol.st_value };

		/* The address of an indirect function is that of the code which chooses it. */
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= file->names_len)
			continue;
		found.name = file->names + symbol.st_name;
		if (!is_short(found.name) || !elf_name_fits(pattern, found.name) ||
		    !offset_of(file, symbol.st_value, &found.offset))
			continue;
		taken++;
		if (take(data, &found))
			break;
	}
	return taken;
}

/* Reads the headers by which code is found. NULL, or what is wrong. */
static const char *read_code(struct file *file)
{
	const char *trouble = read_header(file);

	return trouble ? trouble : read_segments(file);
}

/* The same, with its symbols. */
static const char *read_all(struct file *file)
{
	const char *trouble = read_code(file);

	if (!trouble)
		trouble = read_sections(file);
	return trouble ? trouble : read_symbols(file);
}

static int refuse(struct reason *why, const char *trouble)
{
	reason_set(why, "%s", trouble);
	return -ENOEXEC;
}

static int read_named(struct file *file, const struct elf_question *question, elf_take take, void *data,
		      struct reason *why)
{
	const char *trouble = read_all(file);
	int taken = trouble ? refuse(why, trouble) : go_over(file, question->patterns[0], take, data);

	if (taken)
		return taken;
	reason_set(why, "it exports no function %s", question->patterns[0]);
	return -ENOENT;
}

/* One entry of the dynamic section: its tag and value. */
static Elf64_Dyn entry_at(const struct file *file, const void *table, u64 i)
{
	const Elf32_Dyn *narrow = table;

	if (file->bits == 64)
		return ((const Elf64_Dyn *)table)[i];
	return (Elf64_Dyn){ .d_tag = narrow[i].d_tag, .d_un.d_val = narrow[i].d_un.d_val };
}

static int read_needed(struct file *file, const struct elf_question *question, struct reason *why)
{
	const char *trouble = read_all(file);
	const Elf64_Shdr *section = NULL;
	void *table = NULL;
	bool needs = false;
	u64 each = file->bits == 32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn), len = 0;

	if (trouble)
		return refuse(why, trouble);
	for (u32 i = 0; i < file->header.e_shnum && !section; i++)
		if (file->sections[i].sh_type == SHT_DYNAMIC)
			section = &file->sections[i];
	if (section) {
		len = section->sh_size / each;
		len = len < SYMBOLS_MAX ? len : SYMBOLS_MAX;
		table = read_table(file, section->sh_offset, len * each);
	}
	for (u64 i = 0; table && i < len && !needs; i++) {
		Elf64_Dyn entry = entry_at(file, table, i);
		u64 at = entry.d_un.d_val;

		/* The names are in the same table as those of symbols. */
		needs = entry.d_tag == DT_NEEDED && at < file->names_len && is_short(file->names + at) &&
			!fnmatch(question->patterns[0], file->names + at, 0);
	}
	free(table);
	reason_set(why, "it needs no library %s", question->patterns[0]);
	return needs ? 0 : -ENOENT;
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

static int read_beginning(struct file *file, const struct elf_question *question, struct reason *why)
{
	const char *trouble = read_code(file);
	u64 address = 0;

	if (trouble)
		return refuse(why, trouble);
	if (!address_of(file, question->offset, &address)) {
		reason_set(why, "it has no code at 0x%llx", (unsigned long long)question->offset);
		return -ENOENT;
	}
	/* Symbols may be stripped, as may frames. */
	if (begins_frame(file, address) ||
	    (!read_sections(file) && !read_symbols(file) && begins_symbol(file, address)))
		return 0;
	reason_set(why, "no function of it begins at 0x%llx", (unsigned long long)question->offset);
	return -ENOENT;
}

static int take_any(void *data, const struct elf_symbol *symbol)
{
	(void)data;
	(void)symbol;
	return 1;
}

static int read_doors(struct file *file, const struct elf_question *question, struct reason *why)
{
	const char *trouble = read_all(file);

	if (trouble)
		return refuse(why, trouble);
	for (u32 i = 0; i < ELF_PATTERNS && question->patterns[i][0]; i++)
		if (go_over(file, question->patterns[i], take_any, NULL) > 0)
			return 0;
	reason_set(why, "it exports none of the functions that are looked for");
	return -ENOENT;
}

static bool covers(const struct elf_symbol *symbol, u64 offset)
{
	/* One that does not say how long it is goes to the next. */
	return symbol->offset <= offset && (!symbol->bytes || offset - symbol->offset < symbol->bytes);
}

bool elf_covers_any(const struct elf_question *question, const struct elf_symbol *symbol)
{
	for (u32 i = 0; i < question->offsets_len && i < ELF_OFFSETS; i++)
		if (covers(symbol, question->offsets[i]))
			return true;
	return false;
}

/* The nearest function before each offset, so far. */
struct nearest {
	const struct elf_question *question;
	struct elf_symbol found[ELF_OFFSETS];
	char names[ELF_OFFSETS][ELF_NAME_MAX + 1];
};

static int take_nearest(void *data, const struct elf_symbol *symbol)
{
	struct nearest *nearest = data;

	for (u32 i = 0; i < nearest->question->offsets_len && i < ELF_OFFSETS; i++) {
		struct elf_symbol *found = &nearest->found[i];

		if (!symbol->name[0] || !covers(symbol, nearest->question->offsets[i]) ||
		    (found->name &&
		     (found->offset > symbol->offset || (found->offset == symbol->offset && found->bytes))))
			continue;
		*found = *symbol;
		strcpy(nearest->names[i], symbol->name);
		found->name = nearest->names[i];
	}
	return 0;
}

static void free_symbols(struct file *file)
{
	free(file->symbols);
	free(file->names);
	file->symbols = file->names = NULL;
}

/* Programs that are not stripped have all functions in a table of their own; the other has those that are exported. */
static int read_covering(struct file *file, const struct elf_question *question, elf_take take, void *data,
			 struct reason *why)
{
	const char *trouble = read_code(file);
	struct nearest *nearest;
	int taken = 0;

	if (!trouble)
		trouble = read_sections(file);
	if (trouble)
		return refuse(why, trouble);
	nearest = calloc(1, sizeof(*nearest));
	if (!nearest)
		return refuse(why, "there is no memory left");
	nearest->question = question;
	if (!read_symbols_of(file, SHT_SYMTAB))
		go_over(file, "*", take_nearest, nearest);
	free_symbols(file);
	if (!read_symbols_of(file, SHT_DYNSYM))
		go_over(file, "*", take_nearest, nearest);
	for (u32 i = 0; i < question->offsets_len && i < ELF_OFFSETS; i++) {
		bool is_known = !nearest->found[i].name;

		for (u32 k = 0; k < i && !is_known; k++)
			is_known = nearest->found[k].name && nearest->found[k].offset == nearest->found[i].offset;
		if (!is_known) {
			taken++;
			take(data, &nearest->found[i]);
		}
	}
	free(nearest);
	reason_set(why, "it names no function there");
	return taken ? taken : -ENOENT;
}

int elf_read(int fd, const struct elf_question *question, elf_take take, void *data, struct reason *why)
{
	struct file file = { .fd = fd, .bytes = question->file_bytes };
	int result = -EINVAL;

	switch ((enum elf_what)question->what) {
	case ELF_SYMBOLS:
		result = read_named(&file, question, take, data, why);
		break;
	case ELF_NEEDS:
		result = read_needed(&file, question, why);
		break;
	case ELF_EXPORTS_ANY:
		result = read_doors(&file, question, why);
		break;
	case ELF_BEGINS:
		result = read_beginning(&file, question, why);
		break;
	case ELF_COVERS:
		result = read_covering(&file, question, take, data, why);
		break;
	}
	free(file.segments);
	free(file.sections);
	free_symbols(&file);
	return result;
}
