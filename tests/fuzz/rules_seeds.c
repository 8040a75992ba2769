// SPDX-License-Identifier: GPL-2.0
/* Seeds for the fuzzing of rules: a config file that has everything, with processes of several kinds.
 */
#include <stdio.h>
#include <string.h>

#define CONFIG                                                                                              \
	"# c\n[games]\nfoo* = yes\n/opt/[a-c]/?x=no ; c\nfoo*=no\n[compositors]\nsway=no\n[sound]\nx=yes\n" \
	"[helpers]\n*h=yes\r\n[roles]\nab* = audio\ncd = loud\nab*=render\n[wrong]\nx=1\n[half\n junk"
#define NEXT "\0\0"

static const struct {
	const char *bytes;
	size_t len;
} seeds[] = {
#define SEED(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}
	SEED(CONFIG NEXT "foo" NEXT "/x/steamapps/common/f/foo" NEXT "foo\0-a" NEXT "A=b\0SteamAppId=12"),
	SEED(CONFIG NEXT "x.exe" NEXT "/usr/lib/wine/wine64-preloader" NEXT "C:\\windows\\system32\\services.exe" NEXT
			 "WINEPREFIX=/p"),
	SEED("[roles]\nsixteen-letters-=audio\n*=input" NEXT "weston" NEXT "/usr/bin/weston (deleted)" NEXT NEXT),
	SEED("[options]\nrows = 5\n--json=yes\nrows=\n=x\n[options tasks]\nsort = cpu ; c\nsort=x\n[options db "
	     "list\nx=y\n"
	     "[options]\njunk\n[optionsx]\na=b" NEXT "sh" NEXT "/bin/sh" NEXT NEXT),
	SEED("\xef\xbb\xbf[games]\n=yes\na:b=c" NEXT "sh" NEXT "/bin/dash" NEXT "sh\0x.exe" NEXT "SteamGameId=1"),
};

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc > 1 && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%zu", argv[1], i);
		file = fopen(path, "w");
		if (!file || fwrite(seeds[i].bytes, 1, seeds[i].len, file) != seeds[i].len || fclose(file))
			return 1;
	}
	return 0;
}
