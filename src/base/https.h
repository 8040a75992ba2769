/* SPDX-License-Identifier: GPL-2.0 */
/* TLS for who asks a server (http_client.h). */
#ifndef TACTUS_BASE_HTTPS_H
#define TACTUS_BASE_HTTPS_H

#include "http_client.h"
#include "tls.h"

struct https {
	struct http_secrecy secrecy;
	struct tls *tls;
};

/* For a target, whose certificate has to lead to one of the authorities in that file; NULL: to one of the system's. All
 * files are read here. Returns 0, or -errno with the reason. */
int https_open(struct https *https, const struct http_target *target, const char *authorities_path, struct reason *why);
void https_close(struct https *https);

#endif
