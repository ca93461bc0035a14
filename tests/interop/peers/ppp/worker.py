"""A Paranoid Pirate worker, as 6/PPP has it.

What it does with a request depends on --job:
    echo    replies with the content at once
    guide   the same for a request of exactly three frames; any other it never answers, as the worker of the ZeroMQ guide
    hold    goes on beating until told to finish, then replies as echo does
    silent  the same, but neither reads nor beats meanwhile, as workers of one thread do

Lines: ready, working, heartbeat (one received), ignored, queue-lost.
Commands: {"do": "finish"} the job, {"do": "ready"} sends READY once more.
"""

import argparse
import time

import zmq

from ppp.wire import HEARTBEAT, READY, control_of, demand, envelope, open_envelope
from speech import STDIN, Commands, say

LONGEST_WAIT = 32


class Worker:
    def __init__(self, options):
        self.options = options
        self.interval = options.heartbeat_ms / 1000
        self.wait = self.interval
        self.commands = Commands()
        self.poller = zmq.Poller()
        self.poller.register(STDIN, zmq.POLLIN)
        self.socket = None
        self.job = None

    def open(self):
        """A new conversation, on a new socket."""
        if self.socket is not None:
            self.poller.unregister(self.socket)
            self.socket.close(linger=0)
        self.job = None
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        if self.options.identity:
            self.socket.routing_id = bytes.fromhex(self.options.identity)
        if self.options.bind:
            self.socket.bind(self.options.bind)
        else:
            self.socket.connect(self.options.connect)
        self.poller.register(self.socket, zmq.POLLIN)
        self.socket.send(READY)
        now = time.monotonic()
        self.next_beat = now
        self.heard_at = now
        say("ready")

    def run(self):
        self.open()
        while True:
            wait_ms = max(0, self.next_beat - time.monotonic()) * 1000
            ready = dict(self.poller.poll(wait_ms))
            if STDIN in ready:
                for command in self.commands.read():
                    self.on_command(command["do"])
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            self.on_time(time.monotonic())

    def on_time(self, now):
        if now - self.heard_at > self.interval * self.options.liveness:
            say("queue-lost")
            time.sleep(self.wait)
            self.wait = min(self.wait * 2, LONGEST_WAIT)
            self.open()
        elif now >= self.next_beat:
            self.socket.send(HEARTBEAT)
            self.next_beat = now + self.interval

    def on_command(self, command):
        if command == "finish":
            self.reply()
        else:
            self.socket.send(READY)

    def on_message(self, frames):
        self.heard_at = time.monotonic()
        self.wait = self.interval
        command = control_of(frames)
        demand(command != READY, "never sent to a worker", frames)
        if command == HEARTBEAT:
            say("heartbeat", busy=self.job is not None)
            return
        demand(self.job is None, "second request at a time", frames)
        addresses, content = open_envelope(frames)
        demand(addresses != [], "nobody to reply to", frames)
        if self.options.job == "guide" and len(frames) != 3:
            say("ignored", frames=len(frames))
            return
        self.job = addresses, content
        self.work()

    def work(self):
        if self.options.job in ("echo", "guide"):
            self.reply()
            return
        addresses, content = self.job
        say("working", addresses=addresses, content=content)
        if self.options.job == "silent":
            self.wait_without_a_sound()

    def wait_without_a_sound(self):
        """No poll of the socket: what the queue says meanwhile is read afterwards."""
        for command in self.commands.read():
            self.on_command(command["do"])
        self.heard_at = time.monotonic()

    def reply(self):
        self.socket.send_multipart(envelope(*self.job))
        self.job = None


def main():
    parser = argparse.ArgumentParser()
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--connect")
    where.add_argument("--bind", help="be connected to, by one queue")
    parser.add_argument("--job", choices=["echo", "guide", "hold", "silent"], default="echo")
    parser.add_argument("--identity", help="routing id as hex")
    parser.add_argument("--heartbeat-ms", type=int, default=1000)
    parser.add_argument("--liveness", type=int, default=3)
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
