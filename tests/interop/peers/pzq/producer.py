"""A PZQ producer: a DEALER at the receive socket of a queue.

Lines: ready, answer (id, reason; null when stored) per answer, stored (count) after a pipeline.
Commands:
    {"do": "send", "frames": [...]}     one message, whatever its frames; answers are said as they come
    {"do": "pipeline", "bodies": [...]} all messages at once, each under an id of its own; answers must come in their order
"""

import argparse

import zmq

from pzq.wire import answer, demand, message
from speech import STDIN, Commands, frames_of, say


class Producer:
    def __init__(self, options):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 1000
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.connect(options.connect)
        self.commands = Commands()
        self.poller = zmq.Poller()
        for source in (STDIN, self.socket):
            self.poller.register(source, zmq.POLLIN)

    def run(self):
        say("ready")
        while True:
            ready = dict(self.poller.poll())
            if self.socket in ready:
                id, reason = answer(self.socket.recv_multipart())
                say("answer", id=id, reason=reason)
            if STDIN in ready:
                for command in self.commands.read():
                    if command["do"] == "send":
                        self.socket.send_multipart(frames_of(command["frames"]))
                    else:
                        self.pipeline([frames_of(body) for body in command["bodies"]])

    def pipeline(self, bodies):
        for number, body in enumerate(bodies):
            self.socket.send_multipart(message(b"%d" % number, [], body))
        for number in range(len(bodies)):
            frames = self.socket.recv_multipart()
            id, reason = answer(frames)
            demand(reason is None and id == b"%d" % number, "not the answer whose turn it is", frames)
        say("stored", count=len(bodies))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    Producer(parser.parse_args()).run()


if __name__ == "__main__":
    main()
