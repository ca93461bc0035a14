"""A Majordomo worker: MDP/Worker of 18/MDP (0.2) and 7/MDP (0.1).

What it does with a request depends on --job:
    echo    replies with the request's body at once
    parts   sends one PARTIAL per body frame, then their number as FINAL (0.2)
    hold    goes on beating until told to finish, then replies as echo does
    silent  the same, but neither reads nor beats meanwhile, as the workers of the ZeroMQ guide

Lines: ready, working, heartbeat (one received), disconnected, broker-lost, left.
Commands: {"do": "finish"} the job, {"do": "ready"} sends a second READY, {"do": "leave"} says DISCONNECT and ends.
"""

import argparse
import sys
import time

import zmq

from mdp.wire import VERSIONS, demand, split_job
from speech import STDIN, Commands, frames_of, say


class Worker:
    def __init__(self, options):
        self.options = options
        self.version = VERSIONS[options.version]
        self.service = options.service.encode()
        self.interval = options.heartbeat_ms / 1000
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
        if self.options.identity:
            self.socket.routing_id = bytes.fromhex(self.options.identity)
        self.socket.connect(self.options.connect)
        self.poller.register(self.socket, zmq.POLLIN)
        self.send("READY", self.service)
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
                    self.on_command(command["do"])
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            self.on_time(time.monotonic())

    def on_time(self, now):
        if now - self.heard_at > self.interval * self.options.liveness:
            say("broker-lost")
            self.open()
        elif now >= self.next_beat:
            self.send("HEARTBEAT")
            self.next_beat = now + self.interval

    def on_command(self, command):
        if command == "finish":
            self.reply("FINAL", self.job[1])
            self.job = None
        elif command == "ready":
            self.send("READY", self.service)
        elif command == "leave":
            self.send("DISCONNECT")
            self.socket.close()
            say("left")
            sys.exit(0)

    def on_message(self, frames):
        command, rest = self.version.read_worker_message(frames)
        self.heard_at = time.monotonic()
        if command == "REQUEST":
            demand(self.job is None, "second request at a time", frames)
            self.job = split_job(rest)
            self.work()
        elif command == "HEARTBEAT":
            say("heartbeat", busy=self.job is not None)
        elif command == "DISCONNECT":
            say("disconnected")
            self.open()
        else:
            demand(False, "never sent to a worker", frames)

    def work(self):
        client, body = self.job
        if self.options.job in ("hold", "silent"):
            say("working", client=client, body=body)
            if self.options.job == "silent":
                self.wait_without_a_sound()
            return
        if self.options.job == "parts":
            for number, frame in enumerate(body):
                self.reply("PARTIAL", [b"%d" % number, frame])
            body = [b"%d" % len(body)]
        self.reply("FINAL", body)
        self.job = None

    def wait_without_a_sound(self):
        """No poll of the socket: what the broker says meanwhile is read afterwards."""
        for command in self.commands.read():
            self.on_command(command["do"])
        self.heard_at = time.monotonic()

    def reply(self, command, body):
        self.socket.send_multipart(self.version.worker_job(command, self.job[0], body))

    def send(self, command, *rest):
        self.socket.send_multipart(self.version.worker_message(command, *rest))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--version", choices=VERSIONS, default="0.2")
    parser.add_argument("--service", default="echo")
    parser.add_argument("--job", choices=["echo", "parts", "hold", "silent"], default="echo")
    parser.add_argument("--identity", help="routing id as hex")
    parser.add_argument("--heartbeat-ms", type=int, default=2500)
    parser.add_argument("--liveness", type=int, default=3)
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
