"""D-Bus by hand, for tests that must say what no library lets them: messages of any byte order, length and fields."""
import os, socket, struct


def pad(data, to):
    return data + b"\0" * (-len(data) % to)


class Bus:
    def __init__(self, path, passes_descriptors=False):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.connect(path)
        self.s.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        assert self.s.recv(200).startswith(b"OK")
        if passes_descriptors:
            self.s.sendall(b"NEGOTIATE_UNIX_FD\r\n")
            assert self.s.recv(200).startswith(b"AGREE_UNIX_FD")
        self.s.sendall(b"BEGIN\r\n")
        self.serial, self.buffer = 0, b""
        self.name = self.call("Hello")[1]

    def message(self, kind, fields, body=b"", order="<", descriptors=()):
        """fields: (code, signature, value)...; returns its serial"""
        self.serial += 1
        made = b""
        for code, signature, value in fields:
            made = pad(made, 8) + bytes([code, len(signature)]) + signature.encode() + b"\0"
            if signature == "u":
                made = pad(made, 4) + struct.pack(order + "I", value)
            elif signature == "g":
                made += bytes([len(value)]) + value.encode() + b"\0"
            else:
                made = pad(made, 4) + struct.pack(order + "I", len(value)) + value.encode() + b"\0"
        head = (b"l" if order == "<" else b"B") + bytes([kind, 0, 1]) + struct.pack(order + "III", len(body), self.serial, len(made))
        if descriptors:
            socket.send_fds(self.s, [pad(head + made, 8) + body], descriptors)
        else:
            self.s.sendall(pad(head + made, 8) + body)
        return self.serial

    @staticmethod
    def string(text, order="<"):
        return struct.pack(order + "I", len(text)) + text.encode() + b"\0"

    def call(self, member, text=None, destination="org.freedesktop.DBus", number=None):
        """A method of the bus; returns signature and value, or None and the error's name"""
        fields = [(1, "o", "/org/freedesktop/DBus"), (2, "s", "org.freedesktop.DBus"), (3, "s", member), (6, "s", destination)]
        body = b""
        if text is not None:
            body = self.string(text)
            fields.append((8, "g", "s" if number is None else "su"))
        if number is not None:
            body = pad(body, 4) + struct.pack("<I", number)
        serial = self.message(1, fields, body)
        while True:
            kind, found, body = self.next()
            if found.get(5) == serial:
                if kind == 3:
                    return None, found.get(4)
                signature = found.get(8, "")
                if signature[:1] == "s":
                    return signature, body[4:4 + struct.unpack("<I", body[:4])[0]].decode()
                if signature[:2] == "as":
                    at, names, end = 4, [], 4 + struct.unpack("<I", body[:4])[0]
                    while at < end:
                        at += -at % 4
                        length = struct.unpack("<I", body[at:at + 4])[0]
                        names.append(body[at + 4:at + 4 + length].decode())
                        at += 5 + length
                    return signature, names
                return signature, struct.unpack("<I", body[:4])[0] if len(body) >= 4 else None

    def pass_descriptors(self, destination, path, member, descriptors):
        """A method of that interface that takes these and returns a number"""
        fields = [(1, "o", path), (2, "s", destination), (3, "s", member), (6, "s", destination), (8, "g", "h" * len(descriptors)), (9, "u", len(descriptors))]
        serial = self.message(1, fields, struct.pack("<" + "I" * len(descriptors), *range(len(descriptors))), descriptors=descriptors)
        while True:
            kind, found, body = self.next()
            if found.get(5) == serial:
                return struct.unpack("<i", body[:4])[0] if kind == 2 else found.get(4)

    def next(self):
        """The next message: its type, fields by code, and body"""
        while True:
            if len(self.buffer) >= 16:
                body_len, _, fields_len = struct.unpack("<III", self.buffer[4:16])
                whole = 16 + fields_len + -(16 + fields_len) % 8 + body_len
                if len(self.buffer) >= whole:
                    data, self.buffer = self.buffer[:whole], self.buffer[whole:]
                    return data[1], self.fields(data, 16 + fields_len), data[whole - body_len:]
            got = self.s.recv(65536)
            if not got:
                raise EOFError
            self.buffer += got

    @staticmethod
    def fields(data, end):
        at, found = 16, {}
        while at < end:
            at += -at % 8
            code, signature = data[at], data[at + 2:at + 2 + data[at + 1]].decode()
            at += 3 + data[at + 1]
            if signature == "g":
                found[code] = data[at + 1:at + 1 + data[at]].decode()
                at += 2 + data[at]
                continue
            at += -at % 4
            value = struct.unpack("<I", data[at:at + 4])[0]
            at += 4
            if signature == "u":
                found[code] = value
            else:
                found[code] = data[at:at + value].decode()
                at += value + 1
        found[0] = struct.unpack("<I", data[8:12])[0]
        return found
