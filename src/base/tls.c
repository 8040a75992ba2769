// SPDX-License-Identifier: GPL-2.0
/* By Mbed TLS, from an archive that is linked in: it needs no file, no thread and no clock of its own. TLS 1.2 and
 * later, keys that nobody can find out afterwards, and ciphers that also authenticate.
 */
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#include <psa/crypto.h>
#endif

enum { PEM_MOST = 64 << 10, AUTHORITIES_MOST = 4 << 20, WORDS_SIZE = 128, HOST_SIZE = 256, SAN_ADDRESS = 0x87 };

struct tls {
	mbedtls_ssl_config config;
	mbedtls_x509_crt certificate; /* of a server, or those that are trusted */
	mbedtls_pk_context key;
	char host[HOST_SIZE]; /* who is asked; "": it is a server */
	unsigned char address[16];
	size_t address_len; /* 0: the host is a name */
};

struct tls_session {
	mbedtls_ssl_context context;
	int fd;
	bool waits_to_send;
};

static const int ciphers[] = {
#ifdef MBEDTLS_TLS1_3_AES_128_GCM_SHA256
	MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
	MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
	MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
#endif
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	0,
};

/* The kernel's own: nothing has to be seeded, and a fork shares no state. */
static int take_random(void *unused, unsigned char *into, size_t len)
{
	(void)unused;
	while (len) {
		ssize_t got = getrandom(into, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
		into += got;
		len -= (size_t)got;
	}
	return 0;
}

/* With a zero behind it, which PEM is asked for with. Returns its length with that, or -errno. */
static ssize_t read_pem(const char *path, unsigned char *into, ssize_t size, struct reason *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = 0, len = 0;

	while (fd >= 0 && len < size - 1 && (got = read(fd, into + len, (size_t)(size - 1 - len))) > 0)
		len += got;
	if (fd < 0 || got < 0) {
		int error = errno;

		reason_set(why, "%s: %s", path, strerror(error));
		if (fd >= 0)
			close(fd);
		return -error;
	}
	close(fd);
	into[len] = '\0';
	return len + 1;
}

static int refuse(struct reason *why, const char *path, const char *what, int error)
{
	char words[WORDS_SIZE] = "";

	mbedtls_strerror(error, words, sizeof(words));
	reason_set(why, "%s: %s%s%s", path, what, error < 0 ? ": " : "", error < 0 ? words : "");
	return -EINVAL;
}

static int parse_key(struct tls *tls, const unsigned char *pem, size_t len)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
	return mbedtls_pk_parse_key(&tls->key, pem, len, NULL, 0, take_random, NULL);
#else
	return mbedtls_pk_parse_key(&tls->key, pem, len, NULL, 0);
#endif
}

static bool is_pair(struct tls *tls)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
	return !mbedtls_pk_check_pair(&tls->certificate.pk, &tls->key, take_random, NULL);
#else
	return !mbedtls_pk_check_pair(&tls->certificate.pk, &tls->key);
#endif
}

static int take_files(struct tls *tls, const char *certificate_path, const char *key_path, unsigned char *pem,
		      struct reason *why)
{
	ssize_t len = read_pem(certificate_path, pem, PEM_MOST, why);
	int error;

	if (len < 0)
		return (int)len;
	error = mbedtls_x509_crt_parse(&tls->certificate, pem, (size_t)len);
	if (error)
		return refuse(why, certificate_path, "is no certificate in PEM", error);
	len = read_pem(key_path, pem, PEM_MOST, why);
	if (len < 0)
		return (int)len;
	error = parse_key(tls, pem, (size_t)len);
	if (error)
		return refuse(why, key_path, "is no key in PEM without a password", error);
	return is_pair(tls) ? 0 : refuse(why, key_path, "is not the key of that certificate", 0);
}

static int configure(struct tls *tls, int whose)
{
	int error = mbedtls_ssl_config_defaults(&tls->config, whose, MBEDTLS_SSL_TRANSPORT_STREAM,
						MBEDTLS_SSL_PRESET_DEFAULT);

#if MBEDTLS_VERSION_NUMBER >= 0x03000000
	error = error ? error : (int)psa_crypto_init();
	mbedtls_ssl_conf_min_tls_version(&tls->config, MBEDTLS_SSL_VERSION_TLS1_2);
#else
	mbedtls_ssl_conf_min_version(&tls->config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
#endif
	mbedtls_ssl_conf_ciphersuites(&tls->config, ciphers);
	mbedtls_ssl_conf_rng(&tls->config, take_random, NULL);
	return error;
}

static int configure_server(struct tls *tls)
{
	int error = configure(tls, MBEDTLS_SSL_IS_SERVER);

	return error ? error : mbedtls_ssl_conf_own_cert(&tls->config, &tls->certificate, &tls->key);
}

static struct tls *make(void)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return NULL;
	mbedtls_ssl_config_init(&tls->config);
	mbedtls_x509_crt_init(&tls->certificate);
	mbedtls_pk_init(&tls->key);
	return tls;
}

int tls_open(struct tls **out, const char *certificate_path, const char *key_path, struct reason *why)
{
	struct tls *tls = make();
	unsigned char *pem = tls ? malloc(PEM_MOST) : NULL;
	int error = -ENOMEM;

	*out = NULL;
	reason_set(why, "out of memory");
	if (pem) {
		error = take_files(tls, certificate_path, key_path, pem, why);
		explicit_bzero(pem, PEM_MOST);
		free(pem);
	}
	if (!error) {
		int refused = configure_server(tls);

		error = refused ? refuse(why, certificate_path, "TLS can't be had with it", refused) : 0;
	}
	if (error) {
		tls_close(tls);
		return error;
	}
	*out = tls;
	return 0;
}

