"""An NFP worker: it accepts jobs, does them at once, and answers GET from what it remembers.

A result is the body of the job. A job whose body is `hold` is neither accepted nor done. For each call the worker says which it was.

Lines: ready, opened (OPEN came back), keepalive, call, disconnected, broker-lost, left.
Commands: {"do": "stream", "client": "c1", "uuid": "u1", "body": "x"}, {"do": "ready", "service": "other"}, {"do": "leave"}.
"""

import argparse
import json
import sys
import time

import zmq

from nfp.wire import CALLS, Wire, demand
from speech import STDIN, Commands, say


class Worker:
    def __init__(self, options):
        self.options = options
        self.wire = Wire("worker", options.form, options.dialect)
        self.interval = options.keepalive_ms / 1000
        self.results = {}
        self.commands = Commands()
        self.poller = zmq.Poller()
        self.poller.register(STDIN, zmq.POLLIN)
        self.socket = None

    def open(self):
        """A new conversation, on a new socket."""
        if self.socket is not None:
            self.poller.unregister(self.socket)
            self.socket.close(linger=0)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.routing_id = self.options.name.encode()
        self.socket.connect(self.options.connect)
        self.poller.register(self.socket, zmq.POLLIN)
        if self.options.open:
            keepalive = {"interval": self.options.keepalive_ms, "multiplier": self.options.multiplier}
            body = {"name": self.options.name, "version": "0.1", "keepalive": keepalive}
            self.send("OPEN", json.dumps(body).encode())
        self.send("READY", self.options.service.encode())
        now = time.monotonic()
        self.next_beat = now + self.interval
        self.heard_at = now
        say("ready")

    def run(self):
        self.open()
        while True:
            wait_ms = max(0, self.next_beat - time.monotonic()) * 1000
            ready = dict(self.poller.poll(wait_ms))
            if STDIN in ready:
                for command in self.commands.read():
                    self.on_command(command)
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            self.on_time(time.monotonic())

    def on_time(self, now):
        if now - self.heard_at > self.interval * self.options.multiplier:
            say("broker-lost")
            self.open()
        elif now >= self.next_beat:
            self.send("KEEPALIVE", self.options.service.encode())
            self.next_beat = now + self.interval

    def on_command(self, command):
        if command["do"] == "stream":
            client, uuid, body = (command[name].encode() for name in ("client", "uuid", "body"))
            self.answer("STREAM", client, uuid, b"200", body)
        elif command["do"] == "ready":
            self.send("READY", command["service"].encode())
        else:
            self.send("DISCONNECT", self.options.service.encode())
            self.socket.close()
            say("left")
            sys.exit(0)

    def on_message(self, frames):
        command, rest = self.wire.read(frames)
        self.heard_at = time.monotonic()
        if command == "KEEPALIVE":
            demand(rest == [self.options.service.encode()], "KEEPALIVE has the service", frames)
            say("keepalive")
        elif command == "OPEN":
            demand(len(rest) == 1, "OPEN has one body", frames)
            say("opened", body=rest[0].decode())
        elif command == "DISCONNECT":
            demand(len(rest) in (1, 2), "DISCONNECT has the service and perhaps a body", frames)
            say("disconnected")
            self.open()
        else:
            demand(command in CALLS, f"{command} never travels to a worker", frames)
            demand(len(rest) >= 4 and rest[0] != b"" and rest[1] == b"", "client, empty, uuid or body is missing", frames)
            self.on_call(command, rest[0], rest[2], rest[3:])

    def on_call(self, command, client, uuid, body):
        say("call", command=command, client=client.decode(errors="backslashreplace"), uuid=uuid.decode(), body=b"|".join(body).decode())
        if command == "POST" and body != [b"hold"]:
            self.results[uuid] = body
            self.answer("RESPONSE", client, uuid, self.options.accept.encode(), b"accepted")
            self.answer("EVENT", client, uuid, b"200", b"completed")
        elif command == "GET":
            known = uuid in self.results
            self.answer("RESPONSE", client, uuid, b"200" if known else b"404", *self.results.get(uuid, [b"unknown"]))
        elif command == "DELETE":
            known = self.results.pop(uuid, None) is not None
            self.answer("RESPONSE", client, uuid, b"200" if known else b"404", b"deleted")
        elif command == "MMI":
            self.answer("MMI", client, uuid, b"200", b"[]")

    def answer(self, command, client, uuid, status, *body):
        """With the client's address, as the releases do, or with the service, as in the tables of the specification."""
        table = self.options.shape == "table"
        whom = [self.options.service.encode()] if table else [client, b""]
        self.send(command, *whom, uuid, status, *body)

    def send(self, command, *rest):
        self.socket.send_multipart(self.wire.message(command, *rest))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--service", default="sample")
    parser.add_argument("--form", choices=["ascii", "byte"], default="ascii")
    parser.add_argument("--dialect", choices=["current", "legacy"], default="current")
    parser.add_argument("--shape", choices=["address", "table"], default="address")
    parser.add_argument("--accept", default="201", help="status that accepts a job")
    parser.add_argument("--open", choices=["yes"], help="send OPEN before READY")
    parser.add_argument("--keepalive-ms", type=int, default=2500)
    parser.add_argument("--multiplier", type=int, default=6)
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
