// SPDX-License-Identifier: GPL-2.0
/* A thread that takes another name all the time: renamer SECONDS. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	char name[16];

	for (unsigned i = 0; time(NULL) < end; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		prctl(PR_SET_NAME, name);
		usleep(20);
	}
	return 0;
}
