// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of libraries' symbols starts from: the smallest libraries with a function
 * and a table of frames, of 64 and of 32 bits. Usage: elf_seeds FOLDER */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define SEED(N, machine)                                                                                        \
	static int seed_##N(const char *folder)                                                                 \
	{                                                                                                       \
		struct {                                                                                        \
			Elf##N##_Ehdr header;                                                                   \
			Elf##N##_Phdr segments[2];                                                              \
			Elf##N##_Shdr sections[2];                                                              \
			Elf##N##_Sym symbol;                                                                    \
			char names[8];                                                                          \
			unsigned char forms[4];                                                                 \
			int numbers[8]; /* of frames: where, how many, and rows */                              \
		} image = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS##N, ELFDATA2LSB },           \
					.e_type = ET_DYN, .e_machine = machine, .e_phentsize = sizeof(Elf##N##_Phdr), \
					.e_phnum = 2, .e_shentsize = sizeof(Elf##N##_Shdr), .e_shnum = 2 },      \
			    .segments = { { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 64 },               \
					  { .p_type = PT_GNU_EH_FRAME } },                                       \
			    .forms = { 1, 0x1b, 0x03, 0x3b }, .numbers = { 0, 3, 8, 0, 16, 0, 24, 0 },          \
			    .sections = { { .sh_type = SHT_DYNSYM, .sh_size = sizeof(Elf##N##_Sym),             \
					    .sh_entsize = sizeof(Elf##N##_Sym), .sh_link = 1 },                  \
					  { .sh_type = SHT_STRTAB, .sh_size = 8 } },                             \
			    .symbol = { .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 16 },     \
			    .names = "\0swap" };                                                                \
		char path[4096];                                                                                \
		FILE *file;                                                                                     \
		image.header.e_phoff = offsetof(__typeof__(image), segments);                                   \
		image.header.e_shoff = offsetof(__typeof__(image), sections);                                   \
		image.segments[1].p_offset = offsetof(__typeof__(image), forms);                                \
		image.sections[0].sh_offset = offsetof(__typeof__(image), symbol);                              \
		image.sections[1].sh_offset = offsetof(__typeof__(image), names);                               \
		snprintf(path, sizeof(path), "%s/seed-" #N, folder);                                            \
		file = fopen(path, "wb");                                                                       \
		return !file || fwrite(&image, sizeof(image), 1, file) != 1 || fclose(file);                    \
	}
/* clang-format on */
#ifdef __aarch64__
SEED(64, EM_AARCH64)
SEED(32, EM_ARM)
#else
SEED(64, EM_X86_64)
SEED(32, EM_386)
#endif

int main(int argc, char **argv)
{
	return argc != 2 || seed_64(argv[1]) || seed_32(argv[1]);
}