void tls_close(struct tls *tls)
{
	if (!tls)
		return;
	mbedtls_ssl_config_free(&tls->config);
	mbedtls_x509_crt_free(&tls->certificate);
	mbedtls_pk_free(&tls->key);
	free(tls);
}

/* A certificate may have addresses, which this library compares with nothing. */
static int look_for_address(void *data, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
	const struct tls *tls = data;

	if (depth || !tls->address_len)
		return 0;
	for (const mbedtls_x509_sequence *at = &certificate->subject_alt_names; at; at = at->next)
		if (at->buf.tag == SAN_ADDRESS && at->buf.len == tls->address_len &&
		    !memcmp(at->buf.p, tls->address, tls->address_len))
			*flags &= ~(uint32_t)MBEDTLS_X509_BADCERT_CN_MISMATCH;
	return 0;
}

static const char *find_authorities(void)
{
	static const char *const paths[] = { "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
					     "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], R_OK))
			return paths[i];
	return paths[0];
}

static int take_authorities(struct tls *tls, const char *path, struct reason *why)
{
	unsigned char *pem = malloc(AUTHORITIES_MOST);
	ssize_t len = pem ? read_pem(path, pem, AUTHORITIES_MOST, why) : -ENOMEM;
	int got = len > 0 ? mbedtls_x509_crt_parse(&tls->certificate, pem, (size_t)len) : 0;

	free(pem);
	if (len < 0)
		return (int)len;
	/* Of many some may be of kinds that are not known here. */
	return got < 0 || !tls->certificate.raw.len ? refuse(why, path, "has no certificate in PEM", got) : 0;
}

int tls_open_client(struct tls **out, const char *authorities_path, const char *host, struct reason *why)
{
	struct tls *tls = make();
	int error, refused;

	*out = NULL;
	reason_set(why, "out of memory");
	if (!tls)
		return -ENOMEM;
	snprintf(tls->host, sizeof(tls->host), "%s", host);
	tls->address_len = inet_pton(AF_INET, host, tls->address) == 1	  ? 4
			   : inet_pton(AF_INET6, host, tls->address) == 1 ? 16
									  : 0;
	error = take_authorities(tls, authorities_path ? authorities_path : find_authorities(), why);
	refused = error ? 0 : configure(tls, MBEDTLS_SSL_IS_CLIENT);
	if (refused)
		error = refuse(why, host, "TLS can't be had with it", refused);
	if (error) {
		tls_close(tls);
		return error;
	}
	mbedtls_ssl_conf_authmode(&tls->config, MBEDTLS_SSL_VERIFY_REQUIRED);
	mbedtls_ssl_conf_ca_chain(&tls->config, &tls->certificate, NULL);
	mbedtls_ssl_conf_verify(&tls->config, look_for_address, tls);
	*out = tls;
	return 0;
}

static int send_bytes(void *data, const unsigned char *from, size_t len)
{
	const struct tls_session *session = data;
	ssize_t sent = send(session->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent >= 0)
		return (int)sent;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

/* None come any more: 0, which is the end. */
static int receive_bytes(void *data, unsigned char *into, size_t size)
{
	const struct tls_session *session = data;
	ssize_t got = recv(session->fd, into, size, MSG_DONTWAIT);

	if (got >= 0)
		return (int)got;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

struct tls_session *tls_begin(const struct tls *tls, int fd)
{
	struct tls_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->fd = fd;
	mbedtls_ssl_init(&session->context);
	if (mbedtls_ssl_setup(&session->context, &tls->config) ||
	    (tls->host[0] && mbedtls_ssl_set_hostname(&session->context, tls->host))) {
		tls_end(session);
		return NULL;
	}
	mbedtls_ssl_set_bio(&session->context, session, send_bytes, receive_bytes, NULL);
	return session;
}

void tls_end(struct tls_session *session)
{
	if (!session)
		return;
	mbedtls_ssl_free(&session->context);
	free(session);
}

static ssize_t as_of_a_socket(struct tls_session *session, int result)
{
	session->waits_to_send = result == MBEDTLS_ERR_SSL_WANT_WRITE;
	if (result == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
		return 0;
	if (result >= 0)
		return result;
	errno = session->waits_to_send || result == MBEDTLS_ERR_SSL_WANT_READ ? EAGAIN : EPROTO;
	return -1;
}

ssize_t tls_receive(struct tls_session *session, void *into, size_t size)
{
	return as_of_a_socket(session, mbedtls_ssl_read(&session->context, into, size));
}

ssize_t tls_send(struct tls_session *session, const void *from, size_t len)
{
	return as_of_a_socket(session, mbedtls_ssl_write(&session->context, from, len));
}

bool tls_waits_to_send(const struct tls_session *session)
{
	return session->waits_to_send;
}

bool tls_explain(const struct tls_session *session, struct reason *why)
{
	uint32_t flags = mbedtls_ssl_get_verify_result(&session->context);
	char words[WORDS_SIZE] = "";

	/* All of them: none was looked at. */
	if (!flags || flags == ~0u || mbedtls_x509_crt_verify_info(words, sizeof(words), "", flags) < 0)
		return false;
	words[strcspn(words, "\n")] = '\0';
	reason_set(why, "%s", words);
	return true;
}

void tls_finish(struct tls_session *session)
{
	mbedtls_ssl_close_notify(&session->context);
}
