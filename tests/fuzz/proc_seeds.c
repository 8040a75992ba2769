// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the parsers of /proc starts from: texts as kernels write them, with names as nobody
 * should have. Usage: proc_seeds FOLDER */
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const texts[] = {
		"4242 (a) R 1 (b)\n) S 1 4242 4242 0 -1 4194560 113 0 0 0 12 34 0 0 20 0 1 0 987654 2203648 120 1\n",
		"Name:\ta\\nUid:\\t0\nUmask:\t0022\nState:\tS "
		"(sleeping)\nTgid:\t4242\nUid:\t1000\t1000\t0\t0\nGid:\t0\n",
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max nice priority         30                   40                   \nMax realtime priority     0\n",
		"Limit\nMax nice priority         unlimited            unlimited            \n",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/a game\n",
		"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n",
	};
	char path[4096];
	FILE *file;

	for (unsigned int i = 0; argc == 2 && i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(path, sizeof(path), "%s/seed-%u", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(texts[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
