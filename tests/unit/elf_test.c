// SPDX-License-Identifier: GPL-2.0
/* base/elf.c: offsets of functions against what the loader made of the same file, and files that are damaged at every
 * byte of their tables. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/elf_read.h"
#include "../../src/base/maps.h"
#include "tap.h"

struct search {
	u64 address;
	u64 offset;
	char path[4096];
};

static int find_address(void *data, const struct mapping *mapping)
{
	struct search *search = data;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	search->offset = search->address - mapping->start + mapping->offset;
	snprintf(search->path, sizeof(search->path), "%s", mapping->path);
	return 1;
}

static int count(void *data, const struct elf_symbol *symbol)
{
	++*(u32 *)data;
	return symbol->bits != 64;
}

/* A library of this very process: zlib, which the tests are linked with. */
static void find_library(struct search *search, const char *name)
{
	search->address = (u64)(uintptr_t)dlsym(RTLD_DEFAULT, name);
	ok(search->address, "%s has an address", name);
	is(maps_read((u32)getpid(), find_address, search), 1, "%s is mapped from %s", name, search->path);
}

static int keep_name(void *data, const struct elf_symbol *symbol)
{
	snprintf(data, ELF_NAME_MAX + 1, "%s", symbol->name);
	return 0;
}

/* A function that only the table of all symbols has. */
static __attribute__((noinline, noclone)) void hidden_function(void)
{
	__asm__ volatile("");
}

static void test_functions_at(const struct search *library)
{
	u64 offsets[] = { library->offset + 1, library->offset };
	struct search own = { .address = (u64)(uintptr_t)hidden_function };
	int fd = open(library->path, O_RDONLY | O_CLOEXEC);
	char name[ELF_NAME_MAX + 1] = "";
	struct reason why;
	u64 bytes = (u64)lseek(fd, 0, SEEK_END);

	is(elf_functions_at(fd, bytes, offsets, 2, keep_name, name, &why), 1,
	   "two offsets in one function are answered by it once");
	is_text(name, "crc32", "function around an offset has its name");
	offsets[0] = bytes - 1;
	ok(elf_functions_at(fd, bytes, offsets, 1, keep_name, name, &why) == -ENOENT,
	   "offset outside of all functions has none");
	close(fd);
	hidden_function();
	maps_read((u32)getpid(), find_address, &own);
	fd = open(own.path, O_RDONLY | O_CLOEXEC);
	is(elf_functions_at(fd, (u64)lseek(fd, 0, SEEK_END), &own.offset, 1, keep_name, name, &why), 1,
	   "function that is not exported is found");
	is_text(name, "hidden_function", "function that is not exported has its name");
	close(fd);
}

static void test_real_library(void)
{
	struct search search = { 0 };
	struct reason why = { "" };
	u64 offset = 0;
	u32 all = 0, some = 0;

	find_library(&search, "crc32");
	is(elf_symbol(search.path, "crc32", &offset, &why), 0, "library's file has its function");
	is(offset, search.offset, "library's function is at the offset where the loader put it");
	is(elf_symbols(search.path, "*", count, &all, &why), all, "library's functions are all counted");
	ok(all > 50, "library has many functions: %u", all);
	is(elf_symbols(search.path, "crc32*", count, &some, &why), some,
	   "library's functions of a pattern are all counted");
	ok(some >= 3, "library has several functions of a pattern: %u", some);
	ok(some < all, "library has fewer functions of a pattern than in all");
	ok(elf_symbol(search.path, "glXSwapBuffers", &offset, &why) == -ENOENT,
	   "function that a library lacks is not found");
	is_text(why.text, "it exports no function glXSwapBuffers", "reason names the function that a library lacks");
	ok(elf_symbol(search.path, "malloc", &offset, &why) == -ENOENT,
	   "function that a library only uses is not its own");
	test_functions_at(&search);
	ok(elf_needs(search.path, "libc.so*"), "library needs the C library");
	ok(elf_needs(search.path, "*"), "library needs something");
	ok(!elf_needs(search.path, "libz.so*"), "library does not need itself");
	ok(!elf_needs(search.path, ""), "library needs no library without a name");
	ok(!elf_needs("/dev/null", "*"), "device needs no library");
	ok(!elf_needs("/no/such", "*"), "missing file needs no library");
}

