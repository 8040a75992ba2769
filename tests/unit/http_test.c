// SPDX-License-Identifier: GPL-2.0
/* base/http.c: what a browser sends is understood, and nothing else is. */
#include "../../src/base/http.h"
#include "tap.h"

static struct http_request request;

static enum http_found parse(const char *text)
{
	memset(&request, 0, sizeof(request));
	return http_parse(text, strlen(text), &request);
}

static void test_whole(void)
{
	static const char get[] = "GET /records?token=ab HTTP/1.1\r\nHost: 127.0.0.1:80 \r\nAccept: */*\r\n\r\n";

	is(parse(get), HTTP_WHOLE, "a request as a browser sends it is whole");
	is_text(request.path, "/records", "a request's path ends at the question mark");
	is_text(request.query, "token=ab", "a request's query is what stands behind the question mark");
	is_text(request.host, "127.0.0.1:80", "a request's host is without the space around it");
	ok(!request.is_head, "GET is not HEAD");
	is(parse("HEAD / HTTP/1.0\r\n\r\n"), HTTP_WHOLE, "HEAD of HTTP/1.0 without a host is whole");
	ok(request.is_head, "HEAD of HTTP/1.0 is HEAD");
	for (size_t len = 0; len + 1 < sizeof(get) - 1; len++)
		if (http_parse(get, len, &request) != HTTP_MORE) {
			is(len, sizeof(get), "a request that is cut anywhere is not whole yet");
			return;
		}
	ok(1, "a request that is cut anywhere is not whole yet");
}

static void test_metrics(void)
{
	is(parse("GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc.d-e\r\nAccept: "
		 "application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n\r\n"),
	   HTTP_WHOLE, "a scrape as Prometheus sends it is whole");
	is_text(request.bearer, "abc.d-e", "a scrape's token is behind Bearer");
	ok(request.wants_openmetrics, "a scrape that takes OpenMetrics says so");
	is(parse("GET /metrics HTTP/1.1\r\nAuthorization: Basic abc\r\nAccept: text/plain\r\n\r\n"), HTTP_WHOLE,
	   "another way to say who one is stands for none");
	ok(!request.bearer[0], "request without a token has none");
	ok(!request.wants_openmetrics, "request that does not take OpenMetrics does not want it");
	is(parse("GET / HTTP/1.1\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"), HTTP_BAD,
	   "two tokens are refused");
	ok(http_is_token("abc", "abc"), "token is taken for itself");
	ok(!http_is_token("abd", "abc"), "token with another sign is refused");
	ok(!http_is_token("abcd", "abc"), "token with a sign more is refused");
	ok(http_token_is_sound("0123456789abcdef"), "token of 16 signs is sound");
	ok(!http_token_is_sound("short"), "token of fewer signs than 16 is refused");
	ok(!http_token_is_sound("0123456789 abcdef"), "token with a space is refused");
}

