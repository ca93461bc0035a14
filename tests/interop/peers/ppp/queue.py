"""A small Paranoid Pirate queue: 6/PPP towards workers, requests and replies towards clients. It does not resend.

With --hasty it is like the queue of the ZeroMQ guide: whatever a worker says means that it is free for a job.

Lines: listening (frontend, backend), worker (READY), job (sent), heartbeat (received), expired, stranger.
Commands: {"do": "mute"} neither reads nor sends until {"do": "speak"}.
"""

import argparse
import time
from collections import deque

import zmq

from ppp.wire import HEARTBEAT, READY, control_of, demand, envelope, open_envelope
from speech import STDIN, Commands, say


class Worker:
    def __init__(self):
        self.heard_at = time.monotonic()
        self.jobs = deque()


class Queue:
    def __init__(self, options):
        self.hasty = options.hasty
        self.interval = options.heartbeat_ms / 1000
        self.liveness = options.liveness
        self.workers = {}
        self.idle = deque()
        self.requests = deque()
        self.commands = Commands()
        self.frontend = self.bind(options.frontend)
        self.backend = self.bind(options.backend)
        self.poller = zmq.Poller()
        for source in (STDIN, self.frontend, self.backend):
            self.poller.register(source, zmq.POLLIN)
        self.next_beat = time.monotonic() + self.interval

    def bind(self, endpoint):
        socket = zmq.Context.instance().socket(zmq.ROUTER)
        socket.linger = 1000
        socket.sndhwm = socket.rcvhwm = 0
        socket.bind(endpoint)
        return socket

    def run(self):
        say(
            "listening",
            frontend=self.frontend.last_endpoint.decode(),
            backend=self.backend.last_endpoint.decode(),
        )
        while True:
            wait_ms = max(0, self.next_beat - time.monotonic()) * 1000
            ready = dict(self.poller.poll(wait_ms))
            if STDIN in ready:
                for command in self.commands.read():
                    if command["do"] == "mute":
                        self.mute()
            if self.backend in ready:
                peer, *frames = self.backend.recv_multipart()
                self.on_worker(peer, frames)
            if self.frontend in ready:
                hops, content = open_envelope(self.frontend.recv_multipart())
                self.requests.append((hops, content))
            self.dispatch()
            self.on_time(time.monotonic())

    def mute(self):
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
                self.backend.send_multipart([peer, HEARTBEAT])

    def on_worker(self, peer, frames):
        command = control_of(frames)
        if command == READY:
            self.forget(peer)
            self.workers[peer] = Worker()
            self.idle.append(peer)
            say("worker", id=peer)
            return
        worker = self.workers.get(peer)
        if worker is None:
            say("stranger", id=peer)
            return
        worker.heard_at = time.monotonic()
        if command == HEARTBEAT:
            say("heartbeat", id=peer, busy=len(worker.jobs) > 0)
        else:
            self.on_reply(worker, frames)
        if peer not in self.idle and (self.hasty or not worker.jobs):
            self.idle.append(peer)

    def on_reply(self, worker, frames):
        addresses, content = open_envelope(frames)
        demand(worker.jobs and worker.jobs.popleft() == addresses, "reply without a request", frames)
        self.frontend.send_multipart(envelope(addresses, content))

    def dispatch(self):
        while self.requests and self.idle:
            peer = self.idle.popleft()
            addresses, content = self.requests.popleft()
            self.workers[peer].jobs.append(addresses)
            say("job", id=peer, held=len(self.workers[peer].jobs))
            self.backend.send_multipart([peer, *envelope(addresses, content)])

    def forget(self, peer):
        self.workers.pop(peer, None)
        if peer in self.idle:
            self.idle.remove(peer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frontend", default="tcp://127.0.0.1:*")
    parser.add_argument("--backend", default="tcp://127.0.0.1:*")
    parser.add_argument("--heartbeat-ms", type=int, default=1000)
    parser.add_argument("--liveness", type=int, default=3)
    parser.add_argument("--hasty", type=int, default=0)
    Queue(parser.parse_args()).run()


if __name__ == "__main__":
    main()
