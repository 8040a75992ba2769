// SPDX-License-Identifier: GPL-2.0
/* The network part of a game, both ends: a server thread answers, a client thread sends its state 64 times a second and
 * takes the answers. The first thread only waits. Usage: netplay [SECONDS] */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TICK_US = 1000000 / 64, PACKET = 200 };

static struct sockaddr_in address = { .sin_family = AF_INET };

static void *serve(void *data)
{
	int fd = *(int *)data;
	char packet[PACKET];

	pthread_setname_np(pthread_self(), "server");
	for (;;) {
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		ssize_t got = recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &len);

		if (got > 0)
			sendto(fd, packet, (size_t)got, 0, (struct sockaddr *)&from, len);
	}
	return NULL;
}

static void *play(void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct timeval patience = { .tv_usec = TICK_US };
	char packet[PACKET] = "state";

	(void)data;
	pthread_setname_np(pthread_self(), "client");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (;;) {
		if (sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *)&address, sizeof(address)) < 0)
			perror("netplay");
		while (recv(fd, packet, sizeof(packet), 0) > 0)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(address);
	pthread_t server, client;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) ||
	    getsockname(fd, (struct sockaddr *)&address, &len)) {
		perror("netplay");
		return 1;
	}
	pthread_create(&server, NULL, serve, &fd);
	pthread_create(&client, NULL, play, NULL);
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 60);
	return 0;
}
