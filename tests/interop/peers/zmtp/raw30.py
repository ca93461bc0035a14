"""A socket of ZMTP 3.0 made of bytes, written from 23/ZMTP: NULL, no heartbeats, and it ends at the first command it does not know.

    {"do": "send", "frames": ["6869"]}

Every message that comes is told as {"msg": "heard", "frames": [...]}; a DEALER sends it back. With --bind it waits for one connection.
"""

import argparse
import selectors
import socket
import struct
import sys

from speech import STDIN, Commands, frames_of, say

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x05READY"
MORE, LONG, COMMAND = 1, 2, 4


def property_of(name, value):
    return bytes([len(name)]) + name + struct.pack(">I", len(value)) + value


def frame(flags, body):
    if len(body) > 255:
        return struct.pack(">BQ", flags | LONG, len(body)) + body
    return struct.pack(">BB", flags, len(body)) + body


def message(frames):
    return b"".join(frame(MORE if at < len(frames) - 1 else 0, body) for at, body in enumerate(frames))


class Connection:
    def __init__(self, connected, kind):
        self.socket = connected
        self.kind = kind
        self.buffer = b""
        self.parts = []

    def exactly(self, count):
        while len(self.buffer) < count:
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                say("closed")
                sys.exit(0)
            self.buffer += chunk
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def read_frame(self):
        flags = self.exactly(1)[0]
        size = struct.unpack(">Q", self.exactly(8))[0] if flags & LONG else self.exactly(1)[0]
        return flags, self.exactly(size)

    def shake(self):
        self.socket.sendall(GREETING)
        greeting = self.exactly(64)
        assert greeting[0] == 0xFF and greeting[9] == 0x7F and greeting[10] >= 3, greeting
        assert greeting[12:32] == b"NULL".ljust(20, b"\0"), greeting
        identity = property_of(b"Identity", b"old") if self.kind == "DEALER" else b""
        self.socket.sendall(frame(COMMAND, READY + property_of(b"Socket-Type", self.kind.encode()) + identity))
        flags, body = self.read_frame()
        assert flags == COMMAND and body.startswith(b"\x05READY"), (flags, body)
        say("ready")

    def hear(self):
        flags, body = self.read_frame()
        if flags & COMMAND:
            say("unknown", body=body)
            sys.exit(1)
        self.parts.append(body)
        if flags & MORE:
            return
        frames, self.parts = self.parts, []
        say("heard", frames=frames)
        if self.kind == "DEALER":
            self.socket.sendall(message(frames))


def open_connection(options):
    if options.connect:
        host, port = options.connect.removeprefix("tcp://").rsplit(":", 1)
        return socket.create_connection((host, int(port)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        say("listening", endpoint="tcp://127.0.0.1:%d" % server.getsockname()[1])
        return server.accept()[0]


def main():
    parser = argparse.ArgumentParser()
    for name in ("connect", "bind"):
        parser.add_argument("--" + name)
    parser.add_argument("--type", default="DEALER")
    options = parser.parse_args()
    connection = Connection(open_connection(options), options.type)
    connection.shake()
    commands = Commands()
    selector = selectors.DefaultSelector()
    selector.register(STDIN, selectors.EVENT_READ)
    selector.register(connection.socket, selectors.EVENT_READ)
    while True:
        ready = {key.fd for key, _ in selector.select(0 if connection.buffer else None)}
        if STDIN in ready:
            for command in commands.read():
                connection.socket.sendall(message(frames_of(command["frames"])))
        if connection.buffer or connection.socket.fileno() in ready:
            connection.hear()


if __name__ == "__main__":
    main()
