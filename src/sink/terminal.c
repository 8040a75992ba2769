// SPDX-License-Identifier: GPL-2.0
#include "terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t asked(FILE *out, const char *variable, int is_width)
{
	const char *set = getenv(variable);
	struct winsize size;
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd))
		return 0;
	if (set && atoi(set) > 0)
		return (size_t)atoi(set);
	if (ioctl(fd, TIOCGWINSZ, &size))
		return 0;
	return is_width ? size.ws_col : size.ws_row;
}

size_t terminal_width(FILE *out)
{
	return asked(out, "COLUMNS", 1);
}

size_t terminal_height(FILE *out)
{
	return asked(out, "LINES", 0);
}