static void test_refused(void)
{
	static const struct {
		const char *text, *what;
		enum http_found found;
	} cases[] = {
		{ "\r\n\r\n", "nothing before the empty line", HTTP_BAD },
		{ "GET /\r\n\r\n", "no version", HTTP_BAD },
		{ "GET / HTTP/2.0\r\n\r\n", "another version", HTTP_BAD },
		{ "GET  / HTTP/1.1\r\n\r\n", "two spaces", HTTP_BAD },
		{ "get / HTTP/1.1\r\n\r\n", "a method in small letters", HTTP_BAD },
		{ "GET http://x/ HTTP/1.1\r\n\r\n", "a whole URL as a target", HTTP_BAD },
		{ "GET / HTTP/1.1\nHost: a\n\n", "bare line feeds", HTTP_BAD },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "two hosts", HTTP_BAD },
		{ "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "a folded line", HTTP_BAD },
		{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "a space before the colon", HTTP_BAD },
		{ "GET / HTTP/1.1\r\nno colon\r\n\r\n", "a line without a colon", HTTP_BAD },
		{ "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "a body", HTTP_BAD },
		{ "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", "a body in chunks", HTTP_BAD },
		{ "GET /\x1b[31m HTTP/1.1\r\n\r\n", "an escape", HTTP_BAD },
		{ "GET /\xc3\xbc HTTP/1.1\r\n\r\n", "a letter beyond ASCII in the path", HTTP_BAD },
		{ "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST", HTTP_OTHER_METHOD },
		{ "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE", HTTP_OTHER_METHOD },
		{ "\x16\x03\x01\x02", "the beginning of TLS", HTTP_BAD },
	};
	char large[HTTP_HEAD_MOST + 100], path[HTTP_PATH_SIZE + 40];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(parse(cases[i].text), cases[i].found, "a request with %s is refused for what it is", cases[i].what);
	is(http_parse("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30, &request), HTTP_BAD,
	   "a request with a zero byte is refused");
	memset(large, 'a', sizeof(large));
	memcpy(large, "GET / HTTP/1.1\r\nX: ", 19);
	is(http_parse(large, HTTP_HEAD_MOST - 1, &request), HTTP_MORE, "a head with room left may go on");
	is(http_parse(large, HTTP_HEAD_MOST, &request), HTTP_TOO_LONG,
	   "a head without an end is too long at some point");
	snprintf(path, sizeof(path), "GET /%0*d HTTP/1.1\r\n\r\n", HTTP_PATH_SIZE, 1);
	is(parse(path), HTTP_BAD, "a path that is longer than any that there is is refused");
}

static void test_who_asks(void)
{
	static const char *const own[] = { "127.0.0.1",	 "127.0.0.1:8080", "localhost:1", "LOCALHOST",
					   "[::1]:8080", "[::1]",	   "127.9.9.9" };
	static const char *const others[] = { "",
					      "evil.example",
					      "127.0.0.1.evil.example:80",
					      "10.0.0.1:80",
					      "[::2]",
					      "localhost:x",
					      "localhost.evil.example",
					      "127.0.0.1:80:80",
					      "[::1",
					      "0x7f.0.0.1",
					      "[127.0.0.1]" };
	static const char *const wrong_tokens[] = { "token=abd", "token=ab", "token=abcd", "", "token=", "xtoken=abc" };
	u32 right = 0;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		right += http_host_is_loopback(own[i]);
	is(right, sizeof(own) / sizeof(own[0]), "a host that is this machine's own address is taken for it");
	right = 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		right += http_host_is_loopback(others[i]);
	is(right, 0, "a host that is a name or another machine's address is not taken for this one");
	ok(http_has_token("token=abc", "abc"), "the right token is taken");
	right = 0;
	for (size_t i = 0; i < sizeof(wrong_tokens) / sizeof(wrong_tokens[0]); i++)
		right += http_has_token(wrong_tokens[i], "abc");
	is(right, 0, "a token that is not the right one as a whole is refused");
}

static void test_addresses(void)
{
	static const char *const wrong[] = { "",      "x",	 "127.0.0.1",	"127.0.0.1:",	   ":80", "1.2.3:80",
					     "[::1]", "[::1:80", "localhost:1", "127.0.0.1:65536", "-1",  "80x" };
	static const char *const everybodys[] = { "0.0.0.0:80", "[::]:80", "192.0.2.7:80" };
	struct http_address address;
	char url[HTTP_URL_SIZE];
	u32 taken = 0, loopback = 0;

	ok(http_address_parse("8080", &address), "a port alone is an address");
	ok(address.is_loopback, "a port alone is this machine's own");
	http_url(url, &address, false, "");
	is_text(url, "http://127.0.0.1:8080/", "the URL of a port alone is of this machine");
	ok(http_address_parse("[::1]:9", &address), "::1 with a port is an address");
	ok(address.is_loopback, "::1 is this machine's own");
	http_url(url, &address, true, "abc");
	is_text(url, "https://[::1]:9/?token=abc", "the URL has the token, and says that it is encrypted");
	for (size_t i = 0; i < sizeof(everybodys) / sizeof(everybodys[0]); i++) {
		taken += http_address_parse(everybodys[i], &address);
		loopback += address.is_loopback;
	}
	is(taken, 3, "addresses that others reach are taken with a port");
	is(loopback, 0, "addresses that others reach are not this machine's own");
	taken = 0;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		taken += http_address_parse(wrong[i], &address);
	is(taken, 0, "what is no address and port is refused");
}

int main(void)
{
	test_whole();
	test_metrics();
	test_refused();
	test_who_asks();
	test_addresses();
	return tap_end();
}
