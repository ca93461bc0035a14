"""A broker for one job manager, which it holds to every frame. As EventMQ's own it decodes whatever it gets, ids included.

Lines: listening, with the endpoint; inform; ready, with the slots there are; reply; bye.
Commands: {"do": "request", "id": "m1", "headers": "", "body": "..."}; {"do": "disconnect"}; {"do": "beat"}.
"""

import argparse
import json
import time

import zmq

from emqp.wire import UUID, demand, message, read
from speech import STDIN, Commands, say


class Router:
    def __init__(self, socket, concurrency):
        self.socket = socket
        self.concurrency = concurrency
        self.peer = None
        self.slots = 0
        self.said_bye = False
        # Ids of jobs that are to be answered: each holds a slot until then.
        self.owed = []

    def send(self, command, *rest, id=None):
        self.socket.send_multipart([self.peer, *message(command, *rest, id=id)])

    def on_message(self, peer, frames):
        peer.decode("ascii")
        demand(UUID.fullmatch(peer), "a routing id that is no version 4 UUID", [peer])
        for frame in frames:
            frame.decode()
        command, id, rest = read("router", frames)
        demand(UUID.fullmatch(id), "an id that is no version 4 UUID", frames)
        if command == "INFORM":
            self.on_inform(peer, id, rest)
            return
        demand(peer == self.peer, "somebody who has not informed", frames)
        if command == "READY":
            demand(not self.said_bye, "READY after the farewell", frames)
            demand(self.slots + len(self.owed) < self.concurrency, "READY before the result, or for no slot", frames)
            self.slots += 1
            say("ready", slots=self.slots)
        elif command == "REPLY":
            demand(rest[1] in self.owed, "a result nobody has asked for", frames)
            self.owed.remove(rest[1])
            json.loads(rest[0])
            say("reply", of=rest[1].decode(), result=rest[0].decode())
        elif command in ("KBAI", "KBYE"):
            self.said_bye = True
            say("bye", word=command)

    def on_inform(self, peer, id, rest):
        queues, role = rest
        demand(role == b"worker", "another type than worker", rest)
        for weight, name in json.loads(queues):
            demand(isinstance(weight, int) and isinstance(name, str), "queues that are no [[weight, name]]", rest)
        demand(peer != self.peer, "INFORM twice on one connection", rest)
        self.peer, self.slots, self.said_bye, self.owed = peer, 0, False, []
        say("inform", peer=peer.decode(), queues=queues.decode())
        self.send("ACK", id)

    def on_command(self, command):
        if command["do"] == "request":
            id, headers = command["id"].encode(), command["headers"].encode()
            if b"reply-requested" in headers or b"guarantee" in headers:
                self.owed.append(id)
            self.slots -= 1
            self.send("REQUEST", b"default", headers, command["body"].encode(), id=id)
        elif command["do"] == "disconnect":
            self.send("DISCONNECT")
        else:
            self.send("HEARTBEAT", str(time.time()).encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", default="tcp://127.0.0.1:*")
    parser.add_argument("--concurrency", type=int, default=2)
    options = parser.parse_args()
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.linger = 1000
    socket.bind(options.bind)
    router = Router(socket, options.concurrency)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    commands = Commands()
    say("listening", endpoint=socket.getsockopt_string(zmq.LAST_ENDPOINT))
    while True:
        ready = dict(poller.poll())
        if socket in ready:
            peer, *frames = socket.recv_multipart()
            router.on_message(peer, frames)
        if STDIN in ready:
            for command in commands.read():
                router.on_command(command)


if __name__ == "__main__":
    main()
