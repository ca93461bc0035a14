"""An NFP broker with everything a client may ask it: jobs for workers, management, an inventory, a file.

It answers each peer in the form of command that peer used. The one file is nf://files/data.bin, of --file-bytes bytes; with
`--file-service no`, as in NORFAB since 0.15, workers have files instead.

Lines: listening, worker, call (what came from a client).
"""

import argparse
import hashlib
import json

import zmq

from nfp.wire import ANSWERS, CALLS, CODES, demand
from speech import STDIN, Commands, say

INVENTORY = {"w1": {"service": "sample", "hosts": {"h1": {"hostname": "192.0.2.1"}}}}
URL = "nf://files/data.bin"
BY_FRAME = {}
for name, code in CODES.items():
    BY_FRAME[b"0x%02x" % code] = (name, "ascii")
    BY_FRAME[bytes([code])] = (name, "byte")


def file_of(size):
    return bytes(i * i % 251 for i in range(size))


class Broker:
    def __init__(self, options):
        self.options = options
        self.file = file_of(options.file_bytes)
        self.workers = {}
        self.forms = {}
        self.turn = 0
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.router_handover = True
        self.socket.bind(options.bind)
        say("listening", endpoint=self.socket.last_endpoint.decode())

    def run(self):
        poller = zmq.Poller()
        poller.register(STDIN, zmq.POLLIN)
        poller.register(self.socket, zmq.POLLIN)
        commands = Commands()
        while True:
            ready = dict(poller.poll())
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            if STDIN in ready:
                commands.read()

    def send(self, peer, command, role, *rest):
        legacy = self.options.dialect == "legacy" and command not in ("OPEN", "KEEPALIVE")
        header = {"client": b"NFPC01", "worker": b"NFPW01"}[role] if legacy else b"NFPB01"
        code = CODES[command]
        frame = bytes([code]) if self.forms.get(peer) == "byte" else b"0x%02x" % code
        self.socket.send_multipart([peer, b"", header, frame, *rest])

    def on_message(self, frames):
        peer, empty, header, code, *rest = frames
        demand(empty == b"" and header in (b"NFPC01", b"NFPW01"), "no empty frame, or no header of a peer", frames)
        demand(code in BY_FRAME, "no such command", frames)
        command, self.forms[peer] = BY_FRAME[code]
        if header == b"NFPW01":
            self.on_worker(peer, command, rest, frames)
            return
        if command == "OPEN":
            demand(len(rest) == 1, "OPEN has one body", frames)
            say("call", command="OPEN", body=rest[0].decode())
            self.send(peer, "OPEN", "client", b"{}")
            return
        demand(command in CALLS, f"{command} never comes from a client", frames)
        demand(len(rest) == 4 and all((rest[0], rest[2])), "service, target, uuid or body is missing", frames)
        service, target, uuid, body = rest
        json.loads(body)
        self.on_client(peer, command, service.decode(), target.decode(), uuid, body)

    def on_worker(self, peer, command, rest, frames):
        if command == "READY":
            self.workers[peer] = rest[0].decode()
            say("worker", name=peer.decode())
            self.send(peer, "KEEPALIVE", "worker", rest[0])
        elif command == "KEEPALIVE":
            self.send(peer, "KEEPALIVE", "worker", rest[0])
        elif command == "DISCONNECT":
            self.workers.pop(peer, None)
        elif command != "OPEN":
            demand(command in ANSWERS and len(rest) >= 5 and rest[1] == b"", "no answer of a worker", frames)
            client, _, uuid, status, *body = rest
            self.send(client, command, "client", self.workers[peer].encode(), uuid, status, *body)

    def on_client(self, peer, command, service, target, uuid, body):
        say("call", command=command, service=service, target=target, uuid=uuid.decode())
        if service.endswith(".broker") and not (service.startswith("fss.") and self.options.file_service == "no"):
            self.serve(peer, command, service, uuid, json.loads(body))
            return
        workers = self.choose(service, target)
        said = {"uuid": uuid.decode(), "target": target, "service": service}
        if command not in ("PUT", "MMI") or (command == "MMI" and not workers):
            if workers:
                said = {**said, "workers": [name.decode() for name in workers], "status": "DISPATCHED"}
            else:
                said = {**said, "workers": None, "status": "FAILED", "errors": ["no workers"]}
            text = json.dumps(said)
            if not workers and self.options.dialect == "legacy":
                text = "no workers"
            self.send(peer, "RESPONSE", "client", service.encode(), uuid, b"202" if workers else b"400", text.encode())
        for worker in workers:
            self.send(worker, command, "worker", peer, b"", uuid, body)

    def choose(self, service, target):
        mine = [name for name, of in self.workers.items() if service in (of, "all")]
        if target == "all":
            return mine
        if target == "any":
            self.turn += 1
            return mine and [mine[self.turn % len(mine)]]
        names = json.loads(target) if target.startswith("[") else [target]
        return [name for name in mine if name.decode() in names]

    def serve(self, peer, command, service, uuid, call):
        task, kwargs = call["task"], call.get("kwargs", {})
        body = self.answer(service, task, kwargs)
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        kinds = ["RESPONSE", "MMI"] if command == "MMI" and self.options.dialect == "current" else ["RESPONSE"]
        for kind in kinds:
            self.send(peer, kind, "client", service.encode(), uuid, b"200", body)

    def answer(self, service, task, kwargs):
        if service == "sid.service.broker":
            return INVENTORY.get(kwargs["name"]) if "name" in kwargs else INVENTORY
        if service == "fss.service.broker":
            return self.files(task, kwargs)
        if task == "show_broker":
            return {"endpoint": self.options.bind, "status": "active", "workers count": len(self.workers)}
        if task == "show_workers":
            return [{"name": n.decode(), "service": s, "status": "alive"} for n, s in self.workers.items()]
        return f"Unsupported task '{task}'"

    def files(self, task, kwargs):
        known = kwargs["url"] == URL
        if task == "file_details":
            hashed = hashlib.md5(self.file).hexdigest()
            missing = {"md5hash": None, "size_bytes": None, "exists": False}
            return {"md5hash": hashed, "size_bytes": len(self.file), "exists": True} if known else missing
        if task == "list_files":
            return ["data.bin"] if kwargs["url"] == "nf://files" else ["Directory Not Found"]
        if task == "walk":
            return ["nf:///files/data.bin"]
        return self.file[kwargs["offset"] : kwargs["offset"] + kwargs["chunk_size"]] if known else b"Not Found"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="tcp://127.0.0.1:*")
    parser.add_argument("--dialect", choices=["current", "legacy"], default="current")
    parser.add_argument("--file-bytes", type=int, default=0)
    parser.add_argument("--file-service", choices=["yes", "no"], default="yes")
    Broker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