static void test_no_library(void)
{
	static const struct {
		const char *path, *reason;
		int error;
	} files[] = {
		{ "/nowhere", "it can't be read: No such file or directory", -ENOENT },
		{ "/tmp", "it is no file", -ENOEXEC },
		{ "/dev/null", "it is no file", -ENOEXEC },
		{ "/proc/self/status", "it is too short to be a library", -ENOEXEC },
		{ "/etc/passwd", "it is not an ELF file", -ENOEXEC },
	};
	u64 offset;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct reason why = { "" };

		ok(elf_symbol(files[i].path, "x", &offset, &why) == files[i].error, "file %s has no functions",
		   files[i].path);
		is_text(why.text, files[i].reason, "file without functions is refused with its reason");
	}
}

/* A library in a file that lives in memory, with one function, made by hand. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[2];
	char names[8];
};

struct image32 {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	Elf32_Shdr sections[3];
	Elf32_Sym symbols[2];
	char names[8];
};

/* clang-format off */
#define MAKE_IMAGE(type, N, machine)                                                                            \
	static void make_##type(struct type *image)                                                             \
	{                                                                                                       \
		memset(image, 0, sizeof(*image));                                                               \
		memcpy(image->header.e_ident, ELFMAG, SELFMAG);                                                 \
		image->header.e_ident[EI_CLASS] = ELFCLASS##N;                                                  \
		image->header.e_ident[EI_DATA] = ELFDATA2LSB;                                                   \
		image->header.e_type = ET_DYN;                                                                  \
		image->header.e_machine = machine;                                                              \
		image->header.e_phoff = offsetof(struct type, segment);                                         \
		image->header.e_phentsize = sizeof(image->segment);                                             \
		image->header.e_phnum = 1;                                                                      \
		image->header.e_shoff = offsetof(struct type, sections);                                        \
		image->header.e_shentsize = sizeof(image->sections[0]);                                         \
		image->header.e_shnum = 3;                                                                      \
		image->segment.p_type = PT_LOAD;                                                                \
		image->segment.p_flags = PF_R | PF_X;                                                           \
		image->segment.p_vaddr = 0x1000;                                                                \
		image->segment.p_filesz = sizeof(*image);                                                       \
		image->sections[1].sh_type = SHT_DYNSYM;                                                        \
		image->sections[1].sh_offset = offsetof(struct type, symbols);                                  \
		image->sections[1].sh_size = sizeof(image->symbols);                                            \
		image->sections[1].sh_entsize = sizeof(image->symbols[0]);                                      \
		image->sections[1].sh_link = 2;                                                                 \
		image->sections[2].sh_type = SHT_STRTAB;                                                        \
		image->sections[2].sh_offset = offsetof(struct type, names);                                    \
		image->sections[2].sh_size = sizeof(image->names);                                              \
		image->symbols[1].st_name = 1;                                                                  \
		image->symbols[1].st_info = ELF##N##_ST_INFO(STB_GLOBAL, STT_FUNC);                             \
		image->symbols[1].st_shndx = 1;                                                                 \
		image->symbols[1].st_value = 0x1010;                                                            \
		memcpy(image->names, "\0swap\0\0", 8);                                                          \
	}
/* clang-format on */
#ifdef __aarch64__
MAKE_IMAGE(image, 64, EM_AARCH64)
MAKE_IMAGE(image32, 32, EM_ARM)
#else
MAKE_IMAGE(image, 64, EM_X86_64)
MAKE_IMAGE(image32, 32, EM_386)
#endif

static int memory_fd = -1;
static char memory_path[64];

static int take_symbol(void *data, const struct elf_symbol *symbol)
{
	*(struct elf_symbol *)data = *symbol;
	return 1;
}

