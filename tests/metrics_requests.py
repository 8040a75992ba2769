"""Asks 'tactus serve --metrics' as Prometheus does, and as nobody should: `metrics_requests.py PORT [TOKEN]`.
Prints "NAME<tab>GOT<tab>WANT" a check."""
import socket
import sys

port, token = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
HEAD = f"Host: 127.0.0.1:{port}\r\n"
BEARER = f"Authorization: Bearer {token}\r\n" if token else ""


def ask(text):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(text if isinstance(text, bytes) else text.encode())
        got = b""
        try:
            while chunk := connection.recv(65536):
                got += chunk
        except OSError:
            pass
    return got


def status(answer):
    return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/1.1 ") else repr(answer[:40])


def check(name, got, want):
    print(name, got, want, sep="\t")


def fields(answer):
    return dict(line.split(": ", 1) for line in answer.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")[1:])


plain = ask(f"GET /metrics HTTP/1.1\r\n{HEAD}{BEARER}Accept: text/plain\r\n\r\n")
check("a scrape is answered", status(plain), "200")
check("a scrape that takes no OpenMetrics gets the older format", fields(plain)["content-type"], "text/plain; version=0.0.4; charset=utf-8")
check("a scrape is as long as its head says", len(plain.partition(b"\r\n\r\n")[2]), int(fields(plain)["content-length"]))
newer = ask(f"GET /metrics HTTP/1.1\r\n{HEAD}{BEARER}Accept: application/openmetrics-text;version=1.0.0;q=0.75,text/plain;q=0.5\r\n\r\n")
check("a scrape that takes OpenMetrics gets it", fields(newer)["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
check("OpenMetrics ends with its end", newer.endswith(b"# EOF\n"), True)
check("HEAD of figures is a head alone", ask(f"HEAD /metrics HTTP/1.0\r\n{HEAD}{BEARER}\r\n").endswith(b"\r\n\r\n"), True)
for name, text, want in (
        ("for a page", f"GET / HTTP/1.1\r\n{HEAD}{BEARER}\r\n", "404"),
        ("for records", f"GET /records HTTP/1.1\r\n{HEAD}{BEARER}\r\n", "404"),
        ("to change something", f"POST /metrics HTTP/1.1\r\n{HEAD}{BEARER}Content-Length: 0\r\n\r\n", "405"),
        ("that is no HTTP", b"\x16\x03\x01\x02\x00\x01\x00" * 20, "400"),
        ("with two tokens", f"GET /metrics HTTP/1.1\r\n{HEAD}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", "400"),
        ("that does not end", b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 8000, "431")):
    check(f"a scrape {name} is refused", status(ask(text)), want)
if token:
    check("a scrape with the token in its address is answered", status(ask(f"GET /metrics?token={token} HTTP/1.1\r\n{HEAD}\r\n")), "200")
    for name, wrong in (("no token", ""), ("another token", "Authorization: Bearer " + "0" * 32 + "\r\n"), ("half of the token", f"Authorization: Bearer {token[:16]}\r\n"),
                        ("the token and more", f"Authorization: Bearer {token}0\r\n"), ("the token by another way", f"Authorization: Basic {token}\r\n")):
        check(f"a scrape with {name} is refused", status(ask(f"GET /metrics HTTP/1.1\r\n{HEAD}{wrong}\r\n")), "403")
else:
    check("a scrape by a name that leads here is refused", status(ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")), "403")
