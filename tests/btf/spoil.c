// SPDX-License-Identifier: GPL-2.0
/* Writes a kernel's BTF in which variables of the kernel's are of another kind, to be mounted over the real one.
 * Usage: btf_spoil KERNEL-BTF OUTPUT VARIABLE... With a minus before its name a variable is missing instead. Those that
 * are not there are left out; one must be. */
#include "../../src/sensor/hide.h"
#include "spoil.h"

static bool take_out(struct btf *btf, const char *name)
{
	__u32 size;
	const void *bytes = btf__raw_data(btf, &size);

	return hide_variable((void *)bytes, size, name);
}

int main(int argc, char **argv)
{
	struct btf *btf = argc > 3 ? btf__parse(argv[1], NULL) : NULL;
	int spoilt = 0;
	FILE *file;

	if (!btf) {
		fprintf(stderr, "usage: btf_spoil KERNEL-BTF OUTPUT VARIABLE...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		spoilt += argv[i][0] == '-' ? take_out(btf, argv[i] + 1) : spoil_variable(btf, argv[i]);
	file = spoilt ? fopen(argv[2], "wb") : NULL;
	if (!file || !spoil_write(btf, file) || fclose(file)) {
		fprintf(stderr, "btf_spoil: %s: %s\n", argv[2], spoilt ? "can't be written" : "no such variable");
		return 1;
	}
	btf__free(btf);
	return 0;
}