/* In this very process, so that the sanitizers see it. */
static int look_into(const void *bytes, size_t len, u64 *offset, struct reason *why)
{
	struct elf_question question = { .file_bytes = len, .what = ELF_SYMBOLS, .patterns = { "swap" } };
	struct elf_symbol found = { 0 };
	int result;

	if (memory_fd < 0) {
		memory_fd = memfd_create("library", MFD_CLOEXEC);
		snprintf(memory_path, sizeof(memory_path), "/proc/self/fd/%d", memory_fd);
	}
	if (ftruncate(memory_fd, 0) || pwrite(memory_fd, bytes, len, 0) != (ssize_t)len)
		return -EIO;
	why->text[0] = '\0';
	result = elf_read(memory_fd, &question, take_symbol, &found, why);
	*offset = found.offset;
	return result < 0 ? result : 0;
}

static void test_reasons(void)
{
	struct image image;
	struct image32 narrow;
	struct reason why;
	u64 offset = 0;

	make_image(&image);
	is(look_into(&image, sizeof(image), &offset, &why), 0, "library made by hand has its function");
	is(offset, 0x10, "function of a library made by hand has its offset");
	make_image32(&narrow);
	is(look_into(&narrow, sizeof(narrow), &offset, &why), 0, "32-bit library made by hand has its function");
	ok(elf_symbol(memory_path, "swap", &offset, &why) == -ENOTSUP, "32-bit library is refused");
	is_text(why.text, "it is a 32-bit library", "reason says that a library has 32 bits");
#define SPOILED(change, error, reason)                                                                          \
	make_image(&image);                                                                                     \
	change;                                                                                                 \
	ok(look_into(&image, sizeof(image), &offset, &why) == (error), "library is refused after %s", #change); \
	is_text(why.text, reason, "damaged library is refused with its reason");                                \
	ok(elf_symbol(memory_path, "swap", &offset, &why) == (error),                                           \
	   "library that a process apart reads is refused after %s", #change);                                  \
	is_text(why.text, reason, "damaged library is refused apart with the same reason")
	SPOILED(image.header.e_shnum = 0, -ENOEXEC, "it is stripped of its section headers");
	SPOILED(image.header.e_shoff = ~0ULL, -ENOEXEC, "its section headers are not all there");
	SPOILED(image.header.e_shentsize = 1, -ENOEXEC, "its section headers are damaged");
	SPOILED(image.header.e_phnum = 0xffff, -ENOEXEC, "its program headers are damaged");
	SPOILED(image.header.e_machine = EM_SPARC, -ENOEXEC, "it is for another kind of machine");
	SPOILED(image.header.e_ident[EI_DATA] = ELFDATA2MSB, -ENOEXEC, "it is for another kind of machine");
	SPOILED(image.header.e_type = ET_REL, -ENOEXEC, "it is neither a library nor a program");
	SPOILED(image.sections[1].sh_type = SHT_SYMTAB, -ENOEXEC, "it has no table of dynamic symbols");
	SPOILED(image.sections[1].sh_link = 3, -ENOEXEC, "its table of dynamic symbols is damaged");
	SPOILED(image.sections[1].sh_size = ~0ULL, -ENOEXEC, "its table of dynamic symbols is too large");
	SPOILED(image.sections[1].sh_size = 4096, -ENOEXEC, "its table of dynamic symbols is not all there");
	SPOILED(image.sections[2].sh_size = 1 << 30, -ENOEXEC, "its table of dynamic symbols is too large");
	SPOILED(image.sections[2].sh_size = 0, -ENOENT, "it exports no function swap");
	SPOILED(image.symbols[1].st_name = 0xffffffff, -ENOENT, "it exports no function swap");
	SPOILED(image.symbols[1].st_value = ~0ULL, -ENOENT, "it exports no function swap");
	SPOILED(image.segment.p_offset = ~0ULL, -ENOENT, "it exports no function swap");
	SPOILED(image.segment.p_flags = PF_R, -ENOENT, "it exports no function swap");
	SPOILED(image.symbols[1].st_info = STT_GNU_IFUNC, -ENOENT, "it exports no function swap");
	SPOILED(memset(image.names, 's', sizeof(image.names)), -ENOENT, "it exports no function swap");
}

/* Each byte set to each of some values, and each length: a result or a reason, and never a step outside. */
static void test_every_byte(void)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct image image, spoiled;
	struct reason why;
	u32 taken = 0, refused = 0, wrong = 0;
	u64 offset;

	make_image(&image);
	for (size_t at = 0; at < sizeof(image); at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			int error;

			spoiled = image;
			((unsigned char *)&spoiled)[at] = values[i];
			error = look_into(&spoiled, sizeof(spoiled), &offset, &why);
			taken += !error;
			refused += error && why.text[0];
			wrong += error ? !why.text[0] : offset >= sizeof(image);
		}
	}
	for (size_t len = 0; len < sizeof(image); len++)
		wrong += !look_into(&image, len, &offset, &why) || !why.text[0];
	is(wrong, 0, "damaged library is never read outside of its file");
	ok(taken, "some of %zu damaged files still lead somewhere: %u", sizeof(image) * sizeof(values), taken);
	ok(refused, "some damaged files are refused with a reason: %u", refused);
}

