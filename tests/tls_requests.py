"""Asks 'tactus serve --metrics --tls-cert' in pieces, in the wrong way, and not at all: `tls_requests.py PORT TOKEN CERTIFICATE`.
Prints "NAME<tab>GOT<tab>WANT" a check."""
import socket
import ssl
import sys

port, token, certificate = int(sys.argv[1]), sys.argv[2], sys.argv[3]
REQUEST = f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
context = ssl.create_default_context(cafile=certificate)


def check(name, got, want):
    print(name, got, want, sep="\t")


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def rest(connection):
    got = b""
    try:
        while chunk := connection.recv(65536):
            got += chunk
    except OSError as error:
        return got, type(error).__name__
    return got, "end"


def ask(pieces):
    with context.wrap_socket(connect(), server_hostname="127.0.0.1") as connection:
        for piece in pieces:
            connection.sendall(piece)
        return rest(connection)


whole, how = ask([REQUEST])
check("an answer by TLS ends as TLS says it is to end", how, "end")
head, _, body = whole.partition(b"\r\n\r\n")
length = [line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
check("an answer by TLS is as long as its head says", len(body), int(length[0]))
check("a request by TLS in pieces of one byte is answered", ask([REQUEST[i:i + 1] for i in range(len(REQUEST))])[0][:12], b"HTTP/1.1 200")
check("a request by TLS that does not end is refused", ask([b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 9000])[0][:12], b"HTTP/1.1 431")
for name, junk in (("bytes that are no TLS", b"\x00" * 4096), ("the beginning of TLS with junk behind it", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 600),
                   ("a record that is longer than TLS allows", b"\x16\x03\x03\xff\xff" + b"a" * 4096)):
    with connect() as connection:
        connection.sendall(junk)
        check(f"{name} get no figures", b"tactus_" in rest(connection)[0], False)
held = [connect() for _ in range(40)]
check("a scrape by TLS is answered beside 40 connections that say nothing", ask([REQUEST])[0][:12], b"HTTP/1.1 200")
for connection in held:
    connection.close()
check("a scrape by TLS is answered after all of that", ask([REQUEST])[0][:12], b"HTTP/1.1 200")
