// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of HTTP requests starts from: requests as browsers and others send them.
 * Usage: http_seeds FOLDER */
#include <stdio.h>

static const char *const requests[] = {
	"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: a browser\r\nAccept: text/html\r\n\r\n",
	"GET /records?token=0123456789abcdef0123456789abcdef HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
	"HEAD / HTTP/1.0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
	"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
	"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	"127.0.0.1:8080",
	"[::1]:65535",
};

int main(int argc, char **argv)
{
	char path[4096];

	for (size_t i = 0; argc == 2 && i < sizeof(requests) / sizeof(requests[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed-%zu", argv[1], i);
		file = fopen(path, "wb");
		if (!file || fputs(requests[i], file) < 0 || fclose(file))
			return 1;
	}
	return argc != 2;
}