/* Where functions begin: against the loader for a real library, and by hand for one with a table of frames alone. */
static void test_begins(void)
{
	static const char *const doors[] = { "no_such", "crc3?", NULL }, *const none[] = { "glX*", NULL };
	struct {
		struct image image;
		u8 forms[4];
		s32 frames;
		u32 count;
		s32 rows[3][2];
	} made = { .forms = { 1, 0x1b, 0x03, 0x3b }, .count = 3 };
	struct search search = { 0 };
	struct reason why = { "" };
	u64 offset = 0;
	u32 wrong = 0;

	find_library(&search, "crc32");
	is(elf_begins_function(search.path, search.offset, &why), 0, "function begins where the loader has it");
	for (u64 i = 1; i < 16; i++)
		wrong += elf_begins_function(search.path, search.offset + i, &why) != -ENOENT;
	is(wrong, 0, "no function begins inside of another");
	ok(elf_begins_function(search.path, 0, &why) == -ENOENT, "no function begins in a file's header");
	ok(elf_begins_function(search.path, ~0ULL, &why) == -ENOENT, "no function begins behind a file's end");
	ok(elf_begins_function("/dev/null", 0, &why) == -ENOEXEC, "no function begins in a device");
	ok(elf_exports_any(search.path, doors), "library exports one of two patterns");
	ok(!elf_exports_any(search.path, none), "library exports none of a pattern");
	ok(!elf_exports_any("/dev/null", doors), "device exports nothing");

	/* One segment, of code, which is the table's too: the type alone tells them apart, so two headers are needed.
	 */
	make_image(&made.image);
	made.image.header.e_shnum = 0;
	made.image.header.e_phnum = 1;
	look_into(&made, sizeof(made), &offset, &why);
	ok(elf_begins_function(memory_path, 0x20, &why) == -ENOENT, "no function begins without symbols and frames");
	made.image.header.e_phnum = 2;
	memcpy(&made.image.sections[0], &made.image.segment, sizeof(made.image.segment));
	((Elf64_Phdr *)&made.image.sections[0])->p_type = PT_GNU_EH_FRAME;
	((Elf64_Phdr *)&made.image.sections[0])->p_offset = offsetof(__typeof__(made), forms);
	((Elf64_Phdr *)&made.image.sections[0])->p_vaddr = 0x1000 + offsetof(__typeof__(made), forms);
	for (int i = 0; i < 3; i++)
		made.rows[i][0] = (s32)(0x1010 + 0x10 * i) - (s32)(0x1000 + offsetof(__typeof__(made), forms));
	look_into(&made, sizeof(made), &offset, &why);
	is(elf_begins_function(memory_path, 0x10, &why), 0, "first function of a table of frames begins there");
	is(elf_begins_function(memory_path, 0x30, &why), 0, "last function of a table of frames begins there");
	ok(elf_begins_function(memory_path, 0x21, &why) == -ENOENT, "no function begins between two of a table");
	made.count = 0xffffffff;
	look_into(&made, sizeof(made), &offset, &why);
	ok(elf_begins_function(memory_path, 0x48, &why) == -ENOENT,
	   "table of frames that is not all there ends the search");
}

int main(void)
{
	test_real_library();
	test_no_library();
	test_reasons();
	test_every_byte();
	test_begins();
	close(memory_fd);
	return tap_end();
}
