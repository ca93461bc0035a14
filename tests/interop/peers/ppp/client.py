"""The program in front of a Paranoid Pirate queue: sends requests as it is told to and checks every reply.

Commands:
    {"do": "request", "content": ["6869"]}           -> {"msg": "reply", "content": [...], "sends": 1}
    {"do": "pipeline", "contents": [["30"], ...]}    -> {"msg": "replies", "contents": [...]}, in order of arrival

A REQ socket is a Lazy Pirate: after --timeout-ms of silence it is closed and a new one sends again, --tries times in all. A
DEALER writes the empty frame itself, and in front of it the --hops of whoever stands behind it; a bare one writes content and
nothing else, and takes what comes for content.
"""

import argparse

import zmq

from ppp.wire import demand, envelope, open_envelope
from speech import Commands, frames_of, say


class Client:
    def __init__(self, options):
        self.options = options
        self.is_req = options.socket == "req"
        self.is_plain = options.socket != "dealer"
        self.hops = frames_of(options.hops.split(",")) if options.hops else []
        self.socket = None
        self.open()

    def open(self):
        if self.socket is not None:
            self.socket.close(linger=0)
        self.socket = zmq.Context.instance().socket(zmq.REQ if self.is_req else zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.rcvtimeo = self.options.timeout_ms
        if self.options.identity:
            self.socket.routing_id = bytes.fromhex(self.options.identity)
        self.socket.connect(self.options.connect)

    def request(self, content):
        for sends in range(1, self.options.tries + 1):
            self.send(content)
            try:
                say("reply", content=self.receive(), sends=sends)
                return
            except zmq.Again:
                say("silence", sends=sends)
                self.open()
        say("gave-up")

    def pipeline(self, contents):
        for content in contents:
            self.send(content)
        say("replies", contents=[self.receive() for _ in contents])

    def send(self, content):
        self.socket.send_multipart(content if self.is_plain else envelope(self.hops, content))

    def receive(self):
        frames = self.socket.recv_multipart()
        if self.is_plain:
            return frames
        hops, content = open_envelope(frames)
        demand(hops == self.hops, "the reply of somebody else", frames)
        return content


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--socket", choices=["req", "dealer", "bare"], default="req")
    parser.add_argument("--hops", help="addresses in front of the empty frame, as hex, separated by commas")
    parser.add_argument("--identity", help="routing id as hex")
    parser.add_argument("--timeout-ms", type=int, default=600_000)
    parser.add_argument("--tries", type=int, default=1)
    client = Client(parser.parse_args())
    commands = Commands()
    say("listening")
    while True:
        for command in commands.read():
            if command["do"] == "request":
                client.request(frames_of(command["content"]))
            else:
                client.pipeline([frames_of(content) for content in command["contents"]])


if __name__ == "__main__":
    main()
