// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing names in words starts from: mangled names without their _Z, and words.
 * Usage: demangle_seeds FOLDER */
#include <stdio.h>

static const char *const names[] = {
	"12small_kernelPi",
	"N2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIfEESt5arrayIPcLm2EEEEviT0_T1_",
	"1fSt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_E",
	"1fIL_ZN1AcvT_IL_ZN1AcvT_IiEEvEEEvEEvv",
	"1fIXngplLi1Esr1A1bEEvDTcl1gfp_EE",
	"ZN1a1bEvENKUlvE0_clEv",
	"1fDv4_fPFM1AFvvERKS_OS0_E",
	"void f<(1>2), a->b, x<3> >((anonymous namespace)::a)::{lambda(int)#1}::operator()(int) const",
};

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc == 2 && i < sizeof(names) / sizeof(names[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed-%zu", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(names[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
