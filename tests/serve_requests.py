"""Requests to a page that is served, as browsers send them and as nobody should: `serve_requests.py PORT [TOKEN]`.
Prints "NAME<tab>GOT<tab>WANT" a check, or "# ..." for what was measured."""
import socket
import sys
import time

port, token = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
query = f"?token={token}" if token else ""
HEAD = f"Host: 127.0.0.1:{port}\r\n"


def call():
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def hear(connection):
    got = b""
    try:
        while chunk := connection.recv(65536):
            got += chunk
    except OSError:
        pass
    return got


def ask(text):
    with call() as connection:
        connection.sendall(text if isinstance(text, bytes) else text.encode())
        return hear(connection)


def status(answer):
    return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/1.1 ") else repr(answer[:40])


def check(name, got, want):
    print(name, got, want, sep="\t")


whole = ask(f"GET /{query} HTTP/1.1\r\n{HEAD}\r\n")
head, _, body = whole.partition(b"\r\n\r\n")
fields = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
check("the page is answered", status(whole), "200")
check("the page is as long as its head says", len(body), int(fields.get("content-length", -1)))
check("a served page is a page of tactus's", body[:40], b"<!DOCTYPE html>\n<!-- tactus report -->\n<")
check("a served page may ask where it came from, and nowhere else", b"default-src 'none'; connect-src 'self'; script-src 'sha256-" in body, True)
check("nobody keeps a served page, guesses its type or frames it",
      [fields.get(name) for name in ("cache-control", "x-content-type-options", "x-frame-options", "cross-origin-resource-policy")],
      ["no-store", "nosniff", "deny", "same-origin"])
records = ask(f"GET /records{query} HTTP/1.1\r\n{HEAD}\r\n").partition(b"\r\n\r\n")[2]
check("the records alone are lines of JSON", records[:20], b'{"record":"report","')
short = ask(f"HEAD /{query} HTTP/1.0\r\n{HEAD}\r\n")
check("HEAD is answered with a head alone", (status(short), short.endswith(b"\r\n\r\n"), b"content-length: " in short.lower()), ("200", True, True))
if token:
    for name, wrong in (("no token", ""), ("another token", "?token=" + "0" * 32), ("half of the token", f"?token={token[:16]}"), ("the token and more", f"?token={token}0")):
        check(f"a request with {name} is refused", status(ask(f"GET /records{wrong} HTTP/1.1\r\n{HEAD}\r\n")), "403")
    sys.exit()

for name, text, want in (
        ("by a name that leads here", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("without a host", "GET / HTTP/1.1\r\n\r\n", "403"),
        ("for what is not there", f"GET /etc/passwd HTTP/1.1\r\n{HEAD}\r\n", "404"),
        ("for a folder above", f"GET /../records HTTP/1.1\r\n{HEAD}\r\n", "404"),
        ("to change something", f"POST / HTTP/1.1\r\n{HEAD}Content-Length: 0\r\n\r\n", "405"),
        ("to put something", f"PUT /records HTTP/1.1\r\n{HEAD}\r\n", "405"),
        ("with a body", f"GET / HTTP/1.1\r\n{HEAD}Content-Length: 9\r\n\r\nsomething", "400"),
        ("that is no HTTP", b"\x16\x03\x01\x02\x00\x01\x00" * 20, "400"),
        ("with a zero byte", b"GET /\0 HTTP/1.1\r\n\r\n", "400"),
        ("with a folded line", f"GET / HTTP/1.1\r\n{HEAD} more\r\n\r\n", "400"),
        ("that does not end", b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 8000, "431"),
        ("with a hundred thousand lines", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100000, "431")):
    check(f"a request {name} is refused", status(ask(text)), want)

# Who holds on to a place and says nothing, or speaks a byte at a time, keeps nobody out.
silent = [call() for _ in range(100)]
for one in silent[::2]:
    try:
        one.send(b"GET / HT")
    except OSError:
        pass
began = time.monotonic()
check("beside a hundred callers who say nothing a request is answered", status(ask(f"GET /records{query} HTTP/1.1\r\n{HEAD}\r\n")), "200")
print(f"# measured: {time.monotonic() - began:.3f} s for an answer beside a hundred callers who say nothing")
check("who says nothing is hung up on in the end", sum(hear(one) == b"" for one in silent), len(silent))
began = time.monotonic()
check("three hundred requests in a row are answered", {status(ask(f"GET /records{query} HTTP/1.1\r\n{HEAD}\r\n")) for _ in range(300)}, {"200"})
print(f"# measured: {300 / (time.monotonic() - began):.0f} requests a second, one after another")
lazy = [call() for _ in range(20)]
for one in lazy:
    one.sendall(f"GET / HTTP/1.1\r\n{HEAD}\r\n".encode())
check("twenty who ask at once and do not read keep nobody out", status(ask(f"GET /records HTTP/1.1\r\n{HEAD}\r\n")), "200")
check("all twenty get their page when they read", {status(hear(one)) for one in lazy}, {"200"})
