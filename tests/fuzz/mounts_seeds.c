// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the parser of /proc/PID/mountinfo starts from: lines as kernels write them.
 * Usage: mounts_seeds FOLDER */
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const lines[] = {
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n",
		"361 301 0:47 / /home/user/my\\040folder rw,nosuid,nodev - fuse.sshfs host:/ rw,user_id=1000\n",
		"402 361 0:52 / /merged rw,relatime shared:7 master:3 - overlay overlay rw,lowerdir=/a,upperdir=/b\n",
		"25 1 0:23 / /sys rw -  \n",
	};
	char path[4096];
	FILE *file;

	for (unsigned int i = 0; argc == 2 && i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(path, sizeof(path), "%s/seed-%u", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(lines[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
