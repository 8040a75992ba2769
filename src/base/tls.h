/* SPDX-License-Identifier: GPL-2.0 */
/* TLS of a server or of who asks one, over sockets that don't block. Certificate and key are read with whatever rights
 * there are; what speaks with others needs no file, so that it can be a process that has no rights (serve_apart.c). */
#ifndef TACTUS_BASE_TLS_H
#define TACTUS_BASE_TLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "say.h"

struct tls;
struct tls_session;

/* For who asks that host, by its name or address: its certificate has to lead to one of the authorities in that file;
 * NULL: to one of the system's. Returns 0, or -errno with the reason. */
int tls_open_client(struct tls **tls, const char *authorities_path, const char *host, struct reason *why);

/* Both in PEM; the certificate may have others behind it that lead to one that is trusted. Returns 0, or -errno with
 * the reason. */
int tls_open(struct tls **tls, const char *certificate_path, const char *key_path, struct reason *why);
void tls_close(struct tls *tls);

/* With who is at the other end of a socket. NULL: memory is out. */
struct tls_session *tls_begin(const struct tls *tls, int fd);
void tls_end(struct tls_session *session);

/* As recv() and send() of a socket that does not block, which agree on keys first. */
ssize_t tls_receive(struct tls_session *session, void *into, size_t size);
ssize_t tls_send(struct tls_session *session, const void *from, size_t len);

/* Whether it waits until the socket takes more, though it was to receive. */
bool tls_waits_to_send(const struct tls_session *session);

/* Why it failed, where the reason is the other's certificate. False: it is another. */
bool tls_explain(const struct tls_session *session, struct reason *why);

/* Tells the other end that nothing more comes. */
void tls_finish(struct tls_session *session);

#endif
