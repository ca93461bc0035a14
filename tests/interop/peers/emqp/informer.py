"""What workers and schedulers have in common: INFORM, ACK, heartbeats both ways, and a new socket when the broker is silent.

Lines: informed (ACK has come), heartbeat (the first of a conversation), broker-lost, bye (KBYE or KBAI of the broker).
Commands: {"do": "leave"} says KBYE; what it has it finishes, then it ends.
"""

import sys
import time
import uuid

import zmq

from emqp.wire import demand, message, new_id, read
from speech import STDIN, Commands, say


class Informer:
    role = None

    def __init__(self, options):
        self.options = options
        self.interval = options.heartbeat_ms / 1000
        self.commands = Commands()
        self.poller = zmq.Poller()
        self.poller.register(STDIN, zmq.POLLIN)
        self.socket = None
        self.leaving = False

    def open(self):
        """A new conversation, on a new socket, under a new name."""
        if self.socket is not None:
            self.poller.unregister(self.socket)
            self.socket.close(linger=0)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.routing_id = str(uuid.uuid4()).encode()
        self.socket.connect(self.options.connect)
        self.poller.register(self.socket, zmq.POLLIN)
        self.inform_id = new_id()
        self.acknowledged = False
        self.beaten = False
        self.send("INFORM", self.queues(), self.role.encode(), id=self.inform_id)
        now = time.monotonic()
        self.next_beat = now + self.interval
        self.heard_at = now

    def run(self):
        self.open()
        while not (self.leaving and self.is_idle()):
            wait_ms = max(0, self.next_beat - time.monotonic()) * 1000
            ready = dict(self.poller.poll(wait_ms))
            if STDIN in ready:
                for command in self.commands.read():
                    self.on_command(command)
            if self.socket in ready:
                self.on_message(self.socket.recv_multipart())
            self.on_time(time.monotonic())
        self.socket.close()
        say("left")
        sys.exit(0)

    def on_time(self, now):
        if not self.leaving and now - self.heard_at > self.interval * self.options.liveness:
            say("broker-lost")
            self.open()
        elif now >= self.next_beat:
            self.send("HEARTBEAT", str(time.time()).encode())
            self.next_beat = now + self.interval

    def on_command(self, command):
        if command["do"] == "leave":
            self.leaving = True
            self.send("KBYE")

    def on_message(self, frames):
        command, id, rest = read(self.role, frames)
        self.heard_at = time.monotonic()
        if command == "ACK":
            demand(rest == [self.inform_id] and not self.acknowledged, "ACK of something else, or again", frames)
            self.acknowledged = True
            say("informed")
            return
        demand(self.acknowledged, "something before ACK", frames)
        if self.leaving:
            # What crossed the farewell is not begun.
            return
        if command == "HEARTBEAT":
            if not self.beaten:
                self.beaten = True
                say("heartbeat")
                self.on_first_heartbeat()
        elif command in ("KBAI", "KBYE"):
            say("bye", word=command)
        else:
            self.on_order(command, id, rest)

    def queues(self):
        return b""

    def is_idle(self):
        return True

    def on_first_heartbeat(self):
        pass

    def on_order(self, command, id, rest):
        raise NotImplementedError

    def send(self, command, *rest, id=None):
        self.socket.send_multipart(message(command, *rest, id=id))


def add_arguments(parser):
    parser.add_argument("--connect", required=True)
    parser.add_argument("--heartbeat-ms", type=int, default=3000)
    parser.add_argument("--liveness", type=int, default=5)
