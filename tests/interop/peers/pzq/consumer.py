"""A PZQ consumer: a ROUTER that connects to the send socket of a queue.

With --job ack it acknowledges each delivery at once, with --job hold only when told.

Lines: ready, delivery (key, sent, timeout, body).
Commands: {"do": "say", "frames": [...]} to the queue whose delivery came last, whatever the frames.
"""

import argparse

import zmq

from pzq.wire import YES, open_delivery
from speech import STDIN, Commands, frames_of, say


class Consumer:
    def __init__(self, options):
        self.acks = options.job == "ack"
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.linger = 1000
        self.socket.rcvhwm = 1
        self.socket.router_mandatory = True
        self.socket.connect(options.connect)
        self.queue = None
        self.commands = Commands()
        self.poller = zmq.Poller()
        for source in (STDIN, self.socket):
            self.poller.register(source, zmq.POLLIN)

    def run(self):
        say("ready")
        while True:
            ready = dict(self.poller.poll())
            if STDIN in ready:
                for command in self.commands.read():
                    self.socket.send_multipart([self.queue, *frames_of(command["frames"])])
            if self.socket in ready:
                self.queue, *frames = self.socket.recv_multipart()
                key, sent, timeout, body = open_delivery(frames)
                say("delivery", key=key.decode(), sent=sent, timeout=timeout, body=body)
                if self.acks:
                    self.socket.send_multipart([self.queue, key, YES])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--job", choices=["ack", "hold"], default="ack")
    Consumer(parser.parse_args()).run()


if __name__ == "__main__":
    main()
