"""An NFP worker that works until it is told to stop, and may remember its jobs from one life to the next.

A job goes to a file of its own in `--store` before it is accepted, and there it is after READY of the next process; without one a new process
answers "unknown job". A job runs until {"do": "finish"}.

Lines: ready, call, finished.
Commands: {"do": "finish"}.
"""

import argparse
import json
import pathlib
import time

import zmq

from nfp.wire import CALLS, Wire, demand
from speech import STDIN, Commands, say


class Worker:
    def __init__(self, options):
        self.options = options
        self.name = options.name
        self.service = options.service.encode()
        self.wire = Wire("worker", options.form, "current")
        self.interval = options.keepalive_ms / 1000
        self.store = None if options.store is None else pathlib.Path(options.store)
        self.jobs = {}
        if self.store is not None:
            self.jobs = {path.name: json.loads(path.read_text()) for path in self.store.iterdir()}
        self.done = set()
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.routing_id = self.name.encode()
        self.socket.reconnect_ivl = 50
        self.socket.connect(options.connect)
        self.send("READY", self.service)
        say("ready", jobs=len(self.jobs))

    def send(self, command, *rest):
        self.socket.send_multipart(self.wire.message(command, *rest))

    def run(self):
        poller = zmq.Poller()
        poller.register(STDIN, zmq.POLLIN)
        poller.register(self.socket, zmq.POLLIN)
        commands = Commands()
        beat = time.monotonic() + self.interval
        while True:
            ready = dict(poller.poll(max(0, beat - time.monotonic()) * 1000))
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            if STDIN in ready:
                for command in commands.read():
                    demand(command == {"do": "finish"}, "no such command", [])
                    self.finish()
            if time.monotonic() >= beat:
                self.send("KEEPALIVE", self.service)
                beat = time.monotonic() + self.interval

    def on_message(self, frames):
        command, rest = self.wire.read(frames)
        if command == "DISCONNECT":
            self.send("READY", self.service)
        elif command not in ("KEEPALIVE", "OPEN"):
            demand(command in CALLS and len(rest) >= 4 and rest[1] == b"", "no call", frames)
            client, uuid, body = rest[0], rest[2].decode(), rest[3]
            say("call", command=command, uuid=uuid)
            getattr(self, "on_" + command.lower())(client, uuid, body)

    def answer(self, command, client, uuid, status, body):
        own = {"worker": self.name, "uuid": uuid, "service": self.options.service}
        self.send(command, client, b"", uuid.encode(), status, json.dumps({**own, **body}).encode())

    def on_post(self, client, uuid, _body):
        # A second POST of a uuid is the same job.
        if uuid not in self.jobs:
            self.jobs[uuid] = {"client": client.hex()}
            if self.store is not None:
                (self.store / uuid).write_text(json.dumps(self.jobs[uuid]))
        self.answer("RESPONSE", client, uuid, b"201", {"status": "ACCEPTED"})

    def on_get(self, client, uuid, _body):
        if uuid not in self.jobs:
            self.answer("RESPONSE", client, uuid, b"404", {"status": "JOB NOT FOUND"})
        elif uuid in self.done:
            self.answer("RESPONSE", client, uuid, b"200", {"status": "COMPLETED", "result": f"{uuid} by {self.name}"})
        else:
            self.answer("RESPONSE", client, uuid, b"300", {"status": "STARTED"})

    def on_delete(self, client, uuid, _body):
        known = self.jobs.pop(uuid, None) is not None
        self.answer("RESPONSE", client, uuid, b"200" if known else b"404", {"status": "DELETED"})

    def finish(self):
        for uuid, job in self.jobs.items():
            if uuid not in self.done:
                self.done.add(uuid)
                self.answer("EVENT", bytes.fromhex(job["client"]), uuid, b"200", {"message": "completed", "status": "completed"})
        say("finished", jobs=len(self.done))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--service", default="sample")
    parser.add_argument("--form", choices=["ascii", "byte"], default="ascii")
    parser.add_argument("--keepalive-ms", type=int, default=500)
    parser.add_argument("--store", help="folder of jobs; without it they are gone with the process")
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
