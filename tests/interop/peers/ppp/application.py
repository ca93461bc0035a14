"""An application that implements 6/PPP itself: it hands out work of its own, in any form of address stack that the text has.

It binds, or connects to a worker that does, and beats for workers that have said READY.

Lines: listening (endpoint), worker (one said READY), reply (addresses, null when there is no stack, and content).
Commands: {"do": "request", "addresses": ["6331"] or null, "content": ["6869"]} goes to the worker that said READY first.
"""

import argparse
import time

import zmq

from ppp.wire import HEARTBEAT, READY, demand
from speech import STDIN, Commands, frames_of, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind")
    parser.add_argument("--connect")
    parser.add_argument("--heartbeat-ms", type=int, default=1000)
    parser.add_argument("--liveness", type=int, default=3)
    options = parser.parse_args()
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.linger = 0
    if options.connect:
        socket.connect(options.connect)
        say("listening", endpoint=options.connect)
    else:
        socket.bind(options.bind or "tcp://127.0.0.1:*")
        say("listening", endpoint=socket.last_endpoint.decode())
    Application(socket, options.heartbeat_ms / 1000).run()


class Application:
    def __init__(self, socket, interval):
        self.socket = socket
        self.interval = interval
        self.workers = []
        self.is_bare = False

    def run(self):
        commands = Commands()
        poller = zmq.Poller()
        poller.register(STDIN, zmq.POLLIN)
        poller.register(self.socket, zmq.POLLIN)
        beat_at = time.monotonic()
        while True:
            ready = dict(poller.poll(max(0, beat_at - time.monotonic()) * 1000))
            if STDIN in ready:
                for command in commands.read():
                    self.request(command["addresses"], frames_of(command["content"]))
            if self.socket in ready:
                self.on_message(*self.socket.recv_multipart())
            if time.monotonic() >= beat_at:
                for worker in self.workers:
                    self.socket.send_multipart([worker, HEARTBEAT])
                beat_at = time.monotonic() + self.interval

    def request(self, addresses, content):
        self.is_bare = addresses is None
        stack = [] if self.is_bare else [*frames_of(addresses), b""]
        self.socket.send_multipart([self.workers[0], *stack, *content])

    def on_message(self, worker, *frames):
        frames = list(frames)
        if frames == [READY]:
            if worker not in self.workers:
                self.workers.append(worker)
            say("worker")
        elif frames != [HEARTBEAT]:
            self.on_reply(frames)

    def on_reply(self, frames):
        """Read in the form in which the last request was sent."""
        if self.is_bare:
            say("reply", addresses=None, content=frames)
            return
        demand(b"" in frames, "no null terminator", frames)
        end = frames.index(b"")
        say("reply", addresses=frames[:end], content=frames[end + 1 :])


if __name__ == "__main__":
    main()
