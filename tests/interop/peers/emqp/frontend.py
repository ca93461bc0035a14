"""The frontend of a broker, for one scheduler and any clients, which it holds to every frame. As EventMQ's own it decodes whatever
it gets, ids included. A REQUEST is accepted, and answered if that was asked for: the result is the job's first argument.

Lines: listening, with the endpoint; inform; heartbeat; request; order (SCHEDULE or UNSCHEDULE); bye.
Commands, for the scheduler: {"do": "say", "word": "SCHEDULE", "id": "m1", "rest": ["default", "", "2", "...", ""]}.
"""

import argparse
import json
import time

import zmq

from emqp.wire import UUID, demand, message, read
from speech import STDIN, Commands, say


class Frontend:
    def __init__(self, socket):
        self.socket = socket
        self.scheduler = None
        self.said_bye = []

    def send(self, peer, command, *rest, id=None):
        self.socket.send_multipart([peer, *message(command, *rest, id=id)])

    def on_message(self, peer, frames):
        demand(UUID.fullmatch(peer), "a routing id that is no version 4 UUID", [peer])
        for frame in frames:
            frame.decode()
        command, id, rest = read("frontend", frames)
        demand(UUID.fullmatch(id), "an id that is no version 4 UUID", frames)
        demand(not (peer == self.scheduler and len(self.said_bye) == 2), "something after the farewell", frames)
        texts = [frame.decode() for frame in rest]
        if command == "INFORM":
            demand(texts == ["", "scheduler"], "an INFORM of no scheduler", frames)
            demand(peer != self.scheduler, "INFORM twice on one connection", frames)
            self.scheduler, self.said_bye = peer, []
            say("inform")
            self.send(peer, "ACK", id)
            self.send(peer, "HEARTBEAT", str(time.time()).encode())
        elif command == "REQUEST":
            self.on_request(peer, id, *texts)
        elif command in ("SCHEDULE", "UNSCHEDULE"):
            say("order", command=command, rest=texts)
        else:
            demand(peer == self.scheduler, "somebody who has not informed", frames)
            if command == "HEARTBEAT":
                say("heartbeat")
            else:
                self.said_bye.append(command)
                say("bye", word=command)

    def on_request(self, peer, id, queue, headers, body):
        word, job = json.loads(body)
        demand(word == "run" and job["path"] and job["callable"], "a body that names no job", [body.encode()])
        say("request", queue=queue, headers=headers, body=body)
        self.send(peer, "REPLY", id)
        if "reply-requested" in headers.split(","):
            self.send(peer, "REPLY", json.dumps({"value": job["args"][0]}).encode(), id)


def main():
    argparse.ArgumentParser().parse_args()
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.linger = 1000
    socket.bind("tcp://127.0.0.1:*")
    frontend = Frontend(socket)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    commands = Commands()
    say("listening", endpoint=socket.getsockopt_string(zmq.LAST_ENDPOINT))
    while True:
        ready = dict(poller.poll())
        if socket in ready:
            peer, *frames = socket.recv_multipart()
            frontend.on_message(peer, frames)
        if STDIN in ready:
            for command in commands.read():
                rest = [text.encode() for text in command["rest"]]
                frontend.send(frontend.scheduler, command["word"], *rest, id=command["id"].encode())


if __name__ == "__main__":
    main()
