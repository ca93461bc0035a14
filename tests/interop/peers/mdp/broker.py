"""A small Majordomo broker: 18/MDP (0.2) or 7/MDP (0.1), and mmi.service of 8/MMI. As every known one it does not resend.

Lines: listening (endpoint), worker (registered), heartbeat (received), goodbye (a worker's DISCONNECT), expired, stranger.
Commands: {"do": "disconnect"} says DISCONNECT to all workers and forgets them; {"do": "mute"} neither reads nor sends
until {"do": "speak"}.
"""

import argparse
import time
from collections import deque

import zmq

from mdp.wire import VERSIONS, demand, split_job
from speech import STDIN, Commands, say


class Service:
    def __init__(self):
        self.requests = deque()
        self.idle = deque()


class Worker:
    def __init__(self, service):
        self.service = service
        self.heard_at = time.monotonic()
        self.client = None


class Broker:
    def __init__(self, options):
        self.version = VERSIONS[options.version]
        self.interval = options.heartbeat_ms / 1000
        self.liveness = options.liveness
        self.services = {}
        self.workers = {}
        self.commands = Commands()
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.bind(options.bind)
        self.poller = zmq.Poller()
        self.poller.register(STDIN, zmq.POLLIN)
        self.poller.register(self.socket, zmq.POLLIN)
        self.next_beat = time.monotonic() + self.interval

    def run(self):
        say("listening", endpoint=self.socket.last_endpoint.decode())
        while True:
            wait_ms = max(0, self.next_beat - time.monotonic()) * 1000
            ready = dict(self.poller.poll(wait_ms))
            if STDIN in ready:
                for command in self.commands.read():
                    self.on_command(command["do"])
            if self.socket in ready:
                peer, *frames = self.socket.recv_multipart()
                if self.version.is_client(frames):
                    self.on_request(peer, frames)
                else:
                    self.on_worker(peer, frames)
            self.on_time(time.monotonic())

    def on_command(self, command):
        if command == "disconnect":
            for peer in list(self.workers):
                self.tell(peer, "DISCONNECT")
                self.forget(peer)
        elif command == "mute":
            say("muted")
            while not any(command["do"] == "speak" for command in self.commands.read()):
                pass
            now = time.monotonic()
            for worker in self.workers.values():
                worker.heard_at = now

    def on_time(self, now):
        if now < self.next_beat:
            return
        self.next_beat = now + self.interval
        for peer, worker in list(self.workers.items()):
            if now - worker.heard_at > self.interval * self.liveness:
                self.forget(peer)
                say("expired", id=peer)
            else:
                self.tell(peer, "HEARTBEAT")

    def on_request(self, client, frames):
        _, name, body = self.version.read_client_message(frames, ("REQUEST",))
        if name.startswith(b"mmi."):
            self.reply(client, "FINAL", name, [self.management(name, body)])
            return
        self.service(name).requests.append((client, body))
        self.dispatch(name)

    def management(self, name, body):
        if name != b"mmi.service":
            return b"501"
        return b"200" if any(worker.service == body[0] for worker in self.workers.values()) else b"404"

    def on_worker(self, peer, frames):
        command, rest = self.version.read_worker_message(frames)
        worker = self.workers.get(peer)
        if command == "DISCONNECT":
            self.forget(peer)
            say("goodbye", id=peer)
        elif command == "READY":
            demand(worker is None, "second READY", frames)
            self.workers[peer] = Worker(rest[0])
            self.service(rest[0]).idle.append(peer)
            say("worker", id=peer, service=rest[0].decode())
            self.dispatch(rest[0])
        elif worker is None:
            say("stranger", id=peer, command=command)
            self.tell(peer, "DISCONNECT")
        else:
            worker.heard_at = time.monotonic()
            if command == "HEARTBEAT":
                say("heartbeat", id=peer, busy=worker.client is not None)
            else:
                self.on_reply(peer, worker, command, rest, frames)

    def on_reply(self, peer, worker, command, rest, frames):
        demand(command in ("PARTIAL", "FINAL"), "never sent by a worker", frames)
        client, body = split_job(rest)
        demand(client == worker.client, "reply without a request", frames)
        self.reply(client, command, worker.service, body)
        if command == "FINAL":
            worker.client = None
            self.service(worker.service).idle.append(peer)
            self.dispatch(worker.service)

    def dispatch(self, name):
        service = self.service(name)
        while service.requests and service.idle:
            peer = service.idle.popleft()
            client, body = service.requests.popleft()
            self.workers[peer].client = client
            self.socket.send_multipart([peer, *self.version.worker_job("REQUEST", client, body)])

    def forget(self, peer):
        worker = self.workers.pop(peer, None)
        if worker is not None and worker.client is None:
            self.service(worker.service).idle.remove(peer)

    def service(self, name):
        return self.services.setdefault(name, Service())

    def tell(self, peer, command):
        self.socket.send_multipart([peer, *self.version.worker_message(command)])

    def reply(self, client, command, service, body):
        self.socket.send_multipart([client, *self.version.client_message(command, service, body)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="tcp://127.0.0.1:*")
    parser.add_argument("--version", choices=VERSIONS, default="0.2")
    parser.add_argument("--heartbeat-ms", type=int, default=2500)
    parser.add_argument("--liveness", type=int, default=3)
    Broker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
