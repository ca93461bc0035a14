"""One socket of libzmq, of any type, that does what it is told.

    {"do": "send", "frames": ["6869"]}    -> nothing
    {"do": "send", "sizes": [0, 8388608]} -> nothing; frames of that many bytes, byte n of each being n * 31 mod 256
    {"do": "burst", "count": 1000}        -> nothing; messages "0", "1", ... in order, with an empty frame in front if --envelope
    {"do": "subscribe" | "unsubscribe", "prefix": "61"}

Every message that comes is told as {"msg": "heard", "frames": [...]}, or as its sizes and a SHA-256 over all bytes when it is long. With
--echo it is sent back as it came.
"""

import argparse
import hashlib

import zmq

from speech import STDIN, Commands, frames_of, say

LONG = 1000
PATTERN = bytes(n * 31 % 256 for n in range(256))


def pattern(size):
    return (PATTERN * (size // 256 + 1))[:size]


def open_socket(options):
    socket = zmq.Context.instance().socket(getattr(zmq, options.type))
    socket.linger = 1000
    socket.sndhwm = socket.rcvhwm = 0
    if options.identity:
        socket.routing_id = bytes.fromhex(options.identity)
    if options.heartbeat_ms:
        socket.heartbeat_ivl = options.heartbeat_ms
        socket.heartbeat_timeout = 30_000
        socket.heartbeat_ttl = 30_000
    if options.public_key:
        socket.curve_publickey = bytes.fromhex(options.public_key)
        socket.curve_secretkey = bytes.fromhex(options.secret_key)
        if options.server_key:
            socket.curve_serverkey = bytes.fromhex(options.server_key)
        else:
            socket.curve_server = True
    if options.username:
        socket.plain_username = options.username.encode()
        socket.plain_password = options.password.encode()
    if options.bind:
        socket.bind(options.bind)
        say("listening", endpoint=socket.last_endpoint.decode().rstrip("\0"))
    else:
        socket.connect(options.connect)
        say("ready")
    return socket


def tell(frames):
    if sum(map(len, frames)) + len(frames) < LONG:
        say("heard", frames=frames)
    else:
        digest = hashlib.sha256()
        for frame in frames:
            digest.update(frame)
        say("heard", sizes=[len(frame) for frame in frames], digest=digest.hexdigest())


def obey(socket, options, command):
    do = command["do"]
    if do == "send" and "sizes" in command:
        socket.send_multipart([pattern(size) for size in command["sizes"]])
    elif do == "send":
        socket.send_multipart(frames_of(command["frames"]))
    elif do == "burst":
        for number in range(command["count"]):
            socket.send_multipart(([b""] if options.envelope else []) + [str(number).encode()])
    elif do == "subscribe":
        socket.subscribe(bytes.fromhex(command["prefix"]))
    elif do == "unsubscribe":
        socket.unsubscribe(bytes.fromhex(command["prefix"]))


def main():
    parser = argparse.ArgumentParser()
    for name in ("type", "bind", "connect", "identity", "public-key", "secret-key", "server-key", "username", "password"):
        parser.add_argument("--" + name)
    parser.add_argument("--heartbeat-ms", type=int)
    parser.add_argument("--echo", type=int, default=0)
    parser.add_argument("--envelope", type=int, default=0)
    options = parser.parse_args()
    socket = open_socket(options)
    commands = Commands()
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    if options.type != "PUB":
        poller.register(socket, zmq.POLLIN)
    while True:
        ready = dict(poller.poll())
        if STDIN in ready:
            for command in commands.read():
                obey(socket, options, command)
        if socket in ready:
            frames = socket.recv_multipart()
            tell(frames)
            if options.echo:
                socket.send_multipart(frames)


if __name__ == "__main__":
    main()
