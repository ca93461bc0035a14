"""An NFP worker that does jobs as NORFAB's do: task, args and kwargs in, an object by its name out; acceptance, events, GET, PUT, STREAM.

Tasks: echo (returns args and kwargs), fail, ask (waits for input and returns it), stream (three chunks), and as service
filesharing file_details and fetch_file of the file of service_broker.py. As with NORFAB's workers, a fetch_file begins a while
after it was accepted, and a PUT that comes before is dropped.

Lines: ready, call, disconnected.
"""

import argparse
import hashlib
import json
import time

import zmq

from nfp.service_broker import file_of
from nfp.wire import Wire, demand
from speech import STDIN, Commands, say

BEAT = 0.5
FETCH_BEGINS = 0.2


class Worker:
    def __init__(self, options):
        self.options = options
        self.wire = Wire("worker", options.form, options.dialect)
        self.file = file_of(options.file_bytes)
        self.jobs = {}
        self.poller = zmq.Poller()
        self.poller.register(STDIN, zmq.POLLIN)
        self.socket = None
        self.open()

    def open(self):
        if self.socket is not None:
            self.poller.unregister(self.socket)
            self.socket.close(linger=0)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.routing_id = self.options.name.encode()
        self.socket.connect(self.options.connect)
        self.poller.register(self.socket, zmq.POLLIN)
        self.send("READY", self.options.service.encode())
        say("ready")

    def send(self, command, *rest):
        self.socket.send_multipart(self.wire.message(command, *rest))

    def run(self):
        commands = Commands()
        beat = time.monotonic() + BEAT
        while True:
            wake = min([beat, *(job["begins"] for job in self.jobs.values() if job["begins"] is not None)])
            ready = dict(self.poller.poll(max(0, wake - time.monotonic()) * 1000))
            for uuid, job in self.jobs.items():
                if job["begins"] is not None and job["begins"] <= time.monotonic():
                    job["begins"] = None
                    self.chunk(uuid, job, 0)
            if STDIN in ready:
                commands.read()
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            if time.monotonic() >= beat:
                self.send("KEEPALIVE", self.options.service.encode())
                beat = time.monotonic() + BEAT

    def on_message(self, frames):
        command, rest = self.wire.read(frames)
        if command == "DISCONNECT":
            say("disconnected")
            self.open()
        elif command not in ("KEEPALIVE", "OPEN"):
            demand(len(rest) == 4 and rest[1] == b"", "no call in the shape of the releases", frames)
            client, _, uuid, body = rest
            say("call", command=command, uuid=uuid.decode(), body=body.decode())
            getattr(self, "on_" + command.lower())(client, uuid, json.loads(body))

    def answer(self, command, client, uuid, status, value):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send(command, client, b"", uuid, status, body)

    def say_of(self, client, uuid, status, word, **more):
        own = {"worker": self.options.name, "uuid": uuid.decode(), "status": word, "service": self.options.service}
        self.answer("RESPONSE", client, uuid, status, {**own, **more})

    def event(self, client, uuid, message):
        own = {"worker": self.options.name, "service": self.options.service, "uuid": uuid.decode()}
        news = {"message": message, "task": "t", "status": message, "resource": [], "severity": "INFO"}
        self.answer("EVENT", client, uuid, b"200", {**own, **news, "timestamp": "20-Nov-2026 18:37:49.200"})

    def on_post(self, client, uuid, call):
        # A second POST of a uuid is refused in silence, as NORFAB's workers do.
        if uuid in self.jobs:
            return
        demand(set(call) == {"task", "kwargs", "args"}, "the body of POST", [json.dumps(call).encode()])
        self.jobs[uuid] = job = {"call": call, "client": client, "result": None, "waits": call["task"] == "ask", "begins": None}
        accepted = b"202" if self.options.dialect == "legacy" else b"201"
        self.say_of(client, uuid, accepted, "ACCEPTED")
        self.event(client, uuid, "starting")
        task, kwargs = call["task"], call["kwargs"]
        if task == "stream":
            for chunk in (b"one", b"two", b"three"):
                self.answer("STREAM", client, uuid, b"200", chunk)
        if task == "fetch_file":
            job["waits"] = True
            job["begins"] = time.monotonic() + FETCH_BEGINS
        elif task == "file_details":
            hashed = hashlib.md5(self.file).hexdigest()
            job["result"] = {"md5hash": hashed, "size_bytes": len(self.file), "exists": True}
        elif task != "fail":
            job["result"] = {"args": call["args"], "kwargs": kwargs}
        if not job["waits"]:
            self.event(client, uuid, "completed")

    def chunk(self, uuid, job, offset):
        size = job["call"]["kwargs"]["chunk_size"]
        self.answer("STREAM", job["client"], uuid, b"200", self.file[offset : offset + size])
        if offset + size >= len(self.file):
            self.finish(uuid, job, True)

    def finish(self, uuid, job, result):
        job["result"] = result
        job["waits"] = False
        self.event(job["client"], uuid, "completed")

    def on_put(self, client, uuid, said):
        job = self.jobs[uuid]
        if job["begins"] is not None:
            return
        if "offset" in said:
            self.chunk(uuid, job, said["offset"])
        else:
            demand(said["input_id"] == "i1" and said["cancel"] is False, "PUT of another input", [json.dumps(said).encode()])
            self.finish(uuid, job, said["value"])

    def on_get(self, client, uuid, _call):
        job = self.jobs.get(uuid)
        if job is None:
            self.say_of(client, uuid, b"404", "JOB NOT FOUND")
        elif job["waits"] and job["call"]["task"] == "ask":
            request = {"id": "i1", "question": "continue?", "default": False, "timeout": 20, "metadata": {}}
            self.say_of(client, uuid, b"102", "WAITING_CLIENT_INPUT", input_request=request)
        elif job["waits"]:
            self.say_of(client, uuid, b"300", "STARTED")
        else:
            name = self.options.name
            failed = job["call"]["task"] == "fail"
            result = {"result": job["result"], "failed": failed, "errors": ["no luck"] if failed else [], "messages": []}
            more = {"task": f"{name}:{job['call']['task']}", "juuid": uuid.decode(), "status": "completed", "diff": ""}
            self.answer("RESPONSE", client, uuid, b"200", {name: {**result, **more}})

    def on_delete(self, client, uuid, _call):
        known = self.jobs.pop(uuid, None) is not None
        self.say_of(client, uuid, b"200" if known else b"404", "DELETED" if known else "JOB NOT FOUND")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--service", default="sample")
    parser.add_argument("--form", choices=["ascii", "byte"], default="ascii")
    parser.add_argument("--dialect", choices=["current", "legacy"], default="current")
    parser.add_argument("--file-bytes", type=int, default=0)
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
