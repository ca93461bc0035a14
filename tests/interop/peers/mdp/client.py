"""A Majordomo client: MDP/Client of 18/MDP (0.2) and 7/MDP (0.1). It sends what it is told to and checks every reply.

Commands:
    {"do": "request", "service": "echo", "body": ["6869"]}        -> {"msg": "reply", "partials": [[...]], "body": [...]}
    {"do": "pipeline", "service": "echo", "bodies": [["30"], ...]} -> {"msg": "replies", "bodies": [...]}, in order of arrival
"""

import argparse

import zmq

from mdp.wire import VERSIONS, demand
from speech import Commands, frames_of, say

PATIENCE_MS = 600_000


class Client:
    def __init__(self, options):
        self.version = VERSIONS[options.version]
        self.is_req = options.socket == "req"
        self.socket = zmq.Context.instance().socket(zmq.REQ if self.is_req else zmq.DEALER)
        self.socket.linger = 1000
        self.socket.rcvtimeo = PATIENCE_MS
        self.socket.sndhwm = self.socket.rcvhwm = 0
        if options.identity:
            self.socket.routing_id = bytes.fromhex(options.identity)
        self.socket.connect(options.connect)

    def request(self, service, body):
        self.send(service, body)
        partials = []
        while True:
            command, body = self.receive(service)
            if command == "FINAL":
                say("reply", partials=partials, body=body)
                return
            partials.append(body)

    def pipeline(self, service, bodies):
        for body in bodies:
            self.send(service, body)
        say("replies", bodies=[self.receive(service)[1] for _ in bodies])

    def send(self, service, body):
        frames = self.version.client_message("REQUEST", service, body)
        # The empty frame that 0.1 demands is the one a REQ socket writes by itself.
        self.socket.send_multipart(frames[1:] if self.is_req else frames)

    def receive(self, service):
        frames = self.socket.recv_multipart()
        if self.is_req:
            frames = [b"", *frames]
        command, answered, body = self.version.read_client_message(frames, ("PARTIAL", "FINAL"))
        demand(answered == service, "reply of another service", frames)
        return command, body


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--version", choices=VERSIONS, default="0.2")
    parser.add_argument("--socket", choices=["dealer", "req"], default="dealer")
    parser.add_argument("--identity", help="routing id as hex")
    client = Client(parser.parse_args())
    commands = Commands()
    say("listening")
    while True:
        for command in commands.read():
            service = command["service"].encode()
            if command["do"] == "request":
                client.request(service, frames_of(command["body"]))
            else:
                client.pipeline(service, [frames_of(body) for body in command["bodies"]])


if __name__ == "__main__":
    main()
